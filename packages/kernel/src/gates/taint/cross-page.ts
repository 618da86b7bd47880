// Origin labels of pages: text that was read on pages of one host and would be written to a page of another.

import type { HostPattern } from '../../destinations/pattern.ts'
import { matchesHost } from '../../destinations/pattern.ts'
import { readHttpUrl, type HttpUrl } from '../../destinations/url.ts'
import type { BrowserCall, Intent } from '../../road/capture.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { isPageLabel, pageLabel } from '../../text/labels.ts'
import { valuesIn } from '../../text/values.ts'
import { isName, outerOf } from './named.ts'
import { lookUp, type Provenance } from './provenance.ts'
import { isSeenBefore, type Spoken } from './remembered.ts'
import type { TaintSettings } from './settings.ts'

/** An entry that marks when a script of the agent first ran in a page. It contains a space, so it never equals a word. */
const SCRIPT_RAN: Spoken = { kind: 'name', text: 'script ran' }
const SCRIPTS: ReadonlySet<Snapshot['effect']> = new Set(['execute', 'admin'])

/** The mark for an allowed call that runs a script of the agent in a page: later results may show addresses that it composed. */
export function scriptIn(
  { browser }: Pick<Intent, 'browser'>,
  { effect }: Pick<Snapshot, 'effect'>,
): readonly Spoken[] {
  return browser && SCRIPTS.has(effect) ? [SCRIPT_RAN] : []
}

/**
 * The host that would get text of a page of another host. Undefined if `flows` or the first message of the user names both hosts.
 */
export function crossPage({ browser }: Pick<Intent, 'browser'>, snapshot: Snapshot): string | undefined {
  const settings = snapshot.policy.gates.taint
  const provenance = snapshot.provenance()
  if (!browser || !settings || !provenance) return undefined
  const places = writtenTo(browser, snapshot, provenance)
  const labels = places.length === 0 ? [] : snapshot.flow().labels.filter(isPageLabel)
  const named = labels.length === 0 ? [] : pagesOf(snapshot).filter(({ host }) => isName(provenance, host))
  const allows = (label: string, place: HttpUrl): boolean =>
    label === pageLabel(place) ||
    isInFlows(settings, label, place) ||
    (named.some((page) => pageLabel(page) === label) && isName(provenance, place.host))
  return places.find((place) => !labels.every((label) => allows(label, place)))?.host
}

/**
 * The page that a call changes, and the address that it opens, unless the user named exactly this address or a page had it as a
 * link.
 */
function writtenTo(
  { destination, guarded }: BrowserCall,
  { sideEffect, observation }: Snapshot,
  provenance: Provenance,
): readonly HttpUrl[] {
  const page = sideEffect && (guarded?.acts ?? 'page') === 'page' ? observation?.url : undefined
  const opened = destination !== undefined && !isLink(provenance, destination) ? destination : undefined
  return [page, opened].flatMap((url) => (url === undefined ? [] : (readHttpUrl(url) ?? [])))
}

function isLink(provenance: Provenance, url: string): boolean {
  const [whole, ...more] = outerOf(valuesIn(url))
  if (!whole || more.length > 0 || provenance.full) return false
  if (isName(provenance, whole.text)) return true
  const { origin } = lookUp(provenance, whole)
  // The agent can have composed an address that it said, also by a script in the page.
  return origin !== 'unknown' && origin !== 'said' && isSeenBefore(provenance, whole, SCRIPT_RAN)
}

function isInFlows({ flows }: TaintSettings, label: string, place: HttpUrl): boolean {
  return flows.some(
    ({ from, to }) => pageLabel(from) === label && to.some((each) => matchesHost(each, place)),
  )
}

interface PlaceName {
  readonly host: string
  readonly port: HostPattern['port']
}

/** The hostnames that the policy names in full. A page label is only a hash, so others cannot be compared. */
function pagesOf({ policy }: Snapshot): readonly PlaceName[] {
  const { browser, egress } = policy.gates
  return [...browser.domains, ...egress.allow].flatMap(({ hosts, port }: HostPattern) =>
    hosts.kind === 'exactly' ? [{ host: hosts.host, port }] : [],
  )
}
