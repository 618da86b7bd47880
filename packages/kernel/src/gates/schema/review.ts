// Finds the reasons to refuse a schema. It only reads the schema and needs no arguments.

import { canonicalize, isList, isObject, type Json, type JsonObject } from '@tollgate/evidence/core'
import {
  schemaLinksOf,
  entriesOf,
  get,
  inPlaceOf,
  resolve,
  SHAPES,
  shown,
  shownStep,
  type KeywordShape,
} from './keywords.ts'
import { compilePattern } from './pattern.ts'
import { TYPES } from './values.ts'

const MAX_LENGTH = 64 << 10
const MAX_DEPTH = 32
const MAX_SUBSCHEMAS = 2000
const MAX_PATTERN_COST = 20_000
const MAX_APPLICATIONS = 10_000
const MAX_CHAIN = 500
const MAX_PROBLEMS = 20

/** The dialects by `$schema`, without the scheme and a trailing `#`. */
const DIALECTS: ReadonlyMap<string, 'draft-06' | 'draft-07' | '2019-09' | '2020-12'> = new Map([
  ['//json-schema.org/draft-06/schema', 'draft-06'],
  ['//json-schema.org/draft-07/schema', 'draft-07'],
  ['//json-schema.org/draft/2019-09/schema', '2019-09'],
  ['//json-schema.org/draft/2020-12/schema', '2020-12'],
])

// Keywords that older dialects do not have. Both ignoring and applying them could surprise the author.
const LATER: ReadonlySet<string> = new Set([
  'prefixItems',
  'minContains',
  'maxContains',
  'unevaluatedItems',
  'unevaluatedProperties',
  'dependentRequired',
  'dependentSchemas',
])

// Formats of the standard and of the OpenAPI registry, and number types of schema generators. They are annotations and not
// checked. An unknown format is refused, because the author may rely on it.
const FORMATS: ReadonlySet<string> = new Set(
  (
    'date-time date time duration email idn-email hostname idn-hostname ipv4 ipv6 uri uri-reference iri iri-reference ' +
    'uuid uri-template json-pointer relative-json-pointer regex ' +
    'int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 float double byte binary base64url password'
  ).split(' '),
)

/** Returns the problems of a schema, up to a limit. Never throws. */
export function reviewSchema(schema: Json): readonly string[] {
  if (!isObject(schema)) return ['the schema is not an object; a tool describes its arguments with an object']
  if (isDeeper(schema, MAX_DEPTH)) return [`the schema is nested deeper than ${MAX_DEPTH} levels`]
  try {
    canonicalize(schema, { maxLength: MAX_LENGTH })
  } catch {
    return [`the schema is longer than ${MAX_LENGTH} characters, or has no canonical form`]
  }
  const problems = new Review(schema).problems()
  if (problems.length <= MAX_PROBLEMS) return problems
  return [...problems.slice(0, MAX_PROBLEMS), `and ${problems.length - MAX_PROBLEMS} more problems`]
}

function isDeeper(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member: Json) => isDeeper(member, levels - 1))
}

class Review {
  readonly #root: JsonObject
  readonly #problems: string[] = []
  readonly #isOld: boolean
  readonly #is2019: boolean
  // The first position of each subschema.
  readonly #places: Map<JsonObject, string>
  #patternCost = 0

  constructor(root: JsonObject) {
    this.#root = root
    this.#places = new Map([[root, '']])
    const dialect = this.#dialect()
    this.#isOld = dialect === 'draft-06' || dialect === 'draft-07'
    this.#is2019 = dialect === '2019-09'
  }

