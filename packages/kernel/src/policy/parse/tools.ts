// Parses `tools` in a policy file: the catalogue.

import { EFFECT_CLASSES, type EffectClass, type Json, type JsonObject } from '@tollgate/evidence/core'
import { compileSchema, type ArgumentsSchema } from '../../gates/schema/schema.ts'
import type { FactArguments } from '../../shell/facts.ts'
import { glob, type Glob } from '../glob.ts'
import { checkName, readLabels } from '../reader/names.ts'
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

/** The declaration of a tool in the policy. */
export interface ToolDeclaration {
  readonly name: Glob
  readonly effect: EffectClass
  /** Arguments whose values have consequences. */
  readonly sinks: readonly string[]
  /** Arguments that contain destinations; `none` if no argument can choose where data goes. */
  readonly destinations: readonly string[] | 'none'
  /** Labels of its output. */
  readonly returns: readonly string[]
  /** Labels of its arguments, by path; `*` for all of them. */
  readonly takes: readonly { readonly path: string; readonly labels: readonly string[] }[]
  /** The cost of a call: a number, or the path of an argument with the number. */
  readonly cost: number | string | undefined
  readonly salted: boolean
  readonly browser: boolean
  /** It does nothing: a framework only reads its arguments. */
  readonly pure: boolean
  readonly schema: ArgumentsSchema | undefined
  /** Where the facts about files and commands come from; undefined if the tool declares none. */
  readonly factsFrom: FactArguments | undefined
}

/** Maximum tools of a policy. */
export const MAX_TOOLS = 10_000
// A session keeps 32 labels, of which five are built in.
const MAX_RETURNED = 27
const MAX_COST = 1_000_000_000
const COMMITS = ['plain', 'salted'] as const

const FIELDS = record('Tool', 'The effects of a tool. Missing members get the strictest value.', {
  effect: about('Its effect class; `admin` by default.', EFFECT),
  sinks: about('Paths of arguments whose values have consequences.', PATHS),
  destinations: about(
    'Paths of arguments with destinations; `none` if no argument can choose where data goes.',
    PATHS,
  ),
  returns: about('Labels of its output.', LABELS),
  takes: mapping('Takes', 'Labels of its arguments, by path; `*` for every call.', LABELS, NAME),
  cost: about('The cost of a call in units, or the path of an argument with the cost.', {
    anyOf: [between(0, MAX_COST), NAME],
  }),
  commit: about(
    '`salted`: receipts contain salted hashes of its arguments, which cannot be guessed.',
    words(COMMITS, 'plain'),
  ),
  browser: about('It acts in a browser.', TRUE_OR_FALSE),
  pure: about(
    'It does nothing: a framework only reads its arguments, such as a final answer. It has the effect class `read` and no destinations.',
    TRUE_OR_FALSE,
  ),
  command: about('Paths of arguments with a shell command.', PATHS),
  cwd: about('The path of the argument with the working directory of the call.', NAME),
  reads: about('Paths of arguments with files that the tool reads.', PATHS),
  writes: about('Paths of arguments with files that the tool writes.', PATHS),
  deletes: about('Paths of arguments with files that the tool deletes.', PATHS),
  schema: about('The JSON Schema of its arguments.', { type: 'object', additionalProperties: true }),
})
/** The schema of a tool. */
export const TOOL: JsonObject = FIELDS

/** Parses `tools`. */
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
    reader.note(place, `tools have more than ${MAX_RETURNED} different labels; use fewer, broader ones`)
  }
  return tools
}

function readTool(reader: Reader, name: string, place: Place): ToolDeclaration {
  const fields = reader.fields(place, keysOf(FIELDS)) ?? {}
  const paths = (each: Place | undefined, what: string): string[] =>
    each ? reader.texts(each, what).map(({ text }) => text) : []
  const none = fields.destinations && reader.plain(fields.destinations) === 'none'
  const pure = (fields.pure && reader.flag(fields.pure, '`pure`')) ?? false
  if (pure && (fields.effect ?? fields.sinks ?? fields.destinations ?? fields.browser)) {
    reader.note(place, '`pure` includes `effect`, `sinks`, `destinations` and `browser`; leave those out')
  }
  return {
    name: glob(name),
    // The default is the strictest class.
    effect: pure
      ? 'read'
      : ((fields.effect && reader.word(fields.effect, '`effect`', EFFECT_CLASSES)) ?? 'admin'),
    sinks: paths(fields.sinks, 'a sink'),
    destinations: pure || none === true ? 'none' : paths(fields.destinations, 'a destination'),
    returns: fields.returns ? readLabels(reader, fields.returns, '`returns`') : [],
    takes: fields.takes ? readTakes(reader, fields.takes) : [],
    cost: fields.cost && readCost(reader, fields.cost),
    salted: fields.commit !== undefined && reader.word(fields.commit, '`commit`', COMMITS) === 'salted',
    browser: (fields.browser && reader.flag(fields.browser, '`browser`')) ?? false,
    pure,
    schema: fields.schema && readSchema(reader, fields.schema),
    factsFrom: readFactArguments(reader, place, fields),
  }
}

const FACT_FIELDS = ['command', 'cwd', 'reads', 'writes', 'deletes'] as const

function readFactArguments(
  reader: Reader,
  place: Place,
  fields: Partial<Record<keyof typeof FIELDS.properties, Place>>,
): FactArguments | undefined {
  if (FACT_FIELDS.every((name) => fields[name] === undefined)) return undefined
  const [command = [], cwd = [], reads = [], writes = [], deletes = []] = FACT_FIELDS.map((name) => {
    const at = fields[name]
    return at ? reader.texts(at, `\`${name}\`, the path of an argument,`).map(({ text }) => text) : []
  })
  if (command.length + reads.length + writes.length + deletes.length === 0) {
    reader.note(fields.cwd ?? place, '`cwd` needs `command`, `reads`, `writes` or `deletes`; add one')
  }
  return { command, cwd, reads, writes, deletes }
}

function readTakes(reader: Reader, place: Place): ToolDeclaration['takes'] {
  return reader.entries(place, '`takes`').map(({ name, key, value }) => {
    checkName(reader, key, name, 'the path of an argument')
    return { path: name, labels: readLabels(reader, value, `\`takes.${name.slice(0, 100)}\``) }
  })
}

function readCost(reader: Reader, place: Place): number | string | undefined {
  if (typeof reader.plain(place) === 'number') return reader.number(place, '`cost`', 0, MAX_COST)
  const path = reader.text(place, '`cost`, a number or the path of an argument,')
  if (path !== undefined) checkName(reader, place, path, 'the path of an argument')
  return path
}

function readSchema(reader: Reader, place: Place): ArgumentsSchema | undefined {
  try {
    // Safe cast: YAML without tags and anchors gives plain data; values that JSON cannot represent are refused below.
    return compileSchema(reader.plain(place) as Json)
  } catch (fault) {
    reader.note(
      place,
      `\`schema\` cannot be used: ${fault instanceof Error ? fault.message : 'not a schema'}`,
    )
    return undefined
  }
}
