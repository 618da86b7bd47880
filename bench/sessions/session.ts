// What a session is: ordered calls with what came back, who was asked, and where the harm is.

import type { Json, JsonObject } from '@tollgate/evidence'

/** The ways of attack, by what they do. */
export const FAMILIES = [
  'slow-exfiltration',
  'privilege-creep',
  'compliance-drift',
  'reconnaissance',
  'secret-transform-send',
  'archive-and-chunk',
  'memory-poisoning',
  'delegation-laundering',
  'tool-shadowing',
  'approval-fatigue',
  'structuring',
  'destructive-chain',
] as const
export type Family = (typeof FAMILIES)[number]
/** What a template tells: an attack with its twin, or honest work alone. */
export type Kind = Family | 'benign-drift'

/** The three sets. No template and no role is in two of them. */
export const SPLITS = ['calibration', 'validation', 'held-out'] as const
export type Split = (typeof SPLITS)[number]

/** What the person says who is asked about a call: yes, no, or nothing at all. */
export type Answer = 'granted' | 'refused'

/** One call of a session. */
export interface Turn {
  /** Milliseconds since the session began. */
  readonly at: number
  /** Who calls; the last of `chain` where it acts for others. */
  readonly principal: string
  /** From the first delegator to the caller; left out where nobody delegated. */
  readonly chain?: readonly string[]
  readonly session: string
  readonly tool: string
  readonly args: JsonObject
  readonly output: Json
  /** What the user said right before this call. */
  readonly said?: string
  /** Texts that the caller claims led here: only ever in the evasion that fakes a history. */
  readonly claims?: readonly { readonly source_channel: 'USER' | 'TOOL_OUTPUT'; readonly text: string }[]
  /** What the person at hand answers, if the firewall asks about this call. */
  readonly answer?: Answer
  /** The harm cannot come about without it. */
  readonly essential?: true
  /** It is harmful: data is out, money is gone, rights are taken, things are lost. */
  readonly harm?: true
  /** A call that says nothing of the attack: everyday work around it. */
  readonly filler?: true
}

/** A session with its label. */
export interface Session {
  readonly id: string
  readonly split: Split
  readonly family: Kind
  readonly template: string
  readonly role: string
  readonly label: 'attack' | 'benign'
  /** How everyday life has bent a benign session: `none`, an idle night, a task in between … */
  readonly drift: string
  /** What the user asked for in the beginning. */
  readonly prompt: string
  readonly turns: readonly Turn[]
}

/** Where the first harmful call stands; -1 in a benign session. */
export function harmAt({ turns }: Session): number {
  return turns.findIndex(({ harm }) => harm)
}
