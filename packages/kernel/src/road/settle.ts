// Applies approvals to a decision: an approval overrides an escalation, otherwise a new request is opened.

import { canonicalize, toHex, type Commit, type ReasonCode, type LadderStep } from '@tollgate/evidence'
import {
  argsHash,
  statusOf,
  bindingOf,
  forgetRequest,
  inputName,
  isFor,
  MAX_ASKING,
  MAX_SHOWN,
  pageName,
  requestName,
  type ApprovalRequest,
  type RequestKey,
} from '../admin/approvals.ts'
import type { Intent } from './capture.ts'
import { chargedTo, NOBODY } from '../names.ts'
import type { Judgement } from './guardian.ts'
import type { Kernel } from '../kernel.ts'
import type { Appended, Turn } from '../ledger/ledger.ts'
import { rememberedAs } from '../names.ts'
import { effectOf, type Snapshot } from './snapshot.ts'
import { DETECTORS } from '../gates/index.ts'

const FIFTEEN_MINUTES = 900_000

/** A judgement after approvals were applied. */
export interface Settled extends Judgement {
  /** The granted request that overrides the escalation; it is used up. */
  readonly uses?: ApprovalRequest
  /** The request that already waits for an answer. */
  readonly waits?: ApprovalRequest
}

// These steps stop a call before its texts are read, so that a flood of calls is cheap.
const BEFORE_READING: ReadonlySet<LadderStep> = new Set([
  'capture',
  'freeze',
  'schema',
  'context',
  'identity',
])

/** Returns whether the texts of the call were read for its decision. */
export function wasRead({ verdict, rung }: Judgement): boolean {
  return verdict !== 'DENY' || !BEFORE_READING.has(rung)
}

