// Reports the effect of an allowed call. A report can be sent twice; it is recorded once.

import {
  canonicalize,
  sha256Hex,
  toBase64,
  type Effect,
  type Json,
  type JsonObject,
  type Receipt,
} from '@tollgate/evidence'
import { jsonOf, problemIn, invalidAnswer } from './answer.ts'
import { TollgateError } from './error.ts'
import { attempt, delayAfter, exchange, isLost, pause, type Sent } from './exchange.ts'
import { sleep } from './host.ts'
import { id, listOf, object, text, word } from './reading.ts'
import { readEntry } from './entry.ts'
import type { Connection, Request } from './transport.ts'

/** The effect of a call. */
export interface EffectReport {
  readonly status: 'COMPLETED' | 'FAILED'
  /**
   * The output of the tool. The gateway inspects it and records only its hash. Bytes are sent as they are, JSON data in canonical
   * form, other values as `JSON.stringify` writes them, in canonical form. For `undefined` nothing is sent.
   *
   * Only a digest `{"bytes":…,"sha256":…}` is sent for more than 512 KiB, and for values that JSON cannot show (a generator, a stream,
   * a map, a function, an error). An output with only a digest is withheld if the policy inspects outputs.
   */
  readonly output?: unknown
}

const DELIVERIES = ['full', 'redacted', 'withheld'] as const

/** The answer to a report: its receipt and what may be forwarded. */
export interface Reported {
  /** Id of the effect's receipt; null if the effect is recorded but the answer was lost. */
  readonly receipt: string | null
  /**
   * `full`: forward the output as it is. `redacted`: forward only `output` of this answer. `withheld` or null (the answer was
   * lost): forward nothing.
   */
  readonly delivery: (typeof DELIVERIES)[number] | null
  /** Labels of the data in it, found or declared for the tool. */
  readonly labels: readonly string[]
  /** Findings of the threat scanner in it. */
  readonly findings: readonly string[]
  /** The redacted output; text if the output was bytes. Missing if the answer was lost. */
  readonly output?: Json
}

const MAX_OUTPUT_BYTES = 512 << 10

/** A report to send. */
interface Report {
  readonly decision: string
  readonly status: EffectReport['status']
  readonly committed: Committed | undefined
}

/**
 * Sends a report, and retries if it is unknown whether it arrived.
 *
 * @throws TollgateError if it could not be delivered or was refused; or the reason of the signal.
 */
export async function reportEffect(
  connection: Connection,
  decision: string,
  { status, output }: EffectReport,
  signal?: AbortSignal,
): Promise<Reported> {
  let report: Report = { decision, status, committed: commit(output) }
  let uncertain = false
  for (let tried = 0; ; tried++) {
    const request: Request = { method: 'POST', path: '/v1/effects', body: bodyOf(report), signal }
    const sent = await attempt(connection, request)
    const taken = received(sent)
    if (!(taken instanceof TollgateError)) return taken
    // The effect is already closed, probably by an earlier try.
    if (uncertain && taken.code === 'effect-refused') return lookUp(connection, report, signal)
    if (taken.status === 413 && report.committed && report.committed.member !== 'output_digest') {
      report = { ...report, committed: digestOf(report.committed) }
      continue
    }
    const delay = delayAfter(sent, tried) ?? (isUncertain(taken) ? pause(tried) : undefined)
    if (delay === undefined || tried >= connection.retries) throw taken
    uncertain ||= isUncertain(taken)
    await sleep(connection.host, delay, signal)
  }
}

/** The accepted report, or the error. */
function received(sent: Sent): Reported | TollgateError {
  if (sent instanceof TollgateError) return sent
  if (sent.status !== 201) return problemIn(sent)
  try {
    return readReported(object(jsonOf(sent), 'answer'))
  } catch (fault) {
    if (fault instanceof TollgateError) return fault
    throw fault
  }
}

function readReported(answer: JsonObject): Reported {
  const { output } = answer
  const delivery = word(...DELIVERIES)(answer['delivery'], 'delivery')
  if ((delivery === 'redacted') !== (output !== undefined)) {
    throw invalidAnswer(201, 'it must have an output if it is redacted, and only then')
  }
  return {
    receipt: id(answer['receipt'], 'receipt'),
    delivery,
    labels: listOf(text)(answer['labels'], 'labels'),
    findings: listOf(text)(answer['findings'], 'findings'),
    ...(output !== undefined && { output }),
  }
}

