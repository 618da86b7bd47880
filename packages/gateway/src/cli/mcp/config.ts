// Reads the configuration of an MCP client: `mcpServers` of Claude and Cursor, `servers` of VS Code. Reports problems in the file.
// Never repeats a value that may be a secret.

import { isList, type Json, type JsonObject } from '@tollgate/evidence/core'
import type { ServerAddress } from '../../mcp/server/upstream.ts'
import type { Severity } from '../../tools/finding.ts'
import { isObject } from '../../tools/offer.ts'
import { plainJson } from './jsonc.ts'
import { packageFindings } from './packages.ts'
import { secretsIn, textsIn } from './secrets.ts'
import { CommandError } from '../program/terminal.ts'
import { wrappedIn, type Program } from '../program/wrapped.ts'

/** A problem in a configuration, or in using it. */
export interface ConfigFinding {
  readonly code:
    | 'PACKAGE_UNPINNED'
    | 'URL_IN_THE_CLEAR'
    | 'SECRET_IN_FILE'
    | 'VALUE_MISSING'
    | 'ENTRY_UNREADABLE'
    | 'SERVER_SILENT'
  readonly severity: Severity
  /** The server. */
  readonly tool: string
  readonly message: string
}

/** A server of a configuration. */
export interface Configured {
  /** The name that the gateway uses. */
  readonly name: string
  /** The name in the file. */
  readonly label: string
  /** Undefined if the server must not be started: it is switched off or unsafe. */
  readonly address: ServerAddress | undefined
  readonly isOff: boolean
  readonly findings: readonly ConfigFinding[]
}

/** Returns the servers of a configuration. `environment` is that of this process. @throws CommandError if there are none. */
export function readClientConfig(text: string, environment: NodeJS.ProcessEnv): readonly Configured[] {
  const servers = serversIn(parse(text))
  if (!servers) {
    throw new CommandError(
      'the file lists no servers: it has neither `mcpServers` nor `servers`',
      'give the configuration of an MCP client, such as `claude_desktop_config.json`, `.mcp.json` or `.vscode/mcp.json`',
    )
  }
  const taken = new Set<string>()
  return Object.entries(servers).map(([label, value]) => {
    const { entry, name } = unwrapped(value)
    return configured(nameFor(name ?? label, taken), label, entry, environment)
  })
}

/** An entry with the program that `tollgate mcp --` starts: the wrapper would need a gateway, and start one. */
function unwrapped(entry: Json): { readonly entry: Json; readonly name?: string | undefined } {
  const program = isObject(entry) ? programIn(entry) : undefined
  const wrapped = program && wrappedIn(program)
  if (!isObject(entry) || !wrapped) return { entry }
  return { entry: { ...entry, ...wrapped.inner }, name: wrapped.name }
}

/** Zed also knows `command: { path, args }`. */
function programIn({ command, args = [] }: JsonObject): Program | undefined {
  if (isObject(command)) return programIn({ command: command['path'] ?? null, args: command['args'] ?? [] })
  const words = isList(args) ? args.filter((word) => typeof word === 'string') : undefined
  if (typeof command !== 'string' || !isList(args) || words?.length !== args.length) return undefined
  return { command, args: words }
}

function parse(text: string): Json {
  try {
    // Sound: a parsed value is JSON.
    return JSON.parse(plainJson(text)) as Json
  } catch {
    // The parser's message would repeat parts of the file.
    throw new CommandError(
      'the file is not JSON',
      'only comments and trailing commas are allowed in addition to JSON',
    )
  }
}

function serversIn(file: Json): JsonObject | undefined {
  if (!isObject(file)) return undefined
  const { mcpServers, servers, mcp } = file
  const inner = isObject(mcp) ? mcp['servers'] : undefined
  return [mcpServers, servers, inner].find(isObject)
}

/** Returns a valid and unused server name, close to the label. */
export function nameFor(label: string, taken: Set<string>): string {
  const plain = label
    .toLowerCase()
    .slice(0, 28)
    .replaceAll(/[^a-z0-9_-]/g, '-')
    .replace(/^[_-]{1,28}/, '')
  const wish = plain === '' ? 'server' : plain
  let name = wish
  for (let i = 2; taken.has(name); i++) name = `${wish.slice(0, 27)}-${i}`
  taken.add(name)
  return name
}

