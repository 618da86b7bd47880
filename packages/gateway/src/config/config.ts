// Reads `tollgate.yaml`, the gateway configuration. Unknown keys are errors. All mistakes are reported at once.

import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { firstMistakes, readYaml, type Mistake, type Place, type Reader } from '@tollgate/kernel/policy'
import { readBrowserConfig, type BrowserConfig } from './browser.ts'
import { readConsole, type ConsoleConfig } from './console.ts'
import { readCors } from './cors.ts'
import { DEFAULT_WRITER, readDatabase, type DatabaseConfig } from './database.ts'
import { NO_LLM, readLlm, type LlmConfig } from './llm.ts'
import { readLimits, type CallerLimits } from './limits.ts'
import { NO_MCP, readMcp, type McpConfig } from './mcp.ts'
import { readSignIn, type SignInConfig } from './sign-in.ts'
import { readTelemetry, type TelemetryConfig } from './telemetry.ts'
import { CONFIG_FILE, DEFAULT_PORT, defaultKeyFile, isInside } from './place.ts'
import { readMeasure } from './value.ts'
import { readWebhooks, type WebhookTarget } from './webhooks.ts'
import { GatewayError } from '../error.ts'
import type { Level } from '../log.ts'

export type { LlmConfig, ModelConfig } from './llm.ts'
export type { ServerConfig } from './mcp.ts'
export { CONFIG_FILE, DEFAULT_PORT, defaultData } from './place.ts'
export { defaultConfigText } from './text.ts'

/** The gateway configuration. */
export interface Config {
  /** Absolute path of the data directory. */
  readonly data: string
  /** Name of the ledger, such as `tollgate.local/<host>-<8 random hex>`. */
  readonly ledger: string
  /** The PostgreSQL database with the ledger; missing if the ledger is a file in the data directory. */
  readonly database?: DatabaseConfig
  readonly writer: string
  readonly tenant: string
  readonly listen: {
    readonly host: string
    readonly port: number
    /** Paths of PEM files. */
    readonly tls?: { readonly cert: string; readonly key: string }
  }
  /** Absolute path of the PEM file of the authorities that commands on the data directory trust; undefined: those of the machine. */
  readonly ca: string | undefined
  /** Further names that are accepted in `Host` headers. */
  readonly hosts: readonly string[]
  /** The origins of web pages that may use the gateway. */
  readonly cors: readonly string[]
  /** The issuer whose access tokens are accepted; undefined if only tokens of this gateway are. */
  readonly signIn: SignInConfig | undefined
  /** Absolute path of the policy file. */
  readonly policy: string
  readonly commit: 'plain' | 'salted'
  /** How long the state of an idle session is kept, in milliseconds; undefined: forever. */
  readonly retention: { readonly sessions: number | undefined }
  /** The encrypted private copies of calls. */
  readonly keep: {
    /** How long calls are kept for replay, in milliseconds; undefined: not at all. */
    readonly calls: number | undefined
    /** Absolute path of the key that encrypts them. It is never in the data directory. */
    readonly keyFile: string
  }
  /** A directory outside of the data directory that stores the newest checkpoint; undefined: switched off. */
  readonly headGuard: string | undefined
  /** A program that prints the passphrase of the key files. It runs without a shell. */
  readonly passphraseCommand: readonly string[] | undefined
  /** The address of the console for people; missing if messages have no links to it. */
  readonly console?: ConsoleConfig
  /** The receivers and their events. */
  readonly webhooks: readonly WebhookTarget[]
  /** Absolute path of the file that gets a line for each decision and effect, or `-` for standard output. */
  readonly decisionLog?: string
  /** The OTLP over HTTP endpoint for traces; undefined: no traces. */
  readonly telemetry: TelemetryConfig | undefined
  /** The upstream MCP servers. */
  readonly mcp: McpConfig
  /** The browsers of browser servers. */
  readonly browser: BrowserConfig
  /** The upstream model servers. */
  readonly llm: LlmConfig
  readonly limits: CallerLimits
  readonly log: Level
}

const MAX_LENGTH = 1 << 16
const TOO_LONG = `the file is longer than ${MAX_LENGTH} characters; move everything except the gateway configuration out of it`

/**
 * Reads the configuration of the gateway in this data directory.
 *
 * @throws GatewayError `DATA_MISSING` if there is no such directory or file; `CONFIG_INVALID` with every mistake, as
 * `file:line:column: what to write instead`.
 */
export function readConfig(data: string): Config {
  const directory = resolve(data)
  const file = join(directory, CONFIG_FILE)
  const text = readText(directory, file)
  if (text.length > MAX_LENGTH) throw invalid(file, [{ line: 1, column: 1, message: TOO_LONG }])
  const reader = readYaml(text)
  const config = reader.mistakes.length === 0 ? readFields(reader, directory) : undefined
  if (config && reader.mistakes.length === 0) return config
  throw invalid(file, firstMistakes(reader.mistakes))
}

