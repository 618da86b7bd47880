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
import { freezeIn } from '../admin/freezes.ts'
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
  for (const kept of KEPT_STATE) {
    const names = await kernel.store.list(kept.prefix, kept.of)
    await kept.takeUp(kernel, await foundUnder(kernel, names), time)
  }
}

/** Takes up the stored state of these names, which other writers have changed, or whose change was dropped. */
export async function takeUpNamed(kernel: Kernel, names: readonly string[]): Promise<void> {
  const time = kernel.host.now()
  for (const { prefix, also, takeUp: take } of KEPT_STATE) {
    const own = names.filter((name) => name.startsWith(prefix))
    const aliases = also === undefined ? [] : names.filter((name) => name.startsWith(also))
    const all = [...new Set([...own, ...aliases.map((name) => prefix + name.slice(also?.length))])]
    if (all.length > 0) await take(kernel, await foundUnder(kernel, all), time)
  }
}

/** State that a kernel keeps in memory: the names it is stored under, and how it is taken up. */
interface KeptState {
  readonly prefix: string
  /** Whether the records or the anchors with this prefix are all of it. */
  readonly of: 'records' | 'anchors'
  /** A second prefix of names with the same ending, whose change concerns the same state. */
  readonly also?: string
  /** Takes up what is stored under some names. If nothing is stored, the state is removed. */
  readonly takeUp: (kernel: Kernel, found: readonly Found[], time: number) => void | Promise<void>
}

function each(
  take: (kernel: Kernel, found: Found, time: number) => void | Promise<void>,
): KeptState['takeUp'] {
  return async (kernel, all, time) => {
    for (const found of all) await take(kernel, found, time)
  }
}

const KEPT_STATE: readonly KeptState[] = [
  { prefix: 'freeze\n', of: 'anchors', takeUp: each(takeUpFreeze) },
  { prefix: OBSERVING, of: 'anchors', takeUp: each(takeUpObserving) },
  { prefix: 'flood\n', of: 'records', takeUp: each(takeUpFlood) },
  { prefix: STORAGE, of: 'records', takeUp: each(takeUpStorage) },
  { prefix: requestName(''), of: 'records', also: answerName(''), takeUp: takeUpRequests },
  { prefix: OPENINGS, of: 'records', takeUp: takeUpOpenings },
  { prefix: 'pin\n', of: 'anchors', takeUp: each(takeUpPin) },
  { prefix: 'policy\n', of: 'anchors', takeUp: each(takeUpPolicy) },
  { prefix: DELEGATIONS, of: 'anchors', takeUp: each(takeUpDelegation) },
]

/** The prefixes of names that a decision may depend on without reading them: the rules for everyone. */
export const RULES: readonly string[] = [
  ...['freeze\n', OBSERVING, 'flood\n', requestName(''), answerName(''), 'pin\n', 'policy\n', DELEGATIONS],
]

interface Found {
  readonly name: string
  readonly record: string | undefined
  readonly anchor: JsonObject | undefined
  /** Id of the anchoring receipt. */
  readonly id: string
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

function takeUpFreeze({ freezes }: Kernel, { name, anchor }: Found): void {
  // Safe cast: only freeze receipts anchor such names.
  if (anchor) freezes.apply(anchor as unknown as Freeze)
  else freezes.apply({ ...freezeIn(name), frozen: false })
}

function takeUpObserving({ observing }: Kernel, { name, anchor }: Found): void {
  // Safe cast: only observe receipts anchor such names.
  if (anchor) observing.apply(anchor as unknown as Observe)
  else observing.forget(name)
}

function takeUpFlood({ flooding }: Kernel, { name, record }: Found): void {
  const of = name.slice('flood\n'.length)
  const count = Number(record)
  if (record === undefined) flooding.delete(of)
  else flooding.set(of, Number.isSafeInteger(count) ? count : 0)
}

function takeUpStorage({ storage }: Kernel, { name, record }: Found, time: number): void {
  storage.takeUp(name, record, time)
}

/**
 * Takes up requests that are still in use, oldest first. The ledger alone proves that a request was opened and how it was
 * answered; a record that contradicts the ledger is ignored.
 */
async function takeUpRequests(kernel: Kernel, opened: readonly Found[]): Promise<void> {
  const { approvals } = kernel
  const ids = opened.map(({ name }) => name.slice(requestName('').length))
  const answers = await foundUnder(kernel, ids.map(answerName))
  const requests = opened.map((found, i) =>
    found.record === undefined ? undefined : readRequest(found, answers[i]),
  )
  ids.forEach((id, i) => {
    const known = requests[i] ? undefined : approvals.find({ id })
    if (known) approvals.remove(known)
  })
  const used = requests.filter((request) => request !== undefined)
  for (const request of used.sort((a, b) => a.clock - b.clock)) approvals.set(request)
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

/** Takes up open calls, oldest first. */
function takeUpOpenings({ openings }: Kernel, found: readonly Found[]): void {
  const open: Opening[] = []
  for (const { name, record } of found) {
    // Safe cast: only openings are stored under such a name, which ends with the id.
    if (record !== undefined) open.push(readRecord(name, record) as Opening)
    else openings.remove(name.slice(name.lastIndexOf('\n') + 1))
  }
  for (const opening of open.sort((a, b) => a.clock - b.clock)) openings.add(opening)
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
function takeUpPin({ catalogue }: Kernel, { name, record, anchor }: Found): void {
  // Safe cast: only pin receipts anchor such names.
  const pin = anchor as unknown as Pin | undefined
  if (pin?.op !== 'pin') {
    catalogue.setPin(name.slice('pin\n'.length), undefined)
    return
  }
  const { tool, definition_hash: hash } = pin
  catalogue.setPin(tool, readPin(catalogue, record, hash) ?? { hash, schema: LOST_PIN })
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
function takeUpPolicy({ policies }: Kernel, { name, record, anchor }: Found): void {
  const tenant = name.slice('policy\n'.length)
  const parsed = record === undefined ? undefined : parsePolicy(record)
  // Safe cast: only policy receipts anchor such names.
  const hash = (anchor as unknown as PolicyActivation | undefined)?.policy_hash
  if (parsed?.ok === true && parsed.policy.hash === hash) policies.set(tenant, parsed.policy)
  else policies.delete(tenant)
}

async function takeUpDelegation(kernel: Kernel, found: Found, time: number): Promise<void> {
  const [tenant = '', id = ''] = found.name.slice(DELEGATIONS.length).split('\n')
  const known = kernel.delegations.get(tenant, id)
  if (!found.anchor && known) kernel.delegations.forget(known)
  await restoreDelegation(kernel, found, time)
}
