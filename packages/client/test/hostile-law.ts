// Checks the law of a guard under random faults: a tool runs at most once per call, only on an ALLOW for exactly this call, and its
// effect is recorded at most once.

import fc from 'fast-check'
import { expect } from 'vitest'
import { canonicalize, sha256Hex, type Decision } from '../../evidence/src/index.ts'
import { createClient, EffectUnreported, ToolFailed, Withheld, type Client } from '../src/index.ts'
import type { Fault } from './stand-in-faults.ts'
import { AGENT_TOKEN, OPERATOR_TOKEN, startStandIn, type Asked, type StandIn } from './stand-in.ts'

const TOOLS = ['fs/read_file', 'mail/send', 'fs/delete'] as const

/** The faults of the requests to a path, in order. */
interface Weather {
  readonly evaluate: readonly (Fault | undefined)[]
  readonly effects: readonly (Fault | undefined)[]
  readonly approvals: readonly (Fault | undefined)[]
}

const verdicts = fc.constantFrom('allow', 'ALLOWED', 'Allow', '', null, true, 1, ['ALLOW'])
const lost: fc.Arbitrary<Fault | undefined> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  fc.constantFrom<Fault>(
    { kind: 'drop-before' },
    { kind: 'drop-after' },
    { kind: 'twice' },
    { kind: 'cut' },
    { kind: 'half' },
    { kind: 'hang' },
    { kind: 'delay', milliseconds: 20 },
    { kind: 'type', type: 'text/html' },
    { kind: 'redirect', to: '/v1/status' },
  ),
  fc.record({ kind: fc.constant('garbage' as const), text: fc.oneof(fc.string(), fc.json()) }),
  fc.record({
    kind: fc.constant('status' as const),
    status: fc.constantFrom(400, 404, 429, 500, 502, 503, 504),
  }),
  fc.record({ kind: fc.constant('status-after' as const), status: fc.constantFrom(204, 500, 502, 503, 504) }),
)
const spoiled: fc.Arbitrary<Fault | undefined> = fc.oneof(
  { weight: 4, arbitrary: lost },
  fc.record({ kind: fc.constant('members' as const), members: fc.record({ verdict: verdicts }) }),
  fc.record({
    kind: fc.constant('members' as const),
    members: fc.oneof(
      fc.record({ receipt: fc.constantFrom(null, '', 'abc', 7, undefined) }),
      fc.record({ expires: fc.constantFrom(null, '', '2020-01-01T00:00:00.000Z', undefined) }),
      fc.record({ reason_code: fc.constantFrom(null, 'NO_RULE_MATCHED', 'YES') }),
    ),
  }),
)

// An answer without a delivery.
const misdelivered: fc.Arbitrary<Fault> = fc.record({
  kind: fc.constant('members' as const),
  members: fc.oneof(
    fc.record({ delivery: fc.constantFrom('FULL', '', null, true, 'redacted', undefined) }),
    fc.record({ output: fc.constantFrom(1, 'x', null) }),
    fc.record({ labels: fc.constantFrom(null, 'x', [1]) }),
  ),
})

const weather: fc.Arbitrary<Weather> = fc.record({
  evaluate: fc.array(spoiled, { maxLength: 8 }),
  effects: fc.array(fc.oneof({ weight: 4, arbitrary: lost }, misdelivered), { maxLength: 6 }),
  approvals: fc.array(lost, { maxLength: 4 }),
})
const calls = fc.array(fc.record({ tool: fc.constantFrom(...TOOLS), throws: fc.boolean() }), {
  minLength: 1,
  maxLength: 3,
})

/** Counts of outcomes, to show that each was tested. */
export interface Tally {
  ran: number
  kept: number
  unreported: number
}

// The checks read the whole ledger, so it is replaced regularly.
const STORMS_A_LEDGER = 100

/** Checks the law in this many rounds. */
export async function holdLaw(storms: number): Promise<Tally> {
  const tally: Tally = { ran: 0, kept: 0, unreported: 0 }
  for (let left = storms; left > 0; left -= STORMS_A_LEDGER)
    await holdOn(Math.min(left, STORMS_A_LEDGER), tally)
  return tally
}

