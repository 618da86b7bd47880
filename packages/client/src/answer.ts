// What came back from the gateway, and whether it can be believed to be an answer at all.

import { EvidenceError, isObject, parseJson, type Json, type JsonObject } from '@tollgate/evidence'
import { TollgateError } from './error.ts'
import type { Moment } from './host.ts'

/** What came back, whatever it is. */
export interface Answer {
  readonly status: number
  /** Media type, without parameters, in lower case. */
  readonly type: string
  readonly body: Uint8Array
  /** When the request was sent: the gateway decided no earlier. */
  readonly sent: Moment
  /** The gateway's own time when it answered, in milliseconds; undefined if it cannot be read. */
  readonly date: number | undefined
  /** How long the gateway asks to be left alone, in milliseconds. */
  readonly retryAfter: number | undefined
}

/** Longest answer that is read. */
export const MAX_ANSWER_BYTES: number = 8 << 20

/** The JSON of an answer that must be one of success. @throws TollgateError if it is none. */
export function jsonOf(answer: Answer): Json {
  requireSuccess(answer)
  if (answer.type !== 'application/json') throw strange(answer.status, 'it is not JSON')
  try {
    return parseJson(answer.body, { maxBytes: MAX_ANSWER_BYTES })
  } catch (cause) {
    throw strange(answer.status, 'it is not readable JSON', cause)
  }
}

/** The text of an answer that must be one of success. @throws TollgateError if it is none. */
export function textOf(answer: Answer): string {
  requireSuccess(answer)
  if (answer.type !== 'text/plain') throw strange(answer.status, 'it is not plain text')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(answer.body)
  } catch (cause) {
    throw strange(answer.status, 'it is not UTF-8', cause)
  }
}

/** @throws TollgateError what the gateway says is wrong, if it does not say that it worked. */
export function requireSuccess(answer: Answer): void {
  if (answer.status !== 200 && answer.status !== 201) throw problemIn(answer)
}

/** What the gateway says is wrong. */
export function problemIn({ status, type, body }: Answer): TollgateError {
  const problem = type === 'application/problem+json' ? readObject(body) : undefined
  const { code, title, detail, remedy } = problem ?? {}
  const known = typeof code === 'string' && /^[a-z0-9-]{1,64}$/.test(code)
  const message = [detail, title].find((text) => typeof text === 'string')
  return new TollgateError(
    known ? code : 'http-error',
    message ?? `the gateway answered with status ${status}`,
    {
      status,
      ...(typeof remedy === 'string' && { remedy }),
      ...(problem && { problem }),
    },
  )
}

function readObject(body: Uint8Array): JsonObject | undefined {
  try {
    const value = parseJson(body)
    return isObject(value) ? value : undefined
  } catch (fault) {
    if (fault instanceof EvidenceError) return undefined
    throw fault
  }
}

/** An answer that the gateway would not give. */
export function strange(status: number | undefined, problem: string, cause?: unknown): TollgateError {
  return new TollgateError('answer-invalid', `the answer is not one of a gateway: ${problem}`, {
    status,
    remedy: 'Look what stands between here and the gateway, and whether both are of the same version.',
    cause,
  })
}
