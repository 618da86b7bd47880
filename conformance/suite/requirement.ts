// A requirement, and what its test can use.

import type { Adapter, Running } from './adapter.ts'
import type { Answer, Caller } from './caller.ts'
import type { Fields } from './reading.ts'
import type { Recorder } from './recorder.ts'

/** L1: verdicts and receipts. L2: ledger and evidence. L3: doors and defence. */
export const LEVELS = ['L1', 'L2', 'L3'] as const
export type Level = (typeof LEVELS)[number]

/** One sentence that an implementation keeps or breaks. */
export interface Requirement {
  readonly id: string
  readonly level: Level
  /** The claims of docs/claims.md that it belongs to; empty if it is only about our formats. */
  readonly claims: readonly string[]
  readonly says: string
  /** Returns if the sentence is true. @throws with the difference if not. */
  readonly test: (world: World) => Promise<void>
}

/** A running implementation and the parts around it. */
export interface World {
  readonly running: Running
  readonly recorder: Recorder
  /** `user:root`, with the role `admin`. */
  readonly admin: Caller
  /** Everything that was answered so far, with its route. */
  readonly answers: readonly (readonly [route: string, answer: Answer])[]
  /** An observation that was posted when the world began. */
  readonly oldObservation: { readonly id: string; readonly posted: number }
  /** A new principal with a token of a role. Without a name, the principal is used by no other requirement. */
  readonly caller: (role: string, options?: CallerOptions) => Promise<Caller>
  /** A caller with this token, or without one. */
  readonly withToken: (token: string | undefined) => Caller
  /** The whole ledger as a pack. */
  readonly pack: () => Promise<Buffer>
  /** What the verifier says about a pack. */
  readonly verify: (pack: Buffer, trust?: string) => Promise<Fields & { readonly exit: number }>
  /** Kills the implementation, and starts it again. */
  readonly killAndRestart: () => Promise<void>
}

export interface CallerOptions {
  readonly principal?: string
  readonly groups?: readonly string[]
  readonly lasts_seconds?: number
}

/** How the world is made. */
export interface WorldOptions {
  readonly adapter: Adapter
  /** A command that verifies packs, as the judge of verifiers runs it. */
  readonly verifier: readonly string[]
}
