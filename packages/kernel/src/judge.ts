// One call's turn: the newest state, the decision, the receipt, and the state it leaves behind.

import {
  canonicalize,
  fromHex,
  saltedHash,
  sha256Hex,
  toHex,
  type Browser,
  type Commit,
  type Decision,
  type ReasonCode,
  type Verdict,
} from '@tollgate/evidence'
import { FLOOD_GUARD, floodName, recordFreeze } from './administer.ts'
import {
  answerName,
  bearingOf,
  bindingOf,
  isFor,
  MAX_ASKING,
  requestName,
  type ApprovalRequest,
} from './approvals.ts'
import { NOBODY, type BrowserCall, type Intent, type Observation } from './call.ts'
import type { KnownTool } from './catalogue.ts'
import { readHttpUrl } from './destinations/url.ts'
import { decide, ladderHash, type Judgement } from './guardian.ts'
import { policyOf, type Kernel } from './kernel.ts'
import type { Appended, Header, Turn } from './ledger.ts'
import { openingName, openingText, type Opening } from './openings.ts'
import { rateName, refilled, taken } from './rates.ts'
import { decimal, eased, type Leak, type RiskMemory } from './risk.ts'
import {
  centroidText,
  keepPrincipal,
  stateOf,
  stateText,
  type Kept,
  type PrincipalState,
  type RecordNames,
  type SessionState,
  type State,
} from './session.ts'
import { effectOf, snapshotOf, type Snapshot } from './snapshot.ts'

/** How long an advised ALLOW may be used, in milliseconds. */
export const ADVISED_FOR = 60_000
const FIFTEEN_MINUTES = 900_000

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

/** A judgement once approvals have had their say. */
interface Settled extends Judgement {
  /** The granted request that lifts the escalation; it is used up. */
  readonly uses?: ApprovalRequest
  /** The request that already waits for an answer. */
  readonly waits?: ApprovalRequest
}

