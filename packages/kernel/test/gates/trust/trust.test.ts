import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { REASONS, type EffectClass, type ReasonCode } from '@tollgate/evidence'
import type { Intent } from '../../../src/road/capture.ts'
import { trust } from '../../../src/gates/trust/gate.ts'
import { readYaml } from '../../../src/policy/reader/read.ts'
import {
  DEFAULT_TRUST,
  readTrust as readSettings,
  TRUST_OUTCOMES,
  type TrustSettings,
} from '../../../src/gates/trust/settings.ts'
import type { Snapshot } from '../../../src/road/snapshot.ts'
import {
  effectOutcome,
  moved,
  NEW_TRUST,
  outcomeOf,
  readTrust,
  trustAt,
  trustText,
  type TrustState,
} from '../../../src/gates/trust/trust.ts'
import { POINT } from '../../../src/units.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const MIDDLE = 500 * POINT

const state = (points: number, at = 0): TrustState => ({ score: points * POINT, at })
const points = (score: number): number => score / POINT

function settingsOf(text: string): TrustSettings {
  const reader = readYaml(text)
  const settings = readSettings(reader, reader.root)
  expect(reader.mistakes).toEqual([])
  return settings
}

describe('the arithmetic', () => {
  it('starts at 500', () => {
    expect(trustText(NEW_TRUST)).toBe('500.0000')
    expect(trustAt(NEW_TRUST, 1_800_000_000_000, DAY)).toBe(MIDDLE)
  })

  it('halves the distance to 500 every half-life, and decays linearly in between', () => {
    const over = (score: number): readonly number[] =>
      [0, 12, 24, 36, 48].map((hours) => points(trustAt(state(score), hours * HOUR, DAY)))
    expect(over(900)).toEqual([900, 800, 700, 650, 600])
    expect(over(100)).toEqual([100, 200, 300, 350, 400])
    expect(over(500)).toEqual([500, 500, 500, 500, 500])
    expect(trustAt(state(1000), 31 * DAY, DAY)).toBe(MIDDLE)
    // A clock that moves backwards changes nothing.
    expect(trustAt(state(900, DAY), 0, DAY)).toBe(900 * POINT)
  })

  it('stays exact for the longest half-life', () => {
    expect(points(trustAt(state(1000), (365 * DAY) / 2, 365 * DAY))).toBe(875)
    expect(points(trustAt(state(0), (365 * DAY) / 2, 365 * DAY))).toBe(125)
  })

  it('adds the delta of each outcome to the current score', () => {
    expect(moved(NEW_TRUST, 'hostile', 5, DEFAULT_TRUST)).toEqual({ score: 440 * POINT, at: 5 })
    expect(points(moved(state(900), 'completed', DAY, DEFAULT_TRUST).score)).toBe(701)
    expect(moved(state(30), 'hostile', 0, DEFAULT_TRUST).score).toBe(0)
    expect(moved(state(999), 'approved', 0, DEFAULT_TRUST).score).toBe(1000 * POINT)
  })

  it('returns the same object after an outcome with delta 0', () => {
    const settings = { ...DEFAULT_TRUST, deltas: { ...DEFAULT_TRUST.deltas, completed: 0 } }
    const before = state(700)
    expect(moved(before, 'completed', DAY, settings)).toBe(before)
  })

  it('does not count the same time twice when the clock moves backwards', () => {
    expect(moved(state(900, DAY), 'completed', 0, DEFAULT_TRUST)).toEqual({ score: 901 * POINT, at: DAY })
  })

  const halfLife = fc.integer({ min: 1, max: 365 * 86_400 }).map((seconds) => seconds * 1000)

  it('always gives integers within the limits', () => {
    const step = fc.tuple(fc.constantFrom(...TRUST_OUTCOMES), fc.nat(3 * DAY))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), halfLife, (steps, length) => {
        let now = NEW_TRUST
        let time = 1_000_000
        for (const [outcome, wait] of steps) {
          time += wait
          now = moved(now, outcome, time, { ...DEFAULT_TRUST, halfLife: length })
          expect(Number.isSafeInteger(now.score) && now.score >= 0 && now.score <= 1000 * POINT).toBe(true)
          expect(readTrust(trustText(now))).toBe(now.score)
        }
      }),
    )
  })

  it('approaches 500 with time, and never moves past it or away from it', () => {
    const units = fc.integer({ min: 0, max: 1000 * POINT })
    fc.assert(
      fc.property(units, halfLife, fc.nat(400 * DAY), fc.nat(400 * DAY), (score, length, one, other) => {
        const distance = (time: number): number => trustAt({ score, at: 0 }, time, length) - MIDDLE
        const [sooner, later] = [distance(Math.min(one, other)), distance(Math.max(one, other))]
        expect(Math.abs(later)).toBeLessThanOrEqual(Math.abs(sooner))
        expect(Number.isInteger(later)).toBe(true)
        expect([Math.sign(score - MIDDLE), 0]).toContain(Math.sign(later))
      }),
    )
  })
})

