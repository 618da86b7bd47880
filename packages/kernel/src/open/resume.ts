// Restores the state of a kernel from its ledger. A private record counts only as far as a receipt confirms it.

import {
  parseJson,
  sha256Hex,
  type Approval,
  type Decision,
  type Freeze,
  type Genesis,
  type JsonObject,
  type Observe,
  type Pin,
  type PolicyActivation,
} from '@tollgate/evidence'
import { answerName, requestName, type Answer, type ApprovalRequest } from '../admin/approvals.ts'
import { definitionOf, type Catalogue, type Pinned } from '../admin/catalogue.ts'
import { DELEGATIONS, restoreDelegation } from '../gates/delegation/records.ts'
import { KernelError } from '../error.ts'
import { GENESIS } from '../ledger/genesis.ts'
import type { Kernel } from '../kernel.ts'
import { OBSERVING } from '../admin/observing.ts'
import { OPENINGS, type Opening } from '../road/openings.ts'
import { parsePolicy } from '../policy/parse/parse.ts'
import type { ArgumentsSchema } from '../gates/schema/schema.ts'
import { STORAGE } from '../ledger/storage.ts'
import type { Store } from '../ledger/store.ts'

/** Returns the genesis receipt. @throws KernelError `REQUEST_INVALID` if the store has no ledger or a different one. */
export async function genesisOf(store: Store, origin: string): Promise<Genesis> {
  const [stored] = await store.load([GENESIS])
  // Safe cast: only a genesis receipt anchors this name.
  const genesis = stored?.anchor && (parseJson(stored.anchor) as unknown as Genesis)
  if (!genesis) throw new KernelError('REQUEST_INVALID', 'the store has no ledger; create one first')
  if (genesis.ledger === origin) return genesis
  throw new KernelError(
    'REQUEST_INVALID',
    `the store contains the ledger \`${genesis.ledger}\`, not \`${origin}\`; open it under its own name`,
  )
}

/** Restores all state of a kernel. `time` is that of the newest receipt. */
export async function takeUp(kernel: Kernel, time: number): Promise<void> {
  for (const { anchor } of await allOf(kernel, 'freeze\n', 'anchors')) takeUpFreeze(kernel, anchor)
  for (const { anchor } of await allOf(kernel, OBSERVING, 'anchors')) {
    // Safe cast: only observe receipts anchor such names.
    if (anchor) kernel.observing.apply(anchor as unknown as Observe)
  }
  for (const { name, record } of await allOf(kernel, 'flood\n', 'records')) {
    const count = Number(record)
    kernel.flooding.set(name.slice('flood\n'.length), Number.isSafeInteger(count) ? count : 0)
  }
  for (const { name, record } of await allOf(kernel, STORAGE, 'records')) {
    kernel.storage.takeUp(name, record, time)
  }
  for (const request of await requestsOf(kernel)) kernel.approvals.set(request)
  for (const opening of await openingsOf(kernel)) kernel.openings.add(opening)
  for (const stored of await allOf(kernel, 'pin\n', 'anchors')) takeUpPin(kernel, stored)
  for (const stored of await allOf(kernel, 'policy\n', 'anchors')) takeUpPolicy(kernel, stored)
  for (const stored of await allOf(kernel, DELEGATIONS, 'anchors'))
    await restoreDelegation(kernel, stored, time)
}

interface Found {
  readonly name: string
  readonly record: string | undefined
  readonly anchor: JsonObject | undefined
  /** Id of the anchoring receipt. */
  readonly id: string
}

async function allOf(kernel: Kernel, prefix: string, of: 'records' | 'anchors'): Promise<readonly Found[]> {
  return foundUnder(kernel, await kernel.store.list(prefix, of))
}

async function foundUnder({ store }: Kernel, names: readonly string[]): Promise<readonly Found[]> {
  const stored = await store.load(names)
  return names.map((name, i) => {
    const { record, anchor } = stored[i] ?? { record: undefined, anchor: undefined }
    // Safe cast: a payload is an object.
    const receipt = anchor && (parseJson(anchor) as JsonObject)
    return { name, record, anchor: receipt, id: anchor ? sha256Hex(anchor) : '' }
  })
}

function takeUpFreeze(kernel: Kernel, anchor: JsonObject | undefined): void {
  // Safe cast: only freeze receipts anchor such names.
  if (anchor) kernel.freezes.apply(anchor as unknown as Freeze)
}

/**
 * Returns the requests that are still in use, oldest first. The ledger alone proves that a request was opened and how it was
 * answered; a record that contradicts the ledger is ignored.
 */
