// Translates a fault into what the client may see and can act on.

import { KernelError } from '@tollgate/kernel'
import type { Log } from '../log.ts'
import { Garbled, Refused, TooMuch } from './dialect.ts'
import type { Fault } from './errors.ts'
import { LlmUpstreamFault, type UpstreamAddress } from './upstream.ts'

// Some agents repeat a request with a wrong token for minutes before they show the reason.
const LASTING: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 413, 415, 422])

/** The fault for the client. An internal fault is logged without its message, which may hold anything. */
export function faultOf(fault: unknown, log: Log): Fault {
  if (fault instanceof Refused) {
    const { status, code, message, param, details } = fault
    const after = fault instanceof TooMuch ? fault.after : undefined
    const lasting = LASTING.has(status) && { lasting: true }
    return { status, code, message, param, ...(details && { details }), ...(after && { after }), ...lasting }
  }
  if (fault instanceof Garbled) {
    log('warn', 'a model server sent an unreadable reply', { because: fault.message })
    const message = `the model server sent an unreadable reply, so nothing of it is forwarded: ${fault.message}`
    return { status: 502, code: 'UPSTREAM_UNREADABLE', message, lasting: true }
  }
  if (fault instanceof LlmUpstreamFault) {
    const code = fault.status === 504 ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_LOST'
    if (fault.code !== 'UND_ERR_ABORTED')
      log('warn', 'a model server did not answer', { code, because: fault.code })

    return { status: fault.status, code, message: `${fault.message} (${fault.code})` }
  }
  if (fault instanceof KernelError && ['LEDGER_POISONED', 'LEDGER_FULL'].includes(fault.code)) {
    return {
      status: 503,
      code: 'LEDGER_UNAVAILABLE',
      message: 'the ledger cannot record, so every call is denied; ask the operator to repair it',
    }
  }
  return bodyFault(fault) ?? internalFault(fault, log)
}

/** A fault that the socket reports about a body. */
function bodyFault(fault: unknown): Fault | undefined {
  const code: unknown = fault instanceof Error && 'code' in fault ? fault.code : undefined
  if (code === 'body-too-large') {
    const message = 'the body is too large; send less, or raise `llm.body` in tollgate.yaml'
    return { status: 413, code: 'BODY_TOO_LARGE', message }
  }
  if (code !== 'request-timeout') return undefined
  return { status: 408, code: 'REQUEST_TIMEOUT', message: 'the request did not arrive in time' }
}

function internalFault(fault: unknown, log: Log): Fault {
  const { name, stack = '' } = fault instanceof Error ? fault : new Error()
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line))
  log('error', 'a request to a model could not be answered', { fault: name, at: frames.slice(0, 8) })
  return { status: 500, code: 'INTERNAL_FAULT', message: 'internal error of the gateway; see its log' }
}

/** The fault of an upstream, for the client. A refused key of the gateway is not the client's fault. */
export function translated(
  fault: Fault,
  { key, url }: Pick<UpstreamAddress, 'key' | 'url'>,
  log: Log,
): Fault {
  if (fault.status >= 300 && fault.status < 400) {
    return {
      status: 502,
      code: 'UPSTREAM_MOVED',
      message: 'the model server sent a redirect, which is not followed; correct its `url` in tollgate.yaml',
    }
  }
  if (fault.status >= 200 && fault.status < 300) {
    return { status: 502, code: 'UPSTREAM_UNREADABLE', message: `the model server answered ${fault.status}` }
  }
  if (fault.status !== 401 || key === undefined) return fault
  log('error', 'a model server refused the key of the gateway; set another', { url })
  const message = 'the model server refused the key of the gateway; ask the operator to set another'
  return { status: 502, code: 'UPSTREAM_KEY_REFUSED', message, lasting: true }
}
