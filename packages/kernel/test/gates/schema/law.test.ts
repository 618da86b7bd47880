import type { Json, JsonObject } from '@tollgate/evidence'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileSchema, problemsInSchema } from '../../../src/gates/schema/schema.ts'
import { compileChecks } from '../../../src/gates/schema/compile.ts'
import { SchemaRun } from '../../../src/gates/schema/run.ts'
import { runs } from '../../../../evidence/test/runs.ts'

/** Expects that a property is true for every schema and value. */
function holds(
  schemas: fc.Arbitrary<JsonObject>,
  property: (schema: JsonObject, args: Json) => boolean,
): void {
  fc.assert(
    fc.property(schemas, ARGUMENTS, (schema, args) => property(schema, args)),
    { numRuns: runs(2000), seed: 20_240_607 },
  )
}

const NAMES = ['a', 'b', 'constructor', '__proto__']
const name = fc.constantFrom(...NAMES)
const scalar = fc.constantFrom<Json>(null, true, 0, 1, 2.5, '', 'a', 'bb', 'bbb')
const byName = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc
    .uniqueArray(fc.tuple(name, value), { selector: ([key]) => key, maxLength: 3 })
    .map((pairs) => objectOf(pairs))

/** Makes an object like the strict parser does: every name is data. */
function objectOf<T>(pairs: readonly (readonly [string, T])[]): Record<string, T> {
  const object = Object.create(null) as Record<string, T>
  for (const [key, value] of pairs) object[key] = value
  return object
}

const { value: VALUE } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    byName(tie('value')),
  ),
}))
const ARGUMENTS = byName(VALUE)

const leaf = fc.oneof(
  fc.record({ type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'object', 'array') }),
  fc.record({ minimum: fc.constantFrom(0, 1, 2) }),
  fc.record({ maxLength: fc.constantFrom(0, 1, 2) }),
  fc.record({ enum: fc.array(scalar, { maxLength: 3 }) }),
  fc.record({ uniqueItems: fc.boolean(), minItems: fc.constantFrom(0, 1) }),
)
const { node: SIMPLE } = fc.letrec<{ node: JsonObject }>((tie) => ({
  node: fc.oneof({ depthSize: 'small' }, leaf, fc.record({ items: tie('node') }), objects(tie('node'))),
}))
const { node: ANY } = fc.letrec<{ node: JsonObject }>((tie) => {
  const node = tie('node')
  const nodes = fc.array(node, { minLength: 1, maxLength: 3 })
  return {
    node: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.record({ items: node }),
      objects(node),
      objects(node),
      fc.record({ properties: byName(node), allOf: nodes }),
      fc.record({ anyOf: nodes }),
      fc.record({ oneOf: nodes }),
      fc.record({ properties: byName(node), not: node }),
      fc.record({ if: node, then: node, else: node }),
      fc.record({ properties: byName(node), dependentSchemas: byName(node) }),
      fc.record({ allOf: nodes, unevaluatedProperties: node }),
      fc.record({ contains: node, maxContains: fc.constantFrom(1, 2) }),
      fc.constantFrom({ $ref: '#/$defs/x' }, { $ref: '#/$defs/y' }),
    ),
  }
})
const WITH_REFS = fc
  .tuple(ANY, ANY, ANY)
  .map(([root, x, y]) => ({ ...root, $defs: { x, y } }))
  .filter((schema) => problemsInSchema(schema).length === 0)

function objects(node: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  const parts = {
    properties: byName(node),
    required: fc.uniqueArray(name, { maxLength: 2 }),
    additionalProperties: fc.oneof(fc.boolean(), node),
  }
  return fc.record(parts, { requiredKeys: [] }).map((made) => ({ ...made }))
}

