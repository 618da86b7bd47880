// Room: opens a kernel on a store and restores the state that was in force. It runs once; no call passes through it.

import { NO_HASH, type ChainHead } from '@tollgate/evidence'
import { createApprovals } from '../admin/approvals.ts'
import { createCatalogue } from '../admin/catalogue.ts'
import { createFreezes } from '../admin/freezes.ts'
import { createObserving } from '../admin/observing.ts'
import { KernelError } from '../error.ts'
import { createObservations } from '../gates/browser/observations.ts'
import { createDelegations } from '../gates/delegation/delegations.ts'
import { DEFAULT_RISK } from '../gates/session-risk/risk.ts'
import { type Host, type Kernel, policyOf } from '../kernel.ts'
import { WriterLedger, type Ledger } from '../ledger/ledger.ts'
import { SharedLedger } from '../ledger/shared-ledger.ts'
import { createStorage, DEFAULT_STORAGE } from '../ledger/storage.ts'
import type { Store } from '../ledger/store.ts'
import type { Policy } from '../policy/parse/parse.ts'
import type { Pace } from '../rates.ts'
import { recover } from '../road/closing.ts'
import { LADDER, type StepStatus, describeLadder } from '../road/guardian.ts'
import { createOpenings } from '../road/openings.ts'
import { genesisOf, RULES, takeUp, takeUpNamed } from './resume.ts'

/** The options of a kernel. */
export interface KernelOptions {
  readonly store: Store
  readonly host: Host
  /** Name of the ledger. */
  readonly origin: string
  readonly writer: string
  /** Id of the writer's key, which the store signs with. */
  readonly key: string
  /** Tenant of receipts that concern no call, such as pins and freezes of everything, and the default tenant of a policy. */
  readonly tenant?: string
  /** Whether all content hashes are salted, or only where a tool declaration requires it. */
  readonly commit?: 'plain' | 'salted'
  /** Whether calls are kept privately for replay. Calls in observe mode are always kept. */
  readonly keep?: boolean
  /** Denials that a principal may cause before it is frozen; 1,000 per hour by default. */
  readonly quota?: Pace
  /** Milliseconds that a tool may take before its effect counts as UNKNOWN; two minutes by default. */
  readonly patience?: number
  /** Milliseconds to wait before answering a principal that floods, so that a flood does not occupy a core; 0 by default. */
  readonly floodPause?: number
  /** Maximum bytes stored for a principal per UTC day; 1 GiB by default, null for no limit. */
  readonly storage?: number | null
  /** Maximum session and principal records kept in memory; 10,000 by default. */
  readonly maxRemembered?: number
  /** Maximum decisions that may wait for the store; 10,000 by default. */
  readonly maxWaiting?: number
}

/** The policy of a tenant that has none: it declares nothing and allows nothing. */
export const NO_POLICY: Policy = {
  name: '(none)',
  text: '',
  hash: NO_HASH,
  context: { environments: [], tenants: [], workspaces: [] },
  principals: [],
  tools: [],
  rules: [],
  approvals: { reason: 'optional' },
  providerTools: { undeclared: 'refuse' },
  uses: { data: false, sharedLimits: false },
  gates: {
    egress: { allow: [], ask: [], deny: [] },
    sessionRisk: DEFAULT_RISK,
    browser: {
      domains: [],
      maxSentinelRisk: 0,
      observation: 'sentinel',
      plannerRef: 'given',
      findings: new Map(),
      otherFindings: 'deny',
    },
    taint: undefined,
    threat: undefined,
    trust: undefined,
    privilege: undefined,
    scope: undefined,
    temporal: { limits: [], hours: [] },
    compliance: undefined,
  },
}

/**
 * Opens a kernel on a store that has a ledger. It restores freezes, pins, approvals and the policy, and closes calls that a crash
 * left open as UNKNOWN, with a `recovery` receipt.
 *
 * @throws KernelError `REQUEST_INVALID` if the store has no ledger or a different one, `STATE_MALFORMED` if a private record is
 * damaged, `LEDGER_POISONED` if the store fails.
 */
export async function openKernel(options: KernelOptions): Promise<Kernel> {
  const kernel = await kernelOn(options)
  await recover(kernel)
  return kernel
}

/** A store that is only read. */
export type ReadableStore = Pick<Store, 'head' | 'load' | 'list'>

/**
 * Opens a kernel for reading, for example beside the gateway that writes the ledger. It closes no open calls, and every write
 * fails. It does not have state that exists only in memory, such as the definitions that servers offer.
 *
 * @throws KernelError as `openKernel`.
 */
export async function openForLooking(
  options: Omit<KernelOptions, 'store'> & { readonly store: ReadableStore },
): Promise<Kernel> {
  const { store } = options
  return kernelOn({
    ...options,
    store: {
      head: () => store.head(),
      load: (names) => store.load(names),
      list: (prefix, of) => store.list(prefix, of),
      write: () =>
        Promise.reject(new KernelError('REQUEST_INVALID', 'the ledger was opened for reading only')),
    },
  })
}

/** Creates a kernel with all its state restored. */
async function kernelOn(options: KernelOptions): Promise<Kernel> {
  const { store, host, origin } = options
  const head = await store.head()
  const genesis = await genesisOf(store, origin)
  const kernel: Kernel = {
    ledger: ledgerOn(options, head, async (names) => {
      await takeUpNamed(kernel, names)
      for (const follow of kernel.followers) await follow(names)
    }),
    followers: new Set(),
    host,
    store,
    tenant: options.tenant ?? 'default',
    writer: store.others && options.writer,
    // A ledger that was created as salted stays salted.
    commit: genesis.commit === 'salted' ? 'salted' : (options.commit ?? 'plain'),
    keeping: { on: options.keep ?? false },
    seeded: new Map(),
    quota: options.quota ?? { calls: 1000, period: 3_600_000 },
    patience: options.patience ?? 120_000,
    floodPause: options.floodPause ?? 0,
    storage: createStorage(options.storage === undefined ? DEFAULT_STORAGE : (options.storage ?? undefined)),
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
  await takeUp(kernel, head ? Date.parse(head.time) : 0)
  return kernel
}

/** Returns the ledger for a store: with other writers or alone. */
function ledgerOn(
  { store, host, origin, writer, key, maxRemembered, maxWaiting }: KernelOptions,
  head: ChainHead | undefined,
  takeUpNames: (names: readonly string[]) => Promise<void>,
): Ledger {
  const own = {
    ...{ store, origin, writer, key, head },
    now: () => host.now(),
    ...(maxRemembered !== undefined && { maxRemembered }),
    ...(maxWaiting !== undefined && { maxWaiting }),
  }
  const { others } = store
  return others
    ? new SharedLedger({ ...own, others, prefixes: RULES, takeUp: takeUpNames })
    : new WriterLedger(own)
}

/** Returns the status of every step under the policy in force for a tenant. */
export function standings(kernel: Kernel, tenant: string = kernel.tenant): readonly StepStatus[] {
  return describeLadder(policyOf(kernel, tenant))
}
