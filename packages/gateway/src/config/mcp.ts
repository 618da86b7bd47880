// Reads `mcp` of `tollgate.yaml`: the upstream MCP servers, the names of their tools, and how long calls wait.

import { resolve } from 'node:path'
import type { Place, Reader } from '@tollgate/kernel/policy'
import { readMeasure, readUrl, VARIABLE, WAIT } from './value.ts'
import { adapterOf, ADAPTERS, refusedOption, type AdapterName } from '../browser/servers/adapters.ts'
import { isServerName } from '../tools/offer.ts'

/** A configured MCP server. It names the variables that hold secrets, not their values. */
export type ServerConfig =
  | {
      readonly transport: 'stdio'
      /** A program. It runs without a shell. */
      readonly command: string
      readonly args: readonly string[]
      /** Variables with their values. */
      readonly env: Readonly<Record<string, string>>
      /** Variables that it inherits from the gateway. */
      readonly passEnv: readonly string[]
      /** Absolute path. */
      readonly cwd?: string
      /** The published browser server that it is. The gateway then starts its browser. */
      readonly browser?: AdapterName
      readonly own?: OwnCredentials
    }
  | {
      readonly transport: 'http'
      readonly url: string
      /** Header names, each with the variable that holds its value. */
      readonly headersEnv: Readonly<Record<string, string>>
      readonly own?: OwnCredentials
    }

/** For single principals: headers or variables of the server, each with the variable that holds its value. */
type OwnCredentials = ReadonlyMap<string, Readonly<Record<string, string>>>

/** The names of tools on the merged endpoint: `files__read` (`plain`) or `files/read` (`slash`). */
const TOOL_NAMES = ['plain', 'slash'] as const

/** The servers, and the names of their tools on the merged endpoint. */
export interface McpConfig {
  readonly servers: ReadonlyMap<string, ServerConfig>
  readonly names: (typeof TOOL_NAMES)[number]
  /** Milliseconds that a call waits for its approval. */
  readonly wait: number
}

/** The configuration without `mcp`. */
export const NO_MCP: McpConfig = { servers: new Map(), names: 'plain', wait: 0 }

const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/
// The transport sets these headers. Another value would change the meaning of the message.
const OWN_HEADER = /^(?:host|connection|content-.*|transfer-encoding|accept|mcp-.*|te|upgrade|expect)$/
const FIELDS = [
  'command',
  'args',
  'env',
  'pass-env',
  'cwd',
  'browser',
  'url',
  'headers-env',
  'principals',
] as const
type ServerFields = Partial<Record<(typeof FIELDS)[number], Place>>

/** Reads `mcp`. Paths are relative to `data`. */
export function readMcp(reader: Reader, place: Place, data: string): McpConfig {
  const { servers, names, wait } = reader.fields(place, ['servers', 'names', 'wait']) ?? {}
  return {
    servers: servers ? readServers(reader, servers, data) : NO_MCP.servers,
    names: (names && reader.word(names, '`names`', TOOL_NAMES)) ?? NO_MCP.names,
    wait: (wait && readMeasure(reader, wait, WAIT)) ?? NO_MCP.wait,
  }
}

function readServers(reader: Reader, place: Place, data: string): ReadonlyMap<string, ServerConfig> {
  const all = new Map<string, ServerConfig>()
  for (const { name, key, value } of reader.entries(place, '`servers`')) {
    if (!isServerName(name)) {
      reader.note(
        key,
        'a server name must have at most 32 lower-case letters, digits, `-` and `_`, such as `github`',
      )
    }
    const server = readServer(reader, value, data)
    if (server) all.set(name, server)
  }
  return all
}

function readServer(reader: Reader, place: Place, data: string): ServerConfig | undefined {
  const fields = reader.fields(place, FIELDS)
  if (!fields) return undefined
  if ((fields.command === undefined) === (fields.url === undefined)) {
    reader.note(place, 'a server needs either `command` (a program to run) or `url` (its address)')
    return undefined
  }
  for (const name of fields.url ? FIELDS.slice(0, 6) : FIELDS.slice(6, 8)) {
    const at = fields[name]
    if (at)
      reader.note(at, `\`${name}\` is not allowed for a server with \`${fields.url ? 'url' : 'command'}\``)
  }
  return fields.command ? readProgram(reader, fields, fields.command, data) : readRemote(reader, fields)
}