/** A simple reference implementation for the keywords of `SIMPLE`, closed as the contract says. */
function naive(schema: Json, value: Json, isRoot: boolean): boolean {
  if (typeof schema === 'boolean') return schema
  const {
    type,
    minimum,
    maxLength,
    enum: listed,
    uniqueItems,
    minItems,
    items,
    required,
  } = schema as Record<string, Json>
  if (type !== undefined && !naiveTypes(value).includes(type as string)) return false
  if (typeof value === 'number' && minimum !== undefined && value < (minimum as number)) return false
  if (typeof value === 'string' && maxLength !== undefined && value.length > (maxLength as number))
    return false
  if (listed !== undefined && !(listed as Json[]).some((item) => item === value)) return false
  if (Array.isArray(value)) {
    const texts = value.map((item) => JSON.stringify(item, sorted))
    if (uniqueItems === true && new Set(texts).size < texts.length) return false
    if (value.length < ((minItems as number | undefined) ?? 0)) return false
    return items === undefined || value.every((item: Json) => naive(items, item, false))
  }
  if (typeof value !== 'object' || value === null) return true
  const { properties, additionalProperties } = schema as Record<string, JsonObject | undefined>
  const others = additionalProperties ?? !(isRoot || properties !== undefined)
  return (
    ((required ?? []) as string[]).every((key) => Object.hasOwn(value, key)) &&
    Object.entries(value as JsonObject).every(([key, member]) => {
      const own = properties && Object.hasOwn(properties, key) ? properties[key] : undefined
      return naive(own ?? others, member, false)
    })
  )
}

function naiveTypes(value: Json): readonly string[] {
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  return Number.isInteger(value) ? ['number', 'integer'] : [typeof value]
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return objectOf(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

test('simple schemas agree with the reference implementation', () => {
  holds(
    SIMPLE,
    (schema, args) => (compileSchema(schema).check(args) === undefined) === naive(schema, args, true),
  )
})

test('arguments that match a closed schema match it as written', () => {
  let fitting = 0
  holds(WITH_REFS, (schema, args) => {
    const fits = compileSchema(schema).check(args) === undefined
    if (fits) fitting++
    return !fits || compileChecks(schema, 'plain')(args, new SchemaRun())
  })
  expect(fitting).toBeGreaterThan(0.2 * runs(2000))
})

test('an unnamed property is refused in every object with named properties', () => {
  holds(objects(SIMPLE), (schema, args) => {
    if (Object.hasOwn(schema, 'additionalProperties')) return true
    return compileSchema(schema).check({ ...(args as JsonObject), zzz: 1 }) !== undefined
  })
})

test('a check does not affect the next one', () => {
  fc.assert(
    fc.property(WITH_REFS, fc.array(ARGUMENTS, { minLength: 2, maxLength: 4 }), (schema, calls) => {
      const used = compileSchema(schema)
      for (const args of calls) expect(used.check(args)).toEqual(compileSchema(schema).check(args))
    }),
    { numRuns: runs(300), seed: 7 },
  )
})

test('any JSON is either compiled or refused, as the review says', () => {
  const keyword = fc.constantFrom(
    'properties',
    'items',
    'allOf',
    '$ref',
    'pattern',
    'type',
    'enum',
    'not',
    'if',
    'dependencies',
  )
  const { wild: WILD } = fc.letrec<{ wild: Json }>((tie) => ({
    wild: fc.oneof(
      { depthSize: 'small' },
      scalar,
      fc.constantFrom<Json>('#', '#/items', '(', 'string', -1),
      fc.array(tie('wild'), { maxLength: 2 }),
      fc.dictionary(keyword, tie('wild'), { maxKeys: 3 }),
    ),
  }))
  fc.assert(
    fc.property(WILD, ARGUMENTS, (schema, args) => {
      const problems = problemsInSchema(schema)
      if (problems.length > 0) expect(() => compileSchema(schema)).toThrow(problems[0])
      else compileSchema(schema).check(args)
    }),
    { numRuns: runs(3000), seed: 11 },
  )
})
