import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import {
  assess,
  decimal,
  DEFAULT_RISK,
  grown,
  leaked,
  NO_MEMORY,
  remember,
  signalOf,
  type Axes,
  type Leak,
  type RiskMemory,
} from '../../../src/gates/session-risk/risk.ts'
import { ONE } from '../../../src/units.ts'
import { activatePolicy } from '../../../src/admin.ts'
import { createRig, policyOf, type Rig } from '../../rig.ts'

const quiet: Axes = { exfiltration: 0, privilege: 0, compliance: 0 }
const axis = (exfiltration: number): Axes => ({ ...quiet, exfiltration })
const MINUTE = 60_000

/** Plays a session of turns. Returns the score after the last turn, and the first turn that was too risky. */
function play(
  turns: readonly Axes[],
  step = 1000,
): { score: number; denied: number | undefined; memory: RiskMemory } {
  let memory = NO_MEMORY
  let denied: number | undefined
  let score = 0
  turns.forEach((axes, i) => {
    memory = remember(memory, axes, i * step, DEFAULT_RISK)
    const assessment = assess(memory, [], i * step, DEFAULT_RISK)
    score = assessment.score
    if (assessment.tooRisky) denied ??= i + 1
  })
  return { score, denied, memory }
}

describe('the arithmetic', () => {
  it('matches the documentation exactly', () => {
    // 0.46 per turn: the average takes 2/9 of 0.31, the sum a fifth of 0.38.
    const one = play([axis(460_000)])
    expect([one.memory.average, one.memory.leak.sum, one.score]).toEqual([68_888, 76_000, 76_000])
    const two = play([axis(460_000), axis(460_000)], 0)
    expect([two.memory.average, two.memory.leak.sum]).toEqual([68_888 + 53_580, 152_000])
  })

  it('takes the highest axis plus half of the others', () => {
    expect(signalOf({ exfiltration: 300_000, privilege: 100_000, compliance: 51_001 })).toBe(375_500)
    expect(signalOf({ exfiltration: ONE, privilege: ONE, compliance: ONE })).toBe(ONE)
  })

  it('writes four decimal places, truncated', () => {
    expect([0, 99, 100, 380_000, 999_999, ONE].map(decimal)).toEqual([
      '0.0000',
      '0.0000',
      '0.0001',
      '0.3800',
      '0.9999',
      '1.0000',
    ])
  })

  it('halves the sum every half-life, decays linearly in between, and ends at zero', () => {
    const leak: Leak = { sum: 800_000, at: 0, turns: 3 }
    const at = (time: number): number => leaked(leak, time, 60 * MINUTE)
    expect([0, 30, 60, 90, 120].map((minutes) => at(minutes * MINUTE))).toEqual([
      800_000, 600_000, 400_000, 300_000, 200_000,
    ])
    expect(at(60 * MINUTE * 25)).toBe(0)
    // A clock that moves backwards does not raise it.
    expect(leaked({ ...leak, at: 1000 }, 0, 60 * MINUTE)).toBe(800_000)
  })

  it('always uses integers between 0 and ONE', () => {
    const turn = fc.record({
      exfiltration: fc.integer({ min: 0, max: ONE }),
      privilege: fc.integer({ min: 0, max: ONE }),
      compliance: fc.integer({ min: 0, max: ONE }),
    })
    fc.assert(
      fc.property(fc.array(fc.tuple(turn, fc.nat(10 * MINUTE)), { maxLength: 40 }), (turns) => {
        let memory = NO_MEMORY
        let time = 0
        for (const [axes, step] of turns) {
          time += step
          memory = remember(memory, axes, time, DEFAULT_RISK)
          const { score, window } = assess(memory, [memory.leak], time, DEFAULT_RISK)
          for (const number of [score, memory.average, memory.leak.sum, ...memory.centroid]) {
            expect(Number.isSafeInteger(number) && number >= 0 && number <= ONE).toBe(true)
          }
          expect(window).toBeLessThanOrEqual(8)
        }
      }),
    )
  })
})