function readProgram(
  reader: Reader,
  { args, env, cwd, 'pass-env': pass, browser, principals }: ServerFields,
  command: Place,
  data: string,
): ServerConfig | undefined {
  const words =
    typeof reader.plain(command) === 'string'
      ? [reader.textLine(command, '`command`')]
      : reader.items(command, '`command`').map((word) => reader.textLine(word, 'a word of `command`'))
  const [program, ...rest] = words
  if (words.length === 0) {
    reader.note(command, 'add a program and its arguments, such as `[npx, -y, some-server]`')
  }
  const more = args ? reader.items(args, '`args`').map((word) => argument(reader, word)) : []
  const directory = cwd && reader.textLine(cwd, '`cwd`')
  const adapter = browser && reader.word(browser, '`browser`', ADAPTERS)
  const all = [...rest.map((word) => word ?? ''), ...more]
  const refused = adapter && refusedOption(adapterOf(adapter), all)
  if (refused !== undefined) {
    const option = refused.replace(/=.*$/s, '').slice(0, 64)
    reader.note(command, `remove \`${option}\`: the gateway starts the browser of this server itself`)
  }
  if (program === undefined) return undefined
  return {
    transport: 'stdio',
    command: program,
    args: all,
    env: env ? readPairs(reader, env, '`env`', VARIABLE) : {},
    passEnv: pass ? readNames(reader, pass) : [],
    ...(directory !== undefined && { cwd: resolve(data, directory) }),
    ...(adapter && { browser: adapter }),
    ...(principals && { own: readOwn(reader, principals, VARIABLE) }),
  }
}

/** Reads one argument. It can be empty, and numbers are often written without quotes. */
function argument(reader: Reader, place: Place): string {
  const value = reader.plain(place)
  if (value === '') return ''
  return typeof value === 'number' ? String(value) : (reader.textLine(place, 'a word of `args`') ?? '')
}

function readRemote(
  reader: Reader,
  { url, 'headers-env': headers, principals }: ServerFields,
): ServerConfig | undefined {
  const address = url && readUrl(reader, url, '`url`')
  const headersEnv = headers ? readHeaders(reader, headers) : {}
  const own = principals && { own: readOwn(reader, principals, HEADER) }
  return address === undefined ? undefined : { transport: 'http', url: address, headersEnv, ...own }
}

const PRINCIPAL = /^[^\u0000-\u001f\u007f-\u009f*]{1,256}$/

/** Reads the names under `principals`. A pattern would give the credentials to principals that are not listed. */
export function readPrincipals<T>(
  reader: Reader,
  place: Place,
  read: (value: Place) => T | undefined,
): ReadonlyMap<string, T> {
  const all = new Map<string, T>()
  for (const { name, key, value } of reader.entries(place, '`principals`')) {
    if (!PRINCIPAL.test(name)) reader.note(key, 'write the whole name of one principal, such as `agent:ci`')
    const own = read(value)
    if (own !== undefined) all.set(name, own)
  }
  return all
}

function readOwn(reader: Reader, place: Place, form: RegExp): OwnCredentials {
  return readPrincipals(reader, place, (value) => readPairs(reader, value, '`principals`', form, VARIABLE))
}

/** Reads `headers-env`: headers, each with the environment variable that has its value. */
export function readHeaders(reader: Reader, place: Place): Readonly<Record<string, string>> {
  return readPairs(reader, place, '`headers-env`', HEADER, VARIABLE)
}

function readNames(reader: Reader, place: Place): readonly string[] {
  return reader.items(place, '`pass-env`').flatMap((item) => {
    const name = reader.textLine(item, 'a name in `pass-env`')
    if (name === undefined || VARIABLE.test(name)) return name ?? []
    reader.note(item, '`pass-env` must list names of environment variables, not their values')
    return []
  })
}

function readPairs(
  reader: Reader,
  place: Place,
  what: string,
  form: RegExp,
  valueForm?: RegExp,
): Readonly<Record<string, string>> {
  const pairs: Record<string, string> = {}
  for (const { name, key, value } of reader.entries(place, what)) {
    const text = valueForm
      ? reader.textLine(value, `the variable of \`${name}\``)
      : literal(reader, value, name)
    if (!form.test(name)) {
      reader.note(
        key,
        `a name in ${what} must be the name of ${form === HEADER ? 'a header' : 'an environment variable'}`,
      )
    } else if (form === HEADER && OWN_HEADER.test(name.toLowerCase())) {
      reader.note(key, `\`${name}\` is set by the gateway; remove it`)
    } else if (text !== undefined && valueForm?.test(text) === false) {
      reader.note(value, `${what} must list names of environment variables, not their values`)
    } else if (text !== undefined) pairs[form === HEADER ? name.toLowerCase() : name] = text
  }
  return pairs
}

function literal(reader: Reader, place: Place, name: string): string | undefined {
  const value = reader.plain(place)
  if (value === '') return ''
  return reader.textLine(place, `the value of \`${name}\``)
}