  problems(): readonly string[] {
    // The loop also visits subschemas that are added meanwhile.
    for (const [node, at] of this.#places) {
      this.#node(node, at)
      if (this.#places.size > MAX_SUBSCHEMAS) {
        return [...this.#problems, `the schema has more than ${MAX_SUBSCHEMAS} subschemas`]
      }
    }
    if (this.#patternCost > MAX_PATTERN_COST)
      this.#problems.push('the patterns of the schema are too large in total')
    // The expansion needs valid references.
    if (this.#problems.length === 0) this.#problems.push(...expansionProblems(this.#root, this.#places))
    return this.#problems
  }

  #dialect(): string | undefined {
    const named = get(this.#root, '$schema')
    if (named === undefined) return '2020-12' // The default of MCP.
    const dialect = typeof named === 'string' ? DIALECTS.get(named.replace(/^https?:|#$/g, '')) : undefined
    if (dialect === undefined) {
      const accepted = 'supported are draft-06, draft-07, 2019-09 and 2020-12'
      this.#refuse('/$schema', `names an unsupported dialect; ${accepted}`)
    }
    return dialect
  }

  #node(node: JsonObject, at: string): void {
    for (const [keyword, value] of Object.entries(node))
      this.#keyword(keyword, value, `${at}${shownStep(keyword)}`)
    if (at !== '' && get(node, '$id') !== undefined)
      this.#refuse(at, 'has an `$id`; only the root may have one')
    if (get(node, 'prefixItems') !== undefined && isList(get(node, 'items'))) {
      this.#refuse(at, 'has two lists of items, `prefixItems` and `items`')
    }
    for (const { keyword, key, to } of schemaLinksOf(node)) {
      this.#subschema(to, `${at}${shownStep(keyword)}${key === undefined ? '' : shownStep(key)}`)
    }
  }

  #subschema(schema: Json, at: string): void {
    if (isObject(schema)) {
      if (!this.#places.has(schema)) this.#places.set(schema, at)
    } else if (typeof schema !== 'boolean') this.#refuse(at, 'is not a schema')
  }

  #keyword(keyword: string, value: Json, at: string): void {
    if (keyword === '$dynamicRef' || keyword === '$recursiveRef') {
      this.#refuse(at, 'is not supported; use a `$ref` within the schema')
    }
    const shape = SHAPES.get(keyword)
    if (shape === undefined) return
    if (this.#isOld && LATER.has(keyword)) this.#refuse(at, 'is not a keyword of the dialect in `$schema`')
    if (this.#is2019 && keyword === 'unevaluatedItems') {
      this.#refuse(at, 'differs between 2019-09 and 2020-12; only 2020-12 is supported')
    }
    if (!hasShape(value, shape)) this.#refuse(at, `must be ${SHAPE_WORDS[shape]}`)
    else this.#content(value, shape, at)
  }

  /** Checks the content of references, patterns and formats. */
  #content(value: Json, shape: KeywordShape, at: string): void {
    if (shape === 'reference' && typeof value === 'string') this.#reference(value, at)
    if (shape === 'pattern' && typeof value === 'string') this.#pattern(value, at)
    if (shape === 'patterns')
      for (const [key] of entriesOf(value)) this.#pattern(key, `${at}${shownStep(key)}`)
    if (shape === 'format' && typeof value === 'string' && !FORMATS.has(value)) {
      this.#refuse(at, `names an unknown format, \`${shown(value)}\``)
    }
  }

  #reference(ref: string, at: string): void {
    const to = resolve(this.#root, ref)
    if (to !== undefined) return this.#subschema(to, shown(ref.slice(1)))
    const why = ref.startsWith('#/') || ref === '#' ? 'has no target' : 'refers outside of the schema'
    this.#refuse(at, `${why}: \`${shown(ref)}\`; only \`#\` and \`#/…\` are supported`)
  }

  #pattern(source: string, at: string): void {
    // The total cost of the patterns is limited.
    if (this.#patternCost > MAX_PATTERN_COST) return
    const pattern = compilePattern(source)
    if ('problem' in pattern) this.#refuse(at, pattern.problem)
    else this.#patternCost += pattern.cost
  }

  #refuse(at: string, problem: string): void {
    this.#problems.push(sentence(at, problem))
  }
}

function sentence(at: string, problem: string): string {
  return at === '' ? `the root of the schema ${problem}` : `\`${at}\` ${problem}`
}

const SHAPE_WORDS: Readonly<Record<KeywordShape, string>> = {
  schema: 'a schema',
  schemas: 'a list of schemas',
  'schemas by name': 'an object of schemas',
  'schema or schemas': 'a schema, or a list of schemas',
  dependencies: 'an object of schemas and lists of names',
  patterns: 'an object of schemas',
  pattern: 'a text',
  types: 'one of the seven types, or a list of them',
  format: 'a text',
  value: 'a value',
  values: 'a list of values',
  names: 'a list of names',
  'names by name': 'an object of lists of names',
  number: 'a number',
  'positive number': 'a number above zero',
  count: 'a whole number from zero',
  boolean: 'true or false',
  reference: 'a text',
}

/** Returns whether a value has the required form. Subschemas are not checked. */
function hasShape(value: Json, shape: KeywordShape): boolean {
  switch (shape) {
    case 'schema':
      return isObject(value) || typeof value === 'boolean'
    case 'schemas':
      return isList(value) && value.length > 0
    case 'schema or schemas':
      return isList(value) || isObject(value) || typeof value === 'boolean'
    case 'schemas by name':
    case 'patterns':
      return isObject(value)
    case 'dependencies':
      return isObject(value) && Object.values(value).every((item) => !isList(item) || isNames(item))
    case 'names by name':
      return isObject(value) && Object.values(value).every(isNames)
    case 'names':
      return isNames(value)
    case 'types':
      return (isList(value) && value.length > 0 ? value : [value]).every((type) => isType(type))
    case 'values':
      return isList(value)
    case 'value':
      return true
    case 'number':
      return typeof value === 'number'
    case 'positive number':
      return typeof value === 'number' && value > 0
    case 'count':
      return typeof value === 'number' && Number.isInteger(value) && value >= 0
    case 'boolean':
      return typeof value === 'boolean'
    case 'pattern':
    case 'format':
    case 'reference':
      return typeof value === 'string'
  }
}

function isNames(value: Json): boolean {
  return isList(value) && value.every((name) => typeof name === 'string')
}

function isType(value: Json): boolean {
  return typeof value === 'string' && TYPES.has(value)
}

/** Finds subschemas that apply to the same value in a cycle, or too many times. */
function expansionProblems(root: JsonObject, places: ReadonlyMap<JsonObject, string>): readonly string[] {
  const sizes = new Map<JsonObject, number>()
  const open = new Set<JsonObject>()
  const problems: string[] = []

  /** Counts the subschemas that apply to one value, once for each path to them. */
  function applications(node: JsonObject): number {
    const known = sizes.get(node)
    if (known !== undefined) return known
    if (open.has(node) || open.size >= MAX_CHAIN) {
      problems.push(cycle(node, open.size >= MAX_CHAIN))
      return 1
    }
    open.add(node)
    const branches = inPlaceOf(root, node).flatMap(({ to }) => (isObject(to) ? [applications(to)] : []))
    open.delete(node)
    const size = branches.reduce((sum, branch) => sum + branch, 1)
    sizes.set(node, size)
    return size
  }

  function cycle(node: JsonObject, isChain: boolean): string {
    const problem = isChain ? 'is at the end of too many references' : 'refers to itself for the same value'
    return sentence(places.get(node) ?? '', problem)
  }

  for (const [node, at] of places) {
    if (applications(node) <= MAX_APPLICATIONS) continue
    return [...problems, sentence(at, `expands to more than ${MAX_APPLICATIONS} subschemas for one value`)]
  }
  return problems
}
