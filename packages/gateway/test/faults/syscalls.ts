// Injects faults into single system calls of a gateway with strace: every write and sync of opening, recovery, appending,
// checkpointing and closing.

import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fsckLedger } from '../../src/open.ts'
import { createAudit, readJournal, type Line } from './audit.ts'
import { readySite } from './kill.ts'
import { copySite, removeSite, runLoad, startLoad, tell, unable, type LoadOptions } from './rig.ts'
import { ask, newFolder, type Site } from '../gateway-rig.ts'

/** Why faults cannot be injected here; undefined if they can. */
export function noStrace(): string | undefined {
  return unable('strace', '-f', '-qq', '--seccomp-bpf', '-e', 'trace=fsync', 'true')
}

/** The files of a ledger, by path suffix. */
const FILES = {
  log: 'data/ledger.sqlite-wal',
  file: 'data/ledger.sqlite',
  memory: 'data/ledger.sqlite-shm',
  directory: 'data',
  guard: 'heads',
} as const
export type FileOf = keyof typeof FILES

/** A fault: the call, the file, the injected error and the position. */
export interface Point {
  readonly call: string
  readonly on: FileOf
  /** In strace syntax: `error=EIO`, `signal=KILL`, `retval=100`. */
  readonly fault: string
  readonly nth: number
}

/** A ledger to inject faults into, and its acknowledged receipts. */
export interface Template {
  readonly site: Site
  readonly lines: readonly Line[]
  readonly steps: Pick<LoadOptions, 'count' | 'pause'>
}

/** The result of a fault. */
export interface Finding {
  readonly point: Point
  /**
   * `unreached`: there are fewer such calls. `told`: no call was denied, but a reader of the ledger got an error. `survived`:
   * no error was reported.
   */
  readonly outcome: 'unreached' | 'refused' | 'denied' | 'killed' | 'closing' | 'told' | 'survived'
  /** The message for people. */
  readonly reason: string
  readonly followed: number
  readonly after: number
  readonly violations: readonly string[]
}

/** The effects of a fault in a trace. */
export interface Strike {
  /** The number of acknowledgements and tool runs after it. */
  readonly followed: number
  /** How many of them may depend on a write of the faulty thread after the fault. */
  readonly after: number
  /** Whether the writer may have had the fault. */
  readonly writer: boolean
}

// One page of the write-ahead log, with its header.
const FRAME = 4120

/** A ledger that was killed with open calls and this many frames in its write-ahead log. */
export async function createTemplate(frames: number, steps: Template['steps']): Promise<Template> {
  const site = await readySite()
  const { child, journal, ended } = startLoad(site, { mode: 'steps', count: 1_000_000 })
  const log = join(site.config.data, 'ledger.sqlite-wal')
  while (child.exitCode === null && (!existsSync(log) || statSync(log).size < frames * FRAME)) await sleep(2)
  child.kill('SIGKILL')
  await ended
  return { site, lines: readJournal(journal), steps }
}

/** How often a call is made on a file without faults. */
export async function countCalls({ site, steps }: Template, call: string, on: FileOf): Promise<number> {
  const copy = await copySite(site)
  const { trace } = await traced(copy, steps, call, on)
  removeSite(copy)
  return trace.filter((line) => line.includes(` ${call}(`)).length
}

/** Runs a gateway under strace. Returns its journal and all calls of one kind on one file, in order. */
export async function traced(
  { config, ...site }: Site,
  steps: Template['steps'],
  call: string,
  on: FileOf,
  fault?: string,
): Promise<{ lines: readonly Line[]; code: number | string; stderr: string; trace: readonly string[] }> {
  const folder = newFolder()
  const [log, journal] = [join(folder, 'trace'), join(folder, 'journal')]
  const under = ['strace', '-f', '-y', '-qq', '-s', '20', '-o', log]
  // strace 6.1 loses injected signals with the fast filter.
  if (fault?.startsWith('signal') !== true) under.push('--seccomp-bpf')
  const files = [on]
  const calls = ['writev', call]
  if (reads(call)) {
    // For `strikeIn`. Neither is ever read with this call, so no fault is misplaced.
    files.push('memory', 'directory')
    calls.push('fcntl', 'fsync')
  }
  for (const file of files) under.push('-P', join(config.data, '..', FILES[file]))
  under.push('-e', `trace=${calls.join(',')}`)
  // Opening the journal must not fail.
  if (call !== 'openat') under.push('-P', journal)
  if (fault !== undefined) under.push('-e', `inject=${call}:${fault}`)
  const run = await runLoad({ config, ...site }, { mode: 'steps', ...steps, under, journal })
  const trace = readFileSync(log, 'utf8').split('\n')
  rmSync(log)
  return { ...run, trace }
}

