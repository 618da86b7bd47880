// The policies of the comparison as plain data. Patterns are texts and need no parser.

import type { Door, EffectClass, Tier } from '@tollgate/evidence'
import type { Action, PolicyContext } from '../../src/policy/parse/parse.ts'
import type { ComplianceRule } from '../../src/gates/compliance/settings.ts'
import type { PrivilegeSettings } from '../../src/gates/privilege/settings.ts'
import type { TaintSettings } from '../../src/gates/taint/settings.ts'
import type { Limit } from '../../src/gates/temporal/settings.ts'
import type { ThreatSettings } from '../../src/gates/threat/settings.ts'
import type { TrustSettings } from '../../src/gates/trust/settings.ts'
import type { RiskSettings } from '../../src/gates/session-risk/risk.ts'

export interface ModelRule {
  readonly id: string
  readonly action: Action
  readonly tools: readonly string[]
  readonly principals: readonly string[]
  readonly sessions: readonly string[]
  readonly doors: readonly Door[]
  readonly when: ModelCondition | undefined
  readonly approvers: readonly string[]
  readonly answer: 'approver' | 'client'
  readonly expires: number
}

/** The number of a condition that the call answers; or a minimum of risk or trust, a label, or a tier. */
export type ModelCondition =
  | { readonly answer: number }
  | { readonly risk: number }
  | { readonly trust: number }
  | { readonly label: string }
  | { readonly tier: Tier }

export interface ModelTool {
  readonly name: string
  readonly effect: EffectClass
  readonly schema: boolean
  readonly offline: boolean
  readonly browser: boolean
  readonly sinks: readonly string[]
  readonly returns: readonly string[]
  readonly takes: readonly { readonly path: string; readonly labels: readonly string[] }[]
  /** Units, or the argument that contains them. */
  readonly cost: number | 'amount' | undefined
}

export interface ModelPrincipal {
  readonly name: string
  readonly tier: Tier
  /** The number of the key in the policy. */
  readonly key: number | undefined
  readonly delegateOnly: boolean
}

export type ModelLimit = Omit<Limit, 'tools'> & { readonly tools: string }

/** Days from 0 for Monday, minutes of the day, minutes from UTC. A window that ends before it begins continues on the next day. */
export interface ModelHours {
  readonly tools: string
  readonly days: readonly number[]
  readonly from: number
  readonly to: number
  readonly offset: number
}

export interface ModelTaint extends Omit<TaintSettings, 'internal' | 'results' | 'pages' | 'flows'> {
  readonly internal: readonly string[]
  readonly results: Readonly<Partial<Record<string, 'redact' | 'withhold'>>>
}

export interface ModelCompliance {
  readonly jurisdictions: Readonly<Record<string, readonly string[]>>
  readonly rules: readonly (Omit<ComplianceRule, 'tools'> & { readonly tools: readonly string[] })[]
}

export interface ModelPolicy {
  /** There is no policy; these are the settings without one. */
  readonly none?: true
  readonly context: PolicyContext
  readonly principals: readonly ModelPrincipal[]
  readonly tools: readonly ModelTool[]
  readonly rules: readonly ModelRule[]
  readonly egress: Readonly<Record<'allow' | 'ask' | 'deny', readonly string[]>>
  readonly risk: RiskSettings
  readonly taint: ModelTaint | undefined
  readonly threat: ThreatSettings | undefined
  readonly trust: TrustSettings | undefined
  readonly privilege: PrivilegeSettings | undefined
  /** Every session must have a scope. */
  readonly scoped: boolean
  readonly limits: readonly ModelLimit[]
  readonly hours: readonly ModelHours[]
  readonly compliance: ModelCompliance | undefined
}

/** The settings while there is no policy: the defaults, and nothing allowed. */
export const NO_MODEL_POLICY: ModelPolicy = {
  none: true,
  context: { environments: [], tenants: [], workspaces: [] },
  principals: [],
  tools: [],
  rules: [],
  egress: { allow: [], ask: [], deny: [] },
  risk: {
    ask: 280_000,
    threshold: 380_000,
    window: 8,
    baseline: 150_000,
    halfLife: 3_600_000,
    carry: 500_000,
  },
  taint: undefined,
  threat: undefined,
  trust: undefined,
  privilege: undefined,
  scoped: false,
  limits: [],
  hours: [],
  compliance: undefined,
}
