// Compares the published schema with the parser: it accepts what the parser accepts, and both have the same keys.

import { readFileSync } from 'node:fs'
import type { Json, JsonObject } from '@tollgate/evidence'
import { compileSchema, problemsInSchema } from '@tollgate/kernel/detection'
import { parsePolicy } from '@tollgate/kernel/policy'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { POLICY_SCHEMA, policySchemaText } from '../../src/workbench/policy-schema.ts'
import { writtenPolicies } from './policies.ts'

const FULL = readFileSync(new URL('../../../../examples/policies/full.yaml', import.meta.url), 'utf8')
const schema = compileSchema(POLICY_SCHEMA)

/** The problem of a text under the schema, as one line. */
function problem(text: string): string | undefined {
  const found = schema.check(parse(text) as Json)
  return found && `${found.at} ${found.problem}`
}

/** The mistakes that the parser finds. */
function mistakes(text: string): readonly string[] {
  const parsed = parsePolicy(text)
  return parsed.ok ? [] : parsed.mistakes.map(({ message }) => message)
}

describe('the schema of policies', () => {
  it('is valid, and is published unchanged', () => {
    expect(problemsInSchema(POLICY_SCHEMA)).toEqual([])
    const published = readFileSync(new URL('../../../../docs/policy.schema.json', import.meta.url), 'utf8')
    expect(published).toBe(policySchemaText())
  })

  const policies = writtenPolicies()

  it.each(policies.map(({ from, text }) => [from, text]))('accepts the policy of %s', (_, text) => {
    expect(problem(text)).toBeUndefined()
  })

  it('was compared with many policies', () => {
    expect(policies.length).toBeGreaterThan(150)
    for (const place of ['starter', 'examples/', 'docs/gates.md', 'vectors/']) {
      expect(policies.filter(({ from }) => from.startsWith(place)).length, place).toBeGreaterThan(0)
    }
  })
})

/** A mapping with a closed set of keys, and its path in a policy. */
interface Level {
  readonly path: readonly (string | number)[]
  readonly keys: readonly string[]
}

// Everything that a policy can contain, once.
const EVERYTHING = parse(
  FULL.replace(
    "'browser/read': { effect: read",
    "'browser/read': { commit: salted, schema: {}, effect: read",
  ).replace('context: {', 'context: { tenants: [a], workspaces: [b],'),
) as JsonObject

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The levels below a value, according to the schema. */
function levelsOf(value: Json | undefined, node: JsonObject, path: Level['path']): readonly Level[] {
  const named = node.$ref
  if (typeof named === 'string') return levelsOf(value, definition(named), path)
  const branches = Array.isArray(node.anyOf) ? node.anyOf.filter(isObject) : []
  const inner = branches.flatMap((branch) => levelsOf(value, branch, path))
  if (Array.isArray(value) && isObject(node.items)) {
    const { items } = node
    return [...inner, ...value.flatMap((item: Json, i) => levelsOf(item, items, [...path, i]))]
  }
  if (!isObject(value)) return inner
  const { properties, additionalProperties } = node
  const here =
    isObject(properties) && additionalProperties === false ? [{ path, keys: Object.keys(properties) }] : []
  const below = Object.entries(value).flatMap(([name, member]) => {
    const own = isObject(properties) ? properties[name] : undefined
    const child = own ?? additionalProperties
    return isObject(child) ? levelsOf(member, child, [...path, name]) : []
  })
  return [...here, ...inner, ...below]
}

function definition(ref: string): JsonObject {
  const parts = POLICY_SCHEMA.$defs
  const found = isObject(parts) ? parts[ref.replace('#/$defs/', '')] : undefined
  if (!isObject(found)) throw new Error(`no part ${ref}`)
  return found
}

/** The policy with one more key at a level. */
function withKey({ path }: Level, key: string): string {
  const copy = structuredClone(EVERYTHING)
  let here: Json = copy
  for (const step of path) here = (here as Record<string | number, Json>)[step] as Json
  Object.assign(here as object, { [key]: 1 })
  return stringify(copy)
}

