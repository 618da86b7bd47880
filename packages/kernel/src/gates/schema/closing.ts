// Which schemas are closed: where the author names properties and says nothing of others, others are refused.

import type { Json, JsonObject } from '@tollgate/evidence'
import {
  schemaLinksOf,
  get,
  inPlaceOf,
  isList,
  isObject,
  SHAPES,
  textsOf,
  type SchemaLink,
} from './keywords.ts'

/**
 * How to close a schema. `own`: its own keywords name all there is. `unevaluated`: branches name properties too, so that
 * what is left is only known when the branches have looked at a value.
 */
type SchemaClosing = 'no' | 'own' | 'unevaluated'

/** What the compiler asks about closing. All of it was read off the schema, before there are arguments. */
export interface ClosingRules {
  /** How the schema of a place is closed. At the root (`always`), a schema that names nothing takes nothing. */
  closing(node: JsonObject, always: boolean): SchemaClosing
  /** The one branch that can hold an object here, if the schema says nothing else: then it is closed in its place. */
  soleBranch(node: JsonObject): JsonObject | undefined
  /** Whether two branches that apply together both describe the same member: closed one by one, they would contradict. */
  overlaps(node: JsonObject): boolean
}

const NAMING = ['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties']

/** Makes the rules for one reviewed schema. */
export function closingRules(root: JsonObject): ClosingRules {
  const structured = structuredNodes(root)
  const known = new Map<JsonObject, Described>()

  function closing(node: JsonObject, always: boolean): SchemaClosing {
    if (has(node, 'additionalProperties') || has(node, 'unevaluatedProperties')) return 'no'
    const branches = [...branchesOf(root, node)]
    const named = [node, ...branches].some((member) => has(member, 'properties'))
    if (!always && !named) return 'no'
    return branches.some((branch) => NAMING.some((keyword) => has(branch, keyword))) ? 'unevaluated' : 'own'
  }

  function described(node: JsonObject): Described {
    const before = known.get(node)
    if (before) return before
    const own = schemaLinksOf(node)
      .filter(({ inPlace, to }) => !inPlace && isObject(to) && structured.has(to))
      .flatMap(memberOf)
    const together = [{ members: new Set(own), overlap: false }, ...groupsOf(root, node).map(alternatives)]
    const result = together.reduce(join)
    known.set(node, result)
    return result
  }

  function alternatives(edges: readonly SchemaLink[]): Described {
    const each = edges.flatMap(({ to }) => (isObject(to) ? [described(to)] : []))
    return {
      members: new Set(each.flatMap(({ members }) => [...members])),
      overlap: each.some(({ overlap }) => overlap),
    }
  }

  return {
    closing,
    soleBranch: (node) => soleBranch(root, node),
    overlaps: (node) => described(node).overlap,
  }
}

/** The members that a schema and its branches describe, and whether two of them that apply together describe the same. */
interface Described {
  readonly members: ReadonlySet<string>
  readonly overlap: boolean
}

function join(a: Described, b: Described): Described {
  const both = [...b.members].some((member) => meets(a.members, member))
  return { members: new Set([...a.members, ...b.members]), overlap: a.overlap || b.overlap || both }
}

const ITEMS = '[]'
const ANY_NAME = '*'

function meets(members: ReadonlySet<string>, member: string): boolean {
  if (members.has(member)) return true
  if (member === ITEMS) return false
  return member === ANY_NAME ? members.size > (members.has(ITEMS) ? 1 : 0) : members.has(ANY_NAME)
}

function memberOf({ keyword, key = '' }: SchemaLink): readonly string[] {
  if (keyword === 'properties') return [`/${key}`]
  if (keyword === 'contains' || keyword === 'propertyNames') return []
  return [NAMING.includes(keyword) ? ANY_NAME : ITEMS]
}

/** The branches of a schema in groups: all groups apply together, of a group one branch. */
function groupsOf(root: JsonObject, node: JsonObject): readonly (readonly SchemaLink[])[] {
  const edges = inPlaceOf(root, node).filter(({ keyword }) => keyword !== 'not')
  const choices = [['anyOf'], ['oneOf'], ['then', 'else']]
  const chosen = choices.map((keywords) => edges.filter(({ keyword }) => keywords.includes(keyword)))
  const rest = edges.filter(({ keyword }) => !choices.flat().includes(keyword))
  return [...chosen, ...rest.map((edge) => [edge])]
}

/** All branches of a schema, branches of branches included. What stands under `not` names nothing. */
function branchesOf(root: JsonObject, node: JsonObject): ReadonlySet<JsonObject> {
  const found = new Set<JsonObject>()
  const waiting = [node]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    for (const { keyword, to } of inPlaceOf(root, next)) {
      if (keyword === 'not' || !isObject(to) || found.has(to)) continue
      found.add(to)
      waiting.push(to)
    }
  }
  return found
}

/** All schemas from which one can come to a schema that names properties. */
function structuredNodes(root: JsonObject): ReadonlySet<JsonObject> {
  const from = new Map<JsonObject, JsonObject[]>([[root, []]])
  for (const [node] of from) {
    const edges = [...schemaLinksOf(node), ...inPlaceOf(root, node)]
    for (const { to } of edges) {
      if (!isObject(to)) continue
      const sources = from.get(to)
      if (sources) sources.push(node)
      else from.set(to, [node])
    }
  }
  const found = new Set([...from.keys()].filter((node) => has(node, 'properties')))
  for (const node of found) for (const source of from.get(node) ?? []) found.add(source)
  return found
}

function soleBranch(root: JsonObject, node: JsonObject): JsonObject | undefined {
  const [keyword, ...others] = Object.keys(node).filter((key) => SHAPES.has(key) && key !== 'format')
  if (keyword === undefined || others.length > 0) return undefined
  const branches = inPlaceOf(root, node)
  if (keyword === 'allOf' ? branches.length > 1 : !['$ref', 'anyOf', 'oneOf'].includes(keyword))
    return undefined
  const [only, ...more] = branches.map(({ to }) => to).filter((to) => admitsObjects(root, to))
  return only !== undefined && isObject(only) && more.length === 0 ? only : undefined
}

/** False only if no object can fit. */
function admitsObjects(root: JsonObject, schema: Json): boolean {
  if (!isObject(schema)) return schema === true
  const type = get(schema, 'type')
  if (typeof type === 'string' && type !== 'object') return false
  if (isList(type) && !textsOf(type).includes('object')) return false
  const target = inPlaceOf(root, schema).find(({ keyword }) => keyword === '$ref')?.to
  return target === undefined || admitsObjects(root, target)
}

function has(node: JsonObject, keyword: string): boolean {
  return Object.hasOwn(node, keyword)
}
