import { matchesHost } from '../../destinations/pattern.ts'
import type { Target } from '../../destinations/destination.ts'
import { readHttpUrl } from '../../destinations/url.ts'
import type { BrowserCall } from '../../road/capture.ts'
import type { GateSettings } from '../../policy/parse/settings.ts'
import type { FindingAnswer } from './settings.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { deny, escalate, type Gate, type Objection } from '../gate.ts'

/**
 * Checks the calls of browser agents. In this order it denies an unreadable URL, a domain that is not allowed, a side effect without
 * an acceptable Sentinel observation, and a side effect without a planner reference. Then it escalates findings.
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
  const { observation } = snapshot
  const page = readHttpUrl(observation?.url ?? '')
  const target = call.destination === undefined ? page : readHttpUrl(call.destination)
  if (!page || !target) return deny('COGNITIVE_FIREWALL_INVALID_URL')
  // Destinations in declared arguments count like the destination that the call states.
  const declared = snapshot.destinations().filter(({ from }) => from === 'declared')
  if (![page, target, ...declared].every((each) => inScope(each, settings))) {
    return deny('COGNITIVE_FIREWALL_DOMAIN_DENY')
  }
  if (!snapshot.sideEffect) return undefined
  if (!isTrusted(snapshot, settings)) return deny('COGNITIVE_FIREWALL_SENTINEL_DENY')
  const found = answersTo(observation?.sentinel_findings ?? [], settings)
  if (found.deny.length > 0) return deny('COGNITIVE_FIREWALL_SENTINEL_DENY', found.deny.join(', '))
  if (call.planner_ref === undefined) return deny('COGNITIVE_FIREWALL_PLANNER_REF_REQUIRED')
  if (found.escalate.length === 0) return undefined
  return escalate('COGNITIVE_FIREWALL_APPROVAL_REQUIRED', found.escalate.join(', '))
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
