// Requests to a gateway at an address, or over its operator socket. The token is part of every request.

import type { Config } from '../../config/config.ts'
import { DEFAULT_PORT } from '../../config/place.ts'
import { REQUEST_TIMEOUT } from './ask.ts'
import { readAuthorities } from './authorities.ts'
import type { Connection } from './connect.ts'
import { CommandError, UsageError } from './terminal.ts'
import { tlsFault } from './tls-fault.ts'

/** Returns the URL of a configured gateway on this machine. */
export function urlOf({ listen: { host, port, tls } }: Pick<Config, 'listen'>): string {
  const here = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `${tls ? 'https' : 'http'}://${here.includes(':') ? `[${here}]` : here}:${port}`
}

/** The socket of a gateway, or the file of the authorities to trust instead of those of the machine. */
interface HttpWay {
  readonly socketPath?: string
  readonly ca?: string | undefined
}

/** Connects to a gateway. Nothing is sent before the first request. @throws UsageError for an address that would expose the token. */
export function overHttp(base: string, token: string, { socketPath, ca }: HttpWay = {}): Connection {
  refuseUnsafe(base)
  const where = socketPath ?? base
  const authorities = new URL(base).protocol === 'https:' ? ca : undefined
  const send = sender(socketPath, authorities)
  return {
    local: undefined,
    place: `the gateway at \`${where}\``,
    async request(path, init = {}) {
      const headers = new Headers(init.headers)
      headers.set('authorization', `Bearer ${token}`)
      try {
        // A redirect would send the token to another address.
        return await send(new URL(path, base), { ...init, headers, redirect: 'error' })
      } catch (fault) {
        if (fault instanceof Error && fault.name === 'TimeoutError') {
          throw new CommandError(
            `\`${where}\` did not answer within ${REQUEST_TIMEOUT / 1000} s`,
            'check the gateway with `tollgate doctor`',
          )
        }
        if (init.signal?.aborted === true) throw fault
        const insecure = tlsFault(fault, where, authorities)
        if (insecure) throw insecure
        throw new CommandError(
          `no gateway answers at \`${where}\``,
          'start it with `tollgate up` or `tollgate serve`, or give another address with `--url`',
          'to use the data directory without a gateway, unset TOLLGATE_TOKEN and TOLLGATE_URL',
        )
      }
    },
    close: () => Promise.resolve(),
  }
}

type Send = (url: URL, init: RequestInit) => Promise<Response>

function sender(socketPath: string | undefined, ca: string | undefined): Send {
  const way = socketPath === undefined ? trusting(ca) : { socketPath }
  if (!way) return (url, init) => globalThis.fetch(url, init)
  // Imported here, because most commands that load this file send nothing this way.
  return async (url, init) => (await import('./fetch-by.ts')).fetchBy(way, url, init)
}

/** Reads the authorities at once, so that a wrong file is an error before anything is sent. */
function trusting(ca: string | undefined): { readonly ca: readonly string[] } | undefined {
  return ca === undefined ? undefined : { ca: readAuthorities(ca).map(String) }
}

/** Refuses URLs that would expose the token, which is part of every request. */
function refuseUnsafe(base: string): void {
  const url = URL.canParse(base) ? new URL(base) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '') {
    throw new UsageError(
      'this is not the URL of a gateway',
      `for example \`http://127.0.0.1:${DEFAULT_PORT}\``,
    )
  }
  const isHere =
    url.hostname === 'localhost' || url.hostname === '[::1]' || /^127\.[0-9.]+$/.test(url.hostname)
  if (url.protocol === 'https:' || isHere) return
  throw new UsageError(
    `the token would be sent unencrypted to \`${url.hostname}\``,
    'use an `https://` address',
  )
}