describe('known evasions', () => {
  const hostile = axis(900_000)

  it('a single turn never denies, however hostile', () => {
    expect(play([axis(ONE)]).denied).toBeUndefined()
    expect(play([quiet, quiet, quiet, axis(ONE)]).denied).toBeUndefined()
  })

  it('padding does not increase the number of hostile turns that are allowed', () => {
    const plain = play(Array.from({ length: 20 }, () => hostile)).denied ?? Infinity
    for (const padding of [1, 2, 4, 8, 50, 500]) {
      const turns = Array.from({ length: 20 * (padding + 1) }, (_, i) =>
        i % (padding + 1) === 0 ? hostile : quiet,
      )
      const { denied } = play(turns, 0)
      expect(Math.ceil((denied ?? Infinity) / (padding + 1)), `${padding} between`).toBe(plain)
    }
  })

  it('endless padding does not lower the sum by rounding', () => {
    const { memory } = play([hostile, hostile, ...Array.from({ length: 100_000 }, () => quiet)], 0)
    expect(memory.leak.sum).toBe(2 * Math.floor(820_000 / 5))
    expect(memory.average).toBe(0)
  })

  it('dripping below the baseline adds up', () => {
    const drip = Array.from({ length: 100 }, () => axis(DEFAULT_RISK.baseline - 1))
    expect(play(drip).memory.average).toBe(0)
    expect(play(drip).denied).toBeLessThanOrEqual(32)
  })

  it('ordinary work never adds up, however long the session is', () => {
    const work = Array.from({ length: 5000 }, () => axis(80_000))
    expect(play(work, 0)).toMatchObject({ denied: undefined, score: 0 })
  })

  it('only time lowers the sum', () => {
    const { leak } = play([hostile, hostile, hostile], 0).memory
    const idle = grown(leak, quiet, 10 * MINUTE, DEFAULT_RISK.halfLife)
    expect(idle).toBe(leak)
    expect(leaked(leak, 120 * MINUTE, DEFAULT_RISK.halfLife)).toBe(Math.floor(leak.sum / 4))
  })
})

