// `tools` in a policy file: the catalogue.

import { EFFECT_CLASSES, type EffectClass, type Json, type JsonObject } from '@tollgate/evidence/core'
import { compileSchema, type ArgumentsSchema } from '../../gates/schema/schema.ts'
import { glob, type Glob } from '../glob.ts'
import { readLabels } from '../reader/labels.ts'
import { checkName } from '../reader/names.ts'
import {
  about,
  between,
  EFFECT,
  keysOf,
  LABELS,
  mapping,
  NAME,
  PATHS,
  record,
  TRUE_OR_FALSE,
  words,
} from '../reader/schema.ts'
import type { Place, Reader } from '../reader/read.ts'

/** What the policy says about a tool. */
export interface ToolDeclaration {
  readonly name: Glob
  readonly effect: EffectClass
  /** Arguments whose values have consequences. */
  readonly sinks: readonly string[]
  /** Arguments that say where data goes; `none` if the tool reaches no network, whatever its arguments say. */
  readonly destinations: readonly string[] | 'none'
  /** Labels that what comes back carries. */
  readonly returns: readonly string[]
  /** Labels that arguments carry, by the path of each; `*` for all of them. */
  readonly takes: readonly { readonly path: string; readonly labels: readonly string[] }[]
  /** What a call costs: so much, or what the argument at this path says. */
  readonly cost: number | string | undefined
  readonly salted: boolean
  readonly browser: boolean
  readonly schema: ArgumentsSchema | undefined
}

/** Most tools. */
export const MAX_TOOLS = 10_000
// A session remembers 32 labels, of which five are built in.
const MAX_RETURNED = 27
const MOST_COST = 1_000_000_000
const COMMITS = ['plain', 'salted'] as const

const FIELDS = record('Tool', 'What a tool does. What is left out counts as the strictest.', {
  effect: about('The class of its effect; `admin` if left out.', EFFECT),
  sinks: about('Paths of arguments whose values have consequences.', PATHS),
  destinations: about('Paths of arguments that say where data goes; `none` if it reaches no network.', PATHS),
  returns: about('Labels that what comes back carries.', LABELS),
  takes: mapping('Takes', 'Labels that arguments carry, by path; `*` for every call.', LABELS, NAME),
  cost: about('Units that a call costs, or the path of the argument that says them.', {
    anyOf: [between(0, MOST_COST), NAME],
  }),
  commit: about('`salted`: hashes of its arguments cannot be guessed.', words(COMMITS, 'plain')),
  browser: about('It acts in a browser.', TRUE_OR_FALSE),
  schema: about('The JSON Schema of its arguments.', { type: 'object', additionalProperties: true }),
})
/** The schema of a tool. */
export const TOOL: JsonObject = FIELDS

/** Reads `tools`. */
export function readTools(reader: Reader, place: Place): readonly ToolDeclaration[] {
  const entries = reader.entries(place, '`tools`')
  if (entries.length > MAX_TOOLS) reader.note(place, `more than ${MAX_TOOLS} tools; use \`*\` in their names`)
  const tools = entries.slice(0, MAX_TOOLS).map(({ name, key, value }) => {
    checkName(reader, key, name, 'the name of a tool')
    return readTool(reader, name, value)
  })
  const labels = new Set(
    tools.flatMap(({ returns, takes }) => [...returns, ...takes.flatMap((each) => each.labels)]),
  )
  if (labels.size > MAX_RETURNED) {
    reader.note(place, `tools have more than ${MAX_RETURNED} different labels; use fewer, wider ones`)
  }
  return tools
}

function readTool(reader: Reader, name: string, place: Place): ToolDeclaration {
  const fields = reader.fields(place, keysOf(FIELDS)) ?? {}
  const paths = (each: Place | undefined, what: string): string[] =>
    each ? reader.texts(each, what).map(({ text }) => text) : []
  const none = fields.destinations && reader.plain(fields.destinations) === 'none'
  return {
    name: glob(name),
    // Not said means the strictest.
    effect: (fields.effect && reader.word(fields.effect, '`effect`', EFFECT_CLASSES)) ?? 'admin',
    sinks: paths(fields.sinks, 'a sink'),
    destinations: none === true ? 'none' : paths(fields.destinations, 'a destination'),
    returns: fields.returns ? readLabels(reader, fields.returns, '`returns`') : [],
    takes: fields.takes ? readTakes(reader, fields.takes) : [],
    cost: fields.cost && readCost(reader, fields.cost),
    salted: fields.commit !== undefined && reader.word(fields.commit, '`commit`', COMMITS) === 'salted',
    browser: (fields.browser && reader.flag(fields.browser, '`browser`')) ?? false,
    schema: fields.schema && readSchema(reader, fields.schema),
  }
}

function readTakes(reader: Reader, place: Place): ToolDeclaration['takes'] {
  return reader.entries(place, '`takes`').map(({ name, key, value }) => {
    checkName(reader, key, name, 'the path of an argument')
    return { path: name, labels: readLabels(reader, value, `\`takes.${name.slice(0, 100)}\``) }
  })
}

function readCost(reader: Reader, place: Place): number | string | undefined {
  if (typeof reader.plain(place) === 'number') return reader.number(place, '`cost`', 0, MOST_COST)
  const path = reader.text(place, '`cost`, a number or the path of an argument,')
  if (path !== undefined) checkName(reader, place, path, 'the path of an argument')
  return path
}

function readSchema(reader: Reader, place: Place): ArgumentsSchema | undefined {
  try {
    // Sound: YAML without tags and anchors makes plain data; what JSON cannot hold is refused below.
    return compileSchema(reader.plain(place) as Json)
  } catch (fault) {
    reader.note(
      place,
      `\`schema\` cannot be used: ${fault instanceof Error ? fault.message : 'not a schema'}`,
    )
    return undefined
  }
}