function reads(call: string): boolean {
  return call === 'pread64'
}

// strace counts per thread, so one number can strike several threads.
const STRUCK = /\(INJECTED|\(DELAYED|killed by/
const ACKNOWLEDGED = /journal>, .*"\[\\"[AD]\\"/
// SQLite's write lock on the log: taken before every commit and released before the commit returns.
const WRITE_LOCK = /fcntl\(\d+<[^>]*-shm>.* l_start=120,/
// Only the writer does this, when it opens the ledger.
const DIRECTORY_SYNC = /fsync\(\d+<[^>]*\/data>/

/**
 * The effects of the faults in a trace; undefined if there was none.
 *
 * After a failed write or sync, everything that follows counts: neither its batch nor a later one may be acknowledged. A
 * failed read concerns only the commits of its thread after the fault: earlier commits of the writer may still be in
 * delivery. So the count starts where that thread takes or releases the write lock, because no commit can end after the fault
 * without that. The sync is not used as the start: a commit without a sync would go unnoticed, and a fault in the file shows
 * no sync of the log.
 */
export function strikeIn(trace: readonly string[], call: string): Strike | undefined {
  const hits = trace.flatMap((line, at) => (STRUCK.test(line) ? [{ at, thread: threadOf(line) }] : []))
  const [first] = hits
  if (!first) return undefined
  const acknowledgedFrom = (at: number): number =>
    trace.slice(at).filter((line) => ACKNOWLEDGED.test(line)).length
  const followed = acknowledgedFrom(first.at)
  if (!reads(call)) return { followed, after: followed, writer: true }
  const writes = (line: string, at: number): boolean =>
    WRITE_LOCK.test(line) && hits.some((hit) => hit.at < at && hit.thread === threadOf(line))
  const written = trace.findIndex(writes)
  const opened = trace.find((line) => DIRECTORY_SYNC.test(line))
  return {
    followed,
    after: written < 0 ? 0 : acknowledgedFrom(written),
    writer: opened === undefined || hits.some(({ thread }) => thread === threadOf(opened)),
  }
}

/** With `-f`, each line begins with the thread id. */
function threadOf(line: string): string {
  return line.slice(0, line.indexOf(' '))
}

/** Injects one fault, and checks all invariants afterwards. */
export async function inject(template: Template, point: Point, fsck: boolean): Promise<Finding> {
  const { site, lines: before, steps } = template
  const copy = await copySite(site)
  const audit = createAudit(copy)
  const { call, on, fault, nth } = point
  const { lines, code, stderr, trace } = await traced(copy, steps, call, on, `${fault}:when=${nth}`)
  const strike = strikeIn(trace, call)
  await audit.check([...before, ...lines])
  if (!/^(?:0|3|SIGKILL)$/.test(String(code))) audit.violations.push(`it crashed: ${code} ${stderr}`)
  const spoken = spokenAfterEnd(lines, strike?.writer === false ? /^[AD]$/ : /^[ADC]$/)
  if (spoken) audit.violations.push(`after the ledger was given up there was still: ${spoken.join(' ')}`)
  await goOn(copy, audit.violations)
  await audit.check([])
  if (fsck) {
    const { problems } = await fsckLedger(copy.config, () => undefined)
    for (const problem of problems) audit.violations.push(`fsck: ${JSON.stringify(problem)}`)
  }
  removeSite(copy)
  const outcome = strike ? outcomeOf(lines, code) : 'unreached'
  const { followed, after } = strike ?? { followed: 0, after: 0 }
  return { point, outcome, reason: reasonIn(lines), followed, after, violations: audit.violations }
}

function outcomeOf(lines: readonly Line[], code: number | string): Finding['outcome'] {
  const said = new Set(lines.map(([what]) => what))
  if (code === 'SIGKILL') return 'killed'
  if (said.has('X')) return 'refused'
  if (said.has('N') || said.has('T') || said.has('P')) return 'denied'
  if (said.has('Y')) return 'closing'
  return said.has('V') ? 'told' : 'survived'
}

function reasonIn(lines: readonly Line[]): string {
  const said =
    lines.find(([what]) => what === 'X' || what === 'P' || what === 'Y') ??
    lines.find(([what]) => what === 'V')
  return said ? said.slice(1).join(' ') : ''
}

/**
 * After a denial because of the ledger, nothing is acknowledged or run. Checkpoints belong to the writer: if it has not
 * failed, it signs durable entries, and the audit compares each checkpoint with the entries.
 */
function spokenAfterEnd(lines: readonly Line[], forbidden: RegExp): Line | undefined {
  const first = lines.findIndex(
    ([what, why]) => (what === 'N' && why === 'LEDGER_UNAVAILABLE') || what === 'T',
  )
  return first < 0 ? undefined : lines.slice(first).find(([what]) => forbidden.test(String(what)))
}

/** A new start without faults: it opens, decides and closes. */
async function goOn(site: Site, violations: string[]): Promise<void> {
  try {
    const gateway = await site.open()
    const { decided } = await ask(gateway)
    if (decided.verdict !== 'ALLOW') violations.push(`a call after the fault is denied: ${decided.reason}`)
    await gateway.close()
  } catch (cause) {
    violations.push(`the next start fails: ${String(cause)}`)
  }
}

/** Injects many faults, a few at a time. Returns the result of each, and the counts by outcome. */
export async function sweep(
  battery: string,
  template: Template,
  points: readonly Point[],
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const left = points.map((point, i) => ({ point, fsck: i % 8 === 0 }))
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift())
      findings.push(await inject(template, next.point, next.fsck))
  }
  await Promise.all([work(), work(), work()])
  const counts: Record<string, number> = {}
  for (const { outcome } of findings) counts[outcome] = (counts[outcome] ?? 0) + 1
  const violations = findings.flatMap((finding) => wrongIn(finding)).length
  tell(battery, { points: points.length, ...counts, violations })
  return findings
}

/** The problem with the outcome of a fault. */
export function wrongIn({ point, outcome, reason, followed, after, violations }: Finding): readonly string[] {
  const where = `${point.call} ${point.nth} of the ${point.on}, ${point.fault}`
  const wrong = violations.map((violation) => `${where}: ${violation}`)
  // SQLite retries after EINTR. After a kill there is no message.
  const noticed = point.fault.startsWith('error=') && point.fault !== 'error=EINTR'
  if (outcome === 'unreached' || !noticed) return wrong
  if (outcome === 'survived' && followed > 0)
    wrong.push(`${where}: the fault went unnoticed, and ${followed} things followed`)
  else if (after > 0) wrong.push(`${where}: ${after} things were acknowledged or run afterwards`)
  if (outcome !== 'survived' && !NAMED.test(reason))
    wrong.push(`${where}: the reason is not named: ${reason}`)
  return wrong
}

const NAMED = /I\/O error|the disk is full|is damaged|cannot be opened|is read-only|did not respond/

/** `count` evenly spread numbers from 1 to `most`; all of them if there are no more. */
export function spread(most: number, count: number): readonly number[] {
  if (most <= count) return Array.from({ length: most }, (_, i) => i + 1)
  return Array.from({ length: count }, (_, i) => 1 + Math.floor((i * most) / count))
}

/** Enough steps to move the log into the file at least once. */
export const UNTIL_MOVED: Template['steps'] = { count: 700 }
