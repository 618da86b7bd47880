// Reads the query and the body of a request and validates them against the schemas of the route.

import { EvidenceError, parseJson, type Json, type JsonObject } from '@tollgate/evidence'
import { Problem } from './problem.ts'
import type { DoorRequest, ApiQuestion, ApiRoute } from './route.ts'
import { problemsIn, type ApiSchema } from './schema.ts'

type ReceivedBody = Pick<ApiQuestion, 'bytes' | 'body'>

/** The body for routes without one. */
export const NO_BODY: ReceivedBody = { bytes: new Uint8Array(), body: {} }

const NO_QUERY: ApiQuestion['query'] = {}

/** Parses the query. Unknown parameters are refused, as in a body. */
export function readQuery({ query = {} }: ApiRoute, search: string): ApiQuestion['query'] {
  if (search === '') return NO_QUERY
  const values: Record<string, string[]> = {}
  for (const [name, value] of new URLSearchParams(search)) {
    if (!Object.hasOwn(query, name)) throw new Problem('request-invalid', 'a query parameter is unknown')
    ;(values[name] ??= []).push(value)
  }
  const problems = Object.entries(values).flatMap(([name, texts]) =>
    queryProblems(query[name] ?? {}, name, texts),
  )
  if (problems.length > 0) throw new Problem('request-invalid', problems.join('; '))
  return values
}

function queryProblems(schema: ApiSchema, name: string, texts: readonly string[]): readonly string[] {
  if (schema.type === 'array') return problemsIn(schema, texts, `?${name}`)
  const [text = '', another] = texts
  if (another !== undefined) return [`\`?${name}\` is given twice`]
  // Only plain decimal digits: `Number` would also accept `1e3` or ` 7`.
  const isNumber = schema.type === 'integer' && /^(?:0|[1-9][0-9]{0,15})$/.test(text)
  return problemsIn(schema, isNumber ? Number(text) : text, `?${name}`)
}

/** Reads and validates the body of a request. */
export async function readBody(
  { schema, optional = false, raw = false }: NonNullable<ApiRoute['body']>,
  asked: DoorRequest,
  limit: number,
): Promise<ReceivedBody> {
  const type = asked.header('content-type')
  if (!(type === undefined && optional)) checkType(type, asked.header('content-encoding'))
  const bytes = await asked.body(limit)
  if (raw) return { bytes, body: {} }
  if (bytes.length === 0 && optional) return NO_BODY
  checkType(type, undefined)
  const body = parse(bytes, limit)
  const problems = problemsIn(schema, body)
  if (problems.length > 0) throw new Problem('request-invalid', problems.slice(0, 10).join('; '))
  // Sound: all body schemas describe objects.
  return { bytes, body: body as JsonObject }
}

function checkType(type: string | undefined, encoding: string | undefined): void {
  const isJson = type !== undefined && /^application\/json(?: *; *charset=(?:utf-8|"utf-8"))? *$/i.test(type)
  if (!isJson || encoding !== undefined) throw new Problem('not-json')
}

function parse(bytes: Uint8Array, maxBytes: number): Json {
  try {
    return parseJson(bytes, { maxBytes })
  } catch (fault) {
    // The parser's message contains positions, never content.
    throw fault instanceof EvidenceError ? new Problem('request-invalid', fault.message) : fault
  }
}
