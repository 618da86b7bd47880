// `tollgate threat scan`: runs the threat scanner on texts and prints JSON lines. Needs no data directory and no gateway.

import { once } from 'node:events'
import process from 'node:process'
import type { Json } from '@tollgate/evidence'
import { scanText, type Severity, type ThreatFinding } from '@tollgate/kernel/detection'
import { isObject } from '../../tools/offer.ts'
import { linesOf, partsOf, piecesOf, STDIN, type InputLine } from './threat-scan-input.ts'
import { lineOf, reportOf, ThreatTally, type TextPlace, type Reported } from './threat-scan-report.ts'
import { CommandError, complain, UsageError, type Terminal } from '../program/terminal.ts'

type Format = 'text' | 'jsonl'

interface ThreatScanOptions {
  readonly format?: Format
  readonly severity: Severity
  readonly show?: boolean
  readonly summary?: boolean
}

/** Scans files or standard input. Returns 0 if nothing is flagged, 1 if something is, 2 if an input cannot be read. */
export async function runScan(
  terminal: Terminal,
  options: ThreatScanOptions,
  ...given: readonly string[]
): Promise<number> {
  const files = given.length > 0 ? given : [STDIN]
  if (files.filter((file) => file === STDIN).length > 1)
    throw new UsageError('`-` (standard input) can only be given once')
  if (files.includes(STDIN) && process.stdin.isTTY) terminal.say('reading standard input; end it with Ctrl-D')
  const scan: Scan = { options, tally: new ThreatTally(), unreadable: 0 }
  for (const file of files) {
    for await (const reported of scanned(file, piecesOf(file), scan)) await print(lineOf(reported))
  }
  const { tally, unreadable } = scan
  if (options.summary === true) {
    if (tally.table() !== '') terminal.line(tally.table())
    terminal.say(tally.sentence())
  }
  return unreadable > 0 ? 2 : tally.flagged > 0 ? 1 : 0
}

/** Writes a line and waits for a slow reader. */
async function print(line: string): Promise<void> {
  if (!process.stdout.write(line)) await once(process.stdout, 'drain')
}

/** A scan of several files. */
export interface Scan {
  readonly options: Pick<ThreatScanOptions, 'format' | 'severity' | 'show'>
  readonly tally: ThreatTally
  /** Number of files and lines that could not be read. */
  unreadable: number
}

/** Yields the report on each record of a file. Prints and counts unreadable input, and skips it. */
export async function* scanned(
  file: string,
  pieces: AsyncIterable<string>,
  scan: Scan,
): AsyncGenerator<Reported> {
  try {
    const opened = await open(pieces, scan.options.format)
    yield* opened.format === 'text' ? ofText(file, opened.pieces, scan) : ofLines(file, opened.pieces, scan)
  } catch (fault) {
    scan.unreadable++
    complain(new CommandError(`\`${file}\` cannot be read: ${whyOf(fault)}`, 'check the path and the file'))
  }
}

function whyOf(fault: unknown): string {
  // Sound: the member is tested before use.
  const { code } = fault as NodeJS.ErrnoException
  if (code === 'ENOENT') return 'the file does not exist'
  if (code === 'EISDIR') return 'it is a directory'
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied'
  if (code?.startsWith('Z_') === true) return 'it is not a complete gzip file'
  return code ?? 'unknown error'
}

interface OpenedInput {
  readonly format: Format
  readonly pieces: AsyncIterable<string>
}

// The format is detected from the first line. A line longer than this is not a record.
const MAX_FIRST_LINE = 1 << 20