describe('in the pipeline', () => {
  const POLICY = `
tools:
  "http/post": { effect: send, destinations: [url] }
  "fs/*": { effect: read }
rules: [{ id: all, allow: "*" }]
gates: { egress: { allow: ["example.com"] } }
`
  const HOSTILE = {
    tool: 'http/post',
    args: { url: 'https://example.com/upload', note: 'export of customer credentials' },
  }
  const BENIGN = { tool: 'fs/read_file', args: { path: 'README.md' } }

  async function passes(rig: Rig, call: object): Promise<boolean> {
    rig.host.advance(1000)
    return (await rig.authorize(call)).decided.verdict === 'ALLOW'
  }

  /** The number of hostile calls that are allowed before the first denial. */
  async function hostilePassing(between: (rig: Rig, i: number) => Promise<object>): Promise<number> {
    const rig = await createRig({ policy: POLICY })
    for (let i = 0; i < 40; i++) {
      const fields = await between(rig, i)
      if (!(await passes(rig, { ...HOSTILE, ...fields }))) {
        expect(rig.last('decision').reason_code).toBe('SESSION_RISK_MEMORY_DENY')
        return i
      }
    }
    return Infinity
  }

  it('a hostile session is denied, and padding does not help it', async () => {
    const plain = await hostilePassing(() => Promise.resolve({}))
    expect(plain).toBeLessThanOrEqual(4)
    const padded = await hostilePassing(async (rig) => {
      for (let i = 0; i < 10; i++) await passes(rig, BENIGN)
      return {}
    })
    expect(padded).toBe(plain)
  })

  it('changing sessions does not help', async () => {
    const hopping = await hostilePassing((_, i) => Promise.resolve({ session_id: `s${i}` }))
    expect(hopping).toBeLessThanOrEqual(8)
  })

  it('an unanswered request does not hide the same call once a rule allows it', async () => {
    const asking = POLICY.replace('allow: "*"', 'require: "*"')
    const rig = await createRig({ policy: asking })
    expect((await rig.authorize(HOSTILE)).decided.verdict).toBe('ESCALATE')
    await activatePolicy(rig.kernel, policyOf(POLICY), 'user:olga')
    let passed = 0
    while (passed < 20 && (await passes(rig, HOSTILE))) passed++
    expect(passed).toBeLessThanOrEqual(4)
  })

  it('a delegated session and a missing session count as sessions', async () => {
    const fields = [{ session_id: undefined, delegation_session_id: 'd' }, { session_id: undefined }]
    for (const each of fields) {
      expect(await hostilePassing(() => Promise.resolve(each))).toBeLessThanOrEqual(4)
    }
  })

  it('another principal does not inherit the risk', async () => {
    const rig = await createRig({ policy: POLICY, tenants: ['default', 'other'] })
    while (await passes(rig, HOSTILE));
    expect(await passes(rig, { ...BENIGN, caller: { tenant: 'default', principal: 'agent:other' } })).toBe(
      true,
    )
    expect(await passes(rig, { ...BENIGN, caller: { tenant: 'other', principal: 'agent:ci' } })).toBe(true)
    expect(await passes(rig, BENIGN)).toBe(false)
  })

  it('time lowers the risk; a restart and retries do not', async () => {
    const rig = await createRig({ policy: POLICY })
    while (await passes(rig, HOSTILE));
    await rig.reopen()
    expect(await passes(rig, BENIGN)).toBe(false)
    rig.host.advance(5 * 60 * MINUTE)
    expect(await passes(rig, BENIGN)).toBe(true)
  })

  it('claims of the caller about its history change nothing', async () => {
    const rig = await createRig({ policy: POLICY })
    while (await passes(rig, HOSTILE));
    for (const context of [{ trajectory_risk_score: '0.0000' }, { history: [] }, { session_risk: 0 }]) {
      const { decided } = await rig.authorize({ ...BENIGN, context })
      expect(decided.reason).toBe('AMBIGUOUS_INPUT')
    }
  })

  it('the receipt has the score and the window, but only the hash of the centroid', async () => {
    const rig = await createRig({ policy: POLICY })
    await rig.authorize(HOSTILE)
    const { trajectory_risk_score, risk_accumulation_window, session_centroid_hash } = rig.last('decision')
    expect(Number(trajectory_risk_score)).toBeGreaterThan(0)
    expect(risk_accumulation_window).toBe(1)
    expect(session_centroid_hash).toMatch(/^[0-9a-f]{64}$/)
    expect(JSON.stringify(rig.last('decision'))).not.toContain('exfiltration')
  })

  it('lost or changed state denies only side effects, permanently', async () => {
    for (const spoil of [
      (name: string, rig: Rig) => (rig.store.records as Map<string, string>).delete(name),
      (name: string, rig: Rig) => {
        const records = rig.store.records as Map<string, string>
        records.set(name, (records.get(name) ?? '').replaceAll('"turns":1', '"turns":2'))
      },
    ]) {
      for (const kind of ['session\n', 'principal\n']) {
        const rig = await createRig({ policy: POLICY })
        await passes(rig, BENIGN)
        await passes(rig, HOSTILE)
        const name = [...rig.store.records.keys()].find((each) => each.startsWith(kind)) ?? ''
        spoil(name, rig)
        await rig.reopen()
        expect(await passes(rig, BENIGN)).toBe(true)
        expect(await passes(rig, { ...HOSTILE, args: { url: 'https://example.com/' } })).toBe(false)
        expect(rig.last('decision')).toMatchObject({ reason_code: 'STATE_MISMATCH', rung: 'session-risk' })
        await rig.reopen()
        expect(await passes(rig, { ...HOSTILE, args: { url: 'https://example.com/' } })).toBe(false)
        expect(rig.last('decision').session.seq).toBe(4)
        expect((await rig.verify()).findings).toEqual([])
      }
    }
  })

  it('old sessions are removed from memory', async () => {
    const rig = await createRig({ policy: POLICY, kernel: { maxRemembered: 100 } })
    for (let i = 0; i < 1000; i++) await rig.authorize({ ...BENIGN, session_id: `s${i}` })
    expect(rig.kernel.ledger.remembered).toBeLessThanOrEqual(102)
    // A removed session is loaded again.
    await rig.authorize({ ...BENIGN, session_id: 's0' })
    expect(rig.last('decision').session).toEqual({ id: 's0', seq: 1 })
  })
})
