// Measures the decision pipeline compared with one signature, and the cost of session state.

import { generateKeyPairSync, sign } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { importSigningKey, type SigningKey } from '@tollgate/evidence'
import {
  authorize,
  capture,
  complete,
  createMemoryStore,
  foundingBatch,
  NEW_PRINCIPAL,
  NEW_SESSION,
  openKernel,
  policyOf,
  snapshotOf,
  type Kernel,
  type KernelOptions,
  type Permit,
  type Store,
  type ToolCall,
} from '@tollgate/kernel'
import { activatePolicy } from '@tollgate/kernel/admin'
import { parsePolicy } from '@tollgate/kernel/policy'
import { beside, quantile, sized, type Row } from './measure.ts'

const ORIGIN = 'ledger.example/bench'
const START = Date.UTC(2026, 0, 5)
const SESSIONS = Number(process.env.TOLLGATE_BENCH_SESSIONS ?? sized(1_000_000, 50))

export async function* kernelRows(say: (line: string) => void): AsyncGenerator<Row> {
  // First, while there is no other garbage to collect.
  say(`kernel: ${SESSIONS.toLocaleString('en-US')} sessions, one call each …`)
  yield* forgetting()
  for (const atOnce of [1, 64]) {
    for (const [rules, target] of [[50, 3.0] as const, [1000, 3.4] as const]) {
      const name = `authorize, ${rules} rules`
      yield await authorizing({ area: 'kernel', name, policy: rulesOf(rules), call: callAt, target, atOnce })
    }
  }
  yield* remembering()
}

/** A call and its target. */
export interface Authorizing {
  readonly area: string
  readonly name: string
  readonly policy: string
  readonly call: (i: number) => ToolCall
  readonly target: number
  readonly atOnce: number
}

/**
 * A full `authorize`: capture, ladder, policy, chain, signature, tree and an in-memory store. One at a time measures the
 * latency of a single caller; 64 at once are written together, as in a busy gateway.
 */
export async function authorizing({ area, name, policy, call, target, atOnce }: Authorizing): Promise<Row> {
  const kernel = await kernelWith(policy)
  const bare = generateKeyPairSync('ed25519').privateKey
  const message = Buffer.alloc(1250, 7)
  const calls = Array.from({ length: 1024 }, (_, i) => call(i))
  let sent = 0
  let permits: (Permit | undefined)[] = []
  const { work, floor, ratio } = await beside(
    async () => {
      sent = (sent + atOnce) % calls.length
      const group = calls.slice(sent, sent + atOnce).map((each) => authorize(kernel, each))
      for (const { permit } of await Promise.all(group)) permits.push(permit)
    },
    () => {
      for (let j = 0; j < atOnce; j++) sign(null, message, bare)
    },
    {
      rounds: sized(101, 1),
      calls: sized(128, 64) / atOnce,
      warm: sized(100, 1),
      // Calls are closed: open ones would be measured as memory, not as time.
      between: async () => {
        for (const permit of permits) {
          if (!permit) throw new Error('a call of the benchmark was not allowed')
          await complete(kernel, permit, { status: 'CANCELLED' })
        }
        permits = []
      },
    },
  )
  return {
    area,
    name: `${name}, ${atOnce} at once`,
    value: work / atOnce,
    unit: 'µs',
    floor: floor / atOnce,
    ratio,
    target: `≤ ${target.toFixed(1)} × a bare signature`,
    pass: ratio <= target,
  }
}

/** The cost of session risk per call: words, facts, both histories and the score. Destinations belong to another step. */
async function* remembering(): AsyncGenerator<Row> {
  const kernel = await kernelWith(rulesOf(50))
  const { freezes, catalogue } = kernel
  const policy = policyOf(kernel, kernel.tenant)
  const intents = Array.from({ length: 1000 }, (_, i) => capture(callAt(i)))
  const warm = sized(20_000, 10)
  const times = new Float64Array(sized(50_000, 50))
  let { session, principal } = { session: NEW_SESSION, principal: NEW_PRINCIPAL }
  for (let i = -warm; i < times.length; i++) {
    const intent = intents[Math.abs(i) % 1000] ?? capture(callAt(0))
    const tool = catalogue.find(intent.tool, policy)
    const time = START + i + warm
    const snapshot = snapshotOf(intent, { ...ALONE, time, policy, freezes, tool, session, principal })
    snapshot.egress()
    const began = process.hrtime.bigint()
    snapshot.assessment()
    const took = Number(process.hrtime.bigint() - began) / 1e3
    if (i >= 0) times[i] = took
    session = { ...session, risk: snapshot.turn().risk }
    principal = { ...principal, leak: snapshot.turn().leak }
  }
  for (const [name, share, target] of [['p50', 0.5, 10] as const, ['p99', 0.99, 50] as const]) {
    const value = quantile(times, share)
    yield alone(`session risk update, ${name}`, value, 'µs', `≤ ${target} µs`, value <= target)
  }
}

/** The snapshot of a call without its session. */
const ALONE = {
  tenant: undefined,
  lineage: undefined,
  chain: undefined,
  data: undefined,
  key: () => '',
  trusted: undefined,
  observation: undefined,
  observed: 'agent',
  asked: false,
  observing: false,
} as const

