// The data of the comparison: worlds, and the facts of a call that the model gets.

import type { Door, EffectClass, LadderStep } from '@tollgate/evidence'
import type { Context } from '../../src/road/capture.ts'
import type { Objection } from '../../src/gates/gate.ts'
import type { Axes } from '../../src/gates/session-risk/risk.ts'
import type { Facts } from '../../src/gates/session-risk/signals.ts'
import type { ModelPolicy } from './model-policy.ts'
import type { Pace } from './model-risk.ts'
import type { TextFacts, TextName } from './model-texts.ts'

/** A call as data. Both the real call and the facts for the model are made from it. */
export interface CallSpec {
  readonly tenant: string
  readonly principal: string | undefined
  readonly claimed?: string
  readonly session_id?: string
  readonly delegation_session_id?: string
  readonly door: Door
  readonly assurance: 'enforced' | 'advised'
  /** The client can ask its person. */
  readonly prompting: boolean
  /** The author of the arguments, if it is not the principal. */
  readonly author?: string
  readonly tool: string
  readonly form: 'fits' | 'misfits' | 'breaks the check' | 'no object' | 'unreadable'
  /** Distinguishes calls that are otherwise equal. */
  readonly n: number
  readonly word: Word
  readonly hosts: readonly string[]
  readonly body?: TextName
  readonly memo?: TextName
  readonly amount?: Amount
  readonly sources: readonly SourceSpec[]
  /** The result of each condition of the policy. */
  readonly answers: readonly (boolean | 'throws')[]
  readonly context: Context
  readonly page?: Page
  /** The request that it refers to, counted from the newest; -1 for one that does not exist. */
  readonly approval?: number
  /** The delegation that it uses, counted from the newest; -1 for one that does not exist. */
  readonly delegation?: number
  /** Steps that are replaced by a fixed answer. */
  readonly replaced: Partial<Record<LadderStep, 'throws' | Objection>>
}

export type Amount = number | string | readonly number[]

/** A text that led to a call, and its claimed source. */
export interface SourceSpec {
  readonly channel: 'USER' | 'TOOL_OUTPUT'
  readonly text: TextName
}

/** The page of a browser call. Without `host` the page is unreadable; without `risk` the Sentinel reports nothing. */
export interface Page {
  readonly host?: string
  readonly risk?: number
  readonly planned: boolean
  readonly acts: boolean
}

/** The part of a page that an approver sees. */
export interface Seen {
  readonly risk: number | undefined
  readonly findings: readonly string[]
  readonly planned: boolean
}

/** A text of the arguments with its path. */
export interface PlacedText {
  readonly path: string
  readonly facts: TextFacts
}

/** The facts of a call that the model gets. */
export interface ModelCall extends Pick<
  CallSpec,
  | 'tenant'
  | 'principal'
  | 'door'
  | 'assurance'
  | 'prompting'
  | 'tool'
  | 'form'
  | 'hosts'
  | 'answers'
  | 'context'
  | 'replaced'
> {
  readonly claimed: string | undefined
  readonly author: string | undefined
  /** The session whose memory it uses. */
  readonly session: string
  /** The session in its receipt. */
  readonly id: string
  readonly args: string
  /** The arguments are too long to show to a person. */
  readonly long: boolean
  /** The names of its arguments. */
  readonly members: readonly string[]
  /** Its texts that contain something to find. */
  readonly texts: readonly PlacedText[]
  readonly sources: readonly { readonly said: boolean; readonly facts: TextFacts }[]
  readonly amount: Amount | undefined
  /** The number of the request that it refers to. */
  readonly approval: number | undefined
  /** The number of the delegation that it uses. */
  readonly delegation: number | undefined
  /** The hostname of its page. */
  readonly pages: readonly string[]
  /** The report of the Sentinel, and whether there is a plan. */
  readonly seen: Seen | undefined
  /** The call claims to have a side effect. */
  readonly acts: boolean | undefined
  /** The answer of the browser gate. */
  readonly page: (
    effect: EffectClass,
    browser: boolean | undefined,
    declared: readonly string[],
  ) => Objection | undefined
  /** It contains words about credentials or personal data. */
  readonly sensitive: boolean
  /** The risk axes of its words and these facts. With a user message, the weighed facts decide. */
  readonly axes: (facts: Facts, voiced: boolean, weighed: Axes | undefined) => Axes
}

/** The record that is lost: of a session, of its data, of a principal or of a tenant. */
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

/** A delegation to sign. `planted`: it is added to the kernel unchecked, and is gone after the next restart. */
export interface DelegationSpec {
  readonly tenant: string
  readonly delegator: string
  readonly delegate: string
  readonly tools: readonly string[]
  readonly effects?: readonly EffectClass[]
  readonly session?: string
  /** Milliseconds until it expires. */
  readonly lasts: number
  readonly depth: number
  /** Its parent, counted from the newest; -1 for one that does not exist. */
  readonly parent?: number
  /** The number of the delegator's key that signs it. */
  readonly key: number
  readonly planted: boolean
}

/** The effect of an allowed call. Without texts the result is not inspected. */
export interface EffectSpec {
  /** The call, counted from the newest allowed one. */
  readonly call: number
  readonly status: 'COMPLETED' | 'FAILED' | 'UNKNOWN' | 'CANCELLED'
  readonly texts?: readonly TextName[]
  /** Another principal reports it. */
  readonly stranger: boolean
}

export type Event =
  /** `behind`: the clock is late by this amount, for this call only. */
  | { readonly do: 'call'; readonly call: CallSpec; readonly behind: number }
  | { readonly do: 'wait'; readonly ms: number }
  /** `request` is counted from the newest. */
  | ({ readonly do: 'answer' } & Reply)
  | { readonly do: 'freeze'; readonly frozen: boolean; readonly target: FreezeTarget }
  | ({ readonly do: 'observe' } & ObserveSpec)
  | { readonly do: 'activate'; readonly policy: number; readonly tenants: readonly string[] }
  /** `delegation`: the record of this delegation is lost, counted from the newest. */
  | { readonly do: 'restart'; readonly lost?: Lost; readonly delegation?: number }
  | { readonly do: 'offer'; readonly tool: string; readonly version: string }
  | { readonly do: 'withdraw' | 'pin' | 'unpin'; readonly tool: string }
  | ({ readonly do: 'delegate' } & DelegationSpec)
  | { readonly do: 'revoke'; readonly tenant: string; readonly delegation: number }
  | ({ readonly do: 'effect' } & EffectSpec)
  | { readonly do: 'close'; readonly whose: Omit<Lost, 'kind'> }
  | ({ readonly do: 'scope' } & ScopeSpec)

/** The scope of a session, set by a host application or an operator. */
export interface ScopeSpec {
  readonly whose: Omit<Lost, 'kind'>
  readonly host: boolean
  readonly effects: readonly EffectClass[] | undefined
  readonly tools: readonly string[] | undefined
  /** Milliseconds until it expires. */
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

/** Words of the arguments and their topics. */
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
