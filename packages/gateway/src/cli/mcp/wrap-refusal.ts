// Answers for a wrapped client when no gateway answers. Tool calls get a result, because models read results rather than errors.

import { canonicalize } from '@tollgate/evidence/core'
import { META, metaOf } from '../../mcp/protocol.ts'
import { CODE, formatError, formatResult, type Request } from '../../mcp/message.ts'

/** Returns the answer to a request that no gateway answered. */
export function refusalOf({ id, method, params }: Request, text: string): string {
  if (method !== 'tools/call') return formatError(id, { code: CODE.internal, message: text })
  const result = { content: [{ type: 'text', text: text.toWellFormed() }], isError: true }
  return formatResult(id, canonicalize(isModern(params) ? { ...result, resultType: 'complete' } : result))
}

function isModern(params: Request['params']): boolean {
  try {
    return metaOf(params)[META.version] !== undefined
  } catch {
    // Malformed parameters name no version.
    return false
  }
}

/** The text for a request that was not sent. */
export function notRun(data: string, because: string): string {
  return `this call did not run: no Tollgate gateway answers (${because}); ask the operator to start it; its log is \`${data}/gateway.log\``
}

/** The text for a request that was sent, and whose outcome is unknown. */
export function unknownOutcome(data: string): string {
  return `the Tollgate gateway ended during this call, so it is unknown whether it ran; ask the operator to look at the receipts in \`${data}\``
}
