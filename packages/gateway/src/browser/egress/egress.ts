// Room: what a guarded browser may connect to. A proxy on loopback is the only way out of the browser, and it asks the policy in
// force for every connection. DevTools adds which page sent a request.
//
// One egress belongs to one browser of one session: it connects, refuses, ends everything on a freeze, and records what it refused.

import type { Socket } from 'node:net'
import { isFrozen, policyOf, recordBlocked, type Kernel } from '@tollgate/kernel'
import { mayConnect, mayHavePage, readHttpUrl, type Target } from '@tollgate/kernel/detection'
import { GatewayError } from '../../error.ts'
import type { Log } from '../../log.ts'
import type { Chromium } from '../chromium.ts'
import { createApprovals } from './approvals.ts'
import { labelOf } from './authority.ts'
import { createBlockedLog, type BlockedCounter, type BlockedLoad } from './blocked.ts'
import { dial, fewAtOnce, systemResolve, type DialFault, type Resolve } from './dial.ts'
import { canTellOwners, ownerTest } from './owner.ts'
import { followPages, type Pages } from './pages.ts'
import { LIMITS, startProxy } from './proxy.ts'

/** The way out of one browser. */
export interface Egress {
  /** The flags to start the browser with. */
  readonly flags: readonly string[]
  /** Lets this browser connect. Before, everything is refused. */
  guard(browser: Chromium): Promise<void>
  /**
   * Lets the browser reach the destination of a call that a person approved, if the policy has its host under `ask`, until the
   * returned function is called. The page that it opens counts until it is left. Both end with the policy of this hash.
   */
  approve(url: string, policy: string): () => void
  /** Counts the blocked requests from now on, for the effect of a call. */
  count(): BlockedCounter
  /** Ends all connections and records what was blocked. */
  close(): Promise<void>
}

/** Whose browser it is. */
interface EgressOptions {
  readonly kernel: Kernel
  readonly tenant: string
  readonly principal: string
  readonly session: string
  readonly log: Log
  readonly resolve?: Resolve
}

const MAX_RESOLVING = 2
const MAX_WAITING_NAMES = 64

/**
 * Starts the way out of a browser that is started next.
 *
 * @throws GatewayError `LISTEN_REFUSED` on a system that does not tell which process has a connection.
 */
export async function startEgress(options: EgressOptions): Promise<Egress> {
  if (!canTellOwners()) throw new GatewayError('LISTEN_REFUSED', NO_OWNERS)
  const { kernel, tenant, principal, session, log } = options
  const resolve = fewAtOnce(options.resolve ?? systemResolve, MAX_RESOLVING, MAX_WAITING_NAMES)
  const approvals = createApprovals(() => policyOf(kernel, tenant).hash)
  let isOwn: (socket: Socket) => Promise<boolean> = () => Promise.resolve(false)
  let pages: Pages | undefined
  let closed = false
  const blocked = createBlockedLog({
    host: kernel.host,
    causesOf: (label, most) => pages?.causesOf(label, most) ?? [],
    record: (load) => record(load),
  })
  const proxy = await startProxy({ isOwn: (socket) => isOwn(socket), connect }, LIMITS)
  const unwatch = kernel.freezes.watch(() => {
    if (isStopped()) proxy.cut()
  })

  return {
    flags: flagsFor(proxy.port),
    async guard(browser) {
      pages = await followPages(browser.cdp, {
        loaded: approvals.loaded,
        left(load) {
          approvals.left(load)
          blocked.left(load)
        },
      })
      isOwn = ownerTest(browser.pid)
    },
    approve(url, policy) {
      const to = readHttpUrl(url.replace(/[?#].*$/s, ''))
      return to ? approvals.add({ to, policy }) : () => undefined
    },
    count: () => blocked.count(),
    async close() {
      closed = true
      unwatch()
      await proxy.close()
      await pages?.close()
      await blocked.close()
    },
  }

  /** Whether nothing may be sent now: while frozen, closed, or without a ledger that records it. */
  function isStopped(): boolean {
    if (closed || kernel.ledger.poisoned !== undefined) return true
    return isFrozen(kernel, 'browser', { tenant, principal, session })
  }

  async function connect(to: Target): Promise<Socket | DialFault> {
    if (isStopped()) return 'refused'
    const found = (await mayGo(to)) ? await dial(to, policyOf(kernel, tenant), resolve) : 'refused'
    if (found === 'refused' && !isStopped()) blocked.take(labelOf(to))
    if (typeof found === 'string' || !isStopped()) return found
    found.destroy()
    return 'refused'
  }

  async function mayGo(to: Target): Promise<boolean> {
    if (isAllowed(to)) return true
    if (!pages || !mayHavePage(policyOf(kernel, tenant), to)) return false
    // The page that asks may have arrived a moment ago.
    await pages.settled()
    return isAllowed(to)
  }

  function isAllowed(to: Target): boolean {
    const rules = policyOf(kernel, tenant)
    const own = (pages?.known() ?? []).filter(({ at, load }) =>
      mayConnect(rules, at, { pages: [], approved: approvals.ofLoad(load) }),
    )
    return mayConnect(rules, to, { pages: own, approved: approvals.running() })
  }

  async function record(load: BlockedLoad): Promise<void> {
    try {
      if (!(await recordBlocked(kernel, { ...load, tenant, principal, session }))) {
        log('warn', 'blocked requests of a browser were not recorded: the storage of its agent is used up', {
          principal,
        })
      }
    } catch (fault) {
      const cause = fault instanceof Error ? fault.message : 'unknown'
      log('error', 'blocked requests of a browser could not be recorded', { principal, cause })
    }
  }
}

const NO_OWNERS =
  'the connections of a browser can be guarded only on Linux; run the gateway on Linux, or use the browser without egress rules'

/** The browser sends everything to the proxy, resolves no names, and has no other way out. */
function flagsFor(port: number): readonly string[] {
  return [
    `--proxy-server=http://127.0.0.1:${port}`,
    // Loopback, too: by default it would be reached directly.
    '--proxy-bypass-list=<-loopback>',
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  ]
}