/** Detects the input format from the first non-empty line. */
async function open(pieces: AsyncIterable<string>, format: Format | undefined): Promise<OpenedInput> {
  if (format) return { format, pieces }
  const iterator = pieces[Symbol.asyncIterator]()
  let head = ''
  for (;;) {
    const next: IteratorResult<string, unknown> = await iterator.next()
    const done = next.done === true
    if (next.done !== true) head += next.value
    const first = head.trimStart()
    const isWhole = first.includes('\n')
    if (!done && !isWhole && head.length < MAX_FIRST_LINE && (first === '' || first.startsWith('{'))) continue
    const found = recordOf(isWhole ? first.slice(0, first.indexOf('\n')) : first) ? 'jsonl' : 'text'
    return { format: found, pieces: resumed(head, iterator, done) }
  }
}

async function* resumed(head: string, rest: AsyncIterator<string>, isDone: boolean): AsyncGenerator<string> {
  yield head
  if (!isDone) yield* { [Symbol.asyncIterator]: () => rest }
}

interface RecordedText {
  readonly text: string
  readonly id?: string | number
}

/** Parses the record of a line; undefined if it is not one. */
function recordOf(line: string): RecordedText | undefined {
  let value: Json
  try {
    // Sound: a parsed value is JSON.
    value = JSON.parse(line) as Json
  } catch {
    return undefined
  }
  if (!isObject(value)) return undefined
  const { text, id } = value
  if (typeof text !== 'string') return undefined
  return typeof id === 'string' || typeof id === 'number' ? { text, id } : { text }
}

async function* ofLines(file: string, pieces: AsyncIterable<string>, scan: Scan): AsyncGenerator<Reported> {
  for await (const line of linesOf(pieces)) {
    if (line.ok && line.text.trim() === '') continue
    const record = line.ok ? recordOf(line.text) : undefined
    if (!record) {
      reportBroken(file, line, scan)
      continue
    }
    const { text, ...id } = record
    const findings = scanText(text)
    yield recordReport({ file, line: line.number, ...id }, findings, scan, (start, end) =>
      text.slice(start, end),
    )
  }
}

function reportBroken(file: string, { ok, number }: InputLine, scan: Scan): void {
  scan.unreadable++
  const what = ok ? 'the line is not a JSON object with a string `text`' : 'the line is too long'
  complain(
    new CommandError(
      `${file}:${number}: ${what}; it was not scanned`,
      'fix the line, or read the file as one text with `--format text`',
    ),
  )
}

type Quote = (start: number, end: number) => string

function recordReport(
  place: TextPlace,
  findings: readonly ThreatFinding[],
  scan: Scan,
  quote: Quote,
): Reported {
  const { severity: least, show } = scan.options
  scan.tally.add(findings)
  return reportOf(place, findings, show === true ? { least, quote } : { least })
}

// If there are more findings, only the most severe are kept.
const MAX_FINDINGS = 4096

/** Scans a file as one record of any length. */
async function* ofText(file: string, pieces: AsyncIterable<string>, scan: Scan): AsyncGenerator<Reported> {
  const quotes = new Map<string, string>()
  let findings: ThreatFinding[] = []
  for await (const { text, start } of partsOf(pieces)) {
    for (const found of scanText(text)) {
      const moved = { ...found, start: found.start + start, end: found.end + start }
      if (findings.some((each) => isWithin(moved, each))) continue
      findings.push(moved)
      if (scan.options.show === true)
        quotes.set(`${moved.start} ${moved.end}`, text.slice(found.start, found.end))
    }
    if (findings.length > MAX_FINDINGS) findings = worst(findings)
  }
  yield recordReport({ file }, findings, scan, (start, end) => quotes.get(`${start} ${end}`) ?? '')
}

/** Whether a finding was already found in the previous part. */
function isWithin(found: ThreatFinding, other: ThreatFinding): boolean {
  return found.code === other.code && found.start >= other.start && found.end <= other.end
}

const RANKS: Readonly<Record<Severity, number>> = { low: 0, medium: 1, high: 2 }

function worst(findings: readonly ThreatFinding[]): ThreatFinding[] {
  return [...findings]
    .sort((a, b) => RANKS[b.severity] - RANKS[a.severity])
    .slice(0, MAX_FINDINGS >> 1)
    .sort((a, b) => a.start - b.start)
}