async function holdOn(storms: number, tally: Tally): Promise<void> {
  let queues: Record<keyof Weather, (Fault | undefined)[]> = { evaluate: [], effects: [], approvals: [] }
  const fault = ({ path, method }: Asked): Fault | undefined => {
    if (path === '/v1/evaluate') return queues.evaluate.shift()
    if (path === '/v1/effects') return queues.effects.shift()
    return method === 'GET' && path.startsWith('/v1/approvals/') ? queues.approvals.shift() : undefined
  }
  const gateway = await startStandIn({ fault })
  const client = connect(gateway, AGENT_TOKEN)
  const operator = connect(gateway, OPERATOR_TOKEN)
  let number = 0
  try {
    await fc.assert(
      fc.asyncProperty(weather, calls, async ({ evaluate, effects, approvals }, made) => {
        queues = { evaluate: [...evaluate], effects: [...effects], approvals: [...approvals] }
        await Promise.all(
          made.map((call) => holdFor(gateway, client, operator, { ...call, number: number++ }, tally)),
        )
      }),
      { numRuns: storms, endOnFailure: true },
    )
  } finally {
    await gateway.close()
  }
}

/** A client whose clock runs twenty times as fast. */
function connect({ url }: StandIn, token: string): Client {
  const after = (milliseconds: number, run: () => void): (() => void) => {
    const timer = setTimeout(run, milliseconds / 20)
    return () => clearTimeout(timer)
  }
  return createClient({ url, token, after, timeout: 4_000, retries: 2 })
}

interface Made {
  readonly tool: string
  readonly throws: boolean
  readonly number: number
}

async function holdFor(
  gateway: StandIn,
  client: Client,
  operator: Client,
  { tool, throws, number }: Made,
  tally: Tally,
): Promise<void> {
  const args = { number }
  const runs: string[] = []
  const guarded = client.guard(
    tool,
    (given: object, { receipt }) => {
      expect(given).toEqual({ number })
      runs.push(receipt)
      if (throws) throw new Error('the tool failed')
      return number
    },
    {
      approval: {
        wait: 4_000,
        onWaiting: ({ id }) => void operator.approvals.approve(id).catch(() => undefined),
      },
    },
  )
  const running = guarded(args)
  args.number = -1
  const ended = await running.then(
    (result) => ({ result }),
    (thrown: unknown) => ({ thrown }),
  )
  checkRuns(gateway, { tool, number, runs })
  const told = 'thrown' in ended && (ended.thrown instanceof Withheld || ended.thrown instanceof ToolFailed)
  const reported = told || !('thrown' in ended)
  const unreported = 'thrown' in ended && ended.thrown instanceof EffectUnreported
  expect(runs.length, 'a call ends normally, or as unreported, exactly if its tool ran').toBe(
    reported || unreported ? 1 : 0,
  )
  if (reported) expect(effectsOf(gateway, runs[0])).toBe(1)
  tally.ran += runs.length
  tally.kept += 1 - runs.length
  tally.unreported += unreported ? 1 : 0
}

/** At most one run, on an ALLOW of the ledger for this tool with these arguments, recorded at most once. */
function checkRuns(
  gateway: StandIn,
  { tool, number, runs }: { tool: string; number: number; runs: string[] },
): void {
  expect(runs.length).toBeLessThanOrEqual(1)
  for (const receipt of runs) {
    const sealed = gateway.ledger.entries.find(({ id }) => id === receipt)
    // Sound: the checks below fail for anything else.
    const decision = sealed?.receipt as Decision | undefined
    expect(decision).toMatchObject({ kind: 'decision', verdict: 'ALLOW', tool })
    expect(decision?.args_hash).toBe(sha256Hex(canonicalize({ number })))
    expect(effectsOf(gateway, receipt)).toBeLessThanOrEqual(1)
  }
}

function effectsOf(gateway: StandIn, decision: string | undefined): number {
  return gateway.receipts('effect').filter((effect) => effect.decision === decision).length
}
