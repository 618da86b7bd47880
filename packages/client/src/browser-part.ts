// The browser part of a call: what a Sentinel saw of the page, the plan, and where the action leads.

import { canonicalize, sha256Hex } from '@tollgate/evidence'
import { jsonOf } from './answer.ts'
import { exchange } from './exchange.ts'
import { id, object } from './reading.ts'
import type { Connection } from './transport.ts'

/** An observation of a page by a Sentinel. `observationOf` of `@tollgate/sentinel` makes one. A missing member never counts as harmless. */
export interface PageObservation {
  readonly url: string
  readonly dom_hash?: string
  readonly visual_text_hash?: string
  /** From 0 to 100. */
  readonly sentinel_risk?: number
  readonly sentinel_findings?: readonly string[]
}

/** The members that make a call a browser call, with their names on the wire. */
export interface BrowserPart {
  /** The page that the call acts on. With `observation_id`, only its URL counts. */
  readonly observation?: PageObservation
  /** Id of an observation that a Sentinel posted. It is valid for one call, within ten seconds. */
  readonly observation_id?: string
  /** The digest of the plan: `sha256:` and 64 hexadecimal digits, or the digits alone. Other texts are hashed. */
  readonly planner_ref?: string
  /** True makes a read a call with a side effect. False changes nothing. */
  readonly side_effect?: boolean
  /** The URL that the action leads to, if it is not the page itself. */
  readonly destination?: string
}

const MEMBERS = ['observation', 'observation_id', 'planner_ref', 'side_effect', 'destination'] as const

/** The members about a page that are given, each read once. */
export function pagePart(given: BrowserPart): BrowserPart {
  const members = MEMBERS.map((name) => [name, given[name]] as const)
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

const DIGEST = /^(?:sha256:)?([0-9a-f]{64})$/i

/** A planner reference as receipts have it. Blank text counts as missing. */
export function digestOf(reference: string | undefined): string | undefined {
  if (reference === undefined || reference.trim() === '') return undefined
  return `sha256:${DIGEST.exec(reference)?.[1]?.toLowerCase() ?? sha256Hex(reference)}`
}

/** Posts an observation. Not repeated after a lost answer: what was posted is valid for one call, so a new one is as good. */
export async function postObservation(
  connection: Connection,
  observation: PageObservation,
  signal: AbortSignal | undefined,
): Promise<string> {
  const request = {
    method: 'POST',
    path: '/v1/browser/observations',
    body: canonicalize(observation),
    signal,
  } as const
  return id(object(jsonOf(await exchange(connection, request, 0)), 'answer')['id'], 'id')
}
