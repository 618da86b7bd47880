// The call that `tollgate policy explain` is asked about, as it was given on the command line.

import { readFileSync, statSync } from 'node:fs'
import { DOORS, EvidenceError, parseJson, type Door, type Json } from '@tollgate/evidence/core'
import type { ToolCall } from '@tollgate/kernel'
import { CommandError, UsageError } from '../program/terminal.ts'

/** How a call is given. */
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
  readonly at?: string
}

// As much as a call may have.
const MOST_ARGS = 1 << 20
const MOST_SOURCE = 4 << 20

/** The call as the API takes it. @throws UsageError. */
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
  }
}

/** The call as the kernel takes it. @throws UsageError. */
export function callOf(options: CallOptions, tenant: string): ToolCall {
  const { environment, workspace, session } = options
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
  }
}

function given(value: string | undefined, option: string): string {
  if (value !== undefined && value !== '') return value
  throw new UsageError(
    `\`${option}\` is missing`,
    'write for example `tollgate policy explain --tool fs/read_file --principal agent:ci`, or give a receipt',
  )
}

function doorOf({ door = 'http' }: CallOptions): Door {
  const found = DOORS.find((each) => each === door)
  if (found) return found
  throw new UsageError(`there is no door \`${door.slice(0, 40)}\``, `the doors are ${DOORS.join(', ')}`)
}

function argsOf({ args, argsFile }: CallOptions): Json {
  if (args !== undefined && argsFile !== undefined) {
    throw new UsageError('the arguments are given twice', 'give `--args` or `--args-file`, not both')
  }
  const text = args ?? (argsFile === undefined ? '{}' : readSmall(argsFile, MOST_ARGS))
  try {
    return parseJson(text, { maxBytes: MOST_ARGS })
  } catch (fault) {
    if (!(fault instanceof EvidenceError)) throw fault
    const where = args === undefined ? `\`${argsFile ?? ''}\`` : '`--args`'
    throw new UsageError(
      `${where} cannot be read: ${fault.message}`,
      'write a JSON object, such as \'{"path":"/srv/a.txt"}\'',
    )
  }
}

function sourcesOf({ source = [] }: CallOptions): readonly { source_channel: 'TOOL_OUTPUT'; text: string }[] {
  return source.map((file) => ({ source_channel: 'TOOL_OUTPUT', text: readSmall(file, MOST_SOURCE) }))
}

function readSmall(file: string, most: number): string {
  if (statSync(file).size > most) {
    throw new CommandError(`\`${file}\` is larger than a call may be`, `at most ${most} bytes`)
  }
  return readFileSync(file, 'utf8')
}

/** When the call is made, in milliseconds; undefined if that was not said. @throws UsageError. */
export function timeOf({ at }: CallOptions): number | undefined {
  if (at === undefined) return undefined
  const time = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(at)
    ? Date.parse(at)
    : NaN
  if (time >= 0) return time
  throw new UsageError(
    `\`${at.slice(0, 40)}\` is not a time`,
    'write for example `2026-01-05T09:00:00Z`, with its zone',
  )
}
