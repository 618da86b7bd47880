import { matchesHost } from '../../destinations/pattern.ts'
import type { Target } from '../../destinations/destination.ts'
import { readHttpUrl } from '../../destinations/url.ts'
import type { BrowserCall } from '../../road/capture.ts'
import type { GateSettings } from '../../policy/parse/settings.ts'
import type { FindingAnswer } from './settings.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { deny, escalate, type Gate, type Objection } from '../gate.ts'

/**
 * The deterministic guard behind a browser agent. In this order: a URL that cannot be read, a domain out of scope, a
 * Sentinel that objects or says nothing readable before a side effect, a side effect without a planner reference; then it asks
 * about findings that a person should see.
 *
 * What the agent says can only raise the bar: a browser tool has a side effect unless the catalogue says it reads.
 */
export const browser: Gate = {
  name: 'browser',
  standing: ({ gates }) => (gates.browser.domains.length > 0 ? 'active' : 'not configured'),
  check(intent, snapshot) {
    const expected = intent.door === 'browser' || snapshot.tool?.declared?.browser === true
    if (intent.browser === undefined && !expected) return undefined
    return checkCall(intent.browser ?? NOTHING_SAID, snapshot)
  },
}

const NOTHING_SAID: BrowserCall = {
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
  // What the tool's declaration says of its arguments counts like what the call says of itself.
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

/** The findings by what the policy says of each; what no row names counts as `*`. */
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

/** Whether the Sentinel has said everything it must, and no more risk than is allowed. */
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
