// Collects the facts that session risk is based on: the target and its origin, the effect class, and data read before.

import type { EffectClass } from '@tollgate/evidence'
import type { Intent } from '../../road/capture.ts'
import { isPageLabel } from '../../text/labels.ts'
import { leaves } from '../taint/flow.ts'
import { callTargetOf, type CallTarget, type TargetOrigin } from './call-target.ts'
import type { Axes } from './risk.ts'
import { isWary, RETENTION } from './history.ts'
import type { RequestedAction } from '../../text/prompt-words.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { isAskedFor } from '../taint/named.ts'

/** The facts of a call in a session with a known user message. */
export interface RiskFacts {
  readonly target: CallTarget | undefined
  /** Only the agent or a text mentions its target. */
  readonly strange: boolean
  /** The origin of its target is not trusted enough for its effect class. */
  readonly unnamed: boolean
  /** The call alone needs an approval. */
  readonly grave: boolean
  readonly axes: Axes
}

/** The risk of an action by the origin of its target. At most about a third, so that approvals come long before denials. */
type Weights = Readonly<Record<TargetOrigin, number>>

const NOTHING: Weights = {
  named: 0,
  context: 0,
  inside: 0,
  returned: 0,
  record: 0,
  claimed: 0,
  text: 0,
  unknown: 0,
}
const SENT: Weights = { ...NOTHING, claimed: 60_000, text: 150_000, unknown: 150_000 }
const SENT_AFTER: Weights = { ...NOTHING, record: 60_000, claimed: 200_000, text: 300_000, unknown: 350_000 }
const FETCHED = 300_000
const CHANGED: Weights = {
  ...NOTHING,
  inside: 200_000,
  record: 200_000,
  claimed: 200_000,
  text: 250_000,
  unknown: 300_000,
}
const DONE: Readonly<Record<EffectClass, Weights>> = {
  read: NOTHING,
  send: NOTHING,
  write: NOTHING,
  execute: { ...NOTHING, text: 120_000, unknown: 120_000 },
  pay: { ...NOTHING, claimed: 200_000, text: 60_000, unknown: 350_000 },
  delete: CHANGED,
  admin: CHANGED,
}
/** The risk of an action that the user did not ask for, or in a suspect session. */
const UNASKED = 150_000

/** The origins that are not trusted enough for each effect class. */
const UNNAMED: Readonly<Record<EffectClass, ReadonlySet<TargetOrigin>>> = {
  read: new Set(['claimed', 'text', 'unknown']),
  write: new Set(['claimed', 'text', 'unknown']),
  execute: new Set(['claimed', 'text', 'unknown']),
  send: new Set(['claimed', 'text', 'unknown']),
  // Paying what a bill says is ordinary. The `taint` gate decides whether the text of the bill may name the payee.
  pay: new Set(['claimed', 'unknown']),
  delete: new Set(['inside', 'record', 'claimed', 'text', 'unknown']),
  admin: new Set(['inside', 'record', 'claimed', 'text', 'unknown']),
}

/** The requested actions that cover each effect class. */
const ASKING: Readonly<Partial<Record<EffectClass, readonly RequestedAction[]>>> = {
  pay: ['pay', 'change', 'send'],
  delete: ['delete', 'change'],
  admin: ['admin', 'change', 'invite', 'make', 'delete'],
}

/** The facts of a call; undefined if it has no target, or only reads and sends no data. */
export function factsOf(intent: Intent, snapshot: Snapshot): RiskFacts | undefined {
  const { effect } = snapshot
  if (effect === 'read' && snapshot.destinations().length === 0) return undefined
  const target = callTargetOf(intent, snapshot)
  if (!target) return isSuspect(snapshot) && snapshot.sideEffect ? WITHOUT_TARGET : undefined
  const { origin, web } = target
  const outward = leaves(snapshot)
  const after = outward && (target.stored === true || wasSensitive(snapshot))
  // Running a stored value acts on it, even if no data leaves.
  const isCarried = after || (target.stored === true && effect === 'execute')
  const fetched = after && origin === 'returned' && web
  // A payment carries no data.
  const sent = !outward || effect === 'pay' ? 0 : fetched ? FETCHED : (after ? SENT_AFTER : SENT)[origin]
  const unnamed = UNNAMED[effect].has(origin)
  const unasked = !unnamed && isUnasked(origin, outward, snapshot)
  const counts = unasked && isConsequential(snapshot, outward)
  return {
    target,
    strange: STRANGE.has(origin),
    unnamed: unnamed || unasked,
    grave: (isCarried && unnamed && effect !== 'pay') || fetched || (unnamed && effect in ASKING) || unasked,
    axes: { exfiltration: sent, privilege: counts ? UNASKED : DONE[effect][origin], compliance: 0 },
  }
}

const STRANGE: ReadonlySet<TargetOrigin> = new Set(['record', 'claimed', 'text', 'unknown'])

/** A side effect without a target in a suspect session. */
const WITHOUT_TARGET: RiskFacts = {
  target: undefined,
  strange: true,
  unnamed: true,
  grave: true,
  axes: { exfiltration: 0, privilege: 0, compliance: 0 },
}

/**
 * Whether the user did not ask for the action. This is so in three cases. The session is suspect: then every side effect needs an
 * approval. The principal is suspect and the user has not named the target. A tool returned the target and the user message does not
 * request such an action.
 */
function isUnasked(origin: TargetOrigin, outward: boolean, snapshot: Snapshot): boolean {
  if (isSuspect(snapshot)) return snapshot.sideEffect || outward
  if (!isConsequential(snapshot, outward) || origin === 'named' || origin === 'context') return false
  if (isWary((snapshot.lineage ?? snapshot.principal).watch, snapshot.time)) return true
  const actions = ASKING[snapshot.effect]
  const provenance = snapshot.provenance()
  return origin === 'returned' && !!actions && !!provenance && !isAskedFor(provenance, actions)
}

/** Whether a call matters because of its effect class or because data leaves. */
function isConsequential({ effect }: Snapshot, outward: boolean): boolean {
  return effect in ASKING || outward
}

/** Whether an earlier call of the session needed an approval, and no approval was granted since. */
function isSuspect({ session, time }: Snapshot): boolean {
  return session.suspect > 0 && time - session.suspect <= RETENTION
}

/** Labels that describe how a text arrived, not its contents. */
const NO_DATA: ReadonlySet<string> = new Set(['flagged', 'page'])

/** Whether the session, or recently its principal or a delegator, read sensitive data. */
export function wasSensitive(snapshot: Snapshot): boolean {
  const { session, principal, lineage, time } = snapshot
  const isRecent = (at: number): boolean => at > 0 && time - at <= RETENTION
  return session.source || isRecent(principal.source) || isRecent(lineage?.source ?? 0) || holdsData(snapshot)
}

/** Whether outputs of the session carried a data label. */
export function holdsData(snapshot: Snapshot): boolean {
  return (snapshot.provenance()?.labels ?? []).some(isDataLabel)
}

/** Whether a label describes the contents of a text. */
export function isDataLabel(label: string): boolean {
  return !NO_DATA.has(label) && !isPageLabel(label)
}
