import { matchesHost } from '../../destinations/pattern.ts'
import type { Target } from '../../destinations/destination.ts'
import { readHttpUrl } from '../../destinations/url.ts'
import type { BrowserCall } from '../../road/capture.ts'
import type { Policy } from '../../policy/parse/parse.ts'
import type { GateSettings } from '../../policy/parse/settings.ts'
import type { FindingAnswer } from './settings.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import type { Observation } from '../../road/observation.ts'
import type { ObservationFault } from './observations.ts'
import { actsOnPage } from './page.ts'
import { deny, escalate, type Gate, type Objection } from '../gate.ts'

/**
 * Checks the calls of browser agents. In this order it denies an unreadable URL, a domain that is not allowed, a side effect without
 * an acceptable Sentinel observation, a side effect without a planner reference, and one on an element that is not the one that the
 * agent saw. Then it escalates findings, and an element that cannot be found.
 *
 * A call that only opens an address is judged by this address: an agent must be able to leave a page that it may not use.
 *
 * Statements of the agent can only make the check stricter: a browser tool has a side effect unless the catalogue declares it `read`.
 */
export const browser: Gate = {
  name: 'browser',
  standing: ({ gates }) => (gates.browser.domains.length > 0 ? 'active' : 'not configured'),
  check(intent, snapshot) {
    const expected = intent.door === 'browser' || snapshot.tool?.declared?.browser === true
    if (intent.browser === undefined && !expected) return undefined
    return checkCall(intent.browser ?? EMPTY_CALL, snapshot)
  },
}

const EMPTY_CALL: BrowserCall = {
  observation: undefined,
  observation_id: undefined,
  planner_ref: undefined,
  side_effect: undefined,
  destination: undefined,
}

function checkCall(call: BrowserCall, snapshot: Snapshot): Objection | undefined {
  const { browser: settings } = snapshot.policy.gates
  const places = placesOf(call, snapshot.observation)
  if (places.includes(undefined)) return deny('COGNITIVE_FIREWALL_INVALID_URL')
  // Destinations in declared arguments count like the destination that the call states.
  const declared = snapshot.destinations().filter(({ from }) => from === 'declared')
  if (![...places, ...declared].every((each) => each && inScope(each, settings))) {
    return deny('COGNITIVE_FIREWALL_DOMAIN_DENY')
  }
  return snapshot.sideEffect ? checkSideEffect(call, snapshot, settings) : undefined
}

/** The page that the call acts on and the address that it opens. An unreadable one is undefined. */
function placesOf(
  { guarded, destination }: BrowserCall,
  observation: Observation | undefined,
): readonly (Target | undefined)[] {
  const page = actsOnPage(guarded) ? [observation?.url ?? ''] : []
  const opened = destination === undefined && guarded?.acts !== 'navigation' ? [] : [destination ?? '']
  return [...page, ...opened].map(readHttpUrl)
}

function checkSideEffect(
  call: BrowserCall,
  snapshot: Snapshot,
  settings: GateSettings['browser'],
): Objection | undefined {
  const onPage = actsOnPage(call.guarded)
  if (onPage && !isTrusted(snapshot, settings)) {
    return deny(
      'COGNITIVE_FIREWALL_SENTINEL_DENY',
      snapshot.unobserved && WHY_UNOBSERVED[snapshot.unobserved],
    )
  }
  const found = answersTo(onPage ? (snapshot.observation?.sentinel_findings ?? []) : [], settings)
  if (found.deny.length > 0) return deny('COGNITIVE_FIREWALL_SENTINEL_DENY', found.deny.join(', '))
  if (!isPlanned(call, settings)) return deny('COGNITIVE_FIREWALL_PLANNER_REF_REQUIRED')
  const state = call.guarded?.target?.state ?? 'bound'
  if (state !== 'bound' && state !== 'unresolved') return deny('COGNITIVE_FIREWALL_TARGET_DENY', state)
  if (found.escalate.length > 0) {
    return escalate('COGNITIVE_FIREWALL_APPROVAL_REQUIRED', found.escalate.join(', '))
  }
  return state === 'unresolved' ? escalate('COGNITIVE_FIREWALL_TARGET_UNRESOLVED') : undefined
}

/** Whether there is a planner reference that the policy accepts. */
function isPlanned({ planner_ref, guarded }: BrowserCall, { plannerRef }: GateSettings['browser']): boolean {
  return planner_ref !== undefined && (plannerRef === 'derived' || guarded?.derived !== true)
}

const WHY_UNOBSERVED: Readonly<Record<ObservationFault, string>> = {
  stale: 'the observation is older than ten seconds; observe the page again',
  reused: 'another call already used the observation; observe the page before each call',
  elsewhere: 'the observation is of another page than the call; observe the page that the call acts on',
  unknown: 'no Sentinel posted an observation with this id; post it first',
}

/** The findings by the action that the policy has for them. Findings without a row get the action of `*`. */
function answersTo(
  findings: readonly string[],
  settings: GateSettings['browser'],
): Readonly<Record<FindingAnswer, readonly string[]>> {
  const by = (answer: FindingAnswer): readonly string[] =>
    findings.filter((code) => (settings.findings.get(code) ?? settings.otherFindings) === answer)
  return { deny: by('deny'), escalate: by('escalate'), record: by('record') }
}

function inScope(target: Target, { domains }: GateSettings['browser']): boolean {
  return domains.some((pattern) => matchesHost(pattern, target))
}

// Pages of the browser itself. No author wrote them.
const OWN_PAGES = /^(?:about:blank$|chrome-error:)/

/** Whether an agent may read the page with this URL. */
export function mayRead(url: string, { gates }: Policy): boolean {
  const page = readHttpUrl(url)
  return page ? inScope(page, gates.browser) : OWN_PAGES.test(url)
}

/** Whether the observation of the Sentinel is complete and its risk is within the limit. */
function isTrusted({ observation, observed }: Snapshot, settings: GateSettings['browser']): boolean {
  if (!observation || (settings.observation === 'sentinel' && observed !== 'sentinel')) return false
  const { dom_hash, visual_text_hash, sentinel_risk, sentinel_findings } = observation
  return (
    dom_hash !== undefined &&
    visual_text_hash !== undefined &&
    sentinel_findings !== undefined &&
    sentinel_risk !== undefined &&
    sentinel_risk <= settings.maxSentinelRisk
  )
}
