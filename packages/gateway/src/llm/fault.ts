// What a fault is to a client: what of it is its business, and what it can do about it.

import { KernelError } from '@tollgate/kernel'
import type { Log } from '../log.ts'
import { Garbled, Refused, TooMuch } from './dialect.ts'
import type { Fault } from './errors.ts'
import { LlmUpstreamFault, type UpstreamAddress } from './upstream.ts'

/** A fault as the client is told. One that is ours is written to the log, without its message: that may hold anything. */
export function faultOf(fault: unknown, log: Log): Fault {
  if (fault instanceof Refused) {
    const { status, code, message, param, details } = fault
    const after = fault instanceof TooMuch ? fault.after : undefined
    return { status, code, message, param, ...(details && { details }), ...(after && { after }) }
  }
  if (fault instanceof Garbled) {
    log('warn', 'a reply of a model server cannot be read', { because: fault.message })
    const message = `the reply of the model server cannot be read, so nothing of it goes on: ${fault.message}`
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
      message: 'the ledger cannot record, so nothing may pass',
    }
  }
  return ofTheBody(fault) ?? ours(fault, log)
}

/** What the door's socket says of a body. */
function ofTheBody(fault: unknown): Fault | undefined {
  const code: unknown = fault instanceof Error && 'code' in fault ? fault.code : undefined
  if (code === 'body-too-large') {
    const message = 'the body is too large; `llm.body` in tollgate.yaml says how large one may be'
    return { status: 413, code: 'BODY_TOO_LARGE', message }
  }
  if (code !== 'request-timeout') return undefined
  return { status: 408, code: 'REQUEST_TIMEOUT', message: 'the request did not arrive in time' }
}

function ours(fault: unknown, log: Log): Fault {
  const { name, stack = '' } = fault instanceof Error ? fault : new Error()
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line))
  log('error', 'a request to a model could not be answered', { fault: name, at: frames.slice(0, 8) })
  return { status: 500, code: 'INTERNAL_FAULT', message: 'the gateway failed; look at its log' }
}

/** What an upstream says, to the client. That the gateway's own key is refused is not the client's fault. */
export function translated(
  fault: Fault,
  { key, url }: Pick<UpstreamAddress, 'key' | 'url'>,
  log: Log,
): Fault {
  if (fault.status >= 300 && fault.status < 400) {
    return {
      status: 502,
      code: 'UPSTREAM_MOVED',
      message: 'the model server points elsewhere, which is not followed',
    }
  }
  if (fault.status >= 200 && fault.status < 300) {
    return { status: 502, code: 'UPSTREAM_UNREADABLE', message: `the model server answered ${fault.status}` }
  }
  if (fault.status !== 401 || key === undefined) return fault
  log('error', 'a model server refuses the key of the gateway; set another', { url })
  const message = 'the model server refuses the key of the gateway; whoever runs the gateway must set another'
  return { status: 502, code: 'UPSTREAM_KEY_REFUSED', message, lasting: true }
}
