// One call's turn: the newest state, the decision, the receipt, and the state it leaves behind.

import type { Decision, ReasonCode, Verdict } from '@tollgate/evidence'
import { FLOOD_GUARD, floodName, recordFreeze } from './administer.ts'
import { answerName, requestName } from './approvals.ts'
import { NOBODY, type Intent, type Observation } from './call.ts'
import { knownAs } from './catalogue.ts'
import { receiptOf } from './decision.ts'
import { foldIn } from './fold.ts'
import { decide } from './guardian.ts'
import { policyOf, type Kernel } from './kernel.ts'
import type { Appended, Turn } from './ledger.ts'
import { openingName, openingText, type Opening } from './openings.ts'
import { taken } from './rates.ts'
import {
  stateOf,
  type Kept,
  type PrincipalState,
  type RecordNames,
  type SessionState,
  type State,
} from './session.ts'
import { commitTo, keepRequest, settle, wasAsked, type Commitment, type Settled } from './settle.ts'
import { snapshotOf, type Snapshot } from './snapshot.ts'

/** How long an advised ALLOW may be used, in milliseconds. */
export const ADVISED_FOR = 60_000

/** What was decided, as the caller is told. */
export interface Decided {
  readonly verdict: Verdict
  readonly reason: ReasonCode
  readonly rung: Decision['rung']
  /** The rule that decided, if one did. */
  readonly rule: string | undefined
  /** What exactly, without any value of the arguments. */
  readonly detail: string | undefined
  /** Id of the receipt; undefined if none could be written. */
  readonly receipt: string | undefined
  /** Id of the request that a person may answer, if the verdict is ESCALATE. */
  readonly approval: string | undefined
  /** Until when an advised ALLOW may be used. */
  readonly expires: string | undefined
}

/** A decision and, if it allows, the opening that its effect will close. */
export interface Judged {
  readonly decided: Decided
  readonly opening: Opening | undefined
}

/** Decides one call in its turn. What it decides on, it changes: the next call of the session finds this one counted. */
export function judge(kernel: Kernel, intent: Intent, names: RecordNames, turn: Turn): Judged {
  const before = stateIn(turn, names)
  const snapshot = takeSnapshot(kernel, intent, turn.time, before)
  const settled = settle(kernel, intent, snapshot, decide(intent, snapshot, kernel.ladder))
  const { after, text } = foldIn(intent, snapshot, settled, before)
  const hash = commitTo(kernel, intent, snapshot, settled)
  const lasts = settled.verdict === 'ALLOW' && intent.assurance === 'advised'
  const expires = lasts ? new Date(turn.time + ADVISED_FOR).toISOString() : undefined
  // Most calls leave the principal's record as it was. Its last decision then still speaks for it.
  const changed = after.principal !== before.principal
  const appended = turn.append(
    {
      causes: settled.uses?.answer ? [settled.uses.answer] : [],
      anchors: [
        names.session,
        ...(changed ? [names.principal] : []),
        ...(settled.uses ? [answerName(settled.uses.id)] : []),
      ],
      ...(settled.verdict === 'ESCALATE' && !settled.waits && { anchorOwn: requestName('') }),
    },
    (header) => receiptOf(header, intent, snapshot, { settled, before, after, hash, expires }),
  )
  // Nothing from here on can fail, so what is kept in memory and what is written stay one.
  turn.write(names.session, after, text)
  if (changed) turn.write(names.principal, after.principal, text)
  if (hash.salt !== undefined) turn.put(`salt\n${appended.id}`, hash.salt)
  const request = keepRequest(kernel, intent, snapshot, { settled, appended, hash }, turn)
  const opening = settled.verdict === 'ALLOW' ? open(kernel, intent, appended, hash, turn) : undefined
  freezeIfFlooding(kernel, intent, settled, turn)
  return {
    decided: {
      verdict: settled.verdict,
      reason: settled.reason,
      rung: settled.rung,
      rule: settled.rule?.id,
      detail: settled.detail,
      receipt: appended.id,
      approval: request?.id,
      expires,
    },
    opening,
  }
}

/** The state to decide on. It is the one that the session's last decision left, unless another session changed the principal. */
function stateIn(turn: Turn, names: RecordNames): State {
  // Sound: under these names only the two kinds of record are kept, and both were asked for.
  const known = turn.read(names.session) as State | SessionState
  const principal = turn.read(names.principal) as Kept<PrincipalState>
  if (!('session' in known)) return stateOf(known, principal)
  return known.principal === principal ? known : stateOf(known.session, principal)
}

function takeSnapshot(kernel: Kernel, intent: Intent, time: number, before: State): Snapshot {
  const policy = policyOf(kernel, intent.tenant)
  const tool = knownAs(kernel.catalogue.find(intent.tool, policy), intent.offered)
  const posted = intent.browser?.observation_id !== undefined
  return snapshotOf(intent, {
    time,
    policy,
    freezes: kernel.freezes,
    tool,
    session: before.session,
    principal: before.principal.value,
    observation: posted ? postedObservation(kernel, intent, time) : intent.browser?.observation,
    observed: posted ? 'sentinel' : 'agent',
    asked: wasAsked(kernel, intent, tool, time),
  })
}

/** The observation that the Sentinel posted. If there is none that fits, only the URL that the call names is known. */
function postedObservation(kernel: Kernel, intent: Intent, time: number): Observation {
  return kernel.observations.take(intent, time) ?? { ...NOTHING_SEEN, url: intent.browser?.observation?.url }
}

const NOTHING_SEEN: Observation = {
  url: undefined,
  dom_hash: undefined,
  visual_text_hash: undefined,
  sentinel_risk: undefined,
  sentinel_findings: undefined,
}

function open(kernel: Kernel, intent: Intent, appended: Appended, hash: Commitment, turn: Turn): Opening {
  const opening: Opening = {
    id: appended.id,
    clock: appended.clock,
    tenant: intent.tenant,
    principal: intent.principal ?? NOBODY,
    assurance: intent.assurance,
    expires: intent.assurance === 'advised' ? turn.time + ADVISED_FOR : null,
    salted: hash.commit === 'salted',
  }
  kernel.openings.add(opening)
  turn.put(openingName(opening), openingText(opening))
  return opening
}

/**
 * A principal that was denied too often is frozen; from then on its denials are only counted. To ask again and again about
 * the same request is no better.
 */
function freezeIfFlooding(kernel: Kernel, intent: Intent, settled: Settled, turn: Turn): void {
  if (settled.verdict !== 'DENY' && !settled.waits) return
  const { tenant, principal = NOBODY } = intent
  const name = floodName(tenant, principal)
  const left = taken(kernel.quota, kernel.denials.get(name), turn.time)
  kernel.denials.set(name, left)
  // While everything is frozen nobody need be: what comes then is only counted too, see `floodOf` in `enforce.ts`.
  if (left.left >= kernel.quota.period || kernel.freezes.all() || kernel.flooding.has(name)) return
  recordFreeze(kernel, turn, {
    scope: 'principal',
    tenant,
    target: principal,
    frozen: true,
    by: FLOOD_GUARD,
    because: 'It was denied too often.',
    flood: true,
  })
}