function invalid(file: string, mistakes: readonly Mistake[]): GatewayError {
  const count = mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`
  return new GatewayError('CONFIG_INVALID', `\`${file}\` has ${count}`, {
    hints: mistakes.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`),
  })
}

function readText(directory: string, file: string): string {
  try {
    refuseWritable(directory, file)
    return readFileSync(file, 'utf8')
  } catch (fault) {
    if (fault instanceof GatewayError) throw fault
    // Sound: file system errors have a code, and other values have none.
    const { code } = fault as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new GatewayError(
        'DATA_MISSING',
        `no gateway found in \`${directory}\`: \`${CONFIG_FILE}\` is missing`,
        {
          hints: [
            `create one with \`tollgate init --data ${directory}\``,
            'or name another data directory with `--data DIR` or TOLLGATE_DATA',
          ],
        },
      )
    }
    throw new GatewayError('CONFIG_INVALID', `\`${file}\` cannot be read: ${code ?? 'not a file'}`, {
      hints: [`run as the user who owns \`${directory}\``],
    })
  }
}

/** The file can name a program to run. So only this user is allowed to write it. */
function refuseWritable(directory: string, file: string): void {
  if (process.platform === 'win32') return
  for (const path of [directory, file]) {
    if ((statSync(path).mode & 0o022) === 0) continue
    throw new GatewayError('CONFIG_INVALID', `\`${path}\` can be written by other users`, {
      hints: [`run \`chmod go-w ${path}\``],
    })
  }
}

const FIELDS = [
  'tollgate',
  'ledger',
  'database',
  'listen',
  'ca',
  'hosts',
  'cors',
  'sign-in',
  'policy',
  'commit',
  'retention',
  'keep',
  'head-guard',
  'keys',
  'console',
  'webhooks',
  'decision-log',
  'telemetry',
  'mcp',
  'browser',
  'llm',
  'limits',
  'log',
] as const
const LEVELS: readonly Level[] = ['debug', 'info', 'warn', 'error']
const DAY = 86_400_000
const TIMES = { m: 60_000, h: 3_600_000, d: DAY }

function readFields(reader: Reader, data: string): Config | undefined {
  const fields = reader.fields(reader.root, FIELDS)
  if (!fields) return undefined
  if (fields.tollgate) reader.whole(fields.tollgate, '`tollgate`, the version of the format,', 1, 1)
  else reader.note(reader.root, '`tollgate: 1` is missing; add it as the first line')
  if (!fields.ledger)
    reader.note(reader.root, '`ledger` is missing; add the ledger name that `tollgate init` created')
  const ledger = (fields.ledger && readLedger(reader, fields.ledger)) ?? ''
  const database = fields.database && readDatabase(reader, fields.database)
  const page = fields.console && readConsole(reader, fields.console)
  const decisionLog = fields['decision-log'] && readDecisionLog(reader, fields['decision-log'], data)
  return {
    data,
    ledger,
    ...(database && { database }),
    ...(page && { console: page }),
    writer: database?.writer ?? DEFAULT_WRITER,
    tenant: 'default',
    listen: readListen(reader, fields.listen, data),
    ca: fields.ca && readPath(reader, fields.ca, '`ca`', data),
    hosts: fields.hosts ? readHosts(reader, fields.hosts) : [],
    cors: fields.cors ? readCors(reader, fields.cors) : [],
    signIn: fields['sign-in'] && readSignIn(reader, fields['sign-in']),
    policy: resolve(data, (fields.policy && reader.textLine(fields.policy, '`policy`')) ?? 'policy.yaml'),
    commit: (fields.commit && reader.word(fields.commit, '`commit`', ['plain', 'salted'])) ?? 'plain',
    retention: { sessions: fields.retention && readRetention(reader, fields.retention) },
    keep: readKeep(reader, fields.keep, data, ledger),
    headGuard: readHeadGuard(reader, fields['head-guard'], data),
    passphraseCommand: fields.keys && readCommand(reader, fields.keys),
    webhooks: fields.webhooks ? readWebhooks(reader, fields.webhooks) : [],
    ...(decisionLog !== undefined && { decisionLog }),
    telemetry: fields.telemetry && readTelemetry(reader, fields.telemetry),
    mcp: fields.mcp ? readMcp(reader, fields.mcp, data) : NO_MCP,
    browser: readBrowserConfig(reader, fields.browser, data),
    llm: fields.llm ? readLlm(reader, fields.llm, data) : NO_LLM,
    limits: readLimits(reader, fields.limits),
    log: (fields.log && reader.word(fields.log, '`log`', LEVELS)) ?? 'info',
  }
}

function readLedger(reader: Reader, place: Place): string | undefined {
  const name = reader.textLine(place, '`ledger`')
  if (name === undefined || (/^[^\s+]{1,120}$/u.test(name) && name.isWellFormed())) return name
  reader.note(place, 'a ledger name must have at most 120 characters, without spaces and `+`')
  return undefined
}

