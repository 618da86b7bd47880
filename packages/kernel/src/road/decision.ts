// Builds the receipt of a decision. It contains everything that the decision depended on, by name or by hash.

import { canonicalize, sha256Hex, type Decision } from '@tollgate/evidence'
import type { BrowserCall, Intent } from './capture.ts'
import { NOBODY } from '../names.ts'
import type { Left } from './next-state.ts'
import { ladderHash } from './guardian.ts'
import type { Header } from '../ledger/ledger.ts'
import type { RiskMemory } from '../gates/session-risk/risk.ts'
import { centroidText, type SessionState, type State } from '../ledger/session.ts'
import { definitionIn, wasRead, type Commitment, type Settled } from './settle.ts'
import type { Snapshot } from './snapshot.ts'
import { DETECTORS } from '../gates/index.ts'

/** The inputs of a receipt besides intent and snapshot. */
interface Parts {
  readonly settled: Settled
  readonly before: State
  readonly left: Left
  readonly hash: Commitment
  readonly expires: string | undefined
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** Returns the receipt of a decision. It is written as one object literal, which is faster to create and to check. */
export function receiptOf(header: Header, intent: Intent, snapshot: Snapshot, parts: Parts): Decision {
  const { settled, before, left, hash, expires } = parts
  const { after, data, trust } = left
  const { policy } = snapshot
  const definition = definitionIn(snapshot)
  const browser = DETECTORS.browser.page(intent, snapshot)
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
    trajectory_risk_score: DETECTORS.risk.scoreText(score),
    session_centroid_hash: centroidHash(after.session.risk),
    risk_accumulation_window: window,
  }
  if (definition !== undefined) receipt.definition_hash = definition
  if (intent.author !== undefined) receipt.author = intent.author
  if (intent.person !== undefined) receipt.person = intent.person
  if (settled.rule) receipt.rule = settled.rule.id
  if (settled.uses?.answer) receipt.approval = settled.uses.answer.id
  if (expires !== undefined) receipt.expires = expires
  if (browser) receipt.browser = { ...browser, ...approvedPage(settled) }
  if (intent.delegation !== undefined && isHash(intent.delegation)) receipt.delegation = intent.delegation
  if (settled.verdict === 'ESCALATE' && settled.asks) receipt.asks = settled.asks
  if (data) receipt.provenance_hash = data.hash
  if (trust) receipt.trust = DETECTORS.trust.text(trust)
  addScope(receipt, before.session, after.session)
  if (wasRead(settled)) addFound(receipt, intent, snapshot)
  const raisedTo = DETECTORS.privilege.elevationBy(settled, snapshot)
  if (raisedTo) receipt.elevation = { tier: raisedTo.tier, until: new Date(raisedTo.until).toISOString() }
  return receipt
}

/** Returns the hash of the page that the approver saw. */
function approvedPage({ uses }: Settled): { approved_hash?: string } {
  const seen = uses?.page?.seen_hash
  return seen === undefined ? {} : { approved_hash: seen }
}

/** Adds the scope in force, and the new scope if an approval widened it. */
function addScope(receipt: Writable<Decision>, { scope }: SessionState, after: SessionState): void {
  if (scope) receipt.scope_hash = DETECTORS.scope.hash(scope)
  if (after.scope && after.scope !== scope) receipt.next_scope_hash = DETECTORS.scope.hash(after.scope)
}

const HASH = /^[0-9a-f]{64}$/

function isHash(text: string): boolean {
  return HASH.test(text)
}

/** Adds the labels and findings of the call, and the compliance rules that applied. */
function addFound(receipt: Writable<Decision>, intent: Intent, snapshot: Snapshot): void {
  const { taint, threat, compliance } = snapshot.policy.gates
  if (!taint && !threat && !compliance) return
  try {
    const labels = snapshot.labels()
    const findings = DETECTORS.texts.codes([...snapshot.texts(), ...snapshot.untrusted()])
    const rules = DETECTORS.compliance.applied(intent, snapshot)
    if (labels.length > 0) receipt.labels = labels.slice(0, MAX_LABELS)
    if (findings.length > 0) receipt.findings = findings
    if (rules.length > 0) receipt.compliance = rules.slice(0, MAX_RULES)
  } catch {
    // The steps failed for the same reason, unless an earlier one denied. The receipt names the failed step.
  }
}

// The maximum lengths that the receipt format allows.
const MAX_LABELS = 32
const MAX_RULES = 16

let lastCentroid = ''

let lastCentroidHash = ''

/** Caches the last hash, because most sessions have the same centroid. */
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
    // As in `turnOrNothing`: the call is denied, and the session state is unchanged.
    return { score: 0, window: 0 }
  }
}

/**
 * Returns the hash of all inputs of the decision, so that they can be proven later. Every JSON writer gives the same text for a
 * list of strings and nulls, so `JSON.stringify` is canonical here.
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
      definitionIn(snapshot) ?? null,
      snapshot.policy.hash,
      ...hashes,
      ...(intent.delegation === undefined ? [] : [intent.delegation]),
      ...(intent.demanded ? [intent.demanded.hash] : []),
      ...(intent.author === undefined ? [] : ['author', intent.author]),
      ...(intent.person === undefined ? [] : ['person', intent.person]),
      ...(snapshot.observing ? ['observe'] : []),
      ...(intent.place ? ['place', canonicalize(intent.place)] : []),
      ...intent.sources.flatMap(({ source_channel, text }) => [source_channel, text]),
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
    ...(browser.guarded ? [canonicalize(browser.guarded)] : []),
  ]
}
