// Judges one call in its turn: reads the newest state, decides, appends the receipt and updates the state.

import { toHex, type Decision, type ReasonCode, type Verdict } from '@tollgate/evidence'
import { FLOOD_GUARD, floodName, recordFreeze } from '../admin/freezes.ts'
import { observedUntil } from '../admin/observing.ts'
import { answerName, requestName } from '../admin/approvals.ts'
import type { Intent } from './capture.ts'
import type { Observation } from './observation.ts'
import { chargedTo, NOBODY } from '../names.ts'
import { knownAs } from '../admin/catalogue.ts'
import { receiptOf } from './decision.ts'
import { foldIn, type Left } from './next-state.ts'
import { decide } from './guardian.ts'
import { policyOf, type Kernel } from '../kernel.ts'
import { keepCall } from './kept.ts'
import type { Appended, Turn } from '../ledger/ledger.ts'
import { openingName, openingText, referenceName, type Opening } from './openings.ts'
import { taken } from '../rates.ts'
import type { KeptProvenance, RecordNames } from '../ledger/records.ts'
import {
  stateOf,
  type Kept,
  type PrincipalState,
  type SessionState,
  type State,
  type TenantState,
} from '../ledger/session.ts'
import { commitTo, keepRequest, settle, wasAsked, type Commitment, type Settled } from './settle.ts'
import { snapshotOf, type Snapshot } from './snapshot.ts'
import { isFull, payerOf } from '../ledger/storage.ts'
import type { TrustState } from '../gates/trust/trust.ts'
import { DETECTORS } from '../gates/index.ts'

/** How long an advised ALLOW is valid, in milliseconds. */
const ADVISED_FOR = 60_000
/** The same, if a person at the client answers first. */
const PROMPTED_FOR = 900_000

function isPrompted({ reason }: Settled): boolean {
  return reason === 'ASKED_IN_CLIENT'
}

/** The decision as the caller gets it. */
export interface Decided {
  readonly verdict: Verdict
  readonly reason: ReasonCode
  readonly rung: Decision['rung']
  /** The rule that decided, if one did. */
  readonly rule: string | undefined
  /** Details, without argument values. */
  readonly detail: string | undefined
  /** Id of the receipt; undefined if none could be written. */
  readonly receipt: string | undefined
  /** Id of the approval request, if the verdict is ESCALATE. */
  readonly approval: string | undefined
  /** When an advised ALLOW expires. */
  readonly expires: string | undefined
}

/** A decision and, for an ALLOW, the opening that its effect closes. */
export interface Judged {
  readonly decided: Decided
  readonly opening: Opening | undefined
}

/** Decides one call in its turn and updates the state, so that the next call of the session counts this one. */
export function judge(kernel: Kernel, intent: Intent, names: RecordNames, turn: Turn): Judged {
  const { written } = turn
  const before = stateIn(turn, names)
  const snapshot = takeSnapshot(kernel, intent, { names, turn }, before)
  const settled = settle(kernel, intent, snapshot, decide(intent, snapshot, kernel.ladder))
  const left = foldIn(intent, snapshot, settled, before)
  const changes = changesOf(before, left, names)
  const hash = commitTo(kernel, intent, snapshot, settled)
  const isAdvised = settled.verdict === 'ALLOW' && intent.assurance === 'advised'
  const until = isAdvised ? turn.time + (isPrompted(settled) ? PROMPTED_FOR : ADVISED_FOR) : undefined
  const expires = until === undefined ? undefined : new Date(until).toISOString()
  const appended = turn.append(
    {
      causes: settled.uses?.answer ? [settled.uses.answer] : [],
      anchors: [...changes.map(({ name }) => name), ...(settled.uses ? [answerName(settled.uses.id)] : [])],
      ...(settled.verdict === 'ESCALATE' && !settled.waits && { anchorOwn: requestName('') }),
    },
    (header) => receiptOf(header, intent, snapshot, { settled, before, left, hash, expires }),
  )
  // Nothing below can fail, so memory and store stay consistent.
  for (const { name, value, text } of changes) turn.write(name, value, text)
  if (hash.salt !== undefined) turn.put(`salt\n${appended.id}`, hash.salt)
  const request = keepRequest(kernel, intent, snapshot, { settled, appended, hash }, turn)
  keepCall(kernel, intent, snapshot, { settled, appended, before, left }, turn)
  const opening =
    settled.verdict === 'ALLOW' ? open(kernel, intent, { settled, appended, hash, until }, turn) : undefined
  freezeIfFlooding(kernel, intent, settled, turn)
  if (settled.reason === 'STORAGE_QUOTA_EXCEEDED') kernel.storage.deny(payerOf(intent), turn)
  kernel.storage.charge(payerOf(intent), turn, turn.written - written)
  return {
    decided: {
      verdict: settled.verdict,
      reason: settled.reason,
      rung: settled.rung,
      rule: settled.rule?.id,
      detail:
        settled.reason === 'OBSERVE_MODE_ALLOWED' ? observedUntil(kernel, intent, turn.time) : settled.detail,
      receipt: appended.id,
      approval: request?.id,
      expires,
    },
    opening,
  }
}

/** A record that a decision changes: the value in memory, and the stored text. */
interface RecordChange {
  readonly name: string
  readonly value: unknown
  readonly text: string | undefined
}