function readListen(reader: Reader, place: Place | undefined, data: string): Config['listen'] {
  const fields = (place && reader.fields(place, ['host', 'port', 'tls'])) ?? {}
  const host = (fields.host && reader.textLine(fields.host, '`host`')) ?? '127.0.0.1'
  if (fields.host && !/^[A-Za-z0-9.:_-]+$/.test(host)) {
    reader.note(
      fields.host,
      '`host` must be an address to listen on, such as `127.0.0.1`, `::1` or `0.0.0.0`',
    )
  }
  const port = (fields.port && reader.whole(fields.port, '`port`', 0, 65_535)) ?? DEFAULT_PORT
  const tls = fields.tls && readTls(reader, fields.tls, data)
  return { host, port, ...(tls && { tls }) }
}

function readTls(reader: Reader, place: Place, data: string): Config['listen']['tls'] {
  const { cert, key } = reader.fields(place, ['cert', 'key']) ?? {}
  if (!cert || !key) {
    reader.note(place, '`tls` needs both `cert` and `key`, paths of PEM files')
    return undefined
  }
  const path = (at: Place, what: string): string => resolve(data, reader.textLine(at, what) ?? '')
  return { cert: path(cert, '`cert`'), key: path(key, '`key`') }
}

function readHosts(reader: Reader, place: Place): readonly string[] {
  return reader.items(place, '`hosts`').flatMap((item) => {
    const name = reader.textLine(item, 'a name in `hosts`')
    if (name === undefined) return []
    if (/^(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])$/.test(name)) return [name.toLowerCase()]
    reader.note(
      item,
      'a name in `hosts` must be a hostname without scheme and port, such as `gate.example.com`',
    )
    return []
  })
}

function readRetention(reader: Reader, place: Place): number | undefined {
  const sessions = reader.fields(place, ['sessions'])?.sessions
  if (!sessions) return undefined
  return readMeasure(reader, sessions, {
    what: '`sessions`',
    units: TIMES,
    least: 3_600_000,
    most: 3650 * DAY,
    example: 'a time such as `24h` or `30d`, from one hour to ten years; remove it to keep them forever',
  })
}

function readKeep(reader: Reader, place: Place | undefined, data: string, ledger: string): Config['keep'] {
  const fields = (place && reader.fields(place, ['calls', 'key-file'])) ?? {}
  const form = {
    what: '`calls`',
    units: TIMES,
    least: 3_600_000,
    most: 365 * DAY,
    example: 'a time such as `24h` or `7d`, from one hour to a year; remove it to keep no calls',
  }
  const file = fields['key-file']
  return {
    calls: fields.calls && readMeasure(reader, fields.calls, form),
    keyFile: (file && readKeyFile(reader, file, data)) ?? defaultKeyFile(ledger),
  }
}

function readKeyFile(reader: Reader, place: Place, data: string): string | undefined {
  const text = reader.textLine(place, '`key-file`')
  const path = text === undefined ? undefined : pathFrom(data, text)
  if (path === undefined || !isInside(data, path)) return path
  reader.note(
    place,
    '`key-file` must be outside of the data directory, so that a copy of that directory does not include the key',
  )
  return undefined
}

function readHeadGuard(reader: Reader, place: Place | undefined, data: string): string | undefined {
  if (!place) return `${data}-heads`
  const text = reader.textLine(place, '`head-guard`')
  if (text === undefined || text === 'off') return undefined
  const path = pathFrom(data, text)
  if (isInside(data, path)) {
    reader.note(
      place,
      '`head-guard` must be outside of the data directory, so that restoring the directory does not restore it; or `off`',
    )
  }
  return path
}

function readPath(reader: Reader, place: Place, what: string, data: string): string | undefined {
  const text = reader.textLine(place, what)
  return text === undefined ? undefined : pathFrom(data, text)
}

function readDecisionLog(reader: Reader, place: Place, data: string): string | undefined {
  const text = reader.textLine(place, '`decision-log`')
  return text === undefined || text === '-' ? text : pathFrom(data, text)
}

/** Resolves a path relative to the data directory; `~/` is the user's home. */
function pathFrom(data: string, text: string): string {
  return resolve(data, text.startsWith('~/') ? join(homedir(), text.slice(2)) : text)
}

function readCommand(reader: Reader, place: Place): readonly string[] | undefined {
  const command = reader.fields(place, ['passphrase-command'])?.['passphrase-command']
  if (!command) return undefined
  const words = reader.items(command, '`passphrase-command`')
  if (words.length > 0) return words.map((word) => reader.textLine(word, 'a word of the command') ?? '')
  reader.note(command, 'write a program and its arguments, such as `[pass, show, tollgate]`')
  return undefined
}
