// Where a case takes place: a kernel of its own on a ledger in memory, with a clock that the case turns. Everything else is
// what the gateway runs.

import { fromHex, importSigningKey, sha256Hex, type PublicKey, type SigningKey } from '@tollgate/evidence'
import { createMemoryStore, foundingBatch, openKernel, type Host, type Kernel } from '@tollgate/kernel'
import { activatePolicy } from '@tollgate/kernel/admin'
import type { Policy } from '@tollgate/kernel/policy'

/** A kernel that a case plays on. */
export interface Stage {
  readonly kernel: Kernel
  /** What every delegation of the case is signed with: the policy's own keys are replaced by it. */
  readonly delegators: (name: string) => SigningKey | undefined
  /** The moment of the case, in milliseconds. */
  now(): number
  /** Lets time pass. */
  pass(milliseconds: number): void
}

/** Makes stages for one policy. */
export interface Stages {
  open(at: number, tenant: string): Promise<Stage>
}

/** Origin of the ledgers of cases. */
export const CASE_LEDGER = 'tollgate.local/cases'

/** Makes stages. Nothing outlives them, so that keys from fixed bytes do. */
export async function createStages(policy: Policy): Promise<Stages> {
  const ledgerKey = await keyOf('ledger')
  const writerKey = await keyOf('writer')
  const { played, delegators } = await withOurKeys(policy)
  return {
    async open(at, tenant) {
      const clock = createClock(at)
      const store = createMemoryStore([ledgerKey, writerKey])
      await store.write(
        foundingBatch({ ...founding(ledgerKey.publicKey, writerKey.publicKey), tenant, time: at }),
      )
      const kernel = await openKernel({
        store,
        host: clock.host,
        origin: CASE_LEDGER,
        writer: WRITER,
        key: writerKey.publicKey.id,
        tenant,
      })
      await activatePolicy(kernel, played, 'user:cases', tenant)
      return { kernel, delegators: (name) => delegators.get(name), now: clock.now, pass: clock.pass }
    },
  }
}

const WRITER = 'cases'

function founding(
  ledgerKey: PublicKey,
  writerKey: PublicKey,
): { origin: string; writer: string; ledgerKey: PublicKey; writerKey: PublicKey } {
  return { origin: CASE_LEDGER, writer: WRITER, ledgerKey, writerKey }
}

/** The policy with keys that we hold in place of those of its delegators: nobody tests with the real ones. */
async function withOurKeys(
  policy: Policy,
): Promise<{ readonly played: Policy; readonly delegators: ReadonlyMap<string, SigningKey> }> {
  const delegators = new Map<string, SigningKey>()
  for (const { name, key } of policy.principals) {
    if (key) delegators.set(name.source, await keyOf(`delegator ${name.source}`))
  }
  if (delegators.size === 0) return { played: policy, delegators }
  const principals = policy.principals.map((each) => {
    const ours = delegators.get(each.name.source)
    return ours ? { ...each, key: ours.publicKey } : each
  })
  return { played: { ...policy, principals }, delegators }
}

function keyOf(name: string): Promise<SigningKey> {
  return importSigningKey(bytesOf(`tollgate case ${name}`))
}

function bytesOf(text: string): Uint8Array {
  return fromHex(sha256Hex(text)) ?? new Uint8Array(32)
}

interface Clock {
  readonly host: Host
  readonly now: () => number
  readonly pass: (milliseconds: number) => void
}

function createClock(start: number): Clock {
  let time = start
  let salts = 0
  return {
    now: () => time,
    pass: (milliseconds) => void (time += milliseconds),
    host: {
      now: () => time,
      salt: () => bytesOf(`salt ${salts++}`),
      // Tools of a case answer at once: nothing ever waits for so long.
      after: () => () => undefined,
    },
  }
}
