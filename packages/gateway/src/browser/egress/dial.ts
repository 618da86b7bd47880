// Opens the connection to a server: resolves its name, checks every address, and connects to one of these and no other.

import { lookup as resolveName } from 'node:dns/promises'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { clearTimeout, setTimeout } from 'node:timers'
import { mayReach, type ConnectionRules, type Target } from '@tollgate/kernel/detection'

/** Returns the addresses of a hostname. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** Why there is no connection: the policy refuses an address of the host, or the host cannot be reached. */
export type DialFault = 'refused' | 'unreachable'

/** Returns the addresses that the operating system knows for a name. */
export async function systemResolve(host: string): Promise<readonly string[]> {
  return (await resolveName(host, { all: true, verbatim: true })).map(({ address }) => address)
}

const RESOLVING = 5_000
const CONNECTING = 10_000
const MAX_ADDRESSES = 32

/** Limits how many names are resolved at once: resolving blocks threads that other parts of the gateway need. */
export function fewAtOnce(resolve: Resolve, most: number, waiting: number): Resolve {
  const queue: (() => void)[] = []
  let running = 0
  return async (host) => {
    if (running >= most) {
      if (queue.length >= waiting) throw new Error('too many names wait to be resolved')
      await new Promise<void>((next) => queue.push(next))
    }
    running++
    try {
      return await resolve(host)
    } finally {
      running--
      queue.shift()?.()
    }
  }
}

/** Connects to a target whose host is allowed. All addresses of its name must be allowed too. */
export async function dial(
  to: Target,
  rules: ConnectionRules,
  resolve: Resolve,
): Promise<Socket | DialFault> {
  const addresses = isIP(to.host) > 0 ? [to.host] : await addressesOf(to.host, resolve)
  if (addresses.length === 0) return 'unreachable'
  // One address that is not allowed means that the name is a trap or ambiguous.
  if (!addresses.every((address) => mayReach(rules, to, address))) return 'refused'
  return connected(to, addresses)
}

async function addressesOf(host: string, resolve: Resolve): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<readonly string[]>((done) => {
    timer = setTimeout(() => done([]), RESOLVING)
  })
  try {
    const found = await Promise.race([resolve(host), late])
    return found.length <= MAX_ADDRESSES ? found : []
  } catch {
    return []
  } finally {
    clearTimeout(timer)
  }
}

function connected(to: Target, addresses: readonly string[]): Promise<Socket | DialFault> {
  const found = addresses.map((address) => ({ address, family: isIP(address.replace(/%.*$/, '')) }))
  // The checked addresses, so that the name is not resolved a second time.
  const lookup: LookupFunction = (_, { all }, done) => {
    if (all === true) done(null, found)
    else done(null, found[0]?.address ?? '', found[0]?.family ?? 4)
  }
  return new Promise((resolve) => {
    const socket = connect({ host: to.host, port: to.port, lookup, noDelay: true, autoSelectFamily: true })
    const timer = setTimeout(() => give('unreachable'), CONNECTING)
    const give = (result: Socket | DialFault): void => {
      clearTimeout(timer)
      if (result !== socket) socket.destroy()
      resolve(result)
    }
    socket.once('connect', () => give(socket))
    // Stays, because a socket without a listener throws its later errors.
    socket.on('error', () => give('unreachable'))
  })
}
