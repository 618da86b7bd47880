// Creates the environment of a case: its own kernel on a ledger in memory, with a clock under control of the case. Everything
// else is the code of the gateway.

import { fromHex, importSigningKey, sha256Hex, type PublicKey, type SigningKey } from '@tollgate/evidence'
import { createMemoryStore, foundingBatch, openKernel, type Host, type Kernel } from '@tollgate/kernel'
import { activatePolicy } from '@tollgate/kernel/admin'
import type { Policy } from '@tollgate/kernel/policy'

export interface Stage {
  readonly kernel: Kernel
  /** The signing keys of delegators. They replace the keys in the policy. */
  readonly delegators: (name: string) => SigningKey | undefined
  /** The time of the case in milliseconds. */
  now(): number
  /** Advances the time. */
  pass(milliseconds: number): void
}

/** Creates stages for one policy. */
export interface Stages {
  open(at: number, tenant: string): Promise<Stage>
}

/** Origin of the ledgers of cases. */
export const CASE_LEDGER = 'tollgate.local/cases'

/** Creates stages. The keys come from fixed bytes, because nothing is stored. */
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

/** The policy with test keys instead of the real keys of its delegators. */
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
      // Tools of a case answer at once, so no timeout is needed.
      after: () => () => undefined,
    },
  }
}
