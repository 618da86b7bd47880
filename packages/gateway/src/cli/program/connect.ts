// Connects a command to a gateway, in one of three ways. All of them use the same API:
//
// - With a URL or a token: over HTTP. An operator token without a URL uses the operator socket of the data directory.
// - With a token that `tollgate login` stored: the same, after a person has typed the passphrase on the terminal. If no gateway runs,
//   on the data directory, also only after the passphrase. Commands that read need none, unless only the running gateway knows it.
// - Without a token, for reading: on the data directory. File permissions decide who can read it.
// - Without a token, for writing: on the data directory as `local:<user>`, if no gateway runs on it.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import process from 'node:process'
import type { Catalogue } from '@tollgate/kernel/admin'
import type { Config } from '../../config/config.ts'
import { CONFIG_FILE, defaultData } from '../../config/place.ts'
import { silent } from '../../log.ts'
import type { Identity } from '../../tokens.ts'
import type { LedgerView } from '../../view.ts'
import type { DataOptions, GatewayOptions } from '../commands.ts'
import { VERSION } from './version.ts'
import { onInterrupt } from './interrupt.ts'
import { loginFor, placeOf } from './logins.ts'
import { overHttp, urlOf } from './over-http.ts'
import { CommandError, say, UsageError } from './terminal.ts'

/** A connection to a gateway. Close it, or the process does not end. */
export interface Connection {
  /** Sends a request to the API. Rejects if there is no answer. */
  request(path: string, init?: RequestInit): Promise<Response>
  /** The ledger for reading, on a data directory; undefined over HTTP. */
  readonly local: LocalGateway | undefined
  /** The gateway or the ledger behind it, such as `the ledger in /data`. */
  readonly place: string
  close(): Promise<void>
}

/** A data directory that this process has opened. */
interface LocalGateway {
  readonly config: Config
  readonly view: LedgerView
  /** The tools and texts of servers, if the directory is open for writing. */
  readonly catalogue?: Catalogue
}

/**
 * `memory` reads what only a running gateway knows, so it needs the passphrase if one runs. `restrict` only takes rights away, so it
 * needs no passphrase on a data directory.
 */
type Purpose = 'read' | 'memory' | 'write' | 'restrict'

/** Returns the data directory that was named, or the default one. */
export function dataOf({ data }: { readonly data?: string }): string {
  return data ?? defaultData()
}

/** Returns the name of the user who runs the command. */
export function localUser(): string {
  try {
    return userInfo().username
  } catch {
    // In containers, users can have no name.
    return `uid-${process.getuid?.() ?? 'unknown'}`
  }
}

/** Calls `work` with a connection and closes it afterwards. @throws as `connect` does. */
export async function withConnection<T>(
  options: GatewayOptions,
  purpose: Purpose,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await connect(options, purpose)
  try {
    sayPlace(options, connection.place)
    return await work(connection)
  } finally {
    await connection.close()
  }
}

const said = new WeakSet<object>()

/** Says once for each command what it acts on. Data in JSON stays as it is. */
export function sayPlace(options: DataOptions, place: string): void {
  if (options.json === true || said.has(options)) return
  said.add(options)
  say(`using ${place}`)
}

/** The ledger of a data directory, as a command names it. */
export function ledgerIn(data: string): string {
  return `the ledger in \`${resolve(data)}\``
}

/** Connects to the gateway. @throws with a remedy if that is not possible. */
export async function connect(options: GatewayOptions, purpose: Purpose): Promise<Connection> {
  const token = givenToken(options)
  if (token !== undefined) return connectWith(options, token)
  const stored = await storedToken(options, purpose)
  if (stored !== undefined && (options.url !== undefined || (await runsOn(options)))) {
    return connectWith(options, stored)
  }
  if (options.url !== undefined) {
    throw new UsageError(
      `\`${options.url}\` needs a token`,
      `store one with \`tollgate login --url ${options.url}\`; a program uses \`--token-file FILE\` or TOLLGATE_TOKEN`,
    )
  }
  const config = await configOf(options)
  const isReading = purpose === 'read' || purpose === 'memory'
  const connection = isReading
    ? await onView(config, () => forKernel(options, config))
    : await onGateway(config)
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= connection.close())
  const forget = onInterrupt(close)
  return {
    ...connection,
    close: () => {
      forget()
      return close()
    },
  }
}