/** Decides one call in its turn. What it decides on, it changes: the next call of the session finds this one counted. */
export function judge(kernel: Kernel, intent: Intent, names: RecordNames, turn: Turn): Judged {
  const before = readState(turn, names)
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
function readState(turn: Turn, names: RecordNames): State {
  // Sound: under these names only the two kinds of record are kept, and both were asked for.
  const known = turn.read(names.session) as State | SessionState
  const principal = turn.read(names.principal) as Kept<PrincipalState>
  if (!('session' in known)) return stateOf(known, principal)
  return known.principal === principal ? known : stateOf(known.session, principal)
}

function takeSnapshot(kernel: Kernel, intent: Intent, time: number, before: State): Snapshot {
  const policy = policyOf(kernel, intent.tenant)
  const tool = kernel.catalogue.find(intent.tool, policy)
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

/** Whether a request about exactly this call waits for its answer, or was granted. */
function wasAsked({ approvals }: Kernel, intent: Intent, tool: KnownTool | undefined, time: number): boolean {
  if (approvals.size === 0) return false
  const binding = bindingOf(intent, effectOf(tool), tool?.pinned ?? tool?.offered)
  const request = approvals.find({ binding })
  const bearing = request && bearingOf(request, time)
  return bearing === 'waiting' || bearing === 'granted'
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

/** Lets an approval lift an escalation. It must be for exactly this intent, and hold now. */
function settle(kernel: Kernel, intent: Intent, snapshot: Snapshot, judgement: Judgement): Settled {
  if (judgement.verdict !== 'ESCALATE') return judgement
  const binding = bindingOf(intent, snapshot.effect, definitionOf(snapshot))
  const claimed = intent.approval !== undefined
  const found = kernel.approvals.find(claimed ? { id: intent.approval } : { binding })
  // What was granted under one rule is no answer to another; and the ledger has the last word on the arguments.
  const fits =
    found?.binding === binding && isFor(found, judgement) && argsHash(intent, found.salt) === found.args
  const request = fits ? found : undefined
  if (claimed && !request) return denied(judgement, 'APPROVAL_INVALID')
  switch (request && bearingOf(request, snapshot.time)) {
    case 'granted':
      return { ...judgement, verdict: 'ALLOW', reason: 'APPROVAL_GRANTED', ...(request && { uses: request }) }
    case 'refused':
      return denied(judgement, 'APPROVAL_REFUSED')
    case 'waiting':
      return { ...judgement, ...(request && { waits: request }) }
    case 'timed out':
      if (claimed) return denied(judgement, 'APPROVAL_TIMEOUT')
      break
    case 'expired':
      if (claimed) return denied(judgement, 'APPROVAL_INVALID')
      break
    case undefined:
  }
  const { tenant, principal } = intent
  if (kernel.approvals.asking(tenant, principal ?? NOBODY, snapshot.time) < MAX_ASKING) return judgement
  const detail = `${MAX_ASKING} requests of this principal already wait for an answer`
  return { ...denied(judgement, 'TEMPORAL_INTERVENTION'), detail }
}

function denied(judgement: Judgement, reason: ReasonCode): Judgement {
  return { ...judgement, verdict: 'DENY', reason }
}

/** The definition that a decision is about: what a person pinned, else what the server offers. */
function definitionOf({ tool }: Snapshot): string | undefined {
  return tool?.pinned ?? tool?.offered
}

/** The state once this decision is counted in, and its text. */
function foldIn(
  intent: Intent,
  snapshot: Snapshot,
  settled: Settled,
  before: State,
): { after: State; text: string } {
  const { time, policy } = snapshot
  const { halfLife } = policy.gates.sessionRisk
  // Only what still waits, or is used up now, was counted when it was first sent.
  const turn = turnOrNothing(snapshot, settled.waits ?? settled.uses)
  // A person looked at this call: it does not count against the session, and halves what does.
  const approved = settled.uses !== undefined
  const { session, principal } = before
  const source = turn.source && settled.verdict === 'ALLOW'
  const nextSession: SessionState = {
    seq: session.seq + 1,
    risk: approved
      ? { ...session.risk, turns: session.risk.turns + 1, leak: eased(session.risk.leak, time, halfLife) }
      : turn.risk,
    source: session.source || source,
    denials: nextDenials(session.denials, settled),
    broken: session.broken,
  }
  const next = nextPrincipal(principal, {
    leak: approved ? eased(principal.value.leak, time, halfLife) : turn.leak,
    source: source ? time : principal.value.source,
    rates: nextRates(principal.value, snapshot, intent.tool, settled.verdict),
    broken: principal.value.broken,
  })
  const text = stateText(nextSession, next)
  return { after: stateOf(nextSession, next, text), text }
}

/** The principal's record after the call; the very same if nothing in it has changed. */
function nextPrincipal(before: Kept<PrincipalState>, next: PrincipalState): Kept<PrincipalState> {
  const { leak, source, rates } = before.value
  const same = leak === next.leak && source === next.source && rates === next.rates
  return same ? before : keepPrincipal(next)
}

/** The turn's part in the memory of risk. A call that is denied because this fails leaves the memory as it was. */
function turnOrNothing(
  snapshot: Snapshot,
  request: ApprovalRequest | undefined,
): { risk: RiskMemory; leak: Leak; source: boolean } {
  try {
    return request ? snapshot.turn() : snapshot.counted()
  } catch {
    // The session-risk rung has failed for the same reason, unless an earlier one denied: the call does not pass.
    return { risk: snapshot.session.risk, leak: snapshot.principal.leak, source: false }
  }
}

// Denials that say something about the session, not about a rung that is closed for everybody.
const SAY_NOTHING: ReadonlySet<ReasonCode> = new Set([
  'SESSION_RISK_MEMORY_DENY',
  'SYSTEM_FROZEN',
  'AGENT_KILLED',
  'TOOL_FROZEN',
  'SESSION_FROZEN',
  'NO_POLICY_DEFINED',
  'TEMPORAL_INTERVENTION',
])

function nextDenials(denials: number, { verdict, reason }: Settled): number {
  if (verdict === 'ALLOW') return 0
  return verdict === 'DENY' && !SAY_NOTHING.has(reason) ? Math.min(9, denials + 1) : denials
}

/** Only calls that pass are taken from their rates. */
function nextRates(
  { rates }: PrincipalState,
  { policy, time }: Snapshot,
  tool: string,
  verdict: Verdict,
): PrincipalState['rates'] {
  if (verdict !== 'ALLOW' || policy.gates.rates.length === 0) return rates
  return Object.fromEntries(
    policy.gates.rates.map((rate) => [
      rateName(rate),
      (rate.tools.matches(tool) ? taken : refilled)(rate, rates[rateName(rate)], time),
    ]),
  )
}

/** How the receipt commits to the arguments. */
interface Commitment {
  readonly args: string
  readonly commit: Commit
  /** In hexadecimal. */
  readonly salt: string | undefined
}

function commitTo(kernel: Kernel, intent: Intent, { tool }: Snapshot, settled: Settled): Commitment {
  if (intent.commit === 'raw') return { args: intent.hash, commit: 'raw', salt: undefined }
  // The approved call carries the hash that the approver saw.
  const request = settled.uses ?? settled.waits
  const salted = request
    ? request.salt !== null
    : kernel.commit === 'salted' || tool?.declared?.salted === true
  if (!salted) return { args: intent.hash, commit: 'plain', salt: undefined }
  const salt = request?.salt ?? toHex(kernel.host.salt())
  return { args: argsHash(intent, salt), commit: 'salted', salt }
}

/** The hash of the arguments under a salt, or a plain one. */
function argsHash({ hash, text }: Intent, salt: string | null): string {
  const bytes = salt === null ? undefined : fromHex(salt)
  return bytes ? saltedHash('args', bytes, new TextEncoder().encode(text)) : hash
}

interface Parts {
  readonly settled: Settled
  readonly before: State
  readonly after: State
  readonly hash: Commitment
  readonly expires: string | undefined
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** The decision's receipt, written as one object: put together from parts it takes longer to make and to check. */
function receiptOf(header: Header, intent: Intent, snapshot: Snapshot, parts: Parts): Decision {
  const { settled, before, after, hash, expires } = parts
  const { policy } = snapshot
  const definition = definitionOf(snapshot)
  const browser = browserOf(intent, snapshot)
  const ladder = ladderHash(policy)
  const { score, window } = assessmentOrNothing(snapshot)
  const receipt: Writable<Decision> = {
    v: header.v,
    kind: 'decision',
    ledger: header.ledger,
    tenant: intent.tenant,
    writer: header.writer,
    seq: header.seq,
    lamport_clock: header.lamport_clock,
    prev_receipt_hash: header.prev_receipt_hash,
    causes: header.causes,
    time: header.time,
    key: header.key,
    principal: intent.principal ?? NOBODY,
    session: { id: intent.session, seq: before.session.seq },
    door: intent.door,
    assurance: intent.assurance,
    tool: intent.tool,
    effect_class: snapshot.effect,
    args_hash: hash.args,
    commit: hash.commit,
    verdict: settled.verdict,
    reason_code: settled.reason,
    rung: settled.rung,
    policy_hash: policy.hash,
    ladder,
    state_hash: before.hash,
    next_state_hash: after.hash,
    evidence: evidenceOf(intent, snapshot, [hash.args, before.hash, ladder, header.time]),
    trajectory_risk_score: decimal(score),
    session_centroid_hash: centroidHash(after.session.risk),
    risk_accumulation_window: window,
  }
  if (definition !== undefined) receipt.definition_hash = definition
  if (settled.rule) receipt.rule = settled.rule.id
  if (settled.uses?.answer) receipt.approval = settled.uses.answer.id
  if (expires !== undefined) receipt.expires = expires
  if (browser) receipt.browser = browser
  return receipt
}

let lastCentroid = ''
let lastCentroidHash = ''

/** Most sessions stay where they are, and most of them at the same place. */
function centroidHash({ centroid }: RiskMemory): string {
  const text = centroidText(centroid)
  if (text !== lastCentroid) {
    lastCentroid = text
    lastCentroidHash = sha256Hex(text)
  }
  return lastCentroidHash
}

function assessmentOrNothing(snapshot: Snapshot): { score: number; window: number } {
  try {
    return snapshot.assessment()
  } catch {
    // As in `turnOrNothing`: the call is denied, and the memory stays as it was.
    return { score: 0, window: 0 }
  }
}

/**
 * The hash of everything that was decided on: whoever holds the inputs can show that these were they. A list of texts and
 * nulls has the same text in any JSON writer, so the engine's own is canonical here.
 */
function evidenceOf(intent: Intent, snapshot: Snapshot, hashes: readonly string[]): string {
  const { context, browser } = intent
  return sha256Hex(
    JSON.stringify([
      intent.tenant,
      intent.principal ?? null,
      intent.claimed ?? null,
      intent.session,
      intent.door,
      intent.assurance,
      intent.tool,
      intent.approval ?? null,
      context.environment ?? null,
      context.tenant ?? null,
      context.workspace ?? null,
      definitionOf(snapshot) ?? null,
      snapshot.policy.hash,
      ...hashes,
      ...(browser ? seenInBrowser(browser, snapshot) : []),
    ]),
  )
}

function seenInBrowser(browser: BrowserCall, { observation }: Snapshot): (string | null)[] {
  const { planner_ref, side_effect, destination } = browser
  return [
    planner_ref ?? null,
    side_effect === undefined ? null : String(side_effect),
    destination?.toWellFormed() ?? null,
    observation?.url?.toWellFormed() ?? null,
    observation?.dom_hash ?? null,
    observation?.visual_text_hash ?? null,
    observation?.sentinel_risk === undefined ? null : String(observation.sentinel_risk),
    observation?.sentinel_findings?.join(' ') ?? null,
  ]
}

/** What the receipt says of a browser call: risk, hashes and references, never a page's text or a whole URL. */
function browserOf(intent: Intent, { observation, tool }: Snapshot): Browser | undefined {
  const { browser } = intent
  if (!browser && intent.door !== 'browser' && tool?.declared?.browser !== true) return undefined
  const host = readHttpUrl(browser?.destination ?? observation?.url ?? '')?.host
  return {
    sentinel_findings: observation?.sentinel_findings ?? [],
    ...(observation?.sentinel_risk !== undefined && { sentinel_risk: observation.sentinel_risk }),
    ...(observation?.dom_hash !== undefined && { dom_hash: observation.dom_hash }),
    ...(observation?.visual_text_hash !== undefined && { visual_text_hash: observation.visual_text_hash }),
    ...(browser?.planner_ref !== undefined && { planner_ref: browser.planner_ref }),
    ...(host !== undefined && { destination_host: host }),
  }
}

/** Uses up a granted request, or opens a new one for an escalation nobody asked about yet. */
function keepRequest(
  kernel: Kernel,
  intent: Intent,
  snapshot: Snapshot,
  made: { settled: Settled; appended: Appended; hash: Commitment },
  turn: Turn,
): ApprovalRequest | undefined {
  const { settled, appended, hash } = made
  if (settled.uses) {
    kernel.approvals.remove(settled.uses)
    turn.put(requestName(settled.uses.id), undefined)
  }
  if (settled.verdict !== 'ESCALATE') return undefined
  if (settled.waits) return settled.waits
  const lasts = settled.rule?.expires ?? FIFTEEN_MINUTES
  const request: ApprovalRequest = {
    id: appended.id,
    clock: appended.clock,
    tenant: intent.tenant,
    principal: intent.principal ?? NOBODY,
    session: intent.session,
    tool: intent.tool,
    binding: bindingOf(intent, snapshot.effect, definitionOf(snapshot)),
    reason: settled.reason,
    rung: settled.rung,
    rule: settled.rule?.id ?? null,
    approvers: settled.rule?.approvers ?? [],
    until: turn.time + lasts,
    lasts,
    args: hash.args,
    salt: hash.salt ?? null,
    answer: null,
  }
  // First what could fail.
  turn.put(requestName(request.id), canonicalize(request))
  kernel.approvals.set(request)
  return request
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
  turn.put(openingName(opening.id), openingText(opening))
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
