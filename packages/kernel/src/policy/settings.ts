// The settings of the rungs: `gates` in a policy file.

import type { HostPattern } from '../destinations/pattern.ts'
import { DEFAULT_RISK, ONE, type RiskSettings } from '../risk.ts'
import type { Place, Reader } from './read.ts'
import { readBrowser, type BrowserSettings } from './settings/browser.ts'
import { readCompliance, type ComplianceSettings } from './settings/compliance.ts'
import { readHosts } from './settings/hosts.ts'
import { readPrivilege, type PrivilegeSettings } from './settings/privilege.ts'
import { readScopeSettings, type ScopeSettings } from './settings/scope.ts'
import { readTaint, type TaintSettings } from './settings/taint.ts'
import { readTemporal, type TemporalSettings } from './settings/temporal.ts'
import { readThreat, type ThreatSettings } from './settings/threat.ts'
import { readTrust, type TrustSettings } from './settings/trust.ts'

/** The settings of the rungs. */
export interface GateSettings {
  readonly egress: {
    readonly allow: readonly HostPattern[]
    readonly ask: readonly HostPattern[]
    readonly deny: readonly HostPattern[]
  }
  readonly sessionRisk: RiskSettings
  readonly browser: BrowserSettings
  /** Undefined where the policy does not mention the rung: then it has nothing to say. */
  readonly taint: TaintSettings | undefined
  readonly threat: ThreatSettings | undefined
  readonly trust: TrustSettings | undefined
  readonly privilege: PrivilegeSettings | undefined
  readonly scope: ScopeSettings | undefined
  readonly temporal: TemporalSettings
  readonly compliance: ComplianceSettings | undefined
}

const DAY = 86_400_000
const NO_LIMITS: TemporalSettings = { limits: [], hours: [] }
const NAMES = [
  'egress',
  'session-risk',
  'browser',
  'taint',
  'threat',
  'delegation',
  'trust',
  'privilege',
  'scope',
  'temporal',
  'compliance',
] as const

/** Reads `gates`; what is not said has its default. */
export function readGates(reader: Reader, place: Place | undefined): GateSettings {
  const fields = place && reader.fields(place, NAMES)
  const { delegation } = fields ?? {}
  if (delegation) {
    reader.note(
      delegation,
      'the rung `delegation` is configured under `principals`: `key` for who may delegate, `delegate-only` for who may only act for others; remove it here',
    )
  }
  return {
    egress: readEgress(reader, fields?.egress),
    sessionRisk: readSessionRisk(reader, fields?.['session-risk']),
    browser: readBrowser(reader, fields?.browser),
    taint: fields?.taint && readTaint(reader, fields.taint),
    threat: fields?.threat && readThreat(reader, fields.threat),
    trust: fields?.trust && readTrust(reader, fields.trust),
    privilege: fields?.privilege && readPrivilege(reader, fields.privilege),
    scope: fields?.scope && readScopeSettings(reader, fields.scope),
    temporal: fields?.temporal ? readTemporal(reader, fields.temporal) : NO_LIMITS,
    compliance: fields?.compliance && readCompliance(reader, fields.compliance),
  }
}

function readEgress(reader: Reader, place: Place | undefined): GateSettings['egress'] {
  const fields = place && reader.fields(place, ['allow', 'ask', 'deny'])
  return {
    allow: readHosts(reader, fields?.allow, 'a host'),
    ask: readHosts(reader, fields?.ask, 'a host'),
    deny: readHosts(reader, fields?.deny, 'a host'),
  }
}

function readSessionRisk(reader: Reader, place: Place | undefined): RiskSettings {
  const names = ['ask', 'threshold', 'window', 'baseline', 'half-life', 'carry'] as const
  const fields = place && reader.fields(place, names)
  if (!fields) return DEFAULT_RISK
  const fraction = (at: Place | undefined, what: string, least: number, otherwise: number): number => {
    const value = at && reader.number(at, what, least, 1)
    return value === undefined ? otherwise : Math.round(value * ONE)
  }
  const window = fields.window && reader.number(fields.window, '`window`', 2, 1000)
  if (fields.window && window !== undefined && !Number.isInteger(window)) {
    reader.note(fields.window, '`window` must be a whole number of turns')
  }
  const halfLife = fields['half-life'] && reader.duration(fields['half-life'], '`half-life`', 30 * DAY)
  const threshold = fraction(fields.threshold, '`threshold`', 0.1, DEFAULT_RISK.threshold)
  const ask = fraction(fields.ask, '`ask`', 0.05, Math.min(DEFAULT_RISK.ask, threshold))
  if (fields.ask && ask > threshold) refuseLateAsk(reader, fields.ask, { ask, threshold })
  return {
    ask,
    threshold,
    window: window ?? DEFAULT_RISK.window,
    baseline: fraction(fields.baseline, '`baseline`', 0, DEFAULT_RISK.baseline),
    halfLife: halfLife ?? DEFAULT_RISK.halfLife,
    carry: fraction(fields.carry, '`carry`', 0, DEFAULT_RISK.carry),
  }
}

/** What is denied before anybody is asked: whoever wrote that believes that people are asked. */
function refuseLateAsk(
  reader: Reader,
  place: Place,
  { ask, threshold }: Pick<RiskSettings, 'ask' | 'threshold'>,
): void {
  reader.note(
    place,
    `\`ask\` is ${ask / ONE}, above \`threshold\` ${threshold / ONE}: calls are denied before a person is asked; write an \`ask\` of at most ${threshold / ONE}, or raise \`threshold\``,
  )
}