/** Connects to a running gateway with this token. */
export async function connectWith(options: GatewayOptions, token: string): Promise<Connection> {
  const { url, ca } = options
  if (url !== undefined) return overHttp(url, token, { ca })
  // Imported here, because most commands that load this file send no request over a socket.
  const { operatorSocket } = await import('./operator-socket.ts')
  const data = dataOf(options)
  const place = `the gateway of \`${resolve(data)}\``
  const socketPath = await operatorSocket(data, token)
  if (socketPath !== undefined) return { ...overHttp('http://localhost', token, { socketPath }), place }
  const config = await configOf(options)
  return { ...overHttp(urlOf(config), token, { ca: ca ?? config.ca }), place }
}

/** Returns the stored token, after the passphrase. A data directory can be read, and calls on it restricted, without one. */
async function storedToken(options: GatewayOptions, purpose: Purpose): Promise<string | undefined> {
  const { url } = options
  if (url === undefined && purpose === 'read') return undefined
  const place = placeOf({ url, data: dataOf(options) })
  if (!loginFor(place)) return undefined
  const isOptional = purpose === 'restrict' || purpose === 'memory'
  if (url === undefined && isOptional && !(await runsOn(options))) return undefined
  const { unlockToken } = await import('./unlock.ts')
  return unlockToken(place)
}

/** Opens what a request needs that reads the memory of a gateway: the running one, with the stored token, or one in this process. */
async function forKernel(options: GatewayOptions, config: Config): Promise<Connection> {
  const place = placeOf({ data: config.data })
  if (!loginFor(place) || !(await runsOn(options))) return onGateway(config)
  const { unlockToken } = await import('./unlock.ts')
  const token = await unlockToken(place)
  return token === undefined ? onGateway(config) : connectWith(options, token)
}

/** Whether a gateway runs on the data directory. */
export async function runsOn(options: GatewayOptions): Promise<boolean> {
  const data = resolve(dataOf(options))
  if (!existsSync(join(data, CONFIG_FILE))) return false
  const { isRunning } = await import('../../open.ts')
  return isRunning({ data })
}

/** Returns the configuration that names a file. @throws UsageError with `instead` if the command acts on a gateway by its address. */
export async function configHere(options: GatewayOptions, file: string, instead: string): Promise<Config> {
  if (options.url === undefined) return configOf(options)
  throw new UsageError(
    `${file} is in the data directory of the gateway, and \`--url\` or TOLLGATE_URL names only its address`,
    `${instead}, or name the data directory with \`--data\``,
  )
}

/** Loads the YAML reader only where it is needed, because loading takes longer than a request. */
async function configOf(options: GatewayOptions): Promise<Config> {
  const { readConfig } = await import('../../config/config.ts')
  return readConfig(dataOf(options))
}

/** Returns the token from a private file or from the environment, never from the command line. */
export function givenToken({ tokenFile }: GatewayOptions): string | undefined {
  const { TOLLGATE_TOKEN: given = '' } = process.env
  if (tokenFile === undefined) return given === '' ? undefined : checkedToken(given, 'TOLLGATE_TOKEN')
  if (process.platform !== 'win32' && (statSync(tokenFile).mode & 0o077) !== 0) {
    throw new UsageError(`\`${tokenFile}\` can be read by other users`, `run \`chmod 600 ${tokenFile}\``)
  }
  return checkedToken(readFileSync(tokenFile, 'utf8').trim(), `\`${tokenFile}\``)
}