/** Returns the records that a decision changes. Most decisions change only the record of the session. */
function changesOf(
  before: State,
  { after, text, data, trust }: Left,
  names: RecordNames,
): readonly RecordChange[] {
  const changes: RecordChange[] = [{ name: names.session, value: after, text }]
  for (const part of ['principal', 'tenant', 'lineage'] as const) {
    const name = names[part]
    if (name !== undefined && after[part] !== before[part]) changes.push({ name, value: after[part], text })
  }
  if (names.provenance !== undefined && data) {
    changes.push({ name: names.provenance, value: data, text: data.text })
  }
  // The receipt contains the trust, so nothing is stored.
  if (names.trust !== undefined && trust) changes.push({ name: names.trust, value: trust, text: undefined })
  return changes
}

/** Returns the current state. It is the one after the session's last decision, unless another session changed a part of it. */
function stateIn(turn: Turn, names: RecordNames): State {
  // Safe cast: only such records are kept under these names, and all were requested.
  const known = turn.read(names.session) as State | SessionState
  const principal = turn.read(names.principal) as Kept<PrincipalState>
  const tenant = readIf(turn, names.tenant) as Kept<TenantState> | undefined
  const lineage = readIf(turn, names.lineage) as Kept<PrincipalState> | undefined
  if (!('session' in known)) return stateOf({ session: known, principal, tenant, lineage })
  const same = known.principal === principal && known.tenant === tenant && known.lineage === lineage
  return same ? known : stateOf({ session: known.session, principal, tenant, lineage })
}

function readIf(turn: Turn, name: string | undefined): unknown {
  return name === undefined ? undefined : turn.read(name)
}

/** The record names and the turn of a snapshot. */
interface Moment {
  readonly names: RecordNames
  readonly turn: Turn
}

/** Returns everything that a call is judged by, as of its turn. */
export function takeSnapshot(
  kernel: Kernel,
  intent: Intent,
  { names, turn }: Moment,
  before: State = stateIn(turn, names),
): Snapshot {
  const { time } = turn
  const { tenant, delegation } = intent
  const policy = policyOf(kernel, intent.tenant)
  const tool = knownAs(kernel.catalogue.find(intent.tool, policy), intent)
  const posted = intent.browser?.observation_id !== undefined
  const taken = posted ? kernel.observations.take(intent, time) : intent.browser?.observation
  const unobserved = typeof taken === 'string' ? taken : undefined
  // If no posted one matches, only the URL in the call is known.
  const observation =
    typeof taken === 'string' ? { ...NOTHING_SEEN, url: intent.browser?.observation?.url } : taken
  return snapshotOf(intent, {
    time,
    policy,
    freezes: kernel.freezes,
    tool,
    session: before.session,
    principal: before.principal.value,
    tenant: before.tenant?.value,
    lineage: before.lineage?.value,
    chain:
      delegation === undefined
        ? undefined
        : DETECTORS.delegation.chain(kernel.delegations, tenant, delegation),
    // Safe cast: only such records are kept under these names.
    data: readIf(turn, names.provenance) as KeptProvenance | undefined,
    key: () => toHex(kernel.host.salt()),
    trusted: readIf(turn, names.trust) as TrustState | undefined,
    observation,
    observed: posted ? 'sentinel' : 'agent',
    unobserved,
    asked: wasAsked(kernel, intent, { tool, observation }, time),
    observing: kernel.observing.includes(intent, time, kernel.host.now()),
    full: isFull(kernel, payerOf(intent), time),
  })
}

const NOTHING_SEEN: Observation = {
  url: undefined,
  dom_hash: undefined,
  visual_text_hash: undefined,
  sentinel_risk: undefined,
  sentinel_findings: undefined,
}

function open(
  kernel: Kernel,
  intent: Intent,
  made: { settled: Settled; appended: Appended; hash: Commitment; until: number | undefined },
  turn: Turn,
): Opening {
  const { settled, appended, hash, until } = made
  const opening: Opening = {
    id: appended.id,
    clock: appended.clock,
    tenant: intent.tenant,
    principal: intent.principal ?? NOBODY,
    ...(intent.author !== undefined && { author: intent.author }),
    session: intent.session,
    tool: intent.tool,
    assurance: intent.assurance,
    expires: until ?? null,
    ...(isPrompted(settled) && { prompted: true as const }),
    salted: hash.commit === 'salted',
    ...(intent.reference !== undefined && { reference: intent.reference }),
    ...(kernel.writer !== undefined && { writer: kernel.writer }),
  }
  kernel.openings.add(opening)
  turn.put(openingName(opening), openingText(opening))
  if (opening.reference !== undefined) {
    turn.write(referenceName(opening, opening.reference), opening.id, opening.id)
  }
  return opening
}

/**
 * Freezes a principal that was denied too often; later denials are only counted. Repeating a call that waits for approval counts
 * like a denial. Questions of a server count against the server.
 */
function freezeIfFlooding(kernel: Kernel, intent: Intent, settled: Settled, turn: Turn): void {
  if (settled.verdict !== 'DENY' && !settled.waits) return
  const { tenant } = intent
  const target = chargedTo(intent)
  const name = floodName(tenant, target)
  const left = taken(kernel.quota, kernel.denials.get(name), turn.time)
  kernel.denials.set(name, left)
  // Not while everything is frozen: then denials are only counted as well, see `floodOf` in `enforce.ts`.
  if (left.left >= kernel.quota.period || kernel.freezes.all() || kernel.flooding.has(name)) return
  recordFreeze(kernel, turn, {
    scope: 'principal',
    tenant,
    target,
    frozen: true,
    by: FLOOD_GUARD,
    because: 'It was denied too often.',
    flood: true,
  })
}
