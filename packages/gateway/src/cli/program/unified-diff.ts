// Edits of a text by position, and their unified diff.

import { shown } from './table.ts'
import type { Colors } from './terminal.ts'

/** Replaces a part of a text. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Applies edits that do not overlap. Everything else stays as it is, byte for byte. */
export function edited(text: string, edits: readonly Edit[]): string {
  let result = ''
  let at = 0
  for (const { start, end, text: added } of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    result += text.slice(at, start) + added
    at = end
  }
  return result + text.slice(at)
}

/** Lines of the old text that change, and the number of lines that they gain. */
interface Block {
  readonly from: number
  readonly to: number
  readonly gain: number
}

const CONTEXT = 2
const MAX_WIDTH = 400

/** Returns the diff. `masks` hide values and must not change lines. */
export function unifiedDiff(
  file: string,
  text: string,
  edits: readonly Edit[],
  masks: readonly Edit[],
  paint: Colors,
): string {
  const apart = masks.filter((mask) => !edits.some((each) => each.start < mask.end && mask.start < each.end))
  const before = edited(text, apart).split('\n')
  const after = edited(text, [...edits, ...apart]).split('\n')
  const head = [paint.bold(`--- ${shown(file)}`), paint.bold(`+++ ${shown(file)}`)]
  let shift = 0
  const hunks = grouped(blocksOf(text, edits)).flatMap((blocks) => {
    const lines = hunk(blocks, before, after, shift, paint)
    shift += blocks.reduce((sum, { gain }) => sum + gain, 0)
    return lines
  })
  return [...head, ...hunks].join('\n')
}

function blocksOf(text: string, edits: readonly Edit[]): readonly Block[] {
  const lineAt = (at: number): number => newlines(text.slice(0, at))
  const blocks: Block[] = []
  for (const { start, end, text: added } of edits.toSorted((a, b) => a.start - b.start)) {
    const gain = newlines(added) - newlines(text.slice(start, end))
    const block = { from: lineAt(start), to: lineAt(end), gain }
    const last = blocks.at(-1)
    if (last && block.from <= last.to) {
      blocks[blocks.length - 1] = { from: last.from, to: Math.max(last.to, block.to), gain: last.gain + gain }
    } else blocks.push(block)
  }
  return blocks
}

function newlines(text: string): number {
  return text.split('\n').length - 1
}

/** Puts blocks together whose surroundings touch. */
function grouped(blocks: readonly Block[]): readonly (readonly Block[])[] {
  const groups: Block[][] = []
  for (const block of blocks) {
    const last = groups.at(-1)?.at(-1)
    if (last && block.from - last.to <= 2 * CONTEXT) groups.at(-1)?.push(block)
    else groups.push([block])
  }
  return groups
}

function hunk(
  blocks: readonly Block[],
  before: readonly string[],
  after: readonly string[],
  shift: number,
  paint: Colors,
): readonly string[] {
  const from = Math.max(0, (blocks[0]?.from ?? 0) - CONTEXT)
  const to = Math.min(before.length - 1, (blocks.at(-1)?.to ?? 0) + CONTEXT)
  const lines: string[] = []
  let at = from
  let moved = shift
  const same = (end: number): void => {
    for (; at < end; at++) lines.push(`  ${lineText(before[at])}`)
  }
  for (const { from: first, to: last, gain } of blocks) {
    same(first)
    const gone = before.slice(first, last + 1)
    const come = after.slice(first + moved, last + 1 + moved + gain)
    const kept = sameAtEnd(gone, come)
    const [old, fresh] = [gone.slice(0, gone.length - kept), come.slice(0, come.length - kept)]
    lines.push(...old.map((line) => paint.red(`- ${lineText(line, fresh[0])}`)))
    lines.push(...fresh.map((line) => paint.green(`+ ${lineText(line, old[0])}`)))
    lines.push(...gone.slice(gone.length - kept).map((line) => `  ${lineText(line)}`))
    moved += gain
    at = last + 1
  }
  same(to + 1)
  const sizes = `@@ -${from + 1},${to - from + 1} +${from + 1 + shift},${to - from + 1 + moved - shift} @@`
  return [paint.cyan(sizes), ...lines]
}

function sameAtEnd(a: readonly string[], b: readonly string[]): number {
  let count = 0
  while (count < Math.min(a.length, b.length) && a.at(-1 - count) === b.at(-1 - count)) count++
  return count
}

/** A line without control characters. Of a long line, only the part that differs from `other` is shown. */
function lineText(line = '', other = ''): string {
  const [plain, against] = [line, other].map((each) => each.replace(/\r$/, '').replaceAll('\t', '    '))
  if (plain === undefined || against === undefined || plain.length <= MAX_WIDTH) return shown(plain ?? '')
  let start = 0
  while (start < against.length && plain[start] === against[start]) start++
  const from = Math.max(0, start - 60)
  const part = plain.slice(from, from + MAX_WIDTH)
  return shown(`${from > 0 ? '…' : ''}${part}${from + MAX_WIDTH < plain.length ? '…' : ''}`)
}
