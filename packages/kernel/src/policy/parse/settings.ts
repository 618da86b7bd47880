// The table of the gates with settings: `gates` in a policy file.

import { LADDER_STEPS, type JsonObject } from '@tollgate/evidence/core'
import { browserSettings, type BrowserSettings } from '../../gates/browser/settings.ts'
import { complianceSettings, type ComplianceSettings } from '../../gates/compliance/settings.ts'
import { delegationSettings } from '../../gates/delegation/settings.ts'
import { egressSettings, type EgressSettings } from '../../gates/egress/settings.ts'
import { privilegeSettings, type PrivilegeSettings } from '../../gates/privilege/settings.ts'
import { scopeSettings, type ScopeSettings } from '../../gates/scope/settings.ts'
import type { RiskSettings } from '../../gates/session-risk/risk.ts'
import { sessionRiskSettings } from '../../gates/session-risk/settings.ts'
import { taintSettings, type TaintSettings } from '../../gates/taint/settings.ts'
import { temporalSettings, type TemporalSettings } from '../../gates/temporal/settings.ts'
import { threatSettings, type ThreatSettings } from '../../gates/threat/settings.ts'
import { trustSettings, type TrustSettings } from '../../gates/trust/settings.ts'
import { record } from '../reader/schema.ts'
import type { PolicyUses } from '../uses.ts'
import type { GateSection } from '../reader/section.ts'
import type { Place, Reader } from '../reader/read.ts'

/** The settings of the gates. */
export interface GateSettings {
  readonly egress: EgressSettings
  readonly sessionRisk: RiskSettings
  readonly browser: BrowserSettings
  /** Undefined if the policy does not mention the gate: then the gate is inactive. */
  readonly taint: TaintSettings | undefined
  readonly threat: ThreatSettings | undefined
  readonly trust: TrustSettings | undefined
  readonly privilege: PrivilegeSettings | undefined
  readonly scope: ScopeSettings | undefined
  readonly temporal: TemporalSettings
  readonly compliance: ComplianceSettings | undefined
}

type Sections = { readonly [Gate in keyof GateSettings]: GateSection<GateSettings[Gate]> }

const SECTIONS: Sections & { readonly delegation: GateSection<undefined> } = {
  egress: egressSettings,
  sessionRisk: sessionRiskSettings,
  browser: browserSettings,
  taint: taintSettings,
  threat: threatSettings,
  delegation: delegationSettings,
  trust: trustSettings,
  privilege: privilegeSettings,
  scope: scopeSettings,
  temporal: temporalSettings,
  compliance: complianceSettings,
}

/** Each gate that a policy may name, with its section, in the order of messages. */
export const GATE_SECTIONS: readonly (readonly [gate: keyof GateSettings, GateSection<unknown>])[] =
  // Safe cast: the settings of a gate reach only the section of the same name, and `delegation` has none.
  Object.entries(SECTIONS) as [keyof GateSettings, GateSection<unknown>][]

const NAMES = GATE_SECTIONS.map(([, { name }]) => name)

/** Parses `gates`. Missing settings get their defaults. */
export function readGates(reader: Reader, place: Place | undefined): GateSettings {
  const fields = place && reader.fields(place, NAMES)
  const read = GATE_SECTIONS.map(([gate, section]) => [gate, section.read(reader, fields?.[section.name])])
  // Safe cast: the table has a section for each gate, which parses the settings of that gate.
  return Object.fromEntries(read) as GateSettings
}

/** Returns the data that these settings need. */
export function usesOf(gates: GateSettings): PolicyUses {
  return {
    data: GATE_SECTIONS.some(
      ([gate, section]) => section.remembersData === true && gates[gate] !== undefined,
    ),
    sharedLimits: GATE_SECTIONS.some(([gate, section]) => section.sharesTenant?.(gates[gate]) === true),
  }
}

/** The sections that a policy may write, in the order of the ladder. */
const WRITTEN = GATE_SECTIONS.map(([, section]) => section)
  .filter(({ schema }) => schema !== undefined)
  .sort((a, b) => LADDER_STEPS.indexOf(a.name) - LADDER_STEPS.indexOf(b.name))

/** The schema of `gates`, and the parts that it refers to. */
export const GATES: JsonObject = record(
  'Gates',
  'The settings of the gates, which check every call in addition to the rules. A gate that is not listed is inactive or uses its defaults.',
  Object.fromEntries(WRITTEN.map(({ name, schema = {} }) => [name, schema])),
)
export const GATE_PARTS: JsonObject = Object.fromEntries(
  WRITTEN.flatMap(({ parts = {} }) => Object.entries(parts)),
)
