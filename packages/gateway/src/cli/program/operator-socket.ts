// Finds the operator socket of a data directory.

import { answers } from '../../mcp/client/local-bind.ts'
import { checkSocket, operatorsPath } from '../../mcp/client/local-path.ts'

const OPERATORS = /^tg_(?:operator|admin)_/

/** Returns the socket for an operator or admin token; undefined for other tokens, or if there is no usable socket. */
export async function operatorSocket(data: string, token: string): Promise<string | undefined> {
  if (!OPERATORS.test(token)) return undefined
  const path = operatorsPath(data)
  try {
    return checkSocket(path) && (await answers(path)) ? path : undefined
  } catch {
    // The socket is not private, so the token is not sent there. `tollgate doctor` reports it.
    return undefined
  }
}
