// `npm run plain`: counts old idioms in documents, in sentences that the packages say, and in their comments. `--list` prints each
// place, `--check` fails if there are more than CEILING allows. The numbers in CEILING may only fall.

import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript-api'
import { readTree, type Source } from './check-rooms.ts'
import { isShipped } from './house/tree.ts'
import { sourceOf } from './source.ts'

export const AREAS = ['docs', 'strings', 'comments'] as const
export type Area = (typeof AREAS)[number]

/** Hits per area and package. Lower a number when a change removes hits; never raise one. */
export const CEILING: Readonly<Record<Area, Readonly<Record<string, number>>>> = {
  docs: { project: 0, client: 0, evidence: 0, gateway: 0, kernel: 0, sentinel: 0 },
  // Both are entries of word lists that the scanner and the scope proposer match.
  strings: { client: 0, evidence: 0, gateway: 0, kernel: 2, sentinel: 0 },
  comments: { client: 0, evidence: 0, gateway: 0, kernel: 0, sentinel: 0 },
}

const IDIOMS: readonly (readonly [string, RegExp])[] = [
  ['nobody', /\bnobody\b/gi],
  ['somebody', /\bsomebody\b/gi],
  ['stands', /\b(?:stands|stood)\b/gi],
  ['goes on', /\b(?:goes|go|went)\s+on\b/gi],
  ['is told', /\b(?:is|are|was|were|be)\s+told\b/gi],
  ['come of', /\b(?:come|comes|came)\s+of\b/gi],
  ['anew', /\banew\b/gi],
  ['looked through', /\blooked\s+through\b/gi],
  ['lets pass', /\blets?\s+pass\b/gi],
]

/** A text that people read, with the line on which it begins. A heading may begin with "What". */
type Passage = Readonly<{ line: number; text: string; heading?: boolean }>

/** An idiom and its place. */
export type Hit = Readonly<{ path: string; line: number; idiom: string }>

/** The hits of one area of one package, among so many words. */
export type Count = Readonly<{ area: Area; of: string; words: number; hits: readonly Hit[] }>

/** Counts the idioms of a tree of files, by area and package. */
export function countIdioms(files: readonly Source[]): readonly Count[] {
  const counts = new Map<string, Count>()
  for (const { path, text } of files) {
    for (const area of AREAS) {
      const passages = PASSAGES[area](path, text)
      if (passages.length === 0) continue
      const of = /^packages\/([^/]+)\//.exec(path)?.[1] ?? 'project'
      const before = counts.get(`${area} ${of}`) ?? { area, of, words: 0, hits: [] }
      const hits = passages.flatMap((passage) => hitsIn(path, passage, area))
      const words = passages.reduce((sum, passage) => sum + wordsIn(passage.text), before.words)
      counts.set(`${area} ${of}`, { area, of, words, hits: [...before.hits, ...hits] })
    }
  }
  return [...counts.values()].sort((a, b) => AREAS.indexOf(a.area) - AREAS.indexOf(b.area))
}

/** The counts that are above the ceiling, each as one line. */
export function overCeiling(counts: readonly Count[], ceiling = CEILING): readonly string[] {
  return counts.flatMap(({ area, of, hits }) => {
    const most = ceiling[area][of] ?? 0
    return hits.length > most ? [`${area} ${of}: ${hits.length} old idioms, at most ${most} are allowed`] : []
  })
}

const PASSAGES: Readonly<Record<Area, (path: string, text: string) => readonly Passage[]>> = {
  docs: (path, text) => (path.endsWith('.md') ? proseIn(text) : []),
  strings: (path, text) => (path.endsWith('.ts') ? stringsIn(sourceOf(path, text)) : []),
  comments: (path, text) => (path.endsWith('.ts') ? commentsIn(sourceOf(path, text)) : []),
}

/** The prose of a document without its code. A page that is generated has none: its sentences are strings of the code. */
function proseIn(text: string): readonly Passage[] {
  if (text.includes('<!-- Made by `npm run docs`')) return []
  const prose = text
    .replaceAll(/^<!-- begin [\s\S]*?^<!-- end .*-->$/gm, blank)
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, blank)
    .replaceAll(/`[^`\n]*`/g, 'code')
    .replaceAll(/\]\([^)\n]*\)/g, ']')
  const passages: Passage[] = []
  for (const [i, line] of prose.split('\n').entries()) {
    const last = passages.at(-1)
    if (line.startsWith('|')) {
      for (const cell of line.split('|')) passages.push({ line: i + 1, text: cell })
    } else if (last === undefined || last.heading === true || /^\s*(?:$|#|[-*] |\d+\. )/.test(line)) {
      passages.push({
        line: i + 1,
        text: line.replace(/^\s*(?:[-*]|\d+\.) /, ''),
        heading: line.startsWith('#'),
      })
    } else {
      passages[passages.length - 1] = { ...last, text: `${last.text}\n${line}` }
    }
  }
  return passages.filter((passage) => wordsIn(passage.text) > 0)
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, '')
}

/** The literals that hold a sentence: four words or more. A value that is put into a template is one word. */
function stringsIn(source: ts.SourceFile): readonly Passage[] {
  const passages: Passage[] = []
  const visit = (node: ts.Node): void => {
    const text = ts.isStringLiteralLike(node)
      ? node.text
      : ts.isTemplateExpression(node)
        ? [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('value')
        : ''
    if (wordsIn(text) >= 4) passages.push({ line: lineAt(source, node.getStart(source)), text })
    ts.forEachChild(node, visit)
  }
  visit(source)
  return passages
}

/** The comments of a file; lines of `//` under each other are one. */
function commentsIn(source: ts.SourceFile): readonly Passage[] {
  const ranges = new Map<number, number>()
  const visit = (node: ts.Node): void => {
    const leading = ts.getLeadingCommentRanges(source.text, node.pos) ?? []
    const trailing = ts.getTrailingCommentRanges(source.text, node.end) ?? []
    for (const { pos, end } of [...leading, ...trailing]) ranges.set(pos, end)
    for (const child of node.getChildren(source)) if (!ts.isJSDoc(child)) visit(child)
  }
  visit(source)
  const joined: { pos: number; end: number }[] = []
  for (const [pos, end] of [...ranges].sort(([a], [b]) => a - b)) {
    const last = joined.at(-1)
    if (last && /^\n[ ]*$/.test(source.text.slice(last.end, pos))) last.end = end
    else joined.push({ pos, end })
  }
  return joined.map(({ pos, end }) => ({
    line: lineAt(source, pos),
    text: source.text.slice(pos, end).replaceAll(/^[ ]*(?:\/\/|\/\*\*?|\*\/|\*)|\*\/$/gm, ''),
  }))
}

