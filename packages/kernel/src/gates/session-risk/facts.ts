// What a call is, as facts: whom it aims at and who has named that, what it does to it, and what was read before.

import type { EffectClass } from '@tollgate/evidence'
import type { Intent } from '../../road/capture.ts'
import { leaves } from '../taint/flow.ts'
import { callTargetOf, type CallTarget, type TargetOrigin } from './call-target.ts'
import type { Axes } from './risk.ts'
import { isWary, LASTING } from './history.ts'
import type { RequestedAction } from '../../text/prompt-words.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { isAskedFor } from '../taint/named.ts'

/** What is known of a call in a session whose user has said something. */
export interface RiskFacts {
  readonly aim: CallTarget | undefined
  /** Nobody but the agent, or a text, knows of its target. */
  readonly strange: boolean
  /** Its target was named by nobody whose word counts for what the call does. */
  readonly unnamed: boolean
  /** By itself it is something that a person should see. */
  readonly grave: boolean
  readonly axes: Axes
}

/** What a deed on a target of each standing comes to. A third is the most: a person is asked long before anything is denied. */
type Weights = Readonly<Record<TargetOrigin, number>>

const NOTHING: Weights = {
  named: 0,
  beside: 0,
  inside: 0,
  returned: 0,
  loose: 0,
  claimed: 0,
  told: 0,
  nobody: 0,
}
const SENT: Weights = { ...NOTHING, claimed: 60_000, told: 150_000, nobody: 150_000 }
const SENT_AFTER: Weights = { ...NOTHING, loose: 60_000, claimed: 200_000, told: 300_000, nobody: 350_000 }
const FETCHED = 300_000
const CHANGED: Weights = {
  ...NOTHING,
  inside: 200_000,
  loose: 200_000,
  claimed: 200_000,
  told: 250_000,
  nobody: 300_000,
}
const DONE: Readonly<Record<EffectClass, Weights>> = {
  read: NOTHING,
  send: NOTHING,
  write: NOTHING,
  execute: { ...NOTHING, told: 120_000, nobody: 120_000 },
  pay: { ...NOTHING, claimed: 200_000, told: 60_000, nobody: 350_000 },
  delete: CHANGED,
  admin: CHANGED,
}
/** What was not to be done at all, or is done in a session that was asked about before. */
const UNASKED = 150_000

/** Standings that a deed of consequence cannot rest on. */
const UNNAMED: Readonly<Record<EffectClass, ReadonlySet<TargetOrigin>>> = {
  read: new Set(['claimed', 'told', 'nobody']),
  write: new Set(['claimed', 'told', 'nobody']),
  execute: new Set(['claimed', 'told', 'nobody']),
  send: new Set(['claimed', 'told', 'nobody']),
  // To pay what a bill says is what bills are for; whether its text may say so is for the rung `taint`.
  pay: new Set(['claimed', 'nobody']),
  delete: new Set(['inside', 'loose', 'claimed', 'told', 'nobody']),
  admin: new Set(['inside', 'loose', 'claimed', 'told', 'nobody']),
}

/** What a user asks for who asks for such an effect. */
const ASKING: Readonly<Partial<Record<EffectClass, readonly RequestedAction[]>>> = {
  pay: ['pay', 'change', 'send'],
  delete: ['delete', 'change'],
  admin: ['admin', 'change', 'invite', 'make', 'delete'],
}

/** The facts of a call; undefined where it has no target, or does nothing. */
export function factsOf(intent: Intent, snapshot: Snapshot): RiskFacts | undefined {
  const { effect } = snapshot
  if (effect === 'read' && snapshot.destinations().length === 0) return undefined
  const aim = callTargetOf(intent, snapshot)
  if (!aim) return isHeld(snapshot) && snapshot.sideEffect ? AIMLESS : undefined
  const { standing, web } = aim
  const outward = leaves(snapshot)
  const after = outward && (aim.stored === true || wasSensitive(snapshot))
  // To run what was written down is to act on it, wherever it reaches.
  const isCarried = after || (aim.stored === true && effect === 'execute')
  const fetched = after && standing === 'returned' && web
  // Money takes no data along.
  const sent = !outward || effect === 'pay' ? 0 : fetched ? FETCHED : (after ? SENT_AFTER : SENT)[standing]
  const unnamed = UNNAMED[effect].has(standing)
  const unasked = !unnamed && isUnasked(standing, outward, snapshot)
  const counts = unasked && isOfConsequence(snapshot, outward)
  return {
    aim,
    strange: STRANGE.has(standing),
    unnamed: unnamed || unasked,
    grave: (isCarried && unnamed && effect !== 'pay') || fetched || (unnamed && effect in ASKING) || unasked,
    axes: { exfiltration: sent, privilege: counts ? UNASKED : DONE[effect][standing], compliance: 0 },
  }
}

const STRANGE: ReadonlySet<TargetOrigin> = new Set(['loose', 'claimed', 'told', 'nobody'])

/** In a session that is held, whatever it is. */
const AIMLESS: RiskFacts = {
  aim: undefined,
  strange: true,
  unnamed: true,
  grave: true,
  axes: { exfiltration: 0, privilege: 0, compliance: 0 },
}

/**
 * Whether a deed is none that the user has asked for: it is on something that a tool has returned, and the user's words ask for no
 * such deed; or somebody should have seen before what its principal did, and it is on something that the user has not named; or what
 * its session did: then nothing is done in it until a person agrees.
 */
function isUnasked(standing: TargetOrigin, outward: boolean, snapshot: Snapshot): boolean {
  if (isHeld(snapshot)) return snapshot.sideEffect || outward
  if (!isOfConsequence(snapshot, outward) || standing === 'named' || standing === 'beside') return false
  if (isWary((snapshot.lineage ?? snapshot.principal).watch, snapshot.time)) return true
  const deeds = ASKING[snapshot.effect]
  const provenance = snapshot.provenance()
  return standing === 'returned' && !!deeds && !!provenance && !isAskedFor(provenance, deeds)
}

/** Whether a call matters by its effect, or by where it goes. */
function isOfConsequence({ effect }: Snapshot, outward: boolean): boolean {
  return effect in ASKING || outward
}

/** Whether a person should have seen something of the session before, and has not agreed to anything since. */
function isHeld({ session, time }: Snapshot): boolean {
  return session.suspect > 0 && time - session.suspect <= LASTING
}

/** Labels that say how a text came in, and not what is in it. */
const NO_DATA: ReadonlySet<string> = new Set(['flagged', 'page'])

/** Whether something sensitive was read: in the session, or lately by its principal or along the delegation. */
export function wasSensitive(snapshot: Snapshot): boolean {
  const { session, principal, lineage, time } = snapshot
  const lately = (at: number): boolean => at > 0 && time - at <= LASTING
  return session.source || lately(principal.source) || lately(lineage?.source ?? 0) || holdsData(snapshot)
}

/** Whether outputs of the session carried a class of data. */
export function holdsData(snapshot: Snapshot): boolean {
  return (snapshot.provenance()?.labels ?? []).some(isOfData)
}

/** Whether a label says what is in a text. */
export function isOfData(label: string): boolean {
  return !NO_DATA.has(label)
}
