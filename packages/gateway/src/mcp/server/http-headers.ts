// Request headers of the modern protocol. They repeat what the body says.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { NAMED } from '../methods.ts'

/** Encodes a header value: plain if unambiguous, else in base64. */
function headerValue(value: string): string {
  const isPlain = /^[\x20-\x7e\t]*$/.test(value) && value.trim() === value
  const looksCoded = value.startsWith('=?base64?') && value.endsWith('?=')
  if (isPlain && !looksCoded) return value
  return `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`
}

/** The headers of every modern request. */
export function requestHeaders(version: string, method: string, params: JsonObject): Record<string, string> {
  const name = params[NAMED.get(method) ?? '']
  return {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': headerValue(name) }),
  }
}

/** An argument that a tool wants in a header too. */
interface Mirrored {
  readonly header: string
  readonly path: readonly string[]
}

const MAX_TOOLS = 10_000

/** The arguments that the tools of a server want in headers. */
export class ParamHeaders {
  readonly #onRefused: (tool: string) => void
  readonly #known = new Map<string, readonly Mirrored[]>()

  constructor(onRefused: (tool: string) => void) {
    this.#onRefused = onRefused
  }

  /** Records a page of tools. Leaves out tools with invalid marks, because they could not be called. */
  learn(result: JsonObject, isFirst: boolean): JsonObject {
    const { tools } = result
    if (!isList(tools)) return result
    if (isFirst) this.#known.clear()
    const usable = tools.filter((tool) => this.#isUsable(tool))
    return usable.length === tools.length ? result : { ...result, tools: usable }
  }

  #isUsable(tool: Json): boolean {
    if (!isObject(tool) || typeof tool['name'] !== 'string') return true
    const found = mirroredIn(tool['inputSchema'])
    if (found === undefined) this.#onRefused(tool['name'])
    else if (found.length > 0 && this.#known.size < MAX_TOOLS) this.#known.set(tool['name'], found)
    return found !== undefined
  }

  /** The headers of a call. */
  headersFor({ name, arguments: given }: JsonObject): Record<string, string> {
    const mirrored = this.#known.get(typeof name === 'string' ? name : '') ?? []
    return Object.fromEntries(
      mirrored.flatMap(({ header, path }) => {
        const value = textAt(given, path)
        return value === undefined ? [] : [[header, headerValue(value)]]
      }),
    )
  }
}

function textAt(value: Json | undefined, path: readonly string[]): string | undefined {
  const found = path.reduce<Json | undefined>(
    (inner, key) => (isObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  )
  if (typeof found === 'string') return found
  if (typeof found === 'boolean') return String(found)
  return typeof found === 'number' && Number.isSafeInteger(found) ? String(found) : undefined
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/
const MARK = 'x-mcp-header'

/** The marks of a schema; undefined if one is invalid. */
function mirroredIn(schema: Json | undefined): readonly Mirrored[] | undefined {
  const found = marksUnder(schema, [])
  if (found.length !== countMarks(schema)) return undefined
  const names = new Set(found.map(({ header }) => header))
  return names.size === found.length ? found : undefined
}

/** The marks at valid places: on plain properties, reached through `properties` only. */
function marksUnder(schema: Json | undefined, path: readonly string[]): readonly Mirrored[] {
  const properties = isObject(schema) ? schema['properties'] : undefined
  if (!isObject(properties)) return []
  return Object.entries(properties).flatMap(([key, property]) => {
    const here = [...path, key]
    if (!isObject(property)) return []
    const { [MARK]: mark, type } = property
    const fits = typeof mark === 'string' && TOKEN.test(mark) && PLAIN.includes(type ?? null)
    // Header names are case-insensitive.
    const own = fits ? [{ header: `mcp-param-${mark.toLowerCase()}`, path: here }] : []
    return [...own, ...marksUnder(property, here)]
  })
}

const PLAIN: readonly Json[] = ['string', 'integer', 'boolean']

/** Counts the marks in a schema. A property that is itself named `x-mcp-header` is no mark. */
function countMarks(value: Json | undefined, isSchema = true): number {
  if (isList(value)) return sum(value.map((each) => countMarks(each)))
  if (!isObject(value)) return 0
  const own = isSchema && Object.hasOwn(value, MARK) ? 1 : 0
  const inner = Object.entries(value).map(([key, each]) => {
    return DATA.includes(key) && isSchema ? 0 : countMarks(each, !(isSchema && MAPS.includes(key)))
  })
  return own + sum(inner)
}

// Members whose keys are names, and members that hold values. Neither is a schema.
const MAPS: readonly string[] = [
  'properties',
  '$defs',
  'definitions',
  'patternProperties',
  'dependentSchemas',
]
const DATA: readonly string[] = ['default', 'const', 'enum', 'examples']

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
