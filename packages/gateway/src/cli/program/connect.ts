// The ways from a command to a gateway. All of them speak the same API:
//
// - over HTTP, if a URL or a token is given: on the operators' socket of the data directory, if the token is for that and no URL is
//   given, else on the address that the gateway listens on;
// - on the data directory itself, for reading: who may read its files may see what is in them;
// - on the data directory itself, for writing, as `local:<user>`, if no gateway runs on it.

import { readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import type { Config } from '../../config/config.ts'
import { DEFAULT_PORT, defaultData } from '../../config/place.ts'
import { silent } from '../../log.ts'
import type { Identity } from '../../tokens.ts'
import type { LedgerView } from '../../view.ts'
import { PATIENCE } from './ask.ts'
import { type GatewayOptions } from '../commands.ts'
import { VERSION } from './version.ts'
import { onInterrupt } from './interrupt.ts'
import { fetchOver, operatorSocket } from './operator-socket.ts'
import { CommandError, UsageError } from './terminal.ts'

/** A way to a gateway. Close it, or the process stays. */
export interface Connection {
  /** Asks the API. Rejects if nobody answers. */
  request(path: string, init?: RequestInit): Promise<Response>
  /** The ledger for reading, if the way is the data directory itself; undefined over HTTP. */
  readonly local: { readonly config: Config; readonly view: LedgerView } | undefined
  close(): Promise<void>
}

/** What a command is about to do. */
type Purpose = 'read' | 'write'

/** The data directory that was named, or the default one. */
export function dataOf({ data }: { readonly data?: string }): string {
  return data ?? defaultData()
}

/** Who works on the data directory itself. */
export function localUser(): string {
  try {
    return userInfo().username
  } catch {
    // Containers run as users without a name.
    return `uid-${process.getuid?.() ?? 'unknown'}`
  }
}

/** Does something with a way to the gateway, and closes it whatever comes of that. @throws as `connect` does. */
export async function withConnection<T>(
  options: GatewayOptions,
  purpose: Purpose,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await connect(options, purpose)
  try {
    return await work(connection)
  } finally {
    await connection.close()
  }
}

/** Finds the way to the gateway. @throws if there is none, with the remedy. */
export async function connect(options: GatewayOptions, purpose: Purpose): Promise<Connection> {
  const token = tokenOf(options)
  if (token !== undefined && options.url === undefined) {
    const socket = await operatorSocket(dataOf(options), token)
    if (socket !== undefined) {
      return overHttp('http://localhost', token, socket, (url, init) => fetchOver(socket, url, init))
    }
  }
  if (token !== undefined) return overHttp(options.url ?? urlOf(await configOf(options)), token)
  if (options.url !== undefined) {
    throw new UsageError(
      `a token is needed to ask \`${options.url}\``,
      'set TOLLGATE_TOKEN, or give `--token-file FILE`',
    )
  }
  const config = await configOf(options)
  const connection = purpose === 'read' ? await onView(config) : await onGateway(config)
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

/** Loaded only where it is needed: reading YAML takes longer to begin than to ask a gateway. */
async function configOf(options: GatewayOptions): Promise<Config> {
  const { readConfig } = await import('../../config/config.ts')
  return readConfig(dataOf(options))
}

/** The token: from a file that only this user can read, or from the environment. Never from the command line. */
function tokenOf({ tokenFile }: GatewayOptions): string | undefined {
  const { TOLLGATE_TOKEN: given = '' } = process.env
  if (tokenFile === undefined) return given === '' ? undefined : checkedToken(given, 'TOLLGATE_TOKEN')
  if (process.platform !== 'win32' && (statSync(tokenFile).mode & 0o077) !== 0) {
    throw new UsageError(`\`${tokenFile}\` is open to other users`, `run \`chmod 600 ${tokenFile}\``)
  }
  return checkedToken(readFileSync(tokenFile, 'utf8').trim(), `\`${tokenFile}\``)
}

/** What is no token is not sent anywhere: it could be another secret. */
function checkedToken(text: string, where: string): string {
  if (/^tg_[a-z]+_[A-Za-z0-9_-]{43}$/.test(text)) return text
  throw new UsageError(
    `${where} does not hold a token`,
    'a token begins with `tg_`, as `tollgate tokens issue` printed it',
  )
}

/** Where the gateway of a configuration can be reached from this machine. */
export function urlOf({ listen: { host, port, tls } }: Pick<Config, 'listen'>): string {
  const here = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `${tls ? 'https' : 'http'}://${here.includes(':') ? `[${here}]` : here}:${port}`
}

type Send = (url: URL, init: RequestInit) => Promise<Response>

function overHttp(
  base: string,
  token: string,
  where: string = base,
  send: Send = (url, init) => globalThis.fetch(url, init),
): Connection {
  refuseUnsafe(base)
  return {
    local: undefined,
    async request(path, init = {}) {
      const headers = new Headers(init.headers)
      headers.set('authorization', `Bearer ${token}`)
      try {
        // A redirect would carry the token to somewhere nobody named.
        return await send(new URL(path, base), { ...init, headers, redirect: 'error' })
      } catch (fault) {
        if (fault instanceof Error && fault.name === 'TimeoutError') {
          throw new CommandError(
            `\`${where}\` has not answered in ${PATIENCE / 1000} s`,
            'see whether the gateway is well',
          )
        }
        if (init.signal?.aborted === true) throw fault
        throw new CommandError(
          `no gateway answers at \`${where}\``,
          'start it with `tollgate up` or `tollgate serve`, or name another with `--url`',
          'to work on the data directory itself, unset TOLLGATE_TOKEN and TOLLGATE_URL',
        )
      }
    },
    close: () => Promise.resolve(),
  }
}

/** The token goes with every request: nobody on the way may see it. */
function refuseUnsafe(base: string): void {
  const url = URL.canParse(base) ? new URL(base) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '') {
    throw new UsageError(
      'that is not the URL of a gateway',
      `write for example \`http://127.0.0.1:${DEFAULT_PORT}\``,
    )
  }
  const isHere =
    url.hostname === 'localhost' || url.hostname === '[::1]' || /^127\.[0-9.]+$/.test(url.hostname)
  if (url.protocol === 'https:' || isHere) return
  throw new UsageError(
    `the token would travel in the clear to \`${url.hostname}\``,
    'use an `https://` address',
  )
}

/** Who the API sees when a command works on the data directory itself. */
function localIdentity({ tenant }: Config): Identity {
  return { role: 'admin', tenant, principal: `local:${localUser()}`, groups: [] }
}

type Ask = Connection['request']

function asking(app: { fetch(request: Request): Promise<Response> }): Ask {
  return (path, init) => app.fetch(new Request(new URL(path, 'http://localhost'), init))
}

/** The ledger for reading, beside a gateway or without one. What the API can only tell with a kernel, opens one. */
async function onView(config: Config): Promise<Connection> {
  const [{ openView }, { createApp }] = await Promise.all([
    import('../../open.ts'),
    import('../../api/app.ts'),
  ])
  const opened = await openView(config)
  const app = createApp({
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
    async request(path, init) {
      if (whole) return whole.request(path, init)
      const response = await ask(path, init)
      if (!(await needsGateway(response))) return response
      whole = await onGateway(config)
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
  throw new CommandError('the ledger has no checkpoint yet', 'start the gateway once: it signs one')
}

/** The whole gateway in this process, without its doors. */
async function onGateway(config: Config): Promise<Connection> {
  const [{ isRunning, openGateway }, { openKeyring }, { createApp }] = await Promise.all([
    import('../../open.ts'),
    import('../../keyring.ts'),
    import('../../api/app.ts'),
  ])
  if (await isRunning(config)) throw needsToken(config)
  const gateway = await openGateway(config, await openKeyring(config), silent, { brief: true })
  const app = createApp({
    ...surroundings(config),
    kernel: gateway.kernel,
    view: gateway.view,
    tokens: gateway.tokens,
    checkpoint: () => gateway.checkpoint(),
    watch: (listener) => gateway.watch(listener),
  })
  return {
    local: { config, view: gateway.view },
    request: asking(app),
    async close() {
      app.end()
      await gateway.close()
    },
  }
}

function needsToken(config: Config): CommandError {
  return new CommandError(
    `a gateway runs on \`${config.data}\`, and only it can do this`,
    'set TOLLGATE_TOKEN to an operator or admin token, as `tollgate init` showed once; then this command asks the gateway',
    `if none was ever shown, because \`tollgate mcp\` started the gateway for a client: stop it (\`${join(config.data, 'gateway.log')}\` names its process) and run \`tollgate up\` once in a terminal, which shows one`,
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

/** The text of a file, or undefined if there is none. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (fault) {
    // Sound: the member is tested before use.
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw fault
  }
}
