// Room: opening a kernel on a store. It holds the opening itself and the resumption of everything that was in force. It runs once, and
// no call passes through it.

import { NO_HASH } from '@tollgate/evidence'
import { createApprovals } from '../admin/approvals.ts'
import { createCatalogue } from '../admin/catalogue.ts'
import { createFreezes } from '../admin/freezes.ts'
import { createObserving } from '../admin/observing.ts'
import { KernelError } from '../error.ts'
import { createObservations } from '../gates/browser/observations.ts'
import { createDelegations } from '../gates/delegation/delegations.ts'
import { DEFAULT_RISK } from '../gates/session-risk/risk.ts'
import { type Host, type Kernel, policyOf } from '../kernel.ts'
import { createLedger } from '../ledger/ledger.ts'
import { createStorage, DEFAULT_STORAGE } from '../ledger/storage.ts'
import type { Store } from '../ledger/store.ts'
import type { Policy } from '../policy/parse/parse.ts'
import type { Pace } from '../rates.ts'
import { recover } from '../road/closing.ts'
import { LADDER, type StepStatus, describeLadder } from '../road/guardian.ts'
import { createOpenings } from '../road/openings.ts'
import { genesisOf, takeUp } from './resume.ts'

/** What a kernel is made of. */
export interface KernelOptions {
  readonly store: Store
  readonly host: Host
  /** Name of the ledger. */
  readonly origin: string
  readonly writer: string
  /** Id of the writer's key, which the store signs with. */
  readonly key: string
  /** Tenant of what concerns no call: pins, freezes of everything; and of a policy that is activated for nobody else. */
  readonly tenant?: string
  /** Whether hashes of contents are salted everywhere, or only where a tool's declaration says so. */
  readonly commit?: 'plain' | 'salted'
  /** Whether calls are kept privately, so that they can be decided again; those of observe mode always are. */
  readonly keep?: boolean
  /** How many denials a principal may cause before it is frozen; 1,000 an hour if not given. */
  readonly quota?: Pace
  /** Milliseconds a tool may take before its effect counts as unknown; two minutes if not given. */
  readonly patience?: number
  /** Milliseconds before a principal that floods is answered, so that a flood does not keep a core busy; none if not given. */
  readonly floodPause?: number
  /** Most bytes that are stored for a principal on one UTC day; 1 GiB if not given, null for no limit. */
  readonly storage?: number | null
  /** Most session and principal records kept in memory; 10,000 if not given. */
  readonly maxRemembered?: number
  /** Most decisions that may wait for the store; 10,000 if not given. */
  readonly maxWaiting?: number
}

/** The policy while there is none: nothing is known, nothing is allowed. */
export const NO_POLICY: Policy = {
  name: '(none)',
  text: '',
  hash: NO_HASH,
  context: { environments: [], tenants: [], workspaces: [] },
  principals: [],
  tools: [],
  rules: [],
  approvals: { reason: 'optional' },
  uses: { data: false, sharedLimits: false },
  gates: {
    egress: { allow: [], ask: [], deny: [] },
    sessionRisk: DEFAULT_RISK,
    browser: {
      domains: [],
      maxSentinelRisk: 0,
      observation: 'sentinel',
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
 * Opens a kernel on a store that has a ledger: takes up freezes, pins, approvals and the policy where they were left, and
 * closes what a crash left open as UNKNOWN, with a `recovery` receipt.
 *
 * @throws KernelError `REQUEST_INVALID` if the store has no ledger or another one, `STATE_MALFORMED` if a private record is
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
 * Opens a kernel for looking only, also beside the one that writes the ledger: for `foresee`. It closes nothing that is open, and
 * whatever would be written fails. What is known in memory alone, such as what servers offer, it does not know.
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
        Promise.reject(new KernelError('REQUEST_INVALID', 'the ledger was opened for looking only')),
    },
  })
}

/** A kernel that has taken up everything where it was left. */
async function kernelOn(options: KernelOptions): Promise<Kernel> {
  const { store, host, origin, writer, key, maxRemembered, maxWaiting } = options
  const head = await store.head()
  const genesis = await genesisOf(store, origin)
  const kernel: Kernel = {
    ledger: createLedger({
      store,
      origin,
      writer,
      key,
      head,
      now: () => host.now(),
      ...(maxRemembered !== undefined && { maxRemembered }),
      ...(maxWaiting !== undefined && { maxWaiting }),
    }),
    host,
    store,
    tenant: options.tenant ?? 'default',
    // A ledger that was founded as salted stays so.
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

/** How every rung stands under the policy in force for a tenant. */
export function standings(kernel: Kernel, tenant: string = kernel.tenant): readonly StepStatus[] {
  return describeLadder(policyOf(kernel, tenant))
}
