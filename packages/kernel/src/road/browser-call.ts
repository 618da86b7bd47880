// Captures the browser part of a call: what the agent claims of the page, and what a gateway that drives the browser knows.

import { sha256Hex, type Json, type TargetState } from '@tollgate/evidence/core'
import { isName } from '../names.ts'
import { copyOf, isRecord } from '../plain.ts'
import { MAX_URL, readObservation, type Observation } from './observation.ts'

/** The browser part of a call. Unreadable values never count as harmless. */
export interface BrowserCall {
  readonly observation: Observation | undefined
  /** Id of an observation that the Sentinel posted itself. */
  readonly observation_id: string | undefined
  /** `sha256:` and 64 hexadecimal digits. */
  readonly planner_ref: string | undefined
  readonly side_effect: boolean | undefined
  readonly destination: string | undefined
  /** Known by the gateway itself, if it drives the browser. */
  readonly guarded?: GuardedPage
}

/** The knowledge of a gateway that drives the browser about a call. It comes from the door and is trusted. */
export interface GuardedPage {
  /**
   * The thing that the call acts on: the page; with `navigation` only the destination that it opens; with `browser` neither, as a list of tabs
   * does.
   */
  readonly acts: 'page' | 'navigation' | 'browser'
  /** The door made the planner reference from the call itself. */
  readonly derived?: true
  /** The element that the call names; undefined if it names none. */
  readonly target?: GuardedTarget
  /** The gateway only attached to the browser and does not control its network. */
  readonly without_egress?: true
}

/** The element that a call names, as the agent saw it, and whether it is still there. */
export interface GuardedTarget {
  readonly state: TargetState
  readonly role: string
  readonly name: string
  readonly origin: string
  /** Left, top, width and height in whole pixels; undefined if it is not known. */
  readonly box?: readonly number[]
}

/** Copies the browser part of a call; undefined if the call has none. */
export function captureBrowser(value: unknown, guarded: GuardedPage | undefined): BrowserCall | undefined {
  if (value === undefined && guarded === undefined) return undefined
  const copied = copyOf(value) ?? {}
  const { observation, observation_id, planner_ref, side_effect, destination } = copied
  return {
    observation: isRecord(observation) ? readObservation(observation) : undefined,
    observation_id: isName(observation_id) ? observation_id : undefined,
    planner_ref: digestOf(planner_ref),
    // An unreadable value counts as the worst case.
    side_effect: side_effect === undefined ? undefined : side_effect !== false,
    destination: destination === undefined ? undefined : readable(destination),
    ...(guarded && { guarded }),
  }
}

const DIGEST = /^(?:sha256:)?([0-9a-f]{64})$/i

/** Returns the digest of the plan. Other text is hashed, so that its content is not recorded. Blank text counts as missing. */
function digestOf(reference: Json | undefined): string | undefined {
  if (typeof reference !== 'string' || reference.trim() === '') return undefined
  const digest = DIGEST.exec(reference)?.[1]?.toLowerCase()
  return `sha256:${digest ?? sha256Hex(reference)}`
}

function readable(destination: Json): string {
  return typeof destination === 'string' && destination.length <= MAX_URL ? destination.toWellFormed() : ''
}
