// Reading the configuration of an MCP client: `mcpServers` as Claude and Cursor write it, `servers` as VS Code does. What is found
// in the file itself is told here; a value that may be a secret is never repeated.

import type { Json, JsonObject } from '@tollgate/evidence'
import type { ServerAddress } from '../../mcp/server/upstream.ts'
import type { Severity } from '../../tools/finding.ts'
import { isObject } from '../../tools/offer.ts'
import { plainJson } from './jsonc.ts'
import { packageFindings } from './packages.ts'
import { secretsIn, textsIn } from './secrets.ts'
import { CommandError } from '../program/terminal.ts'

/** Something found in a configuration, or in trying to use it. */
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
  /** As the gateway would call it. */
  readonly name: string
  /** As the file calls it. */
  readonly label: string
  /** Undefined if it is not to be asked: it is switched off, or cannot be asked safely. */
  readonly address: ServerAddress | undefined
  readonly isOff: boolean
  readonly findings: readonly ConfigFinding[]
}

/** The servers of a configuration. `environment` is that of this process. @throws CommandError if there are none. */
export function readClientConfig(text: string, environment: NodeJS.ProcessEnv): readonly Configured[] {
  const servers = serversIn(parse(text))
  if (!servers) {
    throw new CommandError(
      'the file names no servers: it has neither `mcpServers` nor `servers`',
      'give the configuration of an MCP client, such as `claude_desktop_config.json`, `.mcp.json` or `.vscode/mcp.json`',
    )
  }
  const taken = new Set<string>()
  return Object.entries(servers).map(([label, value]) =>
    configured(nameFor(label, taken), label, value, environment),
  )
}

function parse(text: string): Json {
  try {
    // Sound: what was parsed is JSON.
    return JSON.parse(plainJson(text)) as Json
  } catch {
    // The message of the parser would repeat what is in the file.
    throw new CommandError(
      'the file is not JSON',
      'comments and commas at the end of lists are fine, anything else is not',
    )
  }
}

function serversIn(file: Json): JsonObject | undefined {
  if (!isObject(file)) return undefined
  const { mcpServers, servers, mcp } = file
  const inner = isObject(mcp) ? mcp['servers'] : undefined
  return [mcpServers, servers, inner].find(isObject)
}

/** The name that the gateway would give a server: its own letters, as far as they may be in a name. */
function nameFor(label: string, taken: Set<string>): string {
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
    'the entry has neither a `command` nor a `url` that can be read',
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
        `${place} looks like a secret, and everybody who reads the file has it`,
      ),
    ),
    ...[...missing].map((each) => finding(name, 'VALUE_MISSING', 'low', `\`${each}\` has no value here`)),
  ]
  return { name, label, isOff: false, findings, address: clear ? undefined : read }
}

const IN_THE_CLEAR =
  'its address is plain http, and not on this machine: whoever is on the way reads and changes everything; it was not asked'

/** A finding of the configuration. */
export function finding(
  tool: string,
  code: ConfigFinding['code'],
  severity: Severity,
  message: string,
): ConfigFinding {
  return { code, severity, tool, message }
}

// What a program needs to run at all; nothing else of this process is the server's business.
const PASSED_ON = [
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
    const own = PASSED_ON.flatMap((name) => {
      const value = environment[name]
      return value === undefined ? [] : [[name, value] as const]
    })
    return {
      transport: 'stdio',
      command: fill(command),
      args: textsIn(entry['args']).map(fill),
      env: { ...Object.fromEntries(own), ...textMembers(entry['env'], fill) },
      ...(typeof cwd === 'string' && { cwd: fill(cwd) }),
    }
  }
  if (typeof url !== 'string' || !URL.canParse(fill(url))) return undefined
  return { transport: 'http', url: fill(url), headers: textMembers(entry['headers'], fill) }
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

/** Puts values in the place of `${NAME}`, `${env:NAME}` and `${NAME:-otherwise}`, as the clients do. */
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
