// Writes one JSON line for each decision and each effect, if the operator has named a place for them. Lines wait in a bounded queue
// and never delay a call. Lines that find no place, or that cannot be written, are dropped and counted; a line says how many.

import type { Effect } from '@tollgate/evidence'
import type { Log } from '../log.ts'
import type { LogSink } from './line-sink.ts'
import type { SeenCall } from './meter.ts'

export interface DecisionLog {
  decided(call: SeenCall): void
  effect(effect: Pick<Effect, 'decision' | 'status' | 'reported_by'>): void
  /** Writes the remaining lines, for at most two seconds, and closes the sink. */
  stop(): Promise<void>
}

interface DecisionLogOptions {
  readonly sink: LogSink
  readonly log: Log
  /** Counts lines. */
  readonly count: (outcome: 'written' | 'dropped', lines: number) => void
  /** Milliseconds that the last lines have when the gateway stops. */
  readonly patience?: number
}

const MAX_WAITING = 4096
const MAX_AT_ONCE = 512
/** Longer names are cut, so that a caller cannot fill the memory with waiting lines. */
const MAX_NAME = 256
const PATIENCE = 2000
// A name comes from a caller, and a person reads the log on a terminal.
const UNSEEN = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

type LineFields = Readonly<Record<string, string | number | undefined>>

/** Starts to write lines into a sink. */
export function startDecisionLog(options: DecisionLogOptions): DecisionLog {
  const { sink, log, count, patience = PATIENCE } = options
  const waiting: string[] = []
  let writing: Promise<void> | undefined
  let lost = 0
  let failing = false

  function drop(lines: number): void {
    lost += lines
    count('dropped', lines)
  }

  function add(fields: LineFields): void {
    if (waiting.length >= MAX_WAITING) return drop(1)
    waiting.push(lineOf(fields))
    writing ??= writeAll().finally(() => (writing = undefined))
  }

  async function writeAll(): Promise<void> {
    // Calls that are decided at the same moment share a write.
    await Promise.resolve()
    while (waiting.length > 0) await writeBatch(waiting.splice(0, MAX_AT_ONCE))
  }

  async function writeBatch(batch: readonly string[]): Promise<void> {
    const reported = lost
    const gap = reported > 0 ? lineOf({ type: 'dropped', lines: reported }) : ''
    try {
      await sink.write(gap + batch.join(''))
      lost -= reported
      count('written', batch.length)
      if (failing) log('info', 'the decision log can be written again', { lost: reported })
      failing = false
    } catch (fault) {
      drop(batch.length)
      // One message for a whole time of failure.
      if (!failing) log('error', 'the decision log cannot be written; its lines are lost', reason(fault))
      failing = true
    }
  }

  return {
    decided: (call) => add(decisionFields(call)),
    effect: (effect) => add({ type: 'effect', ...effect }),
    async stop() {
      const rest = (async () => {
        await writing
        if (lost > 0 && !failing) await writeBatch([])
        await sink.close()
      })()
      await Promise.race([rest, pause(patience)])
      if (waiting.length > 0) {
        log('warn', 'lines of the decision log were lost at the end', { lines: waiting.length })
        drop(waiting.splice(0).length)
      }
    },
  }
}

function decisionFields(call: SeenCall): LineFields {
  const { door, assurance, tool, session, principal, decided, arrived, judged, recorded } = call
  const { verdict, reason, rung, rule, receipt, approval } = decided
  return {
    type: 'decision',
    ...{ receipt, verdict, reason_code: reason, gate: rung, rule, approval },
    ...{ door, assurance, principal, session, tool },
    decided_ms: rounded(judged - arrived),
    durable_ms: receipt === undefined ? undefined : rounded(recorded - judged),
  }
}

function lineOf(fields: LineFields): string {
  const entries = Object.entries({ time: new Date().toISOString(), ...fields }).map(([name, value]) => [
    name,
    typeof value === 'string' && value.length > MAX_NAME ? `${value.slice(0, MAX_NAME)}…` : value,
  ])
  const text = JSON.stringify(Object.fromEntries(entries))
  return `${text.replaceAll(UNSEEN, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}

function reason(fault: unknown): { readonly because: string } {
  // Sound: the member is tested before use.
  const { code } = (fault ?? {}) as NodeJS.ErrnoException
  return { because: typeof code === 'string' ? code : 'unknown' }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref())
}
