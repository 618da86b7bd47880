// Decides which schemas are closed. A schema that names properties and does not mention others refuses others.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence/core'
import { schemaLinksOf, get, inPlaceOf, SHAPES, textsOf, type SchemaLink } from './keywords.ts'

/**
 * The way to close a schema. `own`: its own keywords name all properties. `unevaluated`: its branches name properties too, so the
 * rest is only known after the branches have checked a value.
 */
type SchemaClosing = 'no' | 'own' | 'unevaluated'

/** The closing rules of a schema. They depend on the schema only, not on arguments. */
export interface ClosingRules {
  /** Returns how a schema is closed. At the root (`always`), a schema without names accepts no properties. */
  closing(node: JsonObject, always: boolean): SchemaClosing
  /** Returns the only branch that accepts objects, if the schema has no other keywords. It is closed instead of the schema. */
  soleBranch(node: JsonObject): JsonObject | undefined
  /** Returns whether two branches that apply together describe the same member. If both were closed, they would conflict. */
  overlaps(node: JsonObject): boolean
}

const NAMING = ['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties']

/** Returns the closing rules of one reviewed schema. */
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

/** The members that a schema and its branches describe, and whether two parts that apply together describe the same member. */
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

/** Returns the branches in groups. All groups apply together. Within a group, one branch applies. */
function groupsOf(root: JsonObject, node: JsonObject): readonly (readonly SchemaLink[])[] {
  const edges = inPlaceOf(root, node).filter(({ keyword }) => keyword !== 'not')
  const choices = [['anyOf'], ['oneOf'], ['then', 'else']]
  const chosen = choices.map((keywords) => edges.filter(({ keyword }) => keywords.includes(keyword)))
  const rest = edges.filter(({ keyword }) => !choices.flat().includes(keyword))
  return [...chosen, ...rest.map((edge) => [edge])]
}

/** Returns all branches of a schema, recursively. Schemas under `not` name no properties. */
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

/** Returns all schemas that lead to a schema with named properties. */
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

/** Returns false only if no object can match. */
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
