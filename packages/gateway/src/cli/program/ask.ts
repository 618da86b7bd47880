// Sends requests to the API and reads its answers.

import type { Connection } from './connect.ts'
import { shown } from './table.ts'
import { CommandError } from './terminal.ts'

/** Timeout of a request in milliseconds. */
export const REQUEST_TIMEOUT = 30_000

/** Builds query parameters. A list repeats its name. */
export function queryOf(
  given: Readonly<Record<string, string | number | readonly string[] | undefined>>,
): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(given)) {
    for (const each of value === undefined ? [] : [value].flat()) query.append(name, String(each))
  }
  return query
}

/** Sends a request and returns the JSON of the answer. @throws CommandError with the problem and its remedy. */
export async function ask<T>(
  connection: Connection,
  path: string,
  body?: object,
  method?: string,
): Promise<T> {
  const init: RequestInit = {
    method: method ?? (body ? 'POST' : 'GET'),
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT),
  }
  const response = await accepted(await connection.request(path, init))
  try {
    // Sound: the API has the same version, and its answers match its schemas.
    return (await response.json()) as T
  } catch {
    throw new CommandError(
      'the answer is not complete JSON',
      'check that the URL is the address of a gateway',
    )
  }
}

/** Returns a successful response. @throws CommandError with the problem and its remedy. */
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
    // Sound: problems have this shape, and each member is optional.
    return (await response.json()) as ProblemBody
  } catch {
    return { remedy: 'check that the URL is the address of a gateway' }
  }
}
