import { describe, expect, it } from 'vitest'
import type { EffectClass, Json } from '@tollgate/evidence'
import type { Intent } from '../../../src/road/capture.ts'
import { appliedRules } from '../../../src/gates/compliance/compliance.ts'
import { destinationsIn } from '../../../src/destinations/find.ts'
import { compliance } from '../../../src/gates/compliance/gate.ts'
import { readYaml } from '../../../src/policy/reader/read.ts'
import { readCompliance, type ComplianceSettings } from '../../../src/gates/compliance/settings.ts'
import type { Snapshot } from '../../../src/road/snapshot.ts'

const PLACES = 'jurisdictions: { eu: ["*.eu.example.com"], us: ["*.us.example.com", 10.0.0.0/8] }\n'

function settingsOf(text: string): ComplianceSettings {
  const reader = readYaml(PLACES + text)
  const settings = readCompliance(reader, reader.root)
  expect(reader.mistakes).toEqual([])
  return settings
}

interface Call {
  readonly tool?: string
  readonly effect?: EffectClass
  readonly labels?: readonly string[]
  /** The declared destination. */
  readonly to?: Json
  /** A text that may contain a destination. */
  readonly text?: string
  readonly declared?: readonly string[] | 'none'
}

/** The objection of the gate, and the rules that applied. */
function check(rules: string, call: Call): { said: string | undefined; applied: readonly string[] } {
  const { tool = 'mail/send', effect = 'send', labels = [], declared = ['to'], to, text } = call
  const args = { ...(to !== undefined && { to }), ...(text !== undefined && { text }) }
  const found = declared === 'none' ? [] : destinationsIn(args, declared)
  const intent = { tool, args }
  const snapshot = {
    policy: { gates: { compliance: settingsOf(rules) } },
    effect,
    tool: { declared: { destinations: declared } },
    labels: () => labels,
    destinations: () => found,
  }
  // Sound: the rules and the gate use nothing else.
  const seen = [intent as Intent, snapshot as unknown as Snapshot] as const
  const said = compliance.check(...seen)
  return {
    said: said && `${said.verdict} ${said.reason}: ${said.detail ?? ''}`,
    applied: appliedRules(...seen).map(({ id }) => id),
  }
}

/** Whether the one rule `r` applies. */
function applies(rule: string, call: Call): boolean {
  return check(`rules: [{ id: r, then: deny, ${rule} }]`, call).applied.length === 1
}

const EU = 'https://a.eu.example.com/x'
const US = 'https://a.us.example.com/x'
const ELSEWHERE = 'https://example.org/'

