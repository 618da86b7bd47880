// The count of old idioms, on a few lines; and the ceiling that it holds the real tree to.

import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { countIdioms, overCeiling, readTexts, retiredNames } from '../plain.ts'

const FILE = 'packages/kernel/src/a.ts'
const SAMPLES = [
  ['nobody', 'Nobody reads it twice.'],
  ['somebody', 'It asks somebody else.'],
  ['stands', 'The first verdict stands.'],
  ['goes on', 'The message goes\non to the server.'],
  ['is told', 'The agent is told.'],
  ['come of', 'It says what has come of a call.'],
  ['anew', 'It is built anew.'],
  ['looked through', 'Texts are looked\nthrough here.'],
  ['lets pass', 'The gate lets pass a call.'],
  ['headless What/Who', 'It asks. What cannot be read is denied.'],
  ['headless What/Who', 'Who may ask is in the policy.'],
] as const

/** The idioms of one file: `AREA IDIOM LINE`. */
function found(path: string, text: string): readonly string[] {
  return countIdioms([{ path, text }]).flatMap(({ area, hits }) =>
    hits.map(({ idiom, line }) => `${area} ${idiom} ${line}`),
  )
}

describe('an old idiom', () => {
  it.each(SAMPLES)('is found wherever people read: %s in %j', (idiom, sentence) => {
    expect(found('docs/a.md', `\n${sentence}\n`)).toEqual([`docs ${idiom} 2`])
    expect(found(FILE, `\nconst a = ${JSON.stringify(sentence)}`)).toEqual([`strings ${idiom} 2`])
    const comment = sentence.replace('\n', '\n// ')
    expect(found(FILE, `\n// ${comment}\nconst a = 1`)).toEqual([`comments ${idiom} 2`])
    const block = sentence.replace('\n', '\n * ')
    expect(found(FILE, `\n/** ${block} */\nconst a = 1`)).toEqual([`comments ${idiom} 2`])
  })

  it('is found in a template, and in a message that begins in lower case', () => {
    expect(found(FILE, 'const a = `the rule ${b} stands here`')).toEqual(['strings stands 1'])
    expect(found(FILE, "const a = 'what is not known is refused'")).toEqual(['strings headless What/Who 1'])
  })

  it('is none in code, in a question, in a heading or in a generated page', () => {
    expect(
      found('docs/a.md', '# What it does not protect\n\nWhat is it for?\n\n```\nnobody\n```\n`nobody`'),
    ).toEqual([])
    expect(found('docs/a.md', '<!-- Made by `npm run docs` from the source. -->\n\nnobody\n')).toEqual([])
    expect(found(FILE, "const nobody = 'nobody'")).toEqual([])
  })

  it('is counted among the words of its area and package', () => {
    const text = '// Nobody reads this.\nconst a = `${b} and three words`'
    expect(countIdioms([{ path: FILE, text }])).toMatchObject([
      { area: 'strings', of: 'kernel', words: 4, hits: [] },
      { area: 'comments', of: 'kernel', words: 3, hits: [{ path: FILE, line: 1, idiom: 'nobody' }] },
    ])
  })
})

const NONE = { docs: {}, strings: {}, comments: {} }

describe('the ceiling', () => {
  it('stops a count that is above it', () => {
    const counts = countIdioms([{ path: 'docs/a.md', text: 'Nobody. Somebody.' }])
    expect(overCeiling(counts, { ...NONE, docs: { project: 2 } })).toEqual([])
    expect(overCeiling(counts, { ...NONE, docs: { project: 1 } })).toEqual([
      'docs project: 2 old idioms, at most 1 are allowed',
    ])
    expect(overCeiling(counts, NONE)).toHaveLength(1)
  })

  it('is above the tree', () => {
    expect(overCeiling(countIdioms(readTexts(fileURLToPath(new URL('../..', import.meta.url)))))).toEqual([])
  })
})

describe('a name with a word that the glossary replaced', () => {
  it.each([
    ['packages/kernel/src/gates/risk-aim.ts', '', 'risk-aim'],
    [FILE, 'export const LONGEST_NAME = 1', 'LONGEST_NAME'],
    [FILE, 'export function deedsOf(): void {}', 'deedsOf'],
    [FILE, 'interface PolicyRung {}', 'PolicyRung'],
    [FILE, 'type Era = 1', 'Era'],
  ])('is found: %s %s', (path, text, name) => {
    expect(retiredNames([{ path, text }])).toEqual([`${path}: ${name}`])
  })

  it('is not any name that contains its letters, nor a JSON member', () => {
    expect(retiredNames([{ path: FILE, text: 'const average = { rung: 1 }; class Claim {}' }])).toEqual([])
  })

  it('is nowhere in the tree', () => {
    expect(retiredNames(readTexts(fileURLToPath(new URL('../..', import.meta.url))))).toEqual([])
  })
})