function lineAt(source: ts.SourceFile, pos: number): number {
  return source.getLineAndCharacterOfPosition(pos).line + 1
}

function wordsIn(text: string): number {
  return (text.match(/\S*\p{L}\S*/gu) ?? []).length
}

function hitsIn(path: string, { line, text, heading }: Passage, area: Area): readonly Hit[] {
  const lineOf = (index: number): number => line + text.slice(0, index).split('\n').length - 1
  const at = (idiom: string, index: number): Hit => ({ path, line: lineOf(index), idiom })
  const idioms = IDIOMS.flatMap(([idiom, pattern]) =>
    [...text.matchAll(pattern)].map(({ index }) => at(idiom, index)),
  )
  const sentences = heading === true ? [] : [...text.matchAll(/[^\s.!?][^]*?(?:[.!?](?=\W*\s|\W*$)|$)/g)]
  const headless = sentences.filter(([sentence], i) => {
    // Messages begin in lower case.
    const begins = area === 'strings' && i === 0 ? /^\W*(?:what|who)\b/i : /^\W*(?:What|Who)\b/
    return begins.test(sentence) && !sentence.endsWith('?') && wordsIn(sentence) >= 4
  })
  return [...idioms, ...headless.map(({ index }) => at('headless What/Who', index))]
}

/** Words of names that the glossary replaced: `step` for rung, `action` for deed, `target` for aim, and so on. */
const RETIRED = new Set(
  'rung rungs deed deeds vigil tidings tires era visit heard aim scene veil bell rings earned longest'.split(
    ' ',
  ),
)

/** The names of files, types, functions and constants that have a retired word, each with its file. */
export function retiredNames(files: readonly Source[]): readonly string[] {
  return files.flatMap(({ path, text }) => {
    if (!path.endsWith('.ts')) return []
    const names = [posix.basename(path, '.ts'), ...declaredIn(sourceOf(path, text))]
    return names
      .filter((name) => partsOf(name).some((part) => RETIRED.has(part)))
      .map((name) => `${path}: ${name}`)
  })
}

function declaredIn(source: ts.SourceFile): readonly string[] {
  return source.statements.flatMap((statement) => {
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.map(({ name }) => name.getText(source))
    }
    const named = ts.isDeclarationStatement(statement) ? statement.name : undefined
    return named && ts.isIdentifier(named) ? [named.text] : []
  })
}

/** The words of a name: `aimOf` has `aim` and `of`, `NO_AIM` has `no` and `aim`. */
function partsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
}

/** The documents and the shipped code under a folder. */
export function readTexts(root: string): readonly Source[] {
  const code = readTree(root).filter(({ path }) => isShipped(path) && path.endsWith('.ts'))
  const packages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`)
  const pages = ['.', 'docs', 'examples', ...packages].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => posix.join(folder, name)),
  )
  const documents = pages.filter((path) => path.endsWith('.md'))
  return [...documents.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })), ...code]
}

function main(args: readonly string[]): void {
  const counts = countIdioms(readTexts(fileURLToPath(new URL('..', import.meta.url))))
  if (args.includes('--list')) {
    const places = counts.flatMap(({ area, hits }) => hits.map((hit) => ({ area, ...hit })))
    for (const { path, line, area, idiom } of places) console.log(`${path}:${line} ${area}: ${idiom}`)
  }
  for (const area of AREAS) {
    const own = counts.filter((count) => count.area === area)
    for (const { of, words, hits } of own) console.log(row(area, of, hits.length, words))
    const words = own.reduce((sum, count) => sum + count.words, 0)
    console.log(row(area, 'all', own.flatMap(({ hits }) => hits).length, words))
  }
  const over = args.includes('--check') ? overCeiling(counts) : []
  for (const line of over) console.error(line)
  if (over.length > 0) process.exitCode = 1
}

function row(area: string, of: string, hits: number, words: number): string {
  const rate = Math.round((hits / words) * 10_000)
  return `${area.padEnd(9)}${of.padEnd(9)}${String(hits).padStart(5)} in ${words} words, ${rate} per 10,000`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2))
