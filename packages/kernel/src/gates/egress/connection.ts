// Decides about the single connections of a guarded browser, by the same lists as the gate.

import type { Target } from '../../destinations/destination.ts'
import { networksOf } from '../../destinations/network.ts'
import { matchesHost, type HostPattern } from '../../destinations/pattern.ts'
import type { GateSettings } from '../../policy/parse/settings.ts'

/** A page that is open in a guarded browser. */
export interface BrowserPage {
  readonly at: Target
  /** The registrable domain of its host; empty if it has none, such as an address. */
  readonly site: string
}

/** The state of the browser, on which a connection depends. */
export interface BrowserState {
  readonly pages: readonly BrowserPage[]
  /** Destinations under `ask` that a person approved, for the call that runs now. */
  readonly approved: readonly Target[]
}

/** The two sections of a policy that decide. */
export interface ConnectionRules {
  readonly gates: Pick<GateSettings, 'egress' | 'browser'>
}

/**
 * Whether a guarded browser may connect to a host: one that `gates.egress` allows, an approved one, or one of the site of a page
 * that is open and in `gates.browser.domains`. A host under `deny` is never allowed.
 */
export function mayConnect(
  { gates: { egress, browser } }: ConnectionRules,
  to: Target,
  { pages, approved }: BrowserState,
): boolean {
  if (names(egress.deny, to)) return false
  if (names(egress.allow, to)) return true
  if (names(egress.ask, to) && approved.some((each) => each.host === to.host && each.port === to.port))
    return true
  return pages.some((page) => names(browser.domains, page.at) && isOfSite(page, to))
}

/** Whether some page in `gates.browser.domains` could be of the same site as a host. If not, it need not be known which are open. */
export function mayHavePage({ gates: { browser } }: ConnectionRules, { host }: Target): boolean {
  return browser.domains.some(({ hosts }) => {
    if (hosts.kind === 'all' || hosts.kind === 'network') return true
    return endOf(hosts.host) === endOf(host)
  })
}

/** The last two labels of a host. A registrable domain has at least two. */
function endOf(host: string): string {
  return host.split('.').slice(-2).join('.')
}

/**
 * Whether a guarded browser that may connect to `to` may use this address of it. An address that is not public must be named: a
 * private one by its own entry or by that of the hostname, any other one by its own. `localhost` also names loopback. A `*` names nothing.
 */
export function mayReach({ gates: { egress } }: ConnectionRules, to: Target, address: string): boolean {
  const list = names(egress.allow, to) ? egress.allow : [...egress.allow, ...egress.ask]
  const named = list.filter(({ hosts }) => hosts.kind === 'exactly' || hosts.kind === 'network')
  const meant = networksOf(address)
  return (
    meant.length > 0 &&
    meant.every(({ host, network }) => {
      const at = { ...to, host }
      if (names(egress.deny, at)) return false
      if (network === 'public' || names(named, at)) return true
      return names(named, to) && (network === 'private' || (network === 'loopback' && isLocalhost(to.host)))
    })
  )
}

function isLocalhost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}

function names(list: readonly HostPattern[], to: Target): boolean {
  return list.some((pattern) => matchesHost(pattern, to))
}

function isOfSite({ at, site }: BrowserPage, { host, port }: Target): boolean {
  const isHost = host === at.host || (site !== '' && (host === site || host.endsWith(`.${site}`)))
  return host !== '' && isHost && (port === 80 || port === 443 || port === at.port)
}
