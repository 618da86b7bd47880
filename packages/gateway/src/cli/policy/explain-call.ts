// Builds the call that `tollgate policy explain` explains, from the command line.

import { readFileSync, statSync } from 'node:fs'
import {
  DOORS,
  EvidenceError,
  isObject,
  parseJson,
  type Door,
  type Json,
  type JsonObject,
} from '@tollgate/evidence/core'
import type { ToolCall } from '@tollgate/kernel'
import { nearHint } from '../program/forms.ts'
import { CommandError, UsageError } from '../program/terminal.ts'

/** Options that describe a call. */
export interface CallOptions {
  readonly tool?: string
  readonly args?: string
  readonly argsFile?: string
  readonly principal?: string
  readonly door?: string
  readonly session?: string
  readonly environment?: string
  readonly workspace?: string
  readonly source?: readonly string[]
  readonly observation?: string
  readonly plannerRef?: string
  readonly destination?: string
  readonly at?: string
}

// The same limits as for real calls.
const MAX_ARGS_BYTES = 1 << 20
const MAX_SOURCE_BYTES = 4 << 20

/** Returns the call as a request body of the API. @throws UsageError. */
export function bodyOf(options: CallOptions): object {
  const { session, environment, workspace } = options
  const context = { ...(environment && { environment }), ...(workspace && { workspace }) }
  const sources = sourcesOf(options)
  return {
    tool: given(options.tool, '--tool'),
    principal: given(options.principal, '--principal'),
    arguments: argsOf(options),
    door: doorOf(options),
    ...(session !== undefined && { session_id: session }),
    ...(Object.keys(context).length > 0 && { context }),
    ...(sources.length > 0 && { sources }),
    ...browserOf(options),
  }
}

/** Returns the call as input of the kernel. @throws UsageError. */
export function callOf(options: CallOptions, tenant: string): ToolCall {
  const { environment, workspace, session } = options
  const browser = browserOf(options)
  return {
    caller: { tenant, principal: given(options.principal, '--principal') },
    door: doorOf(options),
    assurance: 'advised',
    tool: given(options.tool, '--tool'),
    args: argsOf(options),
    ...(session !== undefined && { session_id: session }),
    context: {
      ...(environment !== undefined && { environment }),
      ...(workspace !== undefined && { workspace }),
    },
    sources: sourcesOf(options),
    ...(Object.keys(browser).length > 0 && { browser }),
  }
}

function given(value: string | undefined, option: string): string {
  if (value !== undefined && value !== '') return value
  throw new UsageError(
    `\`${option}\` is missing`,
    'for example: `tollgate policy explain --tool fs/read_file --principal agent:ci`; or give a receipt',
  )
}

function doorOf({ door = 'http' }: CallOptions): Door {
  const found = DOORS.find((each) => each === door)
  if (found) return found
  const hints = [...nearHint(door, DOORS), `the doors are ${DOORS.join(', ')}`]
  throw new UsageError(`unknown door \`${door.slice(0, 40)}\``, ...hints)
}

function argsOf({ args, argsFile }: CallOptions): Json {
  if (args !== undefined && argsFile !== undefined) {
    throw new UsageError('the arguments are given twice', 'give `--args` or `--args-file`, not both')
  }
  const text = args ?? (argsFile === undefined ? '{}' : readSmall(argsFile, MAX_ARGS_BYTES))
  try {
    return parseJson(text, { maxBytes: MAX_ARGS_BYTES })
  } catch (fault) {
    if (!(fault instanceof EvidenceError)) throw fault
    const where = args === undefined ? `\`${argsFile ?? ''}\`` : '`--args`'
    throw new UsageError(
      `${where} cannot be read: ${fault.message}`,
      'write a JSON object, such as \'{"path":"/srv/a.txt"}\'',
    )
  }
}

/** The browser part of the call: the observation of a file, the planner reference and the destination. */
function browserOf({ observation, plannerRef, destination }: CallOptions): JsonObject {
  return {
    ...(observation !== undefined && { observation: readObservationFile(observation) }),
    ...(plannerRef !== undefined && { planner_ref: plannerRef }),
    ...(destination !== undefined && { destination }),
  }
}

const MAX_OBSERVATION_BYTES = 1 << 20
const OBSERVED = new Set(['url', 'dom_hash', 'visual_text_hash', 'sentinel_risk', 'sentinel_findings'])

/** Reads an observation, or the first line that `tollgate sentinel scan PAGE --json` prints. */
function readObservationFile(file: string): JsonObject {
  const [text = ''] = readSmall(file, MAX_OBSERVATION_BYTES)
    .trim()
    .split(/\n(?=\{)/)
  try {
    const found = parseJson(text, { maxBytes: MAX_OBSERVATION_BYTES })
    if (isObject(found)) {
      const { risk, sentinel_risk = risk } = found
      const all = { ...found, ...(sentinel_risk !== undefined && { sentinel_risk }) }
      return Object.fromEntries(Object.entries(all).filter(([name]) => OBSERVED.has(name)))
    }
  } catch (fault) {
    if (!(fault instanceof EvidenceError)) throw fault
  }
  throw new UsageError(
    `\`${file}\` is not an observation`,
    'write a JSON object with `url`, `dom_hash`, `visual_text_hash`, `sentinel_risk` and `sentinel_findings`, or use the output of `tollgate sentinel scan PAGE --json`',
  )
}

function sourcesOf({ source = [] }: CallOptions): readonly { source_channel: 'TOOL_OUTPUT'; text: string }[] {
  return source.map((file) => ({ source_channel: 'TOOL_OUTPUT', text: readSmall(file, MAX_SOURCE_BYTES) }))
}

function readSmall(file: string, maxBytes: number): string {
  if (statSync(file).size > maxBytes) {
    throw new CommandError(`\`${file}\` is too large for a call`, `the limit is ${maxBytes} bytes`)
  }
  return readFileSync(file, 'utf8')
}

/** Returns the time of the call in milliseconds; undefined if none was given. @throws UsageError. */
export function timeOf({ at }: CallOptions): number | undefined {
  if (at === undefined) return undefined
  const time = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(at)
    ? Date.parse(at)
    : NaN
  if (time >= 0) return time
  throw new UsageError(
    `\`${at.slice(0, 40)}\` is not a time`,
    'give a time with its zone, such as `2026-01-05T09:00:00Z`',
  )
}