describe('a rule', () => {
  it('applies by label: one match is enough, and no label matches everything', () => {
    expect(applies('labels: [personal, card]', { labels: ['card'] })).toBe(true)
    expect(applies('labels: [personal]', { labels: ['card'] })).toBe(false)
    expect(applies('labels: [personal]', {})).toBe(false)
    expect(applies('because: all', {})).toBe(true)
  })

  it('applies by tool, by effect class, or by both', () => {
    expect(applies('tools: ["mail/*"]', {})).toBe(true)
    expect(applies('tools: ["db/*"]', {})).toBe(false)
    expect(applies('effects: [send, write]', {})).toBe(true)
    expect(applies('effects: [write]', {})).toBe(false)
    expect(applies('tools: ["mail/*"], effects: [write]', {})).toBe(false)
  })

  it('applies with `outside` to a destination in none of the jurisdictions', () => {
    expect(applies('outside: [eu]', { to: EU })).toBe(false)
    expect(applies('outside: [eu]', { to: US })).toBe(true)
    expect(applies('outside: [eu]', { to: ELSEWHERE })).toBe(true)
    expect(applies('outside: [eu, us]', { to: [EU, US] })).toBe(false)
    expect(applies('outside: [eu]', { to: [EU, ELSEWHERE] })).toBe(true)
  })

  it('applies with `inside` to a destination in one of the jurisdictions', () => {
    expect(applies('inside: [us]', { to: US })).toBe(true)
    expect(applies('inside: [us]', { to: 'http://10.1.2.3/' })).toBe(true)
    expect(applies('inside: [us]', { to: EU })).toBe(false)
    expect(applies('inside: [us]', { to: [EU, US] })).toBe(true)
    expect(applies('inside: [us], outside: [eu]', { to: [EU, US] })).toBe(true)
    expect(applies('inside: [us], outside: [eu]', { to: EU })).toBe(false)
  })

  it('ignores the port of a hostname', () => {
    expect(applies('inside: [us]', { to: 'https://a.us.example.com:8443/' })).toBe(true)
    expect(applies('outside: [eu]', { to: 'https://a.eu.example.com:8443/' })).toBe(false)
  })

  it('counts an unreadable destination as outside every jurisdiction', () => {
    expect(applies('outside: [eu]', { to: 5 })).toBe(true)
    expect(applies('outside: [eu]', { to: 'https://a.eu.example.com%2f@example.org/' })).toBe(true)
  })

  it('counts a call that can send data as one with a destination', () => {
    for (const effect of ['send', 'pay', 'execute', 'admin'] as const) {
      expect(applies('outside: [eu]', { effect }), effect).toBe(true)
      expect(applies('outside: [eu]', { effect, declared: 'none' }), effect).toBe(false)
    }
    for (const effect of ['read', 'write', 'delete'] as const) {
      expect(applies('outside: [eu]', { effect }), effect).toBe(false)
    }
  })

  it('does not count a hostname in a text as the only destination', () => {
    expect(applies('outside: [eu]', { text: `see ${EU}` })).toBe(true)
    expect(applies('outside: [eu]', { to: EU, text: `see ${EU}` })).toBe(false)
    expect(applies('outside: [eu]', { to: EU, text: `see ${ELSEWHERE}` })).toBe(true)
    expect(applies('inside: [us]', { text: `see ${US}` })).toBe(true)
  })
})

describe('the gate', () => {
  const RULES = `rules:
  - { id: note, then: allow }
  - { id: cards, labels: [card], then: ask, because: Cards are looked at. }
  - { id: eu-transfer, labels: [personal], outside: [eu], then: deny, because: It must stay here. }
  - { id: silent, labels: [secret], then: deny }`

  it('decides by the strictest rule and records all rules that apply', () => {
    expect(check(RULES, { to: EU })).toEqual({ said: undefined, applied: ['note'] })
    expect(check(RULES, { to: EU, labels: ['card', 'personal'] })).toEqual({
      said: 'ESCALATE COMPLIANCE_APPROVAL_REQUIRED: `cards`: Cards are looked at.',
      applied: ['cards', 'note'],
    })
    expect(check(RULES, { to: US, labels: ['card', 'personal'] })).toEqual({
      said: 'DENY COMPLIANCE_VIOLATION: `eu-transfer`: It must stay here.',
      applied: ['eu-transfer', 'cards', 'note'],
    })
    expect(check(RULES, { to: EU, labels: ['secret'] }).said).toBe('DENY COMPLIANCE_VIOLATION: `silent`')
  })

  it('does not compute labels and destinations that no rule needs', () => {
    const ask = (): never => {
      throw new Error('not needed')
    }
    const settings = settingsOf(
      'rules: [{ id: r, tools: ["db/*"], labels: [card], outside: [eu], then: deny }]',
    )
    const snapshot = { policy: { gates: { compliance: settings } }, labels: ask, destinations: ask }
    // Sound: the gate uses nothing else.
    const seen = [{ tool: 'mail/send' } as Intent, snapshot as unknown as Snapshot] as const
    expect(compliance.check(...seen)).toBeUndefined()
  })

  it('does not object if it is not configured, and reports that status', () => {
    const snapshot = { policy: { gates: { compliance: undefined } } }
    // Sound: the gate uses nothing else.
    expect(compliance.check({ tool: 'x' } as Intent, snapshot as unknown as Snapshot)).toBeUndefined()
    const standing = (settings: ComplianceSettings | undefined): string =>
      // Sound: the gate uses nothing else.
      compliance.standing({ gates: { compliance: settings } } as Parameters<typeof compliance.standing>[0])
    expect([standing(undefined), standing(settingsOf(RULES))]).toEqual(['not configured', 'active'])
  })
})