describe('the text in receipts', () => {
  it('has four decimal places', () => {
    expect([0, 1, POINT, 512 * POINT, 1000 * POINT].map((score) => trustText({ score }))).toEqual([
      '0.0000',
      '0.0001',
      '1.0000',
      '512.0000',
      '1000.0000',
    ])
  })

  it('counts as 0 if it is invalid', () => {
    for (const text of [
      '',
      '512',
      '512.0',
      '512.00000',
      '-1.0000',
      '01.0000',
      '1000.0001',
      '9999.0000',
      'NaN',
      ' 1.0000',
    ]) {
      expect(readTrust(text), text).toBe(0)
    }
    expect(readTrust('512.0001')).toBe(512 * POINT + 1)
  })
})

describe('the outcome of a decision', () => {
  it('depends on its reason', () => {
    expect(outcomeOf('ALLOW', 'APPROVAL_GRANTED')).toBe('approved')
    expect(outcomeOf('ALLOW', 'RULE_ALLOWED')).toBeUndefined()
    expect(outcomeOf('DENY', 'APPROVAL_REFUSED')).toBe('refused')
    expect(outcomeOf('DENY', 'PROMPT_INJECTION_DETECTED')).toBe('hostile')
    expect(outcomeOf('DENY', 'POLICY_VIOLATION')).toBe('denied')
    expect(outcomeOf('DENY', 'TRUST_INSUFFICIENT')).toBeUndefined()
    expect(outcomeOf('DENY', 'RATE_EXCEEDED')).toBeUndefined()
    expect(outcomeOf('ESCALATE', 'APPROVAL_REQUIRED')).toBeUndefined()
  })

  it('is bad for every denial that is not listed here', () => {
    const denials = Object.entries(REASONS)
      .filter(([, { verdict }]) => verdict === 'DENY')
      // Sound: the keys of the table are the codes.
      .map(([code]) => code as ReasonCode)
    const neutral = denials.filter((code) => outcomeOf('DENY', code) === undefined)
    expect(neutral.toSorted()).toEqual([
      'AGENT_KILLED',
      'APPROVAL_TIMEOUT',
      'APPROVAL_TOO_LARGE',
      'BUDGET_EXCEEDED',
      'GATE_FAILED',
      'LEDGER_UNAVAILABLE',
      'NO_POLICY_DEFINED',
      'OUTSIDE_HOURS',
      'QUOTA_EXCEEDED',
      'RATE_EXCEEDED',
      'SESSION_FROZEN',
      'SESSION_RISK_MEMORY_DENY',
      'STATE_MISMATCH',
      'STORAGE_QUOTA_EXCEEDED',
      'SYSTEM_FROZEN',
      'TOOL_DEFINITION_CHANGED',
      'TOOL_FROZEN',
      'TOOL_NOT_DECLARED',
      'TRUST_INSUFFICIENT',
    ])
  })

  it('does not exist for an escalation', () => {
    // Sound: the keys of the table are the codes.
    for (const code of Object.keys(REASONS)) expect(outcomeOf('ESCALATE', code as ReasonCode)).toBeUndefined()
  })

  it('is followed by the outcome of its effect', () => {
    const outcomes = (['COMPLETED', 'FAILED', 'UNKNOWN', 'CANCELLED'] as const).map(effectOutcome)
    expect(outcomes).toEqual(['completed', 'failed', 'unknown', undefined])
  })
})

