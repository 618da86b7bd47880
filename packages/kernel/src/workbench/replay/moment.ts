// Restores the situation of one recorded call: its intent, the kernel at that time, and a turn that writes nothing.

import {
  canonicalize,
  fromHex,
  sha256Hex,
  type Decision,
  type Effect,
  type JsonObject,
  type Receipt,
} from '@tollgate/evidence'
import { createApprovals } from '../../admin/approvals.ts'
import type { BrowserCall, Demanded, Intent } from '../../road/capture.ts'
import type { Observation } from '../../road/observation.ts'
import { NOBODY } from '../../names.ts'
import { createCatalogue } from '../../admin/catalogue.ts'
import { createDelegations, registered, type Delegations } from '../../gates/delegation/delegations.ts'
import { KernelError } from '../../error.ts'
import { createFreezes } from '../../admin/freezes.ts'
import { LADDER } from '../../road/guardian.ts'
import type { Kernel } from '../../kernel.ts'
import { type KeptCall, type KeptEffect, type KeptLink } from '../../road/kept.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Appended, AppendOptions, Header, Turn } from '../../ledger/turn.ts'
import { createObservations } from '../../gates/browser/observations.ts'
import { createObserving } from '../../admin/observing.ts'
import { createOpenings } from '../../road/openings.ts'
import { UNLIMITED } from '../../ledger/storage.ts'
import type { ReplayMemory } from './memory.ts'
import { compileSchema, type ArgumentsSchema } from '../../gates/schema/schema.ts'
import type { Store } from '../../ledger/store.ts'
import { NO_POLICY } from '../../open/open.ts'

/** Returns a kernel without a store. Writing with it throws. */
export function replayKernel(): Kernel {
  const ledger: Ledger = {
    append: nowhere,
    poison: nowhere,
    poisoned: undefined,
    cause: undefined,
    remembered: 0,
    backlog: { queued: 0, writing: 0, batches: 0, durable: undefined },
  }
  const store: Store = { head: nowhere, write: nowhere, load: nowhere, list: nowhere }
  return {
    ledger,
    host: { now: () => 0, salt: () => NO_SALT, after: nowhere },
    store,
    tenant: 'default',
    writer: undefined,
    followers: new Set(),
    commit: 'plain',
    keeping: { on: false },
    seeded: new Map(),
    // A freeze for flooding has its own receipt.
    quota: { calls: Number.MAX_SAFE_INTEGER, period: 1 },
    storage: UNLIMITED,
    patience: 0,
    floodPause: 0,
    catalogue: createCatalogue(),
    freezes: createFreezes(),
    approvals: createApprovals(),
    delegations: createDelegations(),
    openings: createOpenings(),
    observations: createObservations(),
    observing: createObserving(),
    denials: new Map(),
    flooding: new Map(),
    ladder: LADDER,
    policies: new Map(),
    noPolicy: NO_POLICY,
  }
}

function nowhere(): never {
  throw new KernelError('REQUEST_INVALID', 'a replay cannot write to the ledger')
}

const NO_SALT = new Uint8Array(32)

/** Returns the kernel as of one call: its delegations, posted observation, and the key of the session's data. */
export function asOf(
  running: Kernel,
  kept: KeptCall | KeptEffect | undefined,
  decision: Decision | undefined,
): Kernel {
  // The storage of other calls is unknown, so the recorded reason decides.
  const isFull = decision?.reason_code === 'STORAGE_QUOTA_EXCEEDED'
  const kernel = isFull ? { ...running, storage: { ...running.storage, isFull: () => true } } : running
  const key = kept?.key === undefined || kept.key === '' ? undefined : fromHex(kept.key)
  const host = key ? { ...kernel.host, salt: () => key } : kernel.host
  const commit = decision?.commit === 'salted' ? 'salted' : 'plain'
  if (kept === undefined || !('state' in kept)) return { ...kernel, host, commit }
  const { posted, observing = false } = kept
  // No receipt contains the clock of that time.
  const observed = { ...kernel.observing, includes: () => observing }
  if (!kept.chain && !posted) return { ...kernel, host, commit, observing: observed }
  return {
    ...kernel,
    host,
    commit,
    observing: observed,
    delegations: knowing(kept.chain ?? []),
    ...(posted && { observations: { ...kernel.observations, take: () => wholeObservation(posted) } }),
  }
}