describe('the settings', () => {
  it('are read as documented', () => {
    const { jurisdictions, rules } = settingsOf(
      'rules: [{ id: a, labels: [personal], tools: "mail/*", effects: send, inside: us, outside: [eu], then: ask }]',
    )
    expect(jurisdictions.map(({ name, hosts }) => `${name} ${hosts.length}`)).toEqual(['eu 1', 'us 2'])
    expect(rules).toMatchObject([
      {
        id: 'a',
        labels: ['personal'],
        tools: [{ source: 'mail/*' }],
        effects: ['send'],
        inside: ['us'],
        outside: ['eu'],
        then: 'ask',
        because: undefined,
      },
    ])
  })

  it('report every mistake', () => {
    const rule = (text: string): string => `${PLACES}rules: [{ ${text} }]`
    const cases: readonly (readonly [string, RegExp])[] = [
      [PLACES, /has no `rules`/],
      ['- 1', /must be a mapping/],
      ['jurisdictions: { eu: [] }\nrules: []', /a jurisdiction needs a hostname/],
      ['jurisdictions: { eu: ["a b"] }\nrules: []', /is not a valid host|not a host pattern/],
      ['jurisdictions: { "": [a.example] }\nrules: []', /the name of a jurisdiction is empty/],
      [rule('then: deny'), /has no `id`/],
      [rule('id: "a b", then: deny'), /an `id` may only have letters/],
      [rule('id: 5, then: deny'), /`id` must be text/],
      [`${PLACES}rules: [{ id: a, then: ask }, { id: a, then: ask }]`, /the id `a` is already used/],
      [rule('id: a'), /`then` is missing/],
      [rule('id: a, then: maybe'), /`then` must be one of/],
      [rule('id: a, then: deny, outside: [mars]'), /`mars` is not a known jurisdiction/],
      [rule('id: a, then: deny, inside: mars'), /`mars` is not a known jurisdiction/],
      [rule('id: a, then: deny, inside: []'), /`inside` is an empty list/],
      [rule('id: a, then: deny, labels: []'), /empty/],
      [rule('id: a, then: deny, labels: [A B]'), /label/],
      [rule('id: a, then: deny, tools: []'), /`tools` is an empty list/],
      [rule('id: a, then: deny, tools: [5]'), /`tools` must be text/],
      [rule('id: a, then: deny, effects: [fly]'), /an effect class must be one of/],
      [rule(`id: a, then: deny, because: ${'x'.repeat(501)}`), /longer than 500/],
      [rule('id: a, then: deny, because: "a\\nb"'), /control character/],
      [rule('id: a, then: deny, where: eu'), /`where` is not known here/],
    ]
    for (const [text, message] of cases) {
      const reader = readYaml(text)
      readCompliance(reader, reader.root)
      expect(reader.mistakes[0]?.message, text).toMatch(message)
    }
  })

  it('have limits', () => {
    const many = (count: number, each: (i: number) => string): string =>
      Array.from({ length: count }, (_, i) => each(i)).join(', ')
    const cases: readonly (readonly [string, RegExp])[] = [
      [`rules: [${many(201, (i) => `{ id: r${i}, then: ask }`)}]`, /more than 200 rules/],
      [
        `jurisdictions: { ${many(101, (i) => `j${i}: a.example`)} }\nrules: []`,
        /more than 100 jurisdictions/,
      ],
      [
        `jurisdictions: { eu: [${many(1001, (i) => `h${i}.example`)}] }\nrules: []`,
        /more than 1000 hostnames/,
      ],
      [`rules: [{ id: a, then: ask, tools: [${many(201, (i) => `t${i}`)}] }]`, /more than 200 names/],
    ]
    for (const [text, message] of cases) {
      const reader = readYaml(text)
      readCompliance(reader, reader.root)
      expect(reader.mistakes.map((each) => each.message)).toEqual([expect.stringMatching(message)])
    }
  })
})