function configured(name: string, label: string, entry: Json, environment: NodeJS.ProcessEnv): Configured {
  const off = { name, label, address: undefined, isOff: false, findings: [] }
  const unreadable = finding(
    name,
    'ENTRY_UNREADABLE',
    'medium',
    'the entry has neither a readable `command` nor a readable `url`',
  )
  if (!isObject(entry)) return { ...off, findings: [unreadable] }
  if (entry['disabled'] === true || entry['enabled'] === false) return { ...off, isOff: true }
  const missing = new Set<string>()
  const fill = (text: string): string => filled(text, environment, missing)
  const read = addressOf(entry, fill, environment)
  if (!read) return { ...off, findings: [unreadable] }
  const clear = read.transport === 'http' && isInTheClear(read.url)
  const findings = [
    ...(clear ? [finding(name, 'URL_IN_THE_CLEAR', 'high', IN_THE_CLEAR)] : []),
    ...packageFindings(textsIn(entry['command']), textsIn(entry['args'])).map((message) =>
      finding(name, 'PACKAGE_UNPINNED', 'medium', message),
    ),
    ...secretsIn(entry).map((place) =>
      finding(
        name,
        'SECRET_IN_FILE',
        'medium',
        `${place} looks like a secret, and everyone who can read the file can read it`,
      ),
    ),
    ...[...missing].map((each) => finding(name, 'VALUE_MISSING', 'low', `\`${each}\` is not set`)),
  ]
  return { name, label, isOff: false, findings, address: clear ? undefined : read }
}

const IN_THE_CLEAR =
  'its address is plain http on another machine, so others can read and change the traffic; the server was not contacted'

/** Makes a finding about the configuration. */
export function finding(
  tool: string,
  code: ConfigFinding['code'],
  severity: Severity,
  message: string,
): ConfigFinding {
  return { code, severity, tool, message }
}

/** A variable of programs that are only asked for their tools. A wrapper that a script hides must not start a gateway. */
export const SCANNED = 'TOLLGATE_SCAN'

// The variables that a program needs to run. The server gets no others of this process.
const INHERITED = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'TERM', 'TMPDIR', 'TZ'],
  ...['XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME'],
  ...['SystemRoot', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'TEMP', 'TMP', 'PATHEXT', 'ComSpec'],
]

function addressOf(
  entry: JsonObject,
  fill: (text: string) => string,
  environment: NodeJS.ProcessEnv,
): ServerAddress | undefined {
  const { command, cwd } = entry
  const url = entry['url'] ?? entry['serverUrl']
  if (typeof command === 'string' && command !== '') {
    const own = INHERITED.flatMap((name) => {
      const value = environment[name]
      return value === undefined ? [] : [[name, value] as const]
    })
    return {
      transport: 'stdio',
      command: fill(command),
      args: textsIn(entry['args']).map(fill),
      env: { ...Object.fromEntries(own), ...textMembers(entry['env'], fill), [SCANNED]: '1' },
      ...(typeof cwd === 'string' && { cwd: fill(cwd) }),
    }
  }
  if (typeof url !== 'string' || !URL.canParse(fill(url))) return undefined
  return { transport: 'http', url: fill(url), headers: textMembers(entry['headers'], fill) }
}

/** Returns how to start a program as a client would, and the variables that are not set. */
export function programAddress(
  entry: JsonObject,
  environment: NodeJS.ProcessEnv,
): { readonly address: ServerAddress | undefined; readonly missing: readonly string[] } {
  const missing = new Set<string>()
  const address = addressOf(entry, (text) => filled(text, environment, missing), environment)
  return { address, missing: [...missing] }
}

function textMembers(
  value: Json | undefined,
  fill: (text: string) => string,
): Readonly<Record<string, string>> {
  const members = Object.entries(isObject(value) ? value : {})
  return Object.fromEntries(
    members.flatMap(([name, each]) => (typeof each === 'string' ? [[name, fill(each)] as const] : [])),
  )
}

/** Replaces `${NAME}`, `${env:NAME}` and `${NAME:-default}`, as MCP clients do. */
function filled(text: string, environment: NodeJS.ProcessEnv, missing: Set<string>): string {
  return text.replaceAll(/\$\{([^{}$]{1,200})\}/g, (whole, inner: string) => {
    const [name = '', otherwise] = inner.replace(/^env:/, '').split(':-', 2)
    const value = environment[name] ?? otherwise
    if (value === undefined) missing.add(whole)
    return value ?? ''
  })
}

function isInTheClear(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  const isHere = hostname === 'localhost' || hostname === '[::1]' || /^127\.[0-9.]{1,12}$/.test(hostname)
  return protocol !== 'https:' && !isHere
}
