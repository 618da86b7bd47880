// How a program joins the gateway on the local socket: one line that says which server it brings and for whom, one line in
// answer. After that, messages go both ways, one a line; what the gateway says besides begins with a sign of its own.

import { isAbsolute } from 'node:path'
import { canonicalize, isList, isObject, parseJson, type Json, type JsonObject } from '@tollgate/evidence'
import { isServerName } from '../../tools/offer.ts'
import { parseMessage, type Request } from '../message.ts'

/** Who joins. */
export interface Join {
  /** How the server is called. */
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Of an agent; without it the agent is `agent:local`. */
  readonly token?: string
  /** 32 hexadecimal digits that name the process, also when it joins again: receipts hold them. */
  readonly process?: string
  /** The client's `initialize` of an earlier connection, to be gone on from. */
  readonly initialize?: Request
}

/** What is answered. */
export type JoinAnswer =
  | { readonly ok: true }
  | { readonly ok: false; readonly message: string; readonly hints: readonly string[] }

/** Largest first line, in bytes: an environment may be long. */
const MAX_JOIN: number = 1 << 20
/** Begins a line of the gateway that holds what the server wrote to its standard error, as a JSON text. */
export const STDERR = '!'
/** The line by which a gateway says that it stops because it was told to. */
export const GOODBYE = '.'

const REQUIRED = ['tollgate', 'name', 'command', 'args', 'env', 'cwd']
const OPTIONAL = ['token', 'process', 'initialize']
const PROCESS = /^[0-9a-f]{32}$/
const MAX_ARGS = 1024
const MAX_TEXT = 1 << 17

/** The line of who joins. */
export function formatJoin({ initialize, ...join }: Join): string {
  const { id, method, params } = initialize ?? {}
  const again = initialize && {
    initialize: { jsonrpc: '2.0', id: id ?? 0, method: method ?? '', params: params ?? {} },
  }
  return canonicalize({ tollgate: 1, ...join, ...again })
}

/** Reads the line of who joins; a text says why it cannot be read. */
export function parseJoin(line: Uint8Array): Join | string {
  const value = readObject(line, MAX_JOIN)
  if (value?.['tollgate'] !== 1) return 'this is not a line by which one joins'
  const names = Object.keys(value)
  if (REQUIRED.some((name) => !names.includes(name))) return 'the line lacks a member'
  if (names.some((name) => ![...REQUIRED, ...OPTIONAL].includes(name)))
    return 'the line has an unknown member'
  const { name, command, args, env, cwd, token, process } = value
  if (typeof name !== 'string' || !isServerName(name)) return 'the name is not one of a server'
  if (!isText(command) || command === '') return 'the command is not a text'
  if (!isList(args) || args.length > MAX_ARGS || !args.every(isText)) return 'the arguments are not texts'
  if (!isEnvironment(env)) return 'the environment is not one'
  if (!isText(cwd) || !isAbsolute(cwd)) return 'the directory is not an absolute path'
  if (token !== undefined && typeof token !== 'string') return 'the token is not a text'
  if (process !== undefined && !(isText(process) && PROCESS.test(process)))
    return 'the process is not 32 hexadecimal digits'
  const initialize = value['initialize'] === undefined ? undefined : readInitialize(value['initialize'])
  if (initialize === 'wrong') return 'that is not how one initializes'
  return {
    name,
    command,
    args,
    env,
    cwd,
    ...(token !== undefined && { token }),
    ...(process !== undefined && { process }),
    ...(initialize && { initialize }),
  }
}

/** The line of the gateway's answer. */
export function formatWelcome(welcome: JoinAnswer): string {
  return canonicalize({ tollgate: 1, ...welcome })
}

/** Reads the gateway's answer; undefined if it is none. */
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
    // Not JSON: said by whoever asked.
    return undefined
  }
}

function readInitialize(value: Json): Request | 'wrong' {
  const message = parseMessage(canonicalize(value))
  return message.kind === 'request' && message.method === 'initialize' ? message : 'wrong'
}

// What the system takes as a word: a zero byte would end it early.
function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT && !value.includes('\0')
}

function isEnvironment(value: Json | undefined): value is Readonly<Record<string, string>> {
  if (!isObject(value)) return false
  return Object.entries(value).every(([name, text]) => name !== '' && !/[=\0]/.test(name) && isText(text))
}