function knowing(chain: readonly KeptLink[]): Delegations {
  const delegations = createDelegations()
  for (const { revoked, ...link } of chain) delegations.add(registered(link, NO_RECEIPT, revoked))
  return delegations
}

const NO_RECEIPT: Appended = { id: '', clock: 0 }

/** Returns the call as it was captured. */
export function intentOf(decision: Decision, kept: KeptCall): Intent {
  const { tenant, principal, session, door, assurance, tool, args_hash, commit } = decision
  const { args, context, browser, demanded } = kept
  // Hashed again, so that the replay uses exactly the arguments in the receipt. Unreadable arguments are not kept.
  const text = commit === 'raw' ? '' : canonicalize(args)
  return {
    tenant,
    principal: principal === NOBODY ? undefined : principal,
    claimed: kept.claimed,
    session: session.id,
    door,
    assurance,
    author: decision.author,
    person: decision.person,
    offered: kept.offered,
    demanded: demanded && demandedOf(demanded),
    tool,
    // The receipt has the name as it was called, and such a call was kept with `offered: null`.
    unclear: undefined,
    args,
    text,
    hash: commit === 'raw' ? args_hash : sha256Hex(text),
    commit: commit === 'raw' ? 'raw' : 'plain',
    context,
    misplaced: kept.misplaced ?? false,
    browser: browser && wholeBrowser(browser),
    place: kept.place,
    prompting: kept.prompting ?? false,
    approval: kept.approval,
    delegation: kept.delegation,
    sources: kept.sources ?? [],
    reference: kept.reference,
    unreadable: kept.unreadable,
  }
}

/** Restores members that JSON drops because they are undefined. */
function wholeBrowser({ observation, ...rest }: BrowserCall): BrowserCall {
  return { ...NO_BROWSER, ...rest, observation: observation && wholeObservation(observation) }
}

function wholeObservation(observation: Observation): Observation {
  return { ...NO_OBSERVATION, ...observation }
}

const NO_BROWSER: Omit<BrowserCall, 'observation'> = {
  observation_id: undefined,
  planner_ref: undefined,
  side_effect: undefined,
  destination: undefined,
}

const NO_OBSERVATION: Observation = {
  url: undefined,
  dom_hash: undefined,
  visual_text_hash: undefined,
  sentinel_risk: undefined,
  sentinel_findings: undefined,
}

const demands = new Map<string, Demanded>()
const MAX_DEMANDS = 1000

function demandedOf({ hash, text }: NonNullable<KeptCall['demanded']>): Demanded {
  const known = demands.get(hash)
  if (known) return known
  if (demands.size >= MAX_DEMANDS) demands.clear()
  const demanded = { hash, text, schema: schemaIn(text) }
  demands.set(hash, demanded)
  return demanded
}

/** As the door does it: an unusable schema matches nothing. */
function schemaIn(text: string): ArgumentsSchema {
  try {
    // Safe cast: the kept text is JSON, and an invalid schema is refused.
    return compileSchema(JSON.parse(text) as JsonObject)
  } catch {
    return { check: () => ({ at: '', problem: 'cannot be checked: the schema cannot be used' }) }
  }
}

/** The turn of one recorded entry. A receipt made in it gets the place and id of the recorded one. */
export class ReplayTurn implements Turn {
  readonly time: number
  readonly written = 0
  readonly memory: ReplayMemory
  /** The replayed receipt. */
  made: Decision | Effect | undefined
  readonly #id: string
  readonly #recorded: Decision | Effect

  constructor(id: string, recorded: Decision | Effect, memory: ReplayMemory) {
    this.time = Date.parse(recorded.time)
    this.memory = memory
    this.#id = id
    this.#recorded = recorded
  }

  append(_: AppendOptions, make: (header: Header) => Receipt): Appended {
    const { v, ledger, writer, seq, lamport_clock, prev_receipt_hash, causes, time, key } = this.#recorded
    const receipt = make({ v, ledger, writer, seq, lamport_clock, prev_receipt_hash, causes, time, key })
    if (receipt.kind === 'decision' || receipt.kind === 'effect') this.made = receipt
    return { id: this.#id, clock: lamport_clock }
  }

  read(name: string): unknown {
    return this.memory.get(name)
  }

  write(name: string, value: unknown): void {
    this.memory.set(name, value)
  }

  put(): void {
    // No decision depends on records that are only stored.
  }
}
