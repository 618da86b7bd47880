// Asking the API and reading its answers, whichever way they come.

import type { Connection } from './connect.ts'
import { shown } from './table.ts'
import { CommandError } from './terminal.ts'

/** Milliseconds for an answer. */
export const PATIENCE = 30_000

/** Query parameters of what was given; a list is the same name again and again. */
export function queryOf(
  given: Readonly<Record<string, string | number | readonly string[] | undefined>>,
): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(given)) {
    for (const each of value === undefined ? [] : [value].flat()) query.append(name, String(each))
  }
  return query
}

/** Asks for JSON and gets it. @throws CommandError with what the API says is wrong, and what to do. */
export async function ask<T>(
  connection: Connection,
  path: string,
  body?: object,
  method?: string,
): Promise<T> {
  const init: RequestInit = {
    method: method ?? (body ? 'POST' : 'GET'),
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    signal: AbortSignal.timeout(PATIENCE),
  }
  const response = await accepted(await connection.request(path, init))
  try {
    // Sound: the API of this same version answers what its own schemas say.
    return (await response.json()) as T
  } catch {
    throw new CommandError('the answer is no JSON, or broke off', 'see whether the URL is that of a gateway')
  }
}

/** The answer, if it is one. @throws CommandError with what the API says is wrong, and what to do. */
export async function accepted(response: Response): Promise<Response> {
  if (response.ok) return response
  const problem = await problemIn(response)
  const { detail = `the gateway answered ${response.status}`, remedy, mistakes = [] } = problem
  throw new CommandError(
    shown(detail.replace(/\.$/, '')),
    ...mistakes.map(({ line, column, message }) => `line ${line}, column ${column}: ${shown(message)}`),
    ...(remedy === undefined ? [] : [shown(remedy.replace(/\.$/, ''))]),
  )
}

interface ProblemBody {
  readonly detail?: string
  readonly remedy?: string
  readonly mistakes?: readonly { readonly line: number; readonly column: number; readonly message: string }[]
}

async function problemIn(response: Response): Promise<ProblemBody> {
  try {
    // Sound: problems have this shape; whatever else answers at that address is no object, or has none of the members.
    return (await response.json()) as ProblemBody
  } catch {
    return { remedy: 'see whether the URL is that of a gateway' }
  }
}