async function requestsOf(kernel: Kernel): Promise<readonly ApprovalRequest[]> {
  const opened = await allOf(kernel, requestName(''), 'records')
  const ids = opened.map(({ name }) => name.slice(requestName('').length))
  const answers = await foundUnder(kernel, ids.map(answerName))
  const requests = opened.map((found, i) => readRequest(found, answers[i]))
  return requests.filter((request) => request !== undefined).sort((a, b) => a.clock - b.clock)
}

function readRequest(
  { name, record, anchor, id }: Found,
  answer: Found | undefined,
): ApprovalRequest | undefined {
  // Safe cast: only such requests are stored under such a name, and only ESCALATE decisions anchor it.
  const request = readRecord(name, record) as ApprovalRequest
  const decision = anchor as unknown as Decision | undefined
  const opened =
    decision?.verdict === 'ESCALATE' &&
    request.id === id &&
    request.tenant === decision.tenant &&
    request.principal === decision.principal &&
    request.author === decision.author &&
    request.person === decision.person &&
    request.session === decision.session.id &&
    request.tool === decision.tool &&
    request.args === decision.args_hash &&
    request.reason === decision.reason_code &&
    request.rung === decision.rung &&
    request.rule === (decision.rule ?? null) &&
    JSON.stringify(request.asks) === JSON.stringify(decision.asks) &&
    request.until <= Date.parse(decision.time) + request.lasts
  if (!opened) return undefined
  // Safe cast: only an answer, or the decision that used it, anchors its name.
  const newest = answer?.anchor as unknown as Approval | Decision | undefined
  if (newest?.kind === 'decision') return undefined
  const { lamport_clock: clock, delegation = null, browser: page = null } = decision
  return { ...request, clock, delegation, page, answer: newest ? readAnswer(newest, answer?.id ?? '') : null }
}

/** Returns the answer in a receipt. */
export function readAnswer(approval: Approval, id: string): Answer {
  const { answer, widen, approver, because = null, expires, lamport_clock: clock } = approval
  return {
    id,
    clock,
    granted: answer === 'GRANTED',
    widen: widen === true,
    approver,
    because,
    until: Date.parse(expires),
  }
}

/** Returns the open calls, oldest first. */
async function openingsOf(kernel: Kernel): Promise<readonly Opening[]> {
  const found = await allOf(kernel, OPENINGS, 'records')
  // Safe cast: only openings are stored under such a name.
  return found
    .map(({ name, record }) => readRecord(name, record) as Opening)
    .sort((a, b) => a.clock - b.clock)
}

function readRecord(name: string, record: string | undefined): unknown {
  try {
    return JSON.parse(record ?? '')
  } catch (cause) {
    const shown = name.replace('\n', ' ')
    throw new KernelError(
      'STATE_MALFORMED',
      `the private record \`${shown}\` is damaged; restore the data directory from a backup`,
      { cause },
    )
  }
}

/** A pin whose definition is lost, or differs from its receipt, blocks every call until the tool is pinned again. */
function takeUpPin({ catalogue }: Kernel, { record, anchor }: Found): void {
  // Safe cast: only pin receipts anchor such names.
  const { op, tool, definition_hash: hash } = anchor as unknown as Pin
  if (op === 'pin') catalogue.setPin(tool, readPin(catalogue, record, hash) ?? { hash, schema: LOST_PIN })
}

function readPin(catalogue: Catalogue, record: string | undefined, hash: string): Pinned | undefined {
  if (record === undefined || sha256Hex(record.toWellFormed()) !== hash) return undefined
  try {
    // Safe cast: only the canonical text of a definition has that hash.
    return catalogue.prepare(definitionOf(parseJson(record) as JsonObject))
  } catch {
    // The schema was usable when it was pinned and no longer is.
    return undefined
  }
}

const LOST_PIN: ArgumentsSchema = {
  check: () => ({ at: '', problem: 'cannot be checked: the pinned definition is lost; pin it again' }),
}

/** A policy counts only if its text has the hash in the receipt and still parses. Otherwise the tenant has no policy. */
function takeUpPolicy({ policies }: Kernel, { record, anchor }: Found): void {
  if (record === undefined) return
  // Safe cast: only policy receipts anchor such names.
  const { tenant, policy_hash } = anchor as unknown as PolicyActivation
  const parsed = parsePolicy(record)
  if (parsed.ok && parsed.policy.hash === policy_hash) policies.set(tenant, parsed.policy)
}
