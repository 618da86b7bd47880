// The first lines on the local socket: the program names its server and its agent, the gateway answers. Then messages go both
// ways, one per line. Other lines of the gateway begin with a special character.

import { isAbsolute } from 'node:path'
import {
  canonicalize,
  isList,
  isObject,
  parseJson,
  type Json,
  type JsonObject,
} from '@tollgate/evidence/core'
import { adapterOf, ADAPTERS, refusedOption, type AdapterName } from '../../browser/servers/adapters.ts'
import { isServerName } from '../../tools/offer.ts'
import { parseMessage, type Request } from '../message.ts'

export interface Join {
  /** The name of the server. */
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** The published browser server that it is, to give it a guarded browser. */
  readonly browser?: AdapterName
  /** The token of an agent. Without it, the agent is `agent:local`. */
  readonly token?: string
  /** 32 hexadecimal digits that name the process. They stay the same when it joins again; receipts hold them. */
  readonly process?: string
  /** The client's `initialize` of an earlier connection, to resume it. */
  readonly initialize?: Request
}

export type JoinAnswer =
  | { readonly ok: true }
  | { readonly ok: false; readonly message: string; readonly hints: readonly string[] }

/** Largest first line in bytes. An environment may be long. */
const MAX_JOIN: number = 1 << 20
/** Begins a line of the gateway that holds standard error of the server, as a JSON string. */
export const STDERR = '!'
/** The line that a stopping gateway sends. */
export const GOODBYE = '.'

const REQUIRED = ['tollgate', 'name', 'command', 'args', 'env', 'cwd']
const OPTIONAL = ['token', 'process', 'browser', 'initialize']
const PROCESS = /^[0-9a-f]{32}$/
const MAX_ARGS = 1024
const MAX_TEXT = 1 << 17

/** Formats the first line of a program. */
export function formatJoin({ initialize, ...join }: Join): string {
  const { id, method, params } = initialize ?? {}
  const again = initialize && {
    initialize: { jsonrpc: '2.0', id: id ?? 0, method: method ?? '', params: params ?? {} },
  }
  return canonicalize({ tollgate: 1, ...join, ...again })
}

/** Reads the first line of a program. A string says why it is invalid. */
export function parseJoin(line: Uint8Array): Join | string {
  const value = readObject(line, MAX_JOIN)
  if (value?.['tollgate'] !== 1) return 'the first line is not a Tollgate join'
  const names = Object.keys(value)
  if (REQUIRED.some((name) => !names.includes(name))) return 'the first line lacks a member'
  if (names.some((name) => ![...REQUIRED, ...OPTIONAL].includes(name)))
    return 'the first line has an unknown member'
  const { name, command, args, env, cwd, token, process } = value
  const browser = ADAPTERS.find((each) => each === value['browser'])
  if (typeof name !== 'string' || !isServerName(name)) return 'the name is not a valid server name'
  if (!isText(command) || command === '') return 'the command is not a string'
  if (!isList(args) || args.length > MAX_ARGS || !args.every(isText)) return 'the arguments are not strings'
  if (!isEnvironment(env)) return 'the environment is not valid'
  if (!isText(cwd) || !isAbsolute(cwd)) return 'the directory is not an absolute path'
  if (token !== undefined && typeof token !== 'string') return 'the token is not a string'
  if (process !== undefined && !(isText(process) && PROCESS.test(process)))
    return 'the process is not 32 hexadecimal digits'
  if (value['browser'] !== undefined && !browser) return 'the browser server is not known'
  const refused = browser && refusedOption(adapterOf(browser), args)
  if (refused !== undefined)
    return 'the arguments lead to another browser; remove options such as `--cdp-endpoint`'
  const initialize = value['initialize'] === undefined ? undefined : readInitialize(value['initialize'])
  if (initialize === 'wrong') return '`initialize` is not a valid request'
  return {
    name,
    command,
    args,
    env,
    cwd,
    ...(token !== undefined && { token }),
    ...(process !== undefined && { process }),
    ...(browser && { browser }),
    ...(initialize && { initialize }),
  }
}

/** Formats the answer of the gateway. */
export function formatWelcome(welcome: JoinAnswer): string {
  return canonicalize({ tollgate: 1, ...welcome })
}

/** Reads the answer of the gateway; undefined if it is invalid. */
export function parseWelcome(line: Uint8Array): JoinAnswer | undefined {
  const value = readObject(line, MAX_JOIN)
  if (value?.['tollgate'] !== 1) return undefined
  const { ok, message, hints } = value
  if (ok === true) return { ok }
  if (ok !== false || typeof message !== 'string' || !isList(hints)) return undefined
  return { ok, message, hints: hints.filter((hint) => typeof hint === 'string') }
}

function readObject(line: Uint8Array, maxBytes: number): JsonObject | undefined {
  try {
    const value = parseJson(line, { maxBytes })
    return isObject(value) ? value : undefined
  } catch {
    // Not JSON. The caller reports it.
    return undefined
  }
}

function readInitialize(value: Json): Request | 'wrong' {
  const message = parseMessage(canonicalize(value))
  return message.kind === 'request' && message.method === 'initialize' ? message : 'wrong'
}

// Text that the system accepts: a zero byte would end it early.
function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT && !value.includes('\0')
}

function isEnvironment(value: Json | undefined): value is Readonly<Record<string, string>> {
  if (!isObject(value)) return false
  return Object.entries(value).every(([name, text]) => name !== '' && !/[=\0]/.test(name) && isText(text))
}
