// Checks the remarks of a review against the evaluator, on random policies and calls.

import { DOORS } from '@tollgate/evidence'
import { describe, expect, it } from 'vitest'
import { explain } from '../../src/policy/evaluate.ts'
import { glob } from '../../src/policy/glob.ts'
import type { Policy } from '../../src/policy/parse/parse.ts'
import { covers, overlaps } from '../../src/workbench/review/patterns.ts'
import type { Remark, RemarkCode } from '../../src/workbench/review/remark.ts'
import { reviewPolicy } from '../../src/workbench/review/review.ts'
import { Random } from '../model/model-random.ts'
import { NAMES, PEOPLE, policyOf, randomCondition, randomPolicy, randomSubject } from './review-rig.ts'

/** Returns the rules of the remarks with a code. */
function ruled(policy: Policy, remarks: readonly Remark[], code: RemarkCode): ReadonlySet<string> {
  const lines = new Set(remarks.filter((remark) => remark.code === code).map(({ line }) => line))
  return new Set(policy.rules.filter(({ line }) => lines.has(line)).map(({ id }) => id))
}

describe('a review of random policies', () => {
  it('never reports a rule that decides as unreachable, or a condition wrongly as never or always true', () => {
    const found = { dead: 0, never: 0, always: 0 }
    for (let seed = 1; seed <= 150; seed++) {
      const random = new Random(seed)
      const policy = policyOf(randomPolicy(random, () => randomCondition(random)))
      const remarks = reviewPolicy(policy)
      const dead = ruled(policy, remarks, 'RULE_UNREACHABLE')
      const never = ruled(policy, remarks, 'CONDITION_NEVER_TRUE')
      const always = ruled(policy, remarks, 'CONDITION_ALWAYS_TRUE')
      found.dead += dead.size
      found.never += never.size
      found.always += always.size
      for (let i = 0; i < 25; i++) {
        for (const { rule, match } of explain(policy, randomSubject(random, policy))) {
          const place = `seed ${seed}, rule ${rule.id}: ${rule.when?.source}`
          if (dead.has(rule.id)) expect(['matched', 'condition failed'], place).not.toContain(match)
          if (never.has(rule.id)) expect(match, place).not.toBe('matched')
          if (always.has(rule.id))
            expect(['condition is false', 'condition failed'], place).not.toContain(match)
        }
      }
    }
    // A review without remarks would pass as well.
    expect(found.dead).toBeGreaterThan(90)
    expect(found.never).toBeGreaterThan(15)
    expect(found.always).toBeGreaterThan(5)
  })

  it('never reports a name that decides as having no effect', () => {
    let found = 0
    for (let seed = 1; seed <= 120; seed++) {
      const random = new Random(seed)
      const policy = policyOf(randomPolicy(random, () => 'args.n == 3'))
      for (const { code, message } of reviewPolicy(policy)) {
        const [, names = '', id = ''] = /^the tools? (.*) of rule `(r\d)` ha/.exec(message) ?? []
        if (code !== 'RULE_SHADOWED' || id === '') continue
        found++
        const rule = policy.rules.find((each) => each.id === id)
        const alive = (rule?.tools ?? []).filter(({ source }) => !names.includes(`\`${source}\``))
        for (let i = 0; i < 40; i++) {
          const subject = randomSubject(random, policy)
          const match = explain(policy, subject).find((each) => each.rule.id === id)?.match
          if (match !== 'matched' && match !== 'condition failed') continue
          expect(
            alive.some((tool) => tool.matches(subject.tool)),
            `seed ${seed}: ${message}`,
          ).toBe(true)
        }
      }
    }
    expect(found).toBeGreaterThan(12)
  })

  it('finds every unreachable rule without a condition, if there are few names', () => {
    let found = 0
    for (let seed = 1; seed <= 40; seed++) {
      const random = new Random(seed)
      // Patterns that only together cover another one are not reported.
      const text = randomPolicy(random, () => 'true', ['*', 'a/x'])
      const policy = policyOf(text.replaceAll(/, when: "[^"]*"/g, ''))
      const dead = ruled(policy, reviewPolicy(policy), 'RULE_UNREACHABLE')
      const reached = new Set<string>()
      for (const tool of [...NAMES, 'else']) {
        for (const principal of [...PEOPLE, 'agent:else', 'else']) {
          for (const session of ['s1', 's2', 's-else', 'else']) {
            for (const door of DOORS) {
              const subject = { ...randomSubject(random, policy, tool), principal, session, door }
              const decided = explain(policy, subject).find(({ match }) => match === 'matched')
              if (decided) reached.add(decided.rule.id)
            }
          }
        }
      }
      for (const { id } of policy.rules) expect(dead.has(id), `seed ${seed}, ${id}`).toBe(!reached.has(id))
      found += dead.size
    }
    expect(found).toBeGreaterThan(20)
  })
})

describe('patterns', () => {
  const letters = ['a', 'b', '*', '*', 'ab']
  const words = ['', 'a', 'b', 'ab', 'ba', 'aab', 'abb', 'aba', 'abab', 'babba', 'aabb', 'ababab']

  it('cover and overlap like their names', () => {
    const random = new Random(7)
    for (let i = 0; i < 4000; i++) {
      const write = (): string => random.list(4, () => random.pick(letters)).join('') || 'a'
      const [a, b] = [glob(write()), glob(write())]
      const both = words.filter((word) => a.matches(word) && b.matches(word))
      if (both.length > 0) expect(overlaps(a, b), `${a.source} ${b.source}`).toBe(true)
      if (covers(a, b)) expect(words.filter((word) => b.matches(word) && !a.matches(word))).toEqual([])
    }
  })

  it.each([
    ['a*', '*b', true],
    ['a*', 'b*', false],
    ['*a', '*b', false],
    ['a*a', 'a', false],
    ['ab*', 'a*c', true],
    ['*x*', 'y', false],
  ])('%s and %s overlap: %s', (a, b, expected) => {
    expect(overlaps(glob(a), glob(b))).toBe(expected)
    expect(overlaps(glob(b), glob(a))).toBe(expected)
  })
})