/** Many sessions with one call each: the memory of a live session, and whether idle ones are released. */
async function* forgetting(): AsyncGenerator<Row> {
  const live = sized(20_000, 50)
  const kernel = await kernelWith(DENY_ALL, { maxRemembered: live + 10 }, forgetful)
  const before = heapAfterCollecting()
  for (let i = 0; i < live; i++) await authorize(kernel, { ...SHORT, session_id: `session-${i}` })
  const taken = heapAfterCollecting() - before
  // Asked afterwards, so that the kernel is still alive while its memory is measured.
  const each = taken / kernel.ledger.remembered
  yield alone('memory of a live session', each, 'bytes', '≤ 2,000 bytes', each <= 2000)

  const idle = await kernelWith(DENY_ALL, {}, forgetful)
  const empty = heapAfterCollecting()
  for (let i = 0; i < SESSIONS; i++) await authorize(idle, { ...SHORT, session_id: `session-${i}` })
  const megabytes = (heapAfterCollecting() - empty) / 1e6
  const name = `memory after ${SESSIONS.toLocaleString('en-US')} sessions`
  yield alone(name, megabytes, 'MB', '≤ 30 MB', megabytes <= 30 && idle.ledger.remembered <= 10_002)
}

function alone(name: string, value: number, unit: string, target: string, pass: boolean): Row {
  return { area: 'kernel', name, value, unit, floor: null, ratio: null, target, pass }
}

function heapAfterCollecting(): number {
  setFlagsFromString('--expose-gc')
  // Sound: the flag provides it.
  const collect = runInNewContext('gc') as () => void
  // Weakly referenced objects are collected in a later round.
  for (let i = 0; i < 4; i++) collect()
  return process.memoryUsage().heapUsed
}

/** A store that keeps only the founding batch, so that the measured memory is that of the kernel. */
function forgetful(inner: Store): Store {
  return {
    ...inner,
    write: () => Promise.resolve(),
    load: (names) => inner.load(names.map((name) => (name === 'genesis' ? name : ''))),
  }
}

/** A kernel with the real policy, ladder, signature and tree, on an in-memory store. */
async function kernelWith(
  text: string,
  options: Partial<KernelOptions> = {},
  between: (store: Store) => Store = (store) => store,
): Promise<Kernel> {
  const [ledgerKey, writerKey] = [await keyOf(1), await keyOf(2)]
  const store = createMemoryStore([ledgerKey, writerKey])
  await store.write(
    foundingBatch({
      origin: ORIGIN,
      writer: 'gw-1',
      ledgerKey: ledgerKey.publicKey,
      writerKey: writerKey.publicKey,
      time: START,
    }),
  )
  let time = START
  const kernel = await openKernel({
    store: between(store),
    host: { now: () => (time += 7), salt: () => new Uint8Array(32), after: () => () => undefined },
    origin: ORIGIN,
    writer: 'gw-1',
    key: writerKey.publicKey.id,
    quota: { calls: 1_000_000_000, period: 1000 },
    storage: 2 ** 50,
    ...options,
  })
  const parsed = parsePolicy(text)
  if (!parsed.ok) throw new Error(parsed.mistakes.map(({ message }) => message).join('; '))
  await activatePolicy(kernel, parsed.policy, 'user:olga')
  return kernel
}

function keyOf(byte: number): Promise<SigningKey> {
  return importSigningKey(new Uint8Array(32).fill(byte))
}

/** A policy with this many rules. Every tenth matches the called tool and checks its arguments. */
export function rulesOf(rules: number): string {
  const lines = Array.from({ length: rules - 1 }, (_, i) =>
    i % 10 === 0
      ? `  - { id: rule-${i}, deny: "files/*", when: 'args.path.startsWith("/secret/${i}/")' }`
      : `  - { id: rule-${i}, allow: "server-${i}/*", when: 'args.amount < 100.0' }`,
  )
  return `
tollgate: 1
name: bench
tools:
  "files/write": { effect: write, schema: ${SCHEMA} }
rules:
${lines.join('\n')}
  - { id: last, allow: "files/write" }
gates:
  egress: { allow: ["example.com"] }
`
}

const DENY_ALL = `
tollgate: 1
name: bench
tools: { "files/read": { effect: read } }
rules: [{ id: none, deny: "*" }]
`

const SCHEMA = JSON.stringify({
  type: 'object',
  properties: {
    path: { type: 'string' },
    content: { type: 'string' },
    mode: { enum: ['create', 'replace'] },
    tags: { type: 'array', items: { type: 'string' } },
    owner: { type: 'object', properties: { name: { type: 'string' }, id: { type: 'integer' } } },
  },
  required: ['path', 'content'],
})

const SHORT: ToolCall = {
  caller: { tenant: 'default', principal: 'agent:ci' },
  door: 'mcp',
  assurance: 'enforced',
  tool: 'files/read',
  args: { path: 'a' },
}

const WORDS = 'The quarterly figures are in; the chart on page two needs another look before Monday. '

/** A call with 1 KB of arguments. */
export function callAt(i: number): ToolCall {
  return {
    ...SHORT,
    session_id: `s${i % 16}`,
    tool: 'files/write',
    args: {
      path: `/home/user/notes/2026/report-${i}.md`,
      content: WORDS.repeat(9),
      mode: 'replace',
      tags: ['figures', 'draft', 'monday', 'chart'],
      owner: { name: 'Olga', id: 1000 + i },
    },
  }
}
