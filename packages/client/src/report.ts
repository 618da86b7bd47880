// Telling the gateway what an allowed call did. A report may be sent twice; it is recorded once.

import { canonicalize, sha256Hex, toBase64 } from '@tollgate/evidence'
import { jsonOf, problemIn } from './answer.ts'
import { TollgateError } from './error.ts'
import { attempt, delayAfter, isLost, pause, type Sent } from './exchange.ts'
import { sleep } from './host.ts'
import { id, object } from './reading.ts'
import type { Connection, Request } from './transport.ts'

/** What a tool did. */
export interface EffectReport {
  readonly status: 'COMPLETED' | 'FAILED'
  /**
   * What came out, of which the gateway records only the hash: of bytes as they are, of JSON data in its canonical form, of
   * anything else in the canonical form of what `JSON.stringify` makes of it, and of nothing if that fails or it is
   * undefined. Of more than 512 KiB, the hash of `{"bytes":…,"sha256":…}`.
   */
  readonly output?: unknown
}

/** That a report was taken. */
export interface Reported {
  /** Id of the effect's receipt; null if the answer that named it was lost, and only that it is recorded is known. */
  readonly receipt: string | null
}

const MAX_OUTPUT_BYTES = 512 << 10

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
  const committed = commit(output)
  let body = bodyOf(decision, status, committed)
  let uncertain = false
  for (let tried = 0; ; tried++) {
    const request: Request = { method: 'POST', path: '/v1/effects', body, signal }
    const sent = await attempt(connection, request)
    const taken = received(sent, uncertain)
    if (!(taken instanceof TollgateError)) return taken
    if (taken.status === 413 && committed && body !== bodyOf(decision, status, digestOf(committed))) {
      body = bodyOf(decision, status, digestOf(committed))
      continue
    }
    const delay = delayAfter(sent, tried) ?? (isUncertain(taken) ? pause(tried) : undefined)
    if (delay === undefined || tried >= connection.retries) throw taken
    uncertain ||= isUncertain(taken)
    await sleep(connection.host, delay, signal)
  }
}

/** What came of a report: it was taken, or what is wrong. */
function received(sent: Sent, uncertain: boolean): Reported | TollgateError {
  if (sent instanceof TollgateError) return sent
  if (sent.status !== 201) {
    const problem = problemIn(sent)
    // Refused because it is closed already; and an earlier one of ours may well have closed it.
    return uncertain && sent.status === 409 && problem.code === 'effect-refused' ? { receipt: null } : problem
  }
  try {
    return { receipt: id(object(jsonOf(sent), 'answer')['receipt'], 'receipt') }
  } catch (fault) {
    if (fault instanceof TollgateError) return fault
    throw fault
  }
}

/** Whether the report may have been taken all the same. */
function isUncertain(fault: TollgateError): boolean {
  const { status = 500 } = fault
  return isLost(fault) || status < 400 || status >= 500
}

/** What stands for the output in a report. */
interface Committed {
  readonly member: 'output' | 'output_base64'
  /** JSON text of the member. */
  readonly text: string
  /** What is hashed. */
  readonly content: Uint8Array | string
}

function bodyOf(decision: string, status: string, committed: Committed | undefined): string {
  const output = committed ? `,"${committed.member}":${committed.text}` : ''
  return `{"decision":${JSON.stringify(decision)},"status":${JSON.stringify(status)}${output}}`
}

function commit(output: unknown): Committed | undefined {
  const content = contentOf(output)
  if (content === undefined) return undefined
  const committed: Committed =
    typeof content === 'string'
      ? { member: 'output', text: content, content }
      : { member: 'output_base64', text: `"${toBase64(content)}"`, content }
  return committed.text.length > MAX_OUTPUT_BYTES ? digestOf(committed) : committed
}

function digestOf({ content }: Committed): Committed {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content).length : content.length
  const text = canonicalize({ bytes, sha256: sha256Hex(content) })
  return { member: 'output', text, content: text }
}

function contentOf(output: unknown): Uint8Array | string | undefined {
  if (output === undefined) return undefined
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
    return JSON.parse(JSON.stringify(value))
  } catch {
    // A cycle, a bigint, a getter that throws: see above.
    return undefined
  }
}