/** Refuses anything that is not a token, because it could be another secret. */
export function checkedToken(text: string, where: string): string {
  if (/^tg_[a-z]+_[A-Za-z0-9_-]{43}$/.test(text)) return text
  throw new UsageError(
    `${where} does not contain a token`,
    'a token starts with `tg_`; create one with `tollgate tokens issue --role ROLE --principal NAME`',
  )
}

function localIdentity({ tenant }: Config): Identity {
  return { role: 'admin', tenant, principal: `local:${localUser()}`, groups: [] }
}

type Ask = Connection['request']

function asking(app: { fetch(request: Request): Promise<Response> }): Ask {
  return (path, init) => app.fetch(new Request(new URL(path, 'http://localhost'), init))
}

/** Opens the ledger for reading, also while a gateway runs. Opens a whole gateway when a request needs the kernel. */
async function onView(config: Config, openWhole: () => Promise<Connection>): Promise<Connection> {
  const [{ openView }, { App }] = await Promise.all([import('../../open.ts'), import('../../api/app.ts')])
  const opened = await openView(config)
  const app = new App({
    ...surroundings(config),
    kernel: undefined,
    view: opened.view,
    checkpoint: async () => (await opened.view.checkpoint()) ?? noCheckpoint(),
    watch: () => () => undefined,
  })
  const ask = asking(app)
  let whole: Connection | undefined
  return {
    local: { config, view: opened.view },
    place: ledgerIn(config.data),
    async request(path, init) {
      if (whole) return whole.request(path, init)
      const response = await ask(path, init)
      if (!(await needsGateway(response))) return response
      whole = await openWhole()
      return whole.request(path, init)
    },
    async close() {
      app.end()
      await whole?.close()
      await opened.close()
    },
  }
}

async function needsGateway(response: Response): Promise<boolean> {
  if (response.status !== 503) return false
  const { code } = (await response.clone().json()) as { code?: unknown }
  return code === 'gateway-needed'
}

function noCheckpoint(): never {
  throw new CommandError('the ledger has no checkpoint yet', 'start the gateway once; it signs one')
}

/** Opens a whole gateway in this process, without its doors. */
async function onGateway(config: Config): Promise<Connection> {
  const [{ isRunning, openGateway }, { openKeyring }, { App }] = await Promise.all([
    import('../../open.ts'),
    import('../../keyring.ts'),
    import('../../api/app.ts'),
  ])
  if (await isRunning(config)) throw needsToken(config)
  const gateway = await openGateway(config, await openKeyring(config), silent, { brief: true })
  const app = new App({
    ...surroundings(config),
    kernel: gateway.kernel,
    view: gateway.view,
    tokens: gateway.tokens,
    checkpoint: () => gateway.checkpoint(),
    watch: (listener) => gateway.watch(listener),
  })
  return {
    local: { config, view: gateway.view, catalogue: gateway.kernel.catalogue },
    place: ledgerIn(config.data),
    request: asking(app),
    async close() {
      app.end()
      await gateway.close()
    },
  }
}

function needsToken(config: Config): CommandError {
  return new CommandError(
    `a gateway runs on \`${config.data}\`, so this command must go through it`,
    'store an operator or admin token with `tollgate login`; `tollgate init` and `tollgate up` create the first one',
    'a program uses `--token-file FILE` or TOLLGATE_TOKEN',
    `if you never saw one because \`tollgate mcp\` started the gateway: stop it (its process is in \`${join(config.data, 'gateway.log')}\`) and run \`tollgate up\` once in a terminal`,
    'or stop the gateway first',
  )
}

function surroundings(config: Config) {
  return {
    tokens: undefined,
    policyFile: () => readIfThere(config.policy),
    version: VERSION,
    log: silent,
    limits: { body: config.limits.body },
    identity: localIdentity(config),
  }
}

/** Returns the text of a file, or undefined if it does not exist. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (fault) {
    // Sound: the member is tested before use.
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw fault
  }
}
