// `tollgate threat scan`: what the threat scanner finds in texts, as lines of JSON. Needs no data directory and no gateway.

import { once } from 'node:events'
import process from 'node:process'
import type { Json } from '@tollgate/evidence'
import { scanText, type Severity, type ThreatFinding } from '@tollgate/kernel/detection'
import { isObject } from '../../tools/offer.ts'
import { linesOf, partsOf, piecesOf, STDIN, type InputLine } from './threat-scan-input.ts'
import { lineOf, reportOf, ThreatTally, type TextPlace, type Reported } from './threat-scan-report.ts'
import { CommandError, complain, UsageError, type Terminal } from '../program/terminal.ts'

/** How a file is read: as one text, or a record a line. */
type Format = 'text' | 'jsonl'

interface ThreatScanOptions {
  readonly format?: Format
  readonly severity: Severity
  readonly show?: boolean
  readonly summary?: boolean
}

/** Scans files, or standard input: 0 if nothing is flagged, 1 if something is, 2 if something cannot be read. */
export async function runScan(
  terminal: Terminal,
  options: ThreatScanOptions,
  ...given: readonly string[]
): Promise<number> {
  const files = given.length > 0 ? given : [STDIN]
  if (files.filter((file) => file === STDIN).length > 1)
    throw new UsageError('`-` is standard input, and can be read once')
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

/** Waits for a slow reader: there may be very many lines. */
async function print(line: string): Promise<void> {
  if (!process.stdout.write(line)) await once(process.stdout, 'drain')
}

/** A scan of several files. */
export interface Scan {
  readonly options: Pick<ThreatScanOptions, 'format' | 'severity' | 'show'>
  readonly tally: ThreatTally
  /** Files and lines that could not be read: what is in them is not known. */
  unreadable: number
}

/** What is told of each record of a file. What cannot be read is said, counted, and passed over. */
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
    complain(
      new CommandError(`\`${file}\` cannot be read: ${whyOf(fault)}`, 'look at its path, and at the file'),
    )
  }
}

function whyOf(fault: unknown): string {
  // Sound: the member is tested before use.
  const { code } = fault as NodeJS.ErrnoException
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EISDIR') return 'it is a directory'
  if (code === 'EACCES' || code === 'EPERM') return 'this user may not read it'
  if (code?.startsWith('Z_') === true) return 'it is no gzip file, or its end is missing'
  return code ?? 'something went wrong'
}

interface OpenedInput {
  readonly format: Format
  readonly pieces: AsyncIterable<string>
}

// The first line is looked at; a longer one is no record.
const MAX_LOOK = 1 << 20

/** Finds out how a file is to be read: by its first line that is not empty. */
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
    if (!done && !isWhole && head.length < MAX_LOOK && (first === '' || first.startsWith('{'))) continue
    const found = recordOf(isWhole ? first.slice(0, first.indexOf('\n')) : first) ? 'jsonl' : 'text'
    return { format: found, pieces: again(head, iterator, done) }
  }
}

async function* again(head: string, rest: AsyncIterator<string>, isDone: boolean): AsyncGenerator<string> {
  yield head
  if (!isDone) yield* { [Symbol.asyncIterator]: () => rest }
}

interface RecordedText {
  readonly text: string
  readonly id?: string | number
}

/** The record that a line holds; undefined if it holds none. */
function recordOf(line: string): RecordedText | undefined {
  let value: Json
  try {
    // Sound: what was parsed is JSON.
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
      sayBroken(file, line, scan)
      continue
    }
    const { text, ...id } = record
    const findings = scanText(text)
    yield told({ file, line: line.number, ...id }, findings, scan, (start, end) => text.slice(start, end))
  }
}

function sayBroken(file: string, { ok, number }: InputLine, scan: Scan): void {
  scan.unreadable++
  const what = ok ? 'the line is no JSON object with a string `text`' : 'the line is too long'
  complain(
    new CommandError(
      `${file}:${number}: ${what}; it was not scanned`,
      'mend the line, or read the file as one text with `--format text`',
    ),
  )
}

type Quote = (start: number, end: number) => string

function told(place: TextPlace, findings: readonly ThreatFinding[], scan: Scan, quote: Quote): Reported {
  const { severity: least, show } = scan.options
  scan.tally.add(findings)
  return reportOf(place, findings, show === true ? { least, quote } : { least })
}

// Enough to know what a file is; the worst are kept.
const MAX_FINDINGS = 4096

/** A file is one record, however long it is. */
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
  yield told({ file }, findings, scan, (start, end) => quotes.get(`${start} ${end}`) ?? '')
}

/** Whether a finding was found already in the part before. */
function isWithin(found: ThreatFinding, other: ThreatFinding): boolean {
  return found.code === other.code && found.start >= other.start && found.end <= other.end
}

const GRADES: Readonly<Record<Severity, number>> = { low: 0, medium: 1, high: 2 }

function worst(findings: readonly ThreatFinding[]): ThreatFinding[] {
  return [...findings]
    .sort((a, b) => GRADES[b.severity] - GRADES[a.severity])
    .slice(0, MAX_FINDINGS >> 1)
    .sort((a, b) => a.start - b.start)
}
