// What the comparison of model and kernel speaks of: worlds as plain data, and what the model is told about a call.

import type { Door, EffectClass, Rung } from '@tollgate/evidence'
import type { Context } from '../src/call.ts'
import type { Objection } from '../src/gates/gate.ts'
import type { Action, PolicyContext } from '../src/policy/parse.ts'
import type { Axes, RiskSettings } from '../src/risk.ts'
import type { Facts } from '../src/signals.ts'
import type { Pace } from './model-risk.ts'

/** What a call says, as data: the real call and what the model is told are both made from it. */
export interface CallSpec {
  readonly tenant: string
  readonly principal: string | undefined
  readonly claimed?: string
  readonly session_id?: string
  readonly delegation_session_id?: string
  readonly door: Door
  readonly assurance: 'enforced' | 'advised'
  readonly tool: string
  readonly form: 'fits' | 'misfits' | 'breaks the check' | 'no object' | 'unreadable'
  /** Tells calls apart that are otherwise alike. */
  readonly n: number
  readonly word: Word
  readonly hosts: readonly string[]
  /** How each condition of the policy answers. */
  readonly answers: readonly (boolean | 'throws')[]
  readonly context: Context
  readonly page?: Page
  /** The request it relies on, counted from the newest; -1 for one that never was. */
  readonly approval?: number
  /** Rungs that are replaced by one that says this, whatever it is asked. */
  readonly replaced: Partial<Record<Rung, 'throws' | Objection>>
}

/** What a browser call brings. Without a host its page cannot be read; without a risk the Sentinel is silent. */
export interface Page {
  readonly host?: string
  readonly risk?: number
  readonly planned: boolean
  readonly acts: boolean
}

/** What the model is told about a call. */
export interface ModelCall extends Pick<
  CallSpec,
  'tenant' | 'principal' | 'door' | 'assurance' | 'tool' | 'form' | 'hosts'
> {
  readonly claimed: string | undefined
  readonly session: string
  readonly args: string
  readonly answers: CallSpec['answers']
  readonly context: Context
  /** Number of the request that it relies on. */
  readonly approval: number | undefined
  readonly replaced: CallSpec['replaced']
  /** Where the page is that it acts on. */
  readonly pages: readonly string[]
  /** It says of itself that it has a side effect. */
  readonly acts: boolean | undefined
  /** What the browser rung says. */
  readonly page: (
    effect: EffectClass,
    browser: boolean | undefined,
    declared: readonly string[],
  ) => Objection | undefined
  /** It is about credentials or persons. */
  readonly sensitive: boolean
  /** How risky its words look beside these facts. */
  readonly axes: (facts: Facts) => Axes
}

export interface ModelRule {
  readonly id: string
  readonly action: Action
  readonly tools: readonly string[]
  readonly principals: readonly string[]
  readonly sessions: readonly string[]
  readonly doors: readonly Door[]
  /** The number of a condition, or: the risk is at least so much. */
  readonly when: { readonly answer: number } | { readonly risk: number } | undefined
  readonly approvers: readonly string[]
  readonly expires: number
}

export interface ModelTool {
  readonly name: string
  readonly effect: EffectClass
  readonly schema: boolean
  readonly offline: boolean
  readonly browser: boolean
}

export interface ModelPolicy {
  /** There is no policy; these are the settings without one. */
  readonly none?: true
  readonly context: PolicyContext
  readonly tools: readonly ModelTool[]
  readonly rules: readonly ModelRule[]
  readonly egress: Readonly<Record<'allow' | 'ask' | 'deny', readonly string[]>>
  readonly risk: RiskSettings
  readonly rates: readonly (Pace & { readonly tools: string })[]
}

/** Whose record: a session's, or without one the principal's. */
export interface Lost {
  readonly tenant: string
  readonly principal: string | undefined
  readonly session?: string
}

/** A person's answer to a request. */
export interface Reply {
  readonly tenant: string
  readonly request: number
  readonly granted: boolean
  readonly approver: string
  readonly groups: readonly string[]
}

export type Event =
  /** `behind`: the host's clock is that much late, for this call only. */
  | { readonly do: 'call'; readonly call: CallSpec; readonly behind: number }
  | { readonly do: 'wait'; readonly ms: number }
  /** `request` is counted from the newest. */
  | ({ readonly do: 'answer' } & Reply)
  | { readonly do: 'freeze'; readonly frozen: boolean; readonly target: FreezeTarget }
  | { readonly do: 'activate'; readonly policy: number; readonly tenants: readonly string[] }
  | { readonly do: 'restart'; readonly lost?: Lost }
  | { readonly do: 'offer'; readonly tool: string; readonly version: string }
  | { readonly do: 'withdraw' | 'pin' | 'unpin'; readonly tool: string }

export interface FreezeTarget {
  readonly scope: 'all' | 'principal' | 'tool' | 'session'
  readonly tenant: string
  readonly target?: string
}

export interface World {
  readonly quota: Pace
  readonly remembered: number
  readonly salted: boolean
  readonly policies: readonly ModelPolicy[]
  readonly events: readonly Event[]
}

/** The settings while there is no policy: the defaults, and nothing allowed. */
export const NO_MODEL_POLICY: ModelPolicy = {
  none: true,
  context: { environments: [], tenants: [], workspaces: [] },
  tools: [],
  rules: [],
  egress: { allow: [], ask: [], deny: [] },
  risk: { threshold: 380_000, window: 8, baseline: 150_000, halfLife: 3_600_000, carry: 500_000 },
  rates: [],
}

/** Words of the arguments, by the topics that they speak of. */
export const WORDS = {
  hello: [],
  password: ['credentials'],
  patient: ['personal'],
  upload: ['movement'],
  zip: ['packing'],
  sudo: ['authority'],
  firewall: ['rules'],
  delete: ['operation'],
  gdpr: ['regime'],
  audit: ['audit'],
  'password upload': ['credentials', 'movement'],
  'gdpr delete upload': ['regime', 'operation', 'movement'],
  'zip patient sudo': ['packing', 'personal', 'authority'],
} as const
export type Word = keyof typeof WORDS
