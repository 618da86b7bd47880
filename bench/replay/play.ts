// One run through the real kernel, call by call: decided, and if it was allowed, closed with the recorded answer, so that all that
// a session remembers is remembered.

import { importSigningKey } from '@tollgate/evidence'
import {
  createMemoryStore,
  enforce,
  foundingBatch,
  LADDER,
  openKernel,
  type Decided,
  type Kernel,
  type ToolCall,
} from '@tollgate/kernel'
import { activatePolicy, setScope } from '@tollgate/kernel/admin'
import type { Policy } from '@tollgate/kernel/policy'
import type { Run, Step } from './runs.ts'
import type { ScopeOf } from './scopes.ts'

const ORIGIN = 'ledger.example/replay'
const START = Date.UTC(2026, 0, 5)
const SECOND = 1000
const TENANT = 'default'
const SESSION = 'run'

/** Replays runs under one policy. */
export interface Player {
  /** What was decided of each call, in order; the replay ends behind the call at `last`. */
  play(run: Run, last?: number): Promise<readonly Decided[]>
  /** Microseconds that each call took, decision and effect. */
  readonly times: number[]
}

// A kernel on a store in memory keeps all receipts; after so many runs another one takes over.
const RUNS_EACH = 500

interface Running {
  readonly kernel: Kernel
  readonly clock: { time: number }
}

/** A player under a policy, for sessions with these scopes. */
export function createPlayer(
  policy: Policy,
  scopeOf: ScopeOf = () => undefined,
  ladder: typeof LADDER = LADDER,
): Player {
  let running: Running | undefined
  let runs = 0
  const times: number[] = []
  return {
    times,
    async play(run, last = Infinity) {
      const current = (running = runs++ % RUNS_EACH === 0 || !running ? await start(policy, ladder) : running)
      const principal = `agent:${runs}`
      const scope = scopeOf(run)
      const order = { tenant: TENANT, principal, session: SESSION, by: 'host:replay', as: 'host' } as const
      if (scope) await setScope(current.kernel, { ...order, scope })
      const decisions: Decided[] = []
      for (const [at, step] of run.steps.slice(0, last + 1).entries()) {
        current.clock.time += 3 * SECOND
        const began = process.hrtime.bigint()
        const call = callOf(principal, step, at === 0 ? run.prompt : undefined)
        const { decided } = await enforce(current.kernel, call, () => answerOf(step))
        times.push(Number(process.hrtime.bigint() - began) / 1e3)
        decisions.push(decided)
      }
      return decisions
    },
  }
}

// As long as a source may be.
const MOST_WORDS = 32_000

/** The call as a door would bring it: the user's words come with the first. Every run is somebody else's. */
function callOf(principal: string, { tool, args }: Step, prompt: string | undefined): ToolCall {
  return {
    caller: { tenant: TENANT, principal },
    door: 'mcp',
    assurance: 'enforced',
    session_id: SESSION,
    tool,
    args,
    ...(prompt !== undefined && { sources: [{ source_channel: 'USER', text: prompt.slice(0, MOST_WORDS) }] }),
  }
}

const utf8 = new TextEncoder()

function answerOf({ output = '' }: Step): ReturnType<Parameters<typeof enforce>[2]> {
  return Promise.resolve({ status: 'COMPLETED', output: utf8.encode(output), content: output })
}

async function start(policy: Policy, ladder: typeof LADDER): Promise<Running> {
  const ledgerKey = await importSigningKey(new Uint8Array(32).fill(1))
  const writerKey = await importSigningKey(new Uint8Array(32).fill(2))
  const store = createMemoryStore([ledgerKey, writerKey])
  const keys = { ledgerKey: ledgerKey.publicKey, writerKey: writerKey.publicKey }
  await store.write(foundingBatch({ origin: ORIGIN, writer: 'gw-1', ...keys, time: START }))
  const clock = { time: START }
  let salts = 0n
  const host = {
    now: () => clock.time,
    salt: () => new Uint8Array(new BigUint64Array([++salts, 0n, 0n, 0n]).buffer),
    after: () => () => undefined,
  }
  const quota = { calls: 1_000_000_000, period: SECOND }
  const kernel = await openKernel({
    store,
    host,
    origin: ORIGIN,
    writer: 'gw-1',
    key: keys.writerKey.id,
    quota,
    storage: 2 ** 50,
  })
  await activatePolicy(kernel, policy, 'user:olga')
  return { kernel: { ...kernel, ladder }, clock }
}
