import { describe, expect, test } from 'vitest'
import {
  activatePolicy,
  answerRequest,
  definitionOf,
  pinTool,
  setFreeze,
  setObserve,
  unpinTool,
} from '../../src/admin.ts'
import { authorize, complete, openKernel, type Kernel } from '../../src/index.ts'
import { createHost, fixedKey, ORIGIN, policyOf } from '../rig.ts'
import { createSharedMemory, type SharedStore } from './shared-memory.ts'

const POLICY = `
principals: { "agent:*": { tier: standard } }
tools: { "notes/read": { effect: read, destinations: none }, "notes/list": { effect: read, destinations: none }, "mail/send": { effect: send, destinations: none } }
rules: [{ id: notes, allow: "notes/*" }, { id: mail, require: "mail/send" }]
gates: { temporal: { rate: { "notes/*": { session: 3/300day } } } }
`

const BY = { by: 'user:olga' } as const
const DEFINITION = definitionOf({ name: 'read', inputSchema: { type: 'object' } })

interface Gateway {
  readonly kernel: Kernel
  readonly store: SharedStore
}

async function openAs(store: SharedStore, writer: string): Promise<Kernel> {
  const { publicKey } = await fixedKey('writer')
  const kernel = await openKernel({ store, host: createHost(), origin: ORIGIN, writer, key: publicKey.id })
  kernel.catalogue.offer('notes/read', DEFINITION)
  return kernel
}

async function twoGateways(): Promise<{ a: Gateway; b: Gateway; fresh: () => Promise<Kernel> }> {
  const open = await createSharedMemory()
  const [first, second] = [open('gw-a'), open('gw-b')]
  const a = { kernel: await openAs(first, 'gw-a'), store: first }
  await activatePolicy(a.kernel, policyOf(POLICY), 'user:olga')
  return {
    a,
    b: { kernel: await openAs(second, 'gw-b'), store: second },
    fresh: () => openAs(open('gw-c'), 'gw-c'),
  }
}

function call(tool: string, kernel: Kernel) {
  return authorize(kernel, {
    caller: { tenant: 'default', principal: 'agent:ci' },
    door: 'mcp',
    assurance: 'enforced',
    tool,
    args: {},
    session_id: 's1',
  })
}

/** Everything that a kernel remembers and other gateways can change. */
function remembered(kernel: Kernel): unknown {
  const { freezes, catalogue, observing, policies, approvals, openings, flooding } = kernel
  const open = openings.all().map(({ id }) => id)
  return {
    freezes: (['all', 'principal', 'tool', 'session'] as const).map((scope) => freezes.count(scope)),
    pinned: catalogue.pinned('notes/read'),
    observing: observing.list(kernel.host.now()).map(({ target }) => target),
    policy: policies.get('default')?.hash,
    approvals: approvals.list(kernel.host.now()).map(({ id }) => id),
    open: open.sort(),
    charged: openings.chargedTo({ tenant: 'default', principal: 'agent:ci' }),
    flooding: [...flooding],
  }
}

/** Runs an empty turn, which takes up what the others have written. */
async function catchUp({ kernel }: Gateway): Promise<void> {
  await kernel.ledger.append({ run: () => undefined })
}

const ACTS: readonly (readonly [string, (kernel: Kernel) => Promise<unknown>])[] = [
  [
    'freezes a tool',
    (kernel) => setFreeze(kernel, { scope: 'tool', target: 'notes/read', frozen: true, ...BY }),
  ],
  ['freezes everything', (kernel) => setFreeze(kernel, { scope: 'all', frozen: true, ...BY })],
  ['pins a tool', (kernel) => pinTool(kernel, 'notes/read', DEFINITION.hash, 'user:olga')],
  [
    'pins and unpins a tool',
    async (kernel) => {
      await pinTool(kernel, 'notes/read', DEFINITION.hash, 'user:olga')
      await unpinTool(kernel, 'notes/read', 'user:olga')
    },
  ],
  ['observes a door', (kernel) => setObserve(kernel, { scope: 'door', target: 'mcp', lasts: 60_000, ...BY })],
  ['activates a policy', (kernel) => activatePolicy(kernel, policyOf(`${POLICY}# changed`), 'user:olga')],
  ['allows a call', (kernel) => call('notes/list', kernel)],
  [
    'allows and completes a call',
    async (kernel) => {
      const { permit } = await call('notes/list', kernel)
      if (permit) await complete(kernel, permit, { status: 'COMPLETED', output: new Uint8Array() })
    },
  ],
  ['asks a person', (kernel) => call('mail/send', kernel)],
  [
    'asks a person and uses the answer',
    async (kernel) => {
      const { decided } = await call('mail/send', kernel)
      const order = {
        tenant: 'default',
        request: decided.approval ?? '',
        granted: true,
        approver: 'user:olga',
      }
      await answerRequest(kernel, order)
      await call('mail/send', kernel)
    },
  ],
]

describe('a gateway that', () => {
  test.each(ACTS)('%s is followed by the others', async (_, act) => {
    const { a, b, fresh } = await twoGateways()
    await act(a.kernel)
    await catchUp(b)
    expect(remembered(b.kernel)).toEqual(remembered(a.kernel))
    expect(remembered(await fresh())).toEqual(remembered(a.kernel))
  })

  test.each(ACTS)('%s leaves no trace of a refused batch', async (_, act) => {
    const { b, fresh } = await twoGateways()
    b.store.refusals = 3
    await act(b.kernel)
    expect(remembered(b.kernel)).toEqual(remembered(await fresh()))
    // After two refusals the others had to wait.
    expect(b.store.holds).toBeGreaterThan(0)
  })

  test('decides again if another gateway was faster counts that call', async () => {
    const { a, b } = await twoGateways()
    const verdicts: string[] = []
    for (let i = 0; i < 4; i++) {
      const both = await Promise.all([call('notes/list', a.kernel), call('notes/list', b.kernel)])
      verdicts.push(...both.map(({ decided }) => decided.verdict))
    }
    expect(verdicts.filter((verdict) => verdict === 'ALLOW')).toHaveLength(3)
  })

  test('starts again closes only its own open calls', async () => {
    const { a, b, fresh } = await twoGateways()
    const [{ decided: own }, { decided: other }] = [
      await call('notes/list', a.kernel),
      await call('notes/list', b.kernel),
    ]
    await openAs(a.store, 'gw-a')
    const open = (await fresh()).openings.all().map(({ id }) => id)
    expect(open).toEqual([other.receipt])
    expect(open).not.toContain(own.receipt)
  })

  test('cannot write denies every call that waits, and every later one', async () => {
    const { a } = await twoGateways()
    a.store.write = () => Promise.reject(new Error('the disk is gone'))
    const calls = await Promise.all([call('notes/list', a.kernel), call('notes/list', a.kernel)])
    calls.push(await call('notes/list', a.kernel))
    expect(calls.map(({ decided }) => decided.reason)).toEqual(Array(3).fill('LEDGER_UNAVAILABLE'))
    expect(calls.every(({ permit }) => permit === undefined)).toBe(true)
  })

  test('cannot learn the changes of the others decides nothing', async () => {
    const { a } = await twoGateways()
    if (a.store.others) a.store.others.changes = () => Promise.reject(new Error('the server is gone'))
    expect((await call('notes/list', a.kernel)).decided.reason).toBe('LEDGER_UNAVAILABLE')
  })
})
