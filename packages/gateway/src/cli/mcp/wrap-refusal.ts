// What a wrapped client is told when no gateway can. A model reads the results of tools rather than errors of the protocol.

import { canonicalize } from '@tollgate/evidence'
import { META, metaOf } from '../../mcp/protocol.ts'
import { CODE, formatError, formatResult, type Request } from '../../mcp/message.ts'

/** The answer to a request that no gateway answers. */
export function refusalOf({ id, method, params }: Request, text: string): string {
  if (method !== 'tools/call') return formatError(id, { code: CODE.internal, message: text })
  const result = { content: [{ type: 'text', text: text.toWellFormed() }], isError: true }
  return formatResult(id, canonicalize(isModern(params) ? { ...result, resultType: 'complete' } : result))
}

function isModern(params: Request['params']): boolean {
  try {
    return metaOf(params)[META.version] !== undefined
  } catch {
    // Whatever it is instead, it names no version.
    return false
  }
}

/** Nothing was sent on. */
export function notRun(data: string, because: string): string {
  return `this did not run: no Tollgate gateway answers (${because}); start one with \`tollgate up --data ${data}\`, and look at \`${data}/gateway.log\``
}

/** It was sent on, and then there was nobody to say what came of it. */
export function unknownOutcome(data: string): string {
  return `the Tollgate gateway ended while this was under way: whether it ran is not known; \`tollgate receipts list --data ${data}\` shows what is on record`
}
