// The table of the gates that have settings: `gates` in a policy file.

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

/** The settings of the rungs. */
export interface GateSettings {
  readonly egress: EgressSettings
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

/** Each gate that a policy may name, with its section, in the order in which messages name them. */
export const GATE_SECTIONS: readonly (readonly [gate: keyof GateSettings, GateSection<unknown>])[] =
  // Sound: the settings of a gate reach only the section of the same name, and `delegation` has none.
  Object.entries(SECTIONS) as [keyof GateSettings, GateSection<unknown>][]

const NAMES = GATE_SECTIONS.map(([, { name }]) => name)

/** Reads `gates`; what is not said has its default. */
export function readGates(reader: Reader, place: Place | undefined): GateSettings {
  const fields = place && reader.fields(place, NAMES)
  const read = GATE_SECTIONS.map(([gate, section]) => [gate, section.read(reader, fields?.[section.name])])
  // Sound: the table has a section for each gate, which reads the settings of that gate.
  return Object.fromEntries(read) as GateSettings
}

/** What these settings have a use for. */
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
  'What watches over every call, whatever the rules say. A rung that is not here has nothing to say, or its defaults.',
  Object.fromEntries(WRITTEN.map(({ name, schema = {} }) => [name, schema])),
)
export const GATE_PARTS: JsonObject = Object.fromEntries(
  WRITTEN.flatMap(({ parts = {} }) => Object.entries(parts)),
)
