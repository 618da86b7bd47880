import { describe, expect, it } from 'vitest'
import { drive, policyFor } from '../../bench/sessions/drive.ts'
import { EVASION_NAMES, EVASIONS, evade } from '../../bench/sessions/evasions.ts'
import { currentSplit, frozenSplit } from '../../bench/sessions/freeze.ts'
import { sessionOf, sessionsOf, templatesOf } from '../../bench/sessions/generate.ts'
import { judgeRun } from '../../bench/sessions/judge.ts'
import { randomOf } from '../../bench/sessions/random.ts'
import { FAMILIES, harmAt, SPLITS, type Session } from '../../bench/sessions/session.ts'
import { mcnemar, shareOf } from '../../bench/statistics.ts'
import { TEMPLATES } from '../../bench/sessions/templates/index.ts'
import { worldByRole, WORLDS } from '../../bench/sessions/worlds/index.ts'

const all = SPLITS.map((split) => sessionsOf(split))
const sessions: readonly Session[] = all.flat()

describe('the split', () => {
  it('is still what was frozen', () => {
    expect(currentSplit()).toEqual(frozenSplit())
  })

  it('has no template and no role in two sets', () => {
    const frozen = Object.values(frozenSplit())
    for (const part of ['roles', 'templates'] as const) {
      const names = frozen.flatMap((set) => set[part])
      expect(new Set(names).size).toBe(names.length)
      expect(names.length).toBeGreaterThan(11)
    }
  })

  it('has every family in every set, with five templates in all', () => {
    for (const family of FAMILIES) {
      for (const split of SPLITS) {
        const attacks = sessions.filter(
          (each) => each.family === family && each.split === split && each.label === 'attack',
        )
        expect(attacks.length).toBeGreaterThanOrEqual(60)
      }
      expect(TEMPLATES.filter((template) => template.family === family).length).toBeGreaterThanOrEqual(5)
    }
    const benign = sessions.filter((each) => each.split === 'held-out' && each.label === 'benign')
    expect(benign.length).toBeGreaterThanOrEqual(600)
  })
})

describe('a session', () => {
  it('has 4 to 200 turns, forward in time, and harm only if it is an attack', () => {
    const wrong = sessions.filter((session) => {
      const { turns, label, prompt } = session
      const forward = turns.every(({ at }, i) => at > (turns[i - 1]?.at ?? -1))
      const fits = turns.length >= 4 && turns.length <= 200 && prompt !== ''
      return !forward || !fits || harmAt(session) >= 0 !== (label === 'attack')
    })
    expect(sessions.length).toBeGreaterThan(4000)
    expect(wrong.map(({ id }) => id)).toEqual([])
  })

  it('uses the same tools as its twin', () => {
    for (const template of SPLITS.flatMap((split) => templatesOf(split))) {
      if (template.family === 'benign-drift') continue
      const tools = (evil: boolean): Set<string> =>
        new Set([0, 1, 2, 3, 4].flatMap((i) => sessionOf(template, i, evil).turns.map(({ tool }) => tool)))
      const harmful = sessionOf(template, 0, true).turns.find(({ harm }) => harm)?.tool ?? ''
      expect(tools(false)).toContain(harmful)
    }
  })

  it('does not have what an attack acts on in the user’s first words', () => {
    const named = sessions.filter((session) => {
      const harm = session.turns[harmAt(session)]
      const sinks = Object.values(harm?.args ?? {}).filter(
        (value): value is string => typeof value === 'string',
      )
      return (
        session.label === 'attack' &&
        sinks.some((value) => value.length > 12 && session.prompt.includes(value))
      )
    })
    expect(named.map(({ id }) => id)).toEqual([])
  })
})

describe('evasions', () => {
  it('are thirteen, and keep the harm of the attack', () => {
    expect(EVASION_NAMES).toHaveLength(13)
    const attacks = sessions.filter(({ label }) => label === 'attack').filter((_, i) => i % 60 === 7)
    for (const session of attacks) {
      for (const name of Object.keys(EVASIONS) as (keyof typeof EVASIONS)[]) {
        const changed = evade(session, name, randomOf(name), worldByRole(session.role))
        expect(harmAt(changed)).toBeGreaterThanOrEqual(0)
        expect(changed).toEqual(evade(session, name, randomOf(name), worldByRole(session.role)))
      }
    }
  })
})

describe('the runner', () => {
  it('reads the policy of every world', async () => {
    for (const world of WORLDS) expect((await policyFor(world)).name).toBe(world.role)
  })

  it('lets everyday work pass, and stops what the gates stop', async () => {
    const twin = sessions.find(({ id }) => id === 'developer/config-to-webhook/benign/0')
    const attack = sessions.find(({ id }) => id === 'developer/config-to-webhook/attack/0')
    if (!twin || !attack) throw new Error('the sessions have other names')
    expect(judgeRun(twin, await drive(twin, 'stateless'))).toMatchObject({ stoppedAt: -1, prevented: true })
    const outcome = judgeRun(attack, await drive(attack, 'stateless'))
    expect(outcome).toMatchObject({ stoppedAt: harmAt(attack), stoppedBy: 'DENY', prevented: true })
  })

  it('does not count what the people of the story refuse, and sees what they let pass', async () => {
    const nagging = sessions.find(({ id }) => id.startsWith('developer/asked-until-yes/attack/'))
    if (!nagging) throw new Error('the sessions have other names')
    const refused = nagging.turns.filter(({ answer }) => answer === 'refused').length
    const happened = await drive(nagging, 'stateless')
    expect(refused).toBeGreaterThan(2)
    expect(happened.filter(({ lifted }) => lifted)).toHaveLength(1)
    expect(judgeRun(nagging, happened)).toMatchObject({ stoppedAt: -1, prevented: false })
  })
})

describe('the arithmetic', () => {
  it('has the intervals of Clopper and Pearson', () => {
    expect(shareOf(0, 598).high).toBeCloseTo(0.00615, 4)
    expect(shareOf(60, 60).low).toBeCloseTo(0.9404, 3)
    const { low, high } = shareOf(10, 100)
    expect([low, high].map((value) => value.toFixed(3))).toEqual(['0.049', '0.176'])
  })

  it('compares pairs exactly', () => {
    const first = [true, true, true, true, true, true, false]
    const second = [false, false, false, false, false, false, false]
    const { onlyFirst, onlySecond, p } = mcnemar(first, second)
    expect({ onlyFirst, onlySecond, p: p.toFixed(6) }).toEqual({ onlyFirst: 6, onlySecond: 0, p: '0.031250' })
    expect(mcnemar(first, first).p).toBe(1)
  })
})
