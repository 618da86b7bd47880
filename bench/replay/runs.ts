// Recorded runs of agents: one JSON object a line, plain or compressed. Read strictly: what is not a run is named by file and line.

import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import type { Json, JsonObject } from '@tollgate/evidence'

/** One call of a run, and what came of it. */
export interface Step {
  readonly tool: string
  readonly args: JsonObject
  /** What the tool answered; undefined where the run ended before it did. */
  readonly output: string | undefined
}

/** What a run is known to be; only for counting, never for deciding. */
export type Label = 'benign' | 'hijacked' | 'resisted' | 'direct'

/** A recorded run. */
export interface Run {
  readonly id: string
  readonly suite: string
  readonly pipeline: string
  readonly userTask: string
  readonly injectionTask: string | undefined
  readonly attack: string | undefined
  readonly label: Label
  /** Whether the user's own task was solved. */
  readonly solved: boolean
  readonly injections: readonly string[]
  readonly prompt: string
  readonly steps: readonly Step[]
}

/** Reads the runs of a file in their order. Throws for a line that is no run. */
export async function* readRuns(file: string): AsyncGenerator<Run> {
  const bytes = createReadStream(file)
  const input = file.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes
  let line = 0
  for await (const text of createInterface({ input, crlfDelay: Infinity })) {
    line++
    if (text.trim() !== '') yield parseRun(text, `${file}:${line}`)
  }
}

const LABELS: readonly string[] = ['benign', 'hijacked', 'resisted', 'direct'] satisfies readonly Label[]

/** Reads one line. `at` names it in errors. */
export function parseRun(text: string, at: string): Run {
  const found = jsonIn(text, at)
  const label = textAt(found, 'label', at)
  if (!LABELS.includes(label)) throw new Error(`${at}: \`label\` must be one of ${LABELS.join(', ')}`)
  return {
    id: textAt(found, 'id', at),
    suite: textAt(found, 'suite', at),
    pipeline: textAt(found, 'pipeline', at),
    userTask: textAt(found, 'user_task', at),
    injectionTask: optionalText(found, 'injection_task', at),
    attack: optionalText(found, 'attack', at),
    // Sound: looked up above.
    label: label as Label,
    solved: found.utility === true,
    injections: listAt(found, 'injections', at).map((each) => asText(each, 'injections', at)),
    prompt: textAt(found, 'prompt', at),
    steps: listAt(found, 'steps', at).map((each) => stepOf(each, at)),
  }
}

function jsonIn(text: string, at: string): JsonObject {
  let found: unknown
  try {
    found = JSON.parse(text)
  } catch {
    throw new Error(`${at}: not JSON; each line must be one JSON object`)
  }
  if (!isObject(found)) throw new Error(`${at}: each line must be one JSON object`)
  return found
}

function stepOf(value: Json, at: string): Step {
  if (!isObject(value)) throw new Error(`${at}: each of \`steps\` must be an object`)
  const { args = {}, output } = value
  if (!isObject(args)) throw new Error(`${at}: the \`args\` of a step must be an object`)
  return {
    tool: textAt(value, 'tool', at),
    args,
    output: output === undefined || output === null ? undefined : said(output),
  }
}

function said(output: Json): string {
  return typeof output === 'string' ? output : JSON.stringify(output)
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textAt(value: JsonObject, name: string, at: string): string {
  return asText(value[name], name, at)
}

function optionalText(value: JsonObject, name: string, at: string): string | undefined {
  const found = value[name]
  return found === undefined || found === null ? undefined : asText(found, name, at)
}

function asText(value: Json | undefined, name: string, at: string): string {
  if (typeof value !== 'string') throw new Error(`${at}: \`${name}\` must be a text`)
  return value
}

function listAt(value: JsonObject, name: string, at: string): readonly Json[] {
  const found = value[name] ?? []
  if (!Array.isArray(found)) throw new Error(`${at}: \`${name}\` must be a list`)
  // Sound: `Array.isArray` does not narrow a readonly array.
  return found as readonly Json[]
}