/** Applies an approval to an escalation. It must be for exactly this intent, and valid now. */
export function settle(kernel: Kernel, intent: Intent, snapshot: Snapshot, judgement: Judgement): Settled {
  if (judgement.verdict !== 'ESCALATE') return judgement
  if (isTooLong(intent)) return denied(judgement, 'APPROVAL_TOO_LARGE')
  const key = keyOf(intent, snapshot)
  const claimed = intent.approval !== undefined
  const found = kernel.approvals.find(claimed ? { id: intent.approval } : key)
  // An approval under one rule does not answer another, and the arguments must match the hash in the ledger.
  const fits =
    found?.binding === key.binding &&
    DETECTORS.browser.covers(found.page, key.page) &&
    concerns(found, intent) &&
    isFor(found, judgement) &&
    hashIn(intent, found.salt) === found.args
  const request = fits ? found : undefined
  if (claimed && !request) return denied(judgement, 'APPROVAL_INVALID')
  switch (request && statusOf(request, snapshot.time)) {
    case 'granted':
      // The approval is not used up: it overrides the missing pin, not the missing declaration.
      if (judgement.beneath) return judgement.beneath
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
  if (isFatiguing(kernel, intent, snapshot)) {
    const detail = 'people were asked too often recently, or denied this tool; wait before you try again'
    return { ...denied(judgement, 'SESSION_RISK_MEMORY_DENY'), rung: 'session-risk', detail }
  }
  if (isForClient(intent, judgement)) return { ...judgement, verdict: 'ALLOW', reason: 'ASKED_IN_CLIENT' }
  if (kernel.approvals.asking(intent.tenant, chargedTo(intent), snapshot.time) < MAX_ASKING) return judgement
  const detail = `${MAX_ASKING} requests of this principal already wait for an answer; wait until some are answered`
  return { ...denied(judgement, 'RATE_EXCEEDED'), detail }
}

/**
 * Returns whether the person at the client answers: the client can ask, and the policy leaves every question about the call to it. A
 * question of a gate needs an approval.
 */
function isForClient(
  { prompting, assurance, door }: Intent,
  { rung, rule, asks, beneath }: Judgement,
): boolean {
  const canAsk = prompting && assurance === 'advised' && door === 'hook'
  return canAsk && rung === 'policy' && rule?.answer === 'client' && asks?.length === 1 && !beneath
}

/** Returns whether the arguments are too long for an approver. A person must see everything that they approve. */
function isTooLong({ text }: Intent): boolean {
  // A UTF-16 unit takes one to three bytes, so most texts need no encoding.
  return (
    text.length > MAX_SHOWN ||
    (3 * text.length > MAX_SHOWN && new TextEncoder().encode(text).length > MAX_SHOWN)
  )
}

/** Returns whether people were asked too often, in general or about this tool. */
function isFatiguing({ ladder }: Kernel, { tool }: Intent, snapshot: Snapshot): boolean {
  return (
    ladder.some(({ name }) => name === 'session-risk') && DETECTORS.risk.isApprovalFatigue(tool, snapshot)
  )
}

/** Returns whether a request is about this call, by the data of its receipt. The binding alone is only in a private record. */
function concerns(request: ApprovalRequest, intent: Intent): boolean {
  const { tenant, principal, person, author, tool } = intent
  const sameCaller =
    request.tenant === tenant &&
    request.principal === (principal ?? NOBODY) &&
    request.author === author &&
    request.person === person
  return sameCaller && rememberedAs(request) === rememberedAs(intent) && request.tool === tool
}

function denied(judgement: Judgement, reason: ReasonCode): Judgement {
  return { ...judgement, verdict: 'DENY', reason }
}

/** Returns the hash of the definition that a decision is about: the pinned one, otherwise the offered one. */
export function definitionIn({ tool }: Snapshot): string | undefined {
  return tool?.pinned ?? tool?.offered
}

/** Returns the key that finds a request about this call. */
export function keyOf(
  intent: Intent,
  { tool, observation }: Pick<Snapshot, 'tool' | 'observation'>,
): RequestKey {
  const binding = bindingOf(intent, effectOf(tool), tool?.pinned ?? tool?.offered, observation)
  return { binding, page: DETECTORS.browser.page(intent, { tool, observation }) }
}

/** Returns whether a request about exactly this call waits or was granted. */
export function wasAsked(
  { approvals }: Kernel,
  intent: Intent,
  world: Pick<Snapshot, 'tool' | 'observation'>,
  time: number,
): boolean {
  if (approvals.size === 0) return false
  const request = approvals.find(keyOf(intent, world))
  const status = request && statusOf(request, time)
  return status === 'waiting' || status === 'granted'
}

/** The commitment of a receipt to the arguments. */
export interface Commitment {
  readonly args: string
  readonly commit: Commit
  /** In hexadecimal. */
  readonly salt: string | undefined
}

export function commitTo(kernel: Kernel, intent: Intent, { tool }: Snapshot, settled: Settled): Commitment {
  if (intent.commit === 'raw') return { args: intent.hash, commit: 'raw', salt: undefined }
  // The approved call has the hash that the approver saw.
  const request = settled.uses ?? settled.waits
  const salted = request
    ? request.salt !== null
    : kernel.commit === 'salted' || tool?.declared?.salted === true
  if (!salted) return { args: intent.hash, commit: 'plain', salt: undefined }
  const salt = request?.salt ?? toHex(kernel.host.salt())
  return { args: hashIn(intent, salt), commit: 'salted', salt }
}

function hashIn({ hash, text }: Intent, salt: string | null): string {
  return salt === null ? hash : argsHash(text, salt)
}

/** Uses up a granted request, or opens one for a new escalation. */
export function keepRequest(
  kernel: Kernel,
  intent: Intent,
  snapshot: Snapshot,
  made: { settled: Settled; appended: Appended; hash: Commitment },
  turn: Turn,
): ApprovalRequest | undefined {
  const { settled, appended, hash } = made
  if (settled.uses) {
    kernel.approvals.remove(settled.uses)
    forgetRequest(turn, settled.uses)
  }
  if (settled.verdict !== 'ESCALATE') return undefined
  if (settled.waits) return settled.waits
  const lasts = settled.rule?.expires ?? FIFTEEN_MINUTES
  const { binding, page } = keyOf(intent, snapshot)
  const request: ApprovalRequest = {
    id: appended.id,
    clock: appended.clock,
    tenant: intent.tenant,
    principal: intent.principal ?? NOBODY,
    ...(intent.author !== undefined && { author: intent.author }),
    ...(intent.person !== undefined && { person: intent.person }),
    session: intent.session,
    tool: intent.tool,
    binding,
    reason: settled.reason,
    rung: settled.rung,
    rule: settled.rule?.id ?? null,
    asks: settled.asks ?? [],
    approvers: settled.rule?.approvers ?? [],
    until: turn.time + lasts,
    lasts,
    args: hash.args,
    salt: hash.salt ?? null,
    delegation: intent.delegation ?? null,
    page: page ?? null,
    answer: null,
  }
  // First the operations that can fail.
  turn.put(requestName(request.id), canonicalize(request))
  turn.put(inputName(request.id), intent.text)
  if (page) {
    turn.put(
      pageName(request.id),
      canonicalize(DETECTORS.browser.input(intent.browser, snapshot.observation)),
    )
  }
  kernel.approvals.set(request)
  return request
}
