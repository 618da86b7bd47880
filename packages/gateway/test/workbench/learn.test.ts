// The rules learned from a history allow all of it, and almost nothing else.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { askRules, policyOfRules } from '../../src/workbench/learn/check.ts'
import { holdsContent } from '../../src/workbench/learn/content.ts'
import { learn, type Learned } from '../../src/workbench/learn/learn.ts'
import type { ObservedCall } from '../../src/workbench/learn/observed.ts'
import { AGENTS, diceOf, mutantsOf, siblingsOf, traceOf, type Mutant, type Trace } from './learn-traces.ts'

interface Measured {
  readonly denied: number
  readonly asked: number
  readonly allowed: number
  /** The mutations that were not denied. */
  readonly passed: readonly string[]
}

/** The answers of the learned rules to mutated calls. Gates are not asked. */
function measure(learned: Learned, mutants: readonly Mutant[]): Measured {
  const policy = policyOfRules(learned.text)
  const said = mutants.map(({ how, call }) => ({
    action: askRules(policy, call)?.action ?? 'deny',
    what: `${how}: ${call.tool} ${JSON.stringify(call.args)}`,
  }))
  const many = (action: string): number => said.filter((each) => each.action === action).length
  const passed = said.filter(({ action }) => action !== 'deny').map(({ what }) => what)
  return { denied: many('deny'), asked: many('require'), allowed: many('allow'), passed }
}

function rateOf({ denied, asked, allowed }: Measured): number {
  return denied / (denied + asked + allowed)
}

function percent(rate: number): string {
  return `${(100 * rate).toFixed(2)} %`
}

/** Some calls from all parts of a history. */
function someOf({ calls }: Trace, most: number): readonly ObservedCall[] {
  const step = Math.ceil(calls.length / most)
  return calls.filter((_, i) => i % step === 0)
}

const ENOUGH = 0.99

describe.each(Object.keys(AGENTS))('the history of a %s', (agent) => {
  test('is allowed completely, and at least 99 % of its mutations are denied', async ({ annotate }) => {
    const trace = traceOf(agent, 300, diceOf(1))
    const learned = learn(trace.calls)
    expect(learned.uncovered).toEqual([])
    expect([learned.allowed, learned.asked]).toEqual([300, 0])
    const mutants = someOf(trace, 25).flatMap((call) => mutantsOf(call, trace))
    expect(mutants.length).toBeGreaterThan(1000)
    const measured = measure(learned, mutants)
    await annotate(
      `${agent}: of 300 observed calls ${learned.allowed} allowed; ${percent(rateOf(measured))} of ` +
        `${mutants.length} mutated calls denied, ${measured.asked} need approval, ${measured.allowed} pass`,
    )
    expect(rateOf(measured), measured.passed.slice(0, 10).join('\n')).toBeGreaterThanOrEqual(ENOUGH)
  })

  test('is allowed exactly, and nothing else, with `exact`, except for contents', () => {
    const trace = traceOf(agent, 120, diceOf(2))
    const learned = learn(trace.calls, { exact: true })
    const contents = trace.calls.filter(({ args, effect }) => effect !== 'execute' && holdsContent(args))
    expect([learned.allowed, learned.asked]).toEqual([120 - contents.length, 0])
    expect(learned.uncovered.toSorted()).toEqual(contents.map(({ receipt }) => receipt).toSorted())
    expect(learned.text).not.toContain('WIDER')
    const dice = diceOf(3)
    const others = someOf(trace, 6).flatMap((call) => [
      ...mutantsOf(call, trace),
      ...siblingsOf(call, trace, dice),
    ])
    expect(measure(learned, others)).toMatchObject({ denied: others.length, passed: [] })
  })

  // Fixed seeds for comparable results, and new ones each time.
  test.each([
    ['fixed', { seed: 20260105, numRuns: 4, endOnFailure: true }],
    ['new', { numRuns: 4, endOnFailure: true }],
  ])('holds for %s seeds and sizes', (_, settings) => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 200 }), (seed, size) => {
        const trace = traceOf(agent, size, diceOf(seed))
        const learned = learn(trace.calls)
        expect(learned.allowed + learned.asked).toBe(size)
        const mutants = someOf(trace, 4).flatMap((call) => mutantsOf(call, trace))
        const measured = measure(learned, mutants)
        expect(rateOf(measured), measured.passed.slice(0, 10).join('\n')).toBeGreaterThanOrEqual(ENOUGH)
      }),
      settings,
    )
  })
})

test('a rule that allows everything would be detected', () => {
  const trace = traceOf('coding agent', 50, diceOf(1))
  const loose = { ...learn(trace.calls), text: 'rules: [{ id: all, allow: "*" }]\n' }
  expect(
    rateOf(
      measure(
        loose,
        someOf(trace, 4).flatMap((call) => mutantsOf(call, trace)),
      ),
    ),
  ).toBe(0)
})

test('other allowed calls are within what a comment marks as wider', async ({ annotate }) => {
  const trace = traceOf('coding agent', 300, diceOf(1))
  const learned = learn(trace.calls)
  const dice = diceOf(4)
  const siblings = trace.calls.flatMap((call) => siblingsOf(call, trace, dice))
  const measured = measure(learned, siblings)
  await annotate(
    `${siblings.length} siblings: ${measured.allowed} allowed, ${measured.asked} need approval, ${measured.denied} denied`,
  )
  // By design: a new file next to the observed ones, another search.
  expect(measured.allowed).toBeGreaterThan(0)
  expect(learned.text).toContain('WIDER than seen: allows every path below `src/` without `..`')
  expect(learned.text).toContain('WIDER than seen: allows every text of printable ASCII')
})
