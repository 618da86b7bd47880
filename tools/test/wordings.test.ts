// The wordings and texts that the defence is measured with keep their promises: counts, splits, values, frozen hashes.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { GOALS } from '../../bench/replay/texts/goals.ts'
import { ATTACKS, lines } from '../../bench/replay/texts/make.ts'
import { FIXED, LANGUAGES, WORDINGS, familyHash, type Wording } from '../../bench/replay/wordings/index.ts'

const folder = new URL('../../bench/replay/', import.meta.url)
const families = [...new Set(WORDINGS.map(({ family }) => family))]
const general = families.filter((family) => !LANGUAGES.includes(family))

function wordingsOf(name: string): readonly Wording[] {
  return WORDINGS.filter(({ family }) => family === name)
}

function splitOf(family: string): string {
  return [...new Set(wordingsOf(family).map(({ split }) => split))].join(' and ')
}

function inSplit(names: readonly string[], split: string): readonly string[] {
  return names.filter((family) => splitOf(family) === split)
}

interface Frozen {
  readonly tuning: readonly string[]
  readonly 'held-out': Readonly<Record<string, string>>
}

function frozen(): Frozen {
  // Sound: the test below compares every field of it.
  return JSON.parse(readFileSync(new URL('wordings/split.json', folder), 'utf8')) as Frozen
}

describe('the families', () => {
  it('are at least fourteen, and eight languages, with enough wordings each', () => {
    expect(general.length).toBeGreaterThanOrEqual(14)
    expect(LANGUAGES.length).toBeGreaterThanOrEqual(8)
    for (const family of families) {
      expect(wordingsOf(family).length, family).toBeGreaterThanOrEqual(LANGUAGES.includes(family) ? 3 : 5)
    }
    expect(general.flatMap(wordingsOf).length).toBeGreaterThanOrEqual(84)
  })

  it('are in one split each, half of them held out', () => {
    for (const family of families) expect(['tuning', 'held-out'], family).toContain(splitOf(family))
    expect(inSplit(general, 'held-out').length).toBe(inSplit(general, 'tuning').length)
    expect(inSplit(LANGUAGES, 'held-out').length).toBe(inSplit(LANGUAGES, 'tuning').length)
  })

  it('are frozen: the held-out ones to the letter', () => {
    const { tuning, 'held-out': heldOut } = frozen()
    expect(tuning).toEqual(inSplit(families, 'tuning'))
    expect(heldOut).toEqual(
      Object.fromEntries(inSplit(families, 'held-out').map((family) => [family, familyHash(family)])),
    )
  })
})

const rot13 = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => {
    const code = letter.charCodeAt(0)
    return String.fromCharCode((code & 31) > 13 ? code - 13 : code + 13)
  })
const decoded = (encoding: 'base64' | 'hex', pattern: RegExp) => (text: string) =>
  text.replace(pattern, (run) => Buffer.from(run, encoding).toString('utf8'))
const base64 = decoded('base64', /[A-Za-z0-9+/]{24,}={0,2}/g)

/** Ways back from each disguise, written apart from the ways there. */
const READINGS: readonly ((text: string) => string)[] = [
  (text) => text,
  base64,
  (text) => rot13(base64(text)),
  decoded('hex', /[0-9a-f]{24,}/g),
  rot13,
  (text) => text.replace(/(?:%[0-9a-f]{2})+/g, decodeURIComponent),
  (text) => text.split('').toReversed().join(''),
  (text) => text.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code))),
  (text) => text.normalize('NFKC').replaceAll('\u3000', ' '),
  (text) =>
    text.replace(/[\u{e0020}-\u{e007e}]/gu, (tag) =>
      String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe0000),
    ),
  (text) => text.replaceAll(/\\(["\\])/g, '$1'),
]

function missing({ text }: Wording, goal: (typeof GOALS)[number]): readonly string[] {
  const readings = READINGS.map((read) => read(text(goal)))
  return goal.targets.filter((target) => !readings.some((reading) => reading.includes(target)))
}

describe('the wordings', () => {
  it.each(WORDINGS)('$family/$name carries every value of every goal', (wording) => {
    for (const goal of [FIXED, ...GOALS]) expect(missing(wording, goal)).toEqual([])
  })

  it('have names and texts of their own', () => {
    expect(new Set(WORDINGS.map(({ family, name }) => `${family}/${name}`)).size).toBe(WORDINGS.length)
    expect(new Set(WORDINGS.map(({ text }) => text(FIXED))).size).toBe(WORDINGS.length)
  })

  it('say the order in other languages without its English', () => {
    const foreign = WORDINGS.filter(({ family }) => LANGUAGES.includes(family))
    for (const { text, family } of foreign) {
      for (const goal of GOALS) expect(text(goal), family).not.toContain(goal.order.slice(1, 12))
    }
  })
})

interface Line {
  readonly kind: string
  readonly text: string
  readonly split?: string
}

function read(name: string): readonly Line[] {
  const text = readFileSync(new URL(`texts/${name}.jsonl`, folder), 'utf8')
  // Sound: the tests below look at the fields of every line.
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]))
}

const CORPORA = ['prose', 'code', 'security', 'languages', 'web']

describe('the texts', () => {
  const benign = CORPORA.flatMap(read)

  it('are many, of fair length, and each is there once', () => {
    expect(benign.length).toBeGreaterThanOrEqual(400)
    expect(new Set(benign.map(({ text }) => text)).size).toBe(benign.length)
    for (const { kind, text } of benign) {
      expect(kind).toMatch(/^[a-z][a-z-]*$/)
      expect(text.length, text.slice(0, 40)).toBeGreaterThanOrEqual(40)
      expect(text.length, text.slice(0, 40)).toBeLessThanOrEqual(1500)
    }
  })

  it('are in at least twelve languages besides English', () => {
    const languages = read('languages')
    expect(languages.length).toBeGreaterThanOrEqual(120)
    expect(new Set(languages.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(13)
  })

  it('name only hosts that are set aside for examples', () => {
    const addresses = benign.flatMap(({ text }) => text.match(/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g) ?? [])
    expect(addresses.length).toBeGreaterThan(50)
    expect(addresses.filter((each) => !/[@.]example(?:\.(?:org|net|com))?$/.test(each))).toEqual([])
  })

  it('with attacks in them are rendered from the wordings as they are', () => {
    expect(readFileSync(ATTACKS, 'utf8') === lines()).toBe(true)
    const attacks = read('attacks')
    expect(attacks.length).toBeGreaterThanOrEqual(120)
    expect(attacks.every(({ kind, split }) => splitOf(kind) === split)).toBe(true)
  })
})
