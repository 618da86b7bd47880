// Telling the gateway what an allowed call did. A report may be sent twice; it is recorded once.

import {
  canonicalize,
  sha256Hex,
  toBase64,
  type Effect,
  type Json,
  type JsonObject,
  type Receipt,
} from '@tollgate/evidence'
import { jsonOf, problemIn, strange } from './answer.ts'
import { TollgateError } from './error.ts'
import { attempt, delayAfter, exchange, isLost, pause, type Sent } from './exchange.ts'
import { sleep } from './host.ts'
import { id, listOf, object, text, word } from './reading.ts'
import { readEntry } from './entry.ts'
import type { Connection, Request } from './transport.ts'

/** What a tool did. */
export interface EffectReport {
  readonly status: 'COMPLETED' | 'FAILED'
  /**
   * What came out, which the gateway looks through and of which it records only the hash: of bytes as they are, of JSON data
   * in its canonical form, of anything else in the canonical form of what `JSON.stringify` makes of it, and of nothing if it is
   * undefined. Of more than 512 KiB, the hash of `{"bytes":…,"sha256":…}`; of what cannot be written as JSON, or holds
   * something that JSON does not show (a generator, a stream, a map, a function, an error), the same of nothing. What is known by such a digest is withheld where the policy has outputs looked through.
   */
  readonly output?: unknown
}

const DELIVERIES = ['full', 'redacted', 'withheld'] as const

/** That a report was taken, and what of the output may be handed on. */
export interface Reported {
  /** Id of the effect's receipt; null if the answer that named it was lost, and only that it is recorded is known. */
  readonly receipt: string | null
  /**
   * `full`: the output may be handed on as it is. `redacted`: only `output` of this may. `withheld`: nothing may; and neither
   * if it is null, because the answer was lost.
   */
  readonly delivery: (typeof DELIVERIES)[number] | null
  /** Classes of data that were found in it, or that the tool is declared to return. */
  readonly labels: readonly string[]
  /** What the threat scanner found in it. */
  readonly findings: readonly string[]
  /** What may be handed on in place of a `redacted` output; for bytes, their text. Missing if the answer was lost. */
  readonly output?: Json
}

const MAX_OUTPUT_BYTES = 512 << 10

/** A report as it is sent. */
interface Report {
  readonly decision: string
  readonly status: EffectReport['status']
  readonly committed: Committed | undefined
}

/**
 * Reports, and reports again if nobody knows whether the report arrived.
 *
 * @throws TollgateError if it could not be delivered, or was refused; or the reason of the signal.
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
    // Refused because it is closed already; and an earlier one of ours may well have closed it.
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

/** What came of a report: it was taken, or what is wrong. */
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
    throw strange(201, 'an output comes with what is redacted, and only then')
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
const MOST_EFFECTS = 10

/** What the ledger says of a report that arrived, and whose answer did not. What was redacted is lost with it. */
async function lookUp(
  connection: Connection,
  report: Report,
  signal: AbortSignal | undefined,
): Promise<Reported> {
  const query = { decision: report.decision, kind: 'effect', limit: MOST_EFFECTS }
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
    // That it is recorded is known, and nothing else: nothing may be handed on.
    if (fault instanceof TollgateError) return LOST
    throw fault
  }
}

/** Whether a receipt is on this report: a program with the same token could have made another. */
function isOn({ decision, status, committed }: Report, receipt: Receipt): receipt is Effect {
  return (
    receipt.kind === 'effect' &&
    receipt.decision === decision &&
    receipt.status === status &&
    (receipt.commit !== 'plain' || receipt.effect_hash === sha256Hex(committed?.content ?? ''))
  )
}

/** Whether the report may have been taken all the same. */
function isUncertain(fault: TollgateError): boolean {
  const { status = 500 } = fault
  return isLost(fault) || status < 400 || status >= 500
}

/** What stands for the output in a report. */
interface Committed {
  readonly member: 'output' | 'output_base64' | 'output_digest'
  /** JSON text of the member. */
  readonly text: string
  /** What is hashed. */
  readonly content: Uint8Array | string
}

function bodyOf({ decision, status, committed }: Report): string {
  const output = committed ? `,"${committed.member}":${committed.text}` : ''
  return `{"decision":${JSON.stringify(decision)},"status":${JSON.stringify(status)}${output}}`
}

function commit(output: unknown): Committed | undefined {
  if (output === undefined) return undefined
  const content = contentOf(output)
  // Nobody can look through it, so it must not pass for nothing.
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
    // The tool ran: that it gave something odd must not keep that from being reported.
    return undefined
  }
}

function lenient(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value, refuseOpaque))
  } catch {
    // A cycle, a bigint, a getter that throws, something opaque: see above.
    return undefined
  }
}

/** JSON shows nothing of a generator, a stream or a map, nor what an error says. What it does not show has not been inspected. */
function refuseOpaque(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  // As it was before its own `toJSON`, too.
  if (isOpaque(value) || this[key] instanceof Error) throw new TypeError('JSON does not show what is in it')
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
