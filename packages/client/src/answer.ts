// Reads answers of the gateway and checks that they have the expected form.

import { EvidenceError, isObject, parseJson, type Json, type JsonObject } from '@tollgate/evidence'
import { TollgateError } from './error.ts'
import type { Moment } from './host.ts'

/** An HTTP answer. */
export interface Answer {
  readonly status: number
  /** Media type, without parameters, in lower case. */
  readonly type: string
  readonly body: Uint8Array
  /** When the request was sent. */
  readonly sent: Moment
  /** The `Date` header in milliseconds; undefined if it cannot be read. */
  readonly date: number | undefined
  /** The `Retry-After` header in milliseconds. */
  readonly retryAfter: number | undefined
}

/** Maximum size of an answer. */
export const MAX_ANSWER_BYTES: number = 8 << 20

/** The JSON of a successful answer. @throws TollgateError if the answer is not successful or not JSON. */
export function jsonOf(answer: Answer): Json {
  requireSuccess(answer)
  if (answer.type !== 'application/json') throw invalidAnswer(answer.status, 'it is not JSON')
  try {
    return parseJson(answer.body, { maxBytes: MAX_ANSWER_BYTES })
  } catch (cause) {
    throw invalidAnswer(answer.status, 'it is not readable JSON', cause)
  }
}

/** The text of a successful answer. @throws TollgateError if the answer is not successful or not plain text. */
export function textOf(answer: Answer): string {
  requireSuccess(answer)
  if (answer.type !== 'text/plain') throw invalidAnswer(answer.status, 'it is not plain text')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(answer.body)
  } catch (cause) {
    throw invalidAnswer(answer.status, 'it is not UTF-8', cause)
  }
}

/** @throws TollgateError the problem of the gateway, unless the status is 200 or 201. */
export function requireSuccess(answer: Answer): void {
  if (answer.status !== 200 && answer.status !== 201) throw problemIn(answer)
}

/** The problem in an answer as an error. */
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

/** The error for an answer that a gateway does not give. */
export function invalidAnswer(status: number | undefined, problem: string, cause?: unknown): TollgateError {
  return new TollgateError('answer-invalid', `this is not the answer of a gateway: ${problem}`, {
    status,
    remedy: 'Check for a proxy between client and gateway, and that both have the same version.',
    cause,
  })
}