// The parser has these only to report that they are set elsewhere or not supported yet.
const REFUSED = ['delegation']

describe('every level of a policy', () => {
  const levels = levelsOf(EVERYTHING, POLICY_SCHEMA, [])
  const kinds = new Map(levels.map((level) => [level.keys.join(), level]))

  it('is in the examined policy', () => {
    expect(parsePolicy(stringify(EVERYTHING)).ok).toBe(true)
    expect(problem(stringify(EVERYTHING))).toBeUndefined()
    // Each closed mapping of the schema occurs at least once.
    const closed = JSON.stringify(POLICY_SCHEMA).match(/"additionalProperties":false/g) ?? []
    expect(kinds.size).toBeGreaterThanOrEqual(closed.length - 3)
  })

  it.each([...kinds.values()].map((level): [string, Level] => [level.path.join('.'), level]))(
    '%s has the same keys in parser and schema, and neither accepts another',
    (_, level) => {
      const text = withKey(level, 'qqqqqqqq')
      expect(problem(text)).toBeDefined()
      const said = mistakes(text).find((message) => message.startsWith('`qqqqqqqq` is not known here'))
      const known = [...(said ?? '').slice('`qqqqqqqq`'.length).matchAll(/`([^`]+)`/g)].map(
        ([, key]) => key ?? '',
      )
      expect(known.filter((key) => !REFUSED.includes(key)).sort()).toEqual([...level.keys].sort())
    },
  )
})

describe('policies that the parser refuses', () => {
  it.each([
    ['rules: [{ id: a, allow: x, deny: y }]', 'two actions'],
    ['rules: [{ id: a }]', 'no action'],
    ['rules: [{ allow: a }]', 'no id'],
    ['rules: [{ id: observe, allow: a }]', 'a reserved id'],
    ['rules: [{ id: a b, allow: a }]', 'an id with a blank'],
    ['rules: [{ id: a, allow: [] }]', 'an empty list'],
    ['rules: [{ id: a, allow: x, approvers: [b] }]', 'approvers of an allow'],
    ['rules: [{ id: a, deny: x, answer: client }]', 'an answer to a denial'],
    ['rules: [{ id: a, require: x, answer: me }]', 'an answerer that is none'],
    ['rules: [{ id: a, require: x, answer: client, approvers: [b] }]', 'a client with approvers'],
    ['rules: [{ id: a, require: x, expires: 1w }]', 'a time that is none'],
    ['rules: [{ id: a, allow: x, door: window }]', 'a door that is none'],
    ['rules: []\nprincipals: { a: {} }', 'no tier'],
    ['rules: []\nprincipals: { a: { tier: boss } }', 'a tier that is none'],
    ['rules: []\ntools: { a: { effect: look } }', 'an effect that is none'],
    ['rules: []\ntools: { a: { returns: [Secret] } }', 'a label that is none'],
    ['rules: []\ngates: { session-risk: { threshold: 2 } }', 'a threshold too high'],
    ['rules: []\ngates: { temporal: { rate: { a: often } } }', 'a rate that is none'],
    ['rules: []\ngates: { privilege: { elevation: { for: 1h } } }', 'half of an elevation'],
    ['rules: []\ngates: { trust: { needs: {} } }', 'no needs'],
    ['rules: []\ngates: { trust: { deltas: { denied: 5 } } }', 'a denial that earns trust'],
    ['rules: []\ngates: { compliance: { jurisdictions: {} } }', 'compliance without rules'],
    ['rules: []\ngates: { taint: { results: { secret: burn } } }', 'an unknown answer'],
    ['rules: []\ntollgate: 2', 'another version'],
  ])('%j is refused by the schema as well: %s', (rest) => {
    const head = rest.includes('tollgate:') ? 'name: x\n' : 'tollgate: 1\nname: x\n'
    expect(mistakes(`${head}${rest}\n`)).not.toEqual([])
    expect(problem(`${head}${rest}\n`)).toBeDefined()
  })
})
