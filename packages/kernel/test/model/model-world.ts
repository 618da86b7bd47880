// What the comparison of model and kernel speaks of: worlds as plain data, and what the model is told about a call.

import type { Door, EffectClass, LadderStep } from '@tollgate/evidence'
import type { Context } from '../../src/road/capture.ts'
import type { Objection } from '../../src/gates/gate.ts'
import type { Axes } from '../../src/gates/session-risk/risk.ts'
import type { Facts } from '../../src/gates/session-risk/signals.ts'
import type { ModelPolicy } from './model-policy.ts'
import type { Pace } from './model-risk.ts'
import type { TextFacts, TextName } from './model-texts.ts'

/** What a call says, as data: the real call and what the model is told are both made from it. */
export interface CallSpec {
  readonly tenant: string
  readonly principal: string | undefined
  readonly claimed?: string
  readonly session_id?: string
  readonly delegation_session_id?: string
  readonly door: Door
  readonly assurance: 'enforced' | 'advised'
  /** Who wrote the arguments, if the principal did not. */
  readonly author?: string
  readonly tool: string
  readonly form: 'fits' | 'misfits' | 'breaks the check' | 'no object' | 'unreadable'
  /** Tells calls apart that are otherwise alike. */
  readonly n: number
  readonly word: Word
  readonly hosts: readonly string[]
  readonly body?: TextName
  readonly memo?: TextName
  readonly amount?: Amount
  readonly sources: readonly SourceSpec[]
  /** How each condition of the policy answers. */
  readonly answers: readonly (boolean | 'throws')[]
  readonly context: Context
  readonly page?: Page
  /** The request it relies on, counted from the newest; -1 for one that never was. */
  readonly approval?: number
  /** The delegation it is made under, counted from the newest; -1 for one that never was. */
  readonly delegation?: number
  /** Rungs that are replaced by one that says this, whatever it is asked. */
  readonly replaced: Partial<Record<LadderStep, 'throws' | Objection>>
}

export type Amount = number | string | readonly number[]

/** A text that led to a call, and who is said to have said it. */
export interface SourceSpec {
  readonly channel: 'USER' | 'TOOL_OUTPUT'
  readonly text: TextName
}

/** What a browser call brings. Without a host its page cannot be read; without a risk the Sentinel is silent. */
export interface Page {
  readonly host?: string
  readonly risk?: number
  readonly planned: boolean
  readonly acts: boolean
}

/** What an approver sees of a page. */
export interface Seen {
  readonly risk: number | undefined
  readonly findings: readonly string[]
  readonly planned: boolean
}

/** A text of the arguments, at its place. */
export interface PlacedText {
  readonly path: string
  readonly facts: TextFacts
}

/** What the model is told about a call. */
export interface ModelCall extends Pick<
  CallSpec,
  | 'tenant'
  | 'principal'
  | 'door'
  | 'assurance'
  | 'tool'
  | 'form'
  | 'hosts'
  | 'answers'
  | 'context'
  | 'replaced'
> {
  readonly claimed: string | undefined
  readonly author: string | undefined
  /** The session whose memory it has. */
  readonly session: string
  /** As its receipt names it. */
  readonly id: string
  readonly args: string
  /** They are longer than a person can be shown. */
  readonly long: boolean
  /** Names of its arguments. */
  readonly members: readonly string[]
  /** Its texts in which there is something to find. */
  readonly texts: readonly PlacedText[]
  readonly sources: readonly { readonly said: boolean; readonly facts: TextFacts }[]
  readonly amount: Amount | undefined
  /** Number of the request that it relies on. */
  readonly approval: number | undefined
  /** Number of the delegation that it is made under. */
  readonly delegation: number | undefined
  /** Where the page is that it acts on. */
  readonly pages: readonly string[]
  /** What the Sentinel says of the page, and whether there is a plan. */
  readonly seen: Seen | undefined
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
  /** How risky its words look beside these facts; in a session whose user has spoken, beside what the facts weigh. */
  readonly axes: (facts: Facts, voiced: boolean, weighed: Axes | undefined) => Axes
}

/** Whose record: a session's, with what is remembered of its data; a principal's; or a tenant's. */
export interface Lost {
  readonly kind: 'session' | 'provenance' | 'principal' | 'tenant'
  readonly tenant: string
  readonly principal: string | undefined
  readonly session: string
}

/** A person's answer to a request. */
export interface Reply {
  readonly tenant: string
  readonly request: number
  readonly granted: boolean
  readonly widen?: boolean
  readonly approver: string
  readonly groups: readonly string[]
}

/** What a delegator signs. `planted`: it is put into the kernel unchecked, and gone with the next restart. */
export interface DelegationSpec {
  readonly tenant: string
  readonly delegator: string
  readonly delegate: string
  readonly tools: readonly string[]
  readonly effects?: readonly EffectClass[]
  readonly session?: string
  /** Milliseconds from now to its last. */
  readonly lasts: number
  readonly depth: number
  /** What it hangs from, counted from the newest; -1 for one that never was. */
  readonly parent?: number
  /** Which of its keys the delegator signs with. */
  readonly key: number
  readonly planted: boolean
}

/** What came of an allowed call. Without texts nobody looks into what came back. */
export interface EffectSpec {
  /** Which call, counted from the newest that was allowed. */
  readonly call: number
  readonly status: 'COMPLETED' | 'FAILED' | 'UNKNOWN' | 'CANCELLED'
  readonly texts?: readonly TextName[]
  /** Somebody else than its caller says so. */
  readonly stranger: boolean
}

export type Event =
  /** `behind`: the host's clock is that much late, for this call only. */
  | { readonly do: 'call'; readonly call: CallSpec; readonly behind: number }
  | { readonly do: 'wait'; readonly ms: number }
  /** `request` is counted from the newest. */
  | ({ readonly do: 'answer' } & Reply)
  | { readonly do: 'freeze'; readonly frozen: boolean; readonly target: FreezeTarget }
  | ({ readonly do: 'observe' } & ObserveSpec)
  | { readonly do: 'activate'; readonly policy: number; readonly tenants: readonly string[] }
  /** `delegation`: the record of this one is lost, counted from the newest. */
  | { readonly do: 'restart'; readonly lost?: Lost; readonly delegation?: number }
  | { readonly do: 'offer'; readonly tool: string; readonly version: string }
  | { readonly do: 'withdraw' | 'pin' | 'unpin'; readonly tool: string }
  | ({ readonly do: 'delegate' } & DelegationSpec)
  | { readonly do: 'revoke'; readonly tenant: string; readonly delegation: number }
  | ({ readonly do: 'effect' } & EffectSpec)
  | { readonly do: 'close'; readonly whose: Omit<Lost, 'kind'> }
  | ({ readonly do: 'scope' } & ScopeSpec)

/** What a session is for, as a host or an operator says. */
export interface ScopeSpec {
  readonly whose: Omit<Lost, 'kind'>
  readonly host: boolean
  readonly effects: readonly EffectClass[] | undefined
  readonly tools: readonly string[] | undefined
  /** Milliseconds from now to its last. */
  readonly lasts: number | undefined
}

/** Observe mode for a door or a principal; null switches it off. */
export interface ObserveSpec {
  readonly tenant: string
  readonly scope: 'door' | 'principal'
  readonly target: string
  readonly lasts: number | null
}

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
