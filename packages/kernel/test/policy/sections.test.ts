// The table of the gates with settings is complete, and each schema has exactly the names that its parser reads.

import { readdirSync } from 'node:fs'
import type { Json, JsonObject } from '@tollgate/evidence'
import { describe, expect, it } from 'vitest'
import { readYaml } from '../../src/policy/reader/read.ts'
import { GATE_SECTIONS } from '../../src/policy/parse/settings.ts'
import type { GateSection } from '../../src/policy/reader/section.ts'
import { LADDER } from '../../src/road/guardian.ts'

const SECTIONS = GATE_SECTIONS.map(([, section]) => section)
const GATES = new URL('../../src/gates/', import.meta.url)
/** Steps without settings in a policy: they use declarations, or the policy cannot configure them. */
const WITHOUT = ['freeze', 'schema', 'context', 'identity', 'policy']

describe('the table of sections', () => {
  it('has each gate with settings, once', () => {
    const names = SECTIONS.map(({ name }) => name)
    const rungs = LADDER.map(({ name }) => name).filter((name) => !WITHOUT.includes(name))
    expect(names.toSorted()).toEqual(rungs.toSorted())
  })

  it('has the section of each folder of gates with settings', async () => {
    const files = readdirSync(GATES, { recursive: true, encoding: 'utf8' })
    const folders = files.filter((file) => file.endsWith('/settings.ts')).map((file) => file.split('/')[0])
    expect(folders.toSorted()).toEqual(SECTIONS.map(({ name }) => name).toSorted())
    for (const section of SECTIONS) {
      const exported: unknown = await import(new URL(`${section.name}/settings.ts`, GATES).href)
      expect(Object.values(exported as object), section.name).toContain(section)
    }
  })
})

/** A mapping of a section with a closed set of keys, and the section with a value there. */
interface Level {
  readonly path: string
  readonly keys: readonly string[]
  write(value: Json): Json
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the levels of a schema. A value under a free name is written under `A`. */
function levelsOf(
  schema: Json | undefined,
  { path, write }: Omit<Level, 'keys'>,
  root: Root,
): readonly Level[] {
  if (!isObject(schema)) return []
  const { $ref, anyOf, items, properties, additionalProperties: free } = schema
  const below = (name: string, inner: Json | undefined, wrap: (value: Json) => Json): readonly Level[] =>
    levelsOf(inner, { path: `${path}.${name}`, write: (value) => write(wrap(value)) }, root)
  if (typeof $ref === 'string')
    return levelsOf(root.parts?.[$ref.replace('#/$defs/', '')], { path, write }, root)
  const forms = Array.isArray(anyOf)
    ? anyOf.flatMap((form: Json) => levelsOf(form, { path, write }, root))
    : []
  if (!isObject(properties)) {
    return [
      ...forms,
      ...below('*', items, (value) => [value]),
      ...below('*', free, (value) => ({ A: value })),
    ]
  }
  const members = Object.entries(properties).flatMap(([name, inner]) =>
    below(name, inner, (value) => ({ [name]: value })),
  )
  return [{ path, keys: Object.keys(properties), write }, ...members]
}

type Root = GateSection<unknown>

/** Returns the messages about unknown names. */
function unknownTo(section: Root, value: Json): readonly string[] {
  const reader = readYaml(JSON.stringify(value))
  section.read(reader, reader.root)
  return reader.mistakes
    .map(({ message }) => message)
    .filter((message) => message.includes('is not known here'))
}

const LEVELS = SECTIONS.flatMap((section) =>
  levelsOf(section.schema, { path: section.name, write: (value) => value }, section).map(
    (level): [string, Root, Level] => [level.path, section, level],
  ),
)

describe('the schema of a section', () => {
  it('has levels for every section that can be written', () => {
    expect(LEVELS.length).toBeGreaterThan(15)
    const written = SECTIONS.filter(({ schema }) => schema !== undefined).map(({ name }) => name)
    expect([...new Set(LEVELS.map(([, { name }]) => name))]).toEqual(written)
  })

  it.each(LEVELS)('has at %s exactly the names that the parser reads', (_, section, level) => {
    const { keys } = level
    const named = Object.fromEntries(keys.map((key) => [key, null]))
    expect(unknownTo(section, level.write(named))).toEqual([])
    const [message = '', ...others] = unknownTo(section, level.write({ ...named, qqqqqqqqqq: null }))
    expect(others).toEqual([])
    const read = [...message.matchAll(/`([^`]+)`/g)].map(([, key]) => key)
    expect(read.toSorted()).toEqual(['qqqqqqqqqq', ...keys].toSorted())
  })

  it('has a place for every quoted text', () => {
    for (const { schema, quoted } of SECTIONS) {
      for (const path of [...(quoted?.keys ?? []), ...(quoted?.texts ?? [])]) {
        expect(placeIn(schema, path.split('.')), path).toBeDefined()
      }
    }
  })
})

/** Returns the part of a schema at a path, through lists. */
function placeIn(schema: Json | undefined, [name, ...rest]: readonly string[]): Json | undefined {
  if (!isObject(schema) || name === undefined) return schema
  const { properties, items, additionalProperties } = schema
  if (isObject(items)) return placeIn(items, [name, ...rest])
  const inner = isObject(properties) ? properties[name] : name === '*' ? additionalProperties : undefined
  return isObject(inner) ? placeIn(inner, rest) : undefined
}
