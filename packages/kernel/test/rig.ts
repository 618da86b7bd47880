// A kernel on a store in memory, with fixed keys and a manual clock, for tests, vectors and benchmarks.

import {
  formatTrust,
  importSigningKey,
  noteKey,
  parseTrust,
  sealCheckpoint,
  sha256Hex,
  verifyPack,
  writePack,
  type Receipt,
  type Report,
  type SigningKey,
} from '@tollgate/evidence'
import { activatePolicy } from '../src/admin.ts'
import {
  authorize,
  createMemoryStore,
  enforce,
  foundingBatch,
  openKernel,
  type Authorization,
  type Dispatch,
  type Enforced,
  type Host,
  type Kernel,
  type KernelOptions,
  type MemoryStore,
  type Store,
  type ToolCall,
} from '../src/index.ts'
import { parsePolicy, type Policy } from '../src/policy.ts'

export const ORIGIN = 'ledger.example/kernel'
export const WRITER = 'gw-1'
export const START: number = Date.UTC(2026, 0, 5, 9, 0, 0)

/** A host with a manual clock and timers. */
export interface TestHost extends Host {
  time: number
  /** Advances the clock and runs the timers that are due. */
  advance(milliseconds: number): void
  readonly timers: number
}

export function createHost(): TestHost {
  const timers = new Map<number, { at: number; run: () => void }>()
  let made = 0
  let salts = 0
  const host: TestHost = {
    time: START,
    now: () => host.time,
    salt: () => new Uint8Array(Buffer.from(sha256Hex(`salt ${salts++}`), 'hex')),
    after(milliseconds, run) {
      const id = made++
      timers.set(id, { at: host.time + milliseconds, run })
      return () => void timers.delete(id)
    },
    advance(milliseconds) {
      host.time += milliseconds
      for (const [id, { at, run }] of [...timers]) {
        if (at > host.time) continue
        timers.delete(id)
        run()
      }
    },
    get timers() {
      return timers.size
    },
  }
  return host
}

const keys = new Map<string, Promise<SigningKey>>()

/** Returns a key that is the same in every run. */
export function fixedKey(name: string): Promise<SigningKey> {
  let key = keys.get(name)
  if (!key) {
    key = importSigningKey(seedOf(name))
    keys.set(name, key)
  }
  return key
}

/** Returns the seed of a key that is the same in every run. */
export function seedOf(name: string): Uint8Array {
  return new Uint8Array(Buffer.from(sha256Hex(`tollgate kernel test key: ${name}`), 'hex'))
}

/** Everything that a test of the pipeline needs. */
export interface Rig {
  readonly host: TestHost
  readonly store: MemoryStore
  /** The current kernel; `reopen` creates a new one on the same store. */
  kernel: Kernel
  call(fields?: Partial<ToolCall>): ToolCall
  authorize(fields?: Partial<ToolCall>): Promise<Authorization>
  enforce(fields?: Partial<ToolCall>, dispatch?: Dispatch): Promise<Enforced>
  /** Starts a new kernel on the store, as after a crash. */
  reopen(): Promise<Kernel>
  receipts(): readonly Receipt[]
  /** Returns the last receipt of a kind. */
  last<K extends Receipt['kind']>(kind: K): Extract<Receipt, { kind: K }>
  /** Exports the whole ledger as a pack and verifies it with the ledger's key. */
  verify(): Promise<Report>
}

export interface RigOptions {
  /** Text of the policy; `tollgate: 1` and a name are added if missing. */
  readonly policy?: string
  /** The tenants that the policy is activated for. */
  readonly tenants?: readonly string[]
  readonly kernel?: Partial<KernelOptions>
  /** A wrapper of the store, to make it fail. */
  readonly between?: (store: MemoryStore) => Store
}

/** Parses a policy text, which may leave out the first two lines. */
export function policyOf(text: string): Policy {
  const whole = /^tollgate:/m.test(text) ? text : `tollgate: 1\nname: test\n${text}`
  const parsed = parsePolicy(whole)
  if (parsed.ok) return parsed.policy
  throw new Error(parsed.mistakes.map(({ line, message }) => `line ${line}: ${message}`).join('\n'))
}

export async function createRig(options: RigOptions = {}): Promise<Rig> {
  const { policy, tenants = ['default'], kernel = {}, between } = options
  const ledgerKey = await fixedKey('ledger')
  const writerKey = await fixedKey('writer')
  const store = createMemoryStore([ledgerKey, writerKey])
  const host = createHost()
  await store.write(
    foundingBatch({
      origin: ORIGIN,
      writer: WRITER,
      ledgerKey: ledgerKey.publicKey,
      writerKey: writerKey.publicKey,
      time: START,
      ...(kernel.commit && { commit: kernel.commit }),
    }),
  )
  const kernelOptions: KernelOptions = {
    store: between ? between(store) : store,
    host,
    origin: ORIGIN,
    writer: WRITER,
    key: writerKey.publicKey.id,
    ...kernel,
  }
  const texts = new Map<string, Uint8Array>()
  const rig: Rig = {
    host,
    store,
    kernel: await openKernel(kernelOptions),
    call: (fields = {}) => ({
      caller: { tenant: 'default', principal: 'agent:ci' },
      door: 'mcp',
      assurance: 'enforced',
      tool: 'fs/read_file',
      session_id: 's1',
      ...fields,
    }),
    authorize: (fields) => authorize(rig.kernel, rig.call(fields)),
    enforce: (
      fields,
      dispatch = () => Promise.resolve({ status: 'COMPLETED', output: new Uint8Array([1]) }),
    ) => enforce(rig.kernel, rig.call(fields), dispatch),
    async reopen() {
      rig.kernel = await openKernel(kernelOptions)
      return rig.kernel
    },
    receipts: () => store.entries.map(({ receipt }) => receipt),
    last(kind) {
      const found = store.entries.findLast(({ receipt }) => receipt.kind === kind)?.receipt
      if (!found) throw new Error(`no ${kind} receipt`)
      return found as Extract<Receipt, { kind: typeof kind }>
    },
    async verify() {
      for (const [name, text] of store.records) {
        if (name.startsWith('text\n')) texts.set(name.slice(5), new TextEncoder().encode(text))
      }
      const { size, root } = store.tree()
      const checkpoint = await sealCheckpoint({ origin: ORIGIN, size, root }, [ledgerKey])
      const reader = store.reader(checkpoint, (hash) => texts.get(hash))
      const trust = await parseTrust(
        formatTrust({
          ledger: ORIGIN,
          keys: [noteKey(ORIGIN, ledgerKey.publicKey)],
          witnesses: [],
          quorum: 0,
        }),
      )
      return verifyPack(writePack(reader, { range: { start: 0, end: size } }), { trust })
    },
  }
  for (const tenant of policy === undefined ? [] : tenants) {
    await activatePolicy(rig.kernel, policyOf(policy ?? ''), 'user:olga', tenant)
  }
  return rig
}