describe('the settings', () => {
  it('have the documented defaults', () => {
    expect(settingsOf('{}')).toEqual(DEFAULT_TRUST)
  })

  it('merge single deltas, and replace all needs', () => {
    const settings = settingsOf('{ half-life: 7d, deltas: { hostile: -500 }, needs: { write: 400 } }')
    expect(settings.halfLife).toBe(7 * DAY)
    expect(settings.deltas).toEqual({ ...DEFAULT_TRUST.deltas, hostile: -500 })
    expect(settings.needs).toEqual({ write: 400 })
  })

  it('report every mistake', () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['half-life: 366d', /`half-life` must be a time/],
      ['half-life: 5', /`half-life` must be a time/],
      ['deltas: { hostile: 5 }', /`hostile` must be a number from -1000 to 0/],
      ['deltas: { completed: -1 }', /`completed` must be a number from 0 to 1000/],
      ['deltas: { failed: -1.5 }', /`failed` must be a whole number/],
      ['deltas: { late: 1 }', /`late` is not known here/],
      ['needs: { write: 1001 }', /`write` must be a number from 0 to 1000/],
      ['needs: { write: 0.5 }', /`write` must be a whole number/],
      ['needs: { fly: 1 }', /`fly` is not known here/],
      ['needs: {}', /names no effect class/],
      ['- 1', /must be a mapping/],
    ]
    for (const [text, message] of cases) {
      const reader = readYaml(text)
      readSettings(reader, reader.root)
      expect(reader.mistakes[0]?.message, text).toMatch(message)
    }
  })
})

describe('the gate', () => {
  /** The objection of the gate to a call of this effect class, as text. */
  function check(
    settings: TrustSettings | undefined,
    effect: EffectClass,
    score: number,
    tool: object = { declared: {} },
  ): string | undefined {
    const snapshot = { policy: { gates: { trust: settings } }, effect, trust: () => score, tool }
    // Sound: the gate uses nothing else.
    const said = trust.check({} as Intent, snapshot as unknown as Snapshot)
    return said && `${said.verdict} ${said.reason}: ${said.detail ?? ''}`
  }

  it('denies below the needed score, exact to one unit', () => {
    expect(check(DEFAULT_TRUST, 'write', 300 * POINT)).toBeUndefined()
    expect(check(DEFAULT_TRUST, 'write', 300 * POINT - 1)).toBe(
      'DENY TRUST_INSUFFICIENT: trust is 299 of 1000, `write` needs 300',
    )
  })

  it('does not object to a tool that the policy does not declare', () => {
    expect(check(DEFAULT_TRUST, 'admin', 0, {})).toBeUndefined()
    expect(check(DEFAULT_TRUST, 'admin', 0)).toMatch(/TRUST_INSUFFICIENT/)
  })

  it('does not object to an effect class that needs no score', () => {
    expect(check(DEFAULT_TRUST, 'read', 0)).toBeUndefined()
    expect(check(settingsOf('needs: { pay: 0 }'), 'pay', 0)).toBeUndefined()
  })

  it('denies if the score is not a number', () => {
    expect(check(DEFAULT_TRUST, 'write', NaN)).toMatch(/TRUST_INSUFFICIENT/)
  })

  it('does not object if it is not configured, and reports that status', () => {
    expect(check(undefined, 'admin', 0)).toBeUndefined()
    const standing = (settings: TrustSettings | undefined): string =>
      // Sound: the gate uses nothing else.
      trust.standing({ gates: { trust: settings } } as Parameters<typeof trust.standing>[0])
    expect([standing(undefined), standing(DEFAULT_TRUST)]).toEqual(['not configured', 'active'])
  })
})