const LOST: Reported = { receipt: null, delivery: null, labels: [], findings: [] }
const MAX_EFFECTS = 10

/** Looks up the effect in the ledger after a lost answer. The redacted output is lost. */
async function lookUp(
  connection: Connection,
  report: Report,
  signal: AbortSignal | undefined,
): Promise<Reported> {
  const query = { decision: report.decision, kind: 'effect', limit: MAX_EFFECTS }
  try {
    const answer = await exchange(connection, { method: 'GET', path: '/v1/receipts', query, signal })
    const entries = listOf(readEntry)(object(jsonOf(answer), 'answer')['receipts'], 'receipts')
    const [found] = entries.flatMap(({ id: receipt, receipt: effect }) =>
      isOn(report, effect) ? [{ receipt, effect }] : [],
    )
    if (!found) return LOST
    const { delivery, labels = [], findings = [] } = found.effect
    return { receipt: found.receipt, delivery, labels, findings }
  } catch (fault) {
    // The effect is recorded, but nothing else is known, so nothing may be forwarded.
    if (fault instanceof TollgateError) return LOST
    throw fault
  }
}

/** Whether a receipt is for this report. Another program with the same token could have reported too. */
function isOn({ decision, status, committed }: Report, receipt: Receipt): receipt is Effect {
  return (
    receipt.kind === 'effect' &&
    receipt.decision === decision &&
    receipt.status === status &&
    (receipt.commit !== 'plain' || receipt.effect_hash === sha256Hex(committed?.content ?? ''))
  )
}

/** Whether the gateway may have accepted the report despite the error. */
function isUncertain(fault: TollgateError): boolean {
  const { status = 500 } = fault
  return isLost(fault) || status < 400 || status >= 500
}

/** The output in a report. */
interface Committed {
  readonly member: 'output' | 'output_base64' | 'output_digest'
  /** JSON text of the member. */
  readonly text: string
  /** The hashed content. */
  readonly content: Uint8Array | string
}

function bodyOf({ decision, status, committed }: Report): string {
  const output = committed ? `,"${committed.member}":${committed.text}` : ''
  return `{"decision":${JSON.stringify(decision)},"status":${JSON.stringify(status)}${output}}`
}

function commit(output: unknown): Committed | undefined {
  if (output === undefined) return undefined
  const content = contentOf(output)
  // It cannot be inspected, so it must not count as no output.
  if (content === undefined) return digestOf({ content: '' })
  const committed: Committed =
    typeof content === 'string'
      ? { member: 'output', text: content, content }
      : { member: 'output_base64', text: `"${toBase64(content)}"`, content }
  return committed.text.length > MAX_OUTPUT_BYTES ? digestOf(committed) : committed
}

function digestOf({ content }: Pick<Committed, 'content'>): Committed {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content).length : content.length
  const text = canonicalize({ bytes, sha256: sha256Hex(content) })
  return { member: 'output_digest', text, content: text }
}

function contentOf(output: unknown): Uint8Array | string | undefined {
  if (output instanceof Uint8Array) return Uint8Array.from(output)
  if (output instanceof ArrayBuffer) return new Uint8Array(output.slice(0))
  return canonical(output) ?? canonical(lenient(output))
}

function canonical(value: unknown): string | undefined {
  try {
    return canonicalize(value, { maxLength: 64 << 20 })
  } catch {
    // The tool ran, so its effect must be reported even if the output is not JSON.
    return undefined
  }
}

function lenient(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value, refuseOpaque))
  } catch {
    // A cycle, a bigint, a getter that throws, or an opaque value.
    return undefined
  }
}

/** Refuses values whose content JSON does not show, because that content could not be inspected. */
function refuseOpaque(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  // Also checks the value before its `toJSON`.
  if (isOpaque(value) || this[key] instanceof Error)
    throw new TypeError('JSON does not show the content of a value')
  return value
}

function isOpaque(value: unknown): boolean {
  if (typeof value === 'function') return true
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  if (Symbol.asyncIterator in value || Symbol.iterator in value) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  const plain = prototype === null || prototype === Object.prototype
  return !plain && Object.keys(value).length === 0
}
