import { describe, expect, it } from 'vitest'
import {
  describeLadder,
  explain,
  parsePolicy,
  snapshotOf,
  subjectOf,
  capture,
  NO_POLICY,
  type Mistake,
} from '../src/index.ts'
import { glob } from '../src/policy/glob.ts'
import { NEW_PRINCIPAL, NEW_SESSION } from '../src/session.ts'
import { createFreezes } from '../src/freezes.ts'
import { createRig, policyOf, START } from './rig.ts'

const HEAD = 'tollgate: 1\nname: test\n'

/** The mistakes in a policy, as `line: message`. */
function mistakesIn(text: string): readonly string[] {
  const parsed = parsePolicy(text)
  return parsed.ok ? [] : parsed.mistakes.map(({ line, message }: Mistake) => `${line}: ${message}`)
}

/** A policy with this after its head has exactly this mistake. */
function check(text: string, ...expected: readonly (string | RegExp)[]): void {
  const found = mistakesIn(HEAD + text)
  expect(found, text).toHaveLength(expected.length)
  expected.forEach((each, i) => expect(found[i], text).toMatch(each))
}

const RULES = 'rules: [{ id: a, allow: "x" }]\n'

describe('a policy', () => {
  it('reads as the documents show it', () => {
    const policy = policyOf(`
tollgate: 1
name: workstation
principals:
  "agent:*": { tier: standard }
tools:
  "mail/send":    { effect: send, sinks: [to, cc], destinations: [to, cc] }
  "fs/read_file": { effect: read }
rules:
  - { id: secrets,  deny: "fs/*", when: 'args.path.matches("(^|/)\\\\.env")', because: secrets stay here }
  - { id: reading,  allow: "fs/read_file" }
  - { id: inside,   allow: "mail/send", when: 'destinations.all(d, d.host == "example.com")' }
  - { id: outside,  require: "mail/send", approvers: [ops], expires: 15m }
gates:
  egress:       { allow: ["example.com"], ask: ["*"] }
  session-risk: { threshold: 0.38, window: 8 }
  browser:      { domains: ["example.com"], max-sentinel-risk: 70 }
  temporal:     { rate: { "mail/*": 20/h } }
`)
    expect(policy.rules.map(({ id, line, action }) => [id, line, action])).toEqual([
      ['secrets', 10, 'deny'],
      ['reading', 11, 'allow'],
      ['inside', 12, 'allow'],
      ['outside', 13, 'require'],
    ])
    expect(policy.gates.sessionRisk).toMatchObject({ threshold: 380_000, window: 8 })
    expect(policy.gates.rates).toMatchObject([{ name: 'mail/*', calls: 20, period: 3_600_000 }])
    expect(policy.rules[3]).toMatchObject({ approvers: ['ops'], expires: 900_000 })
  })

  it('says everything that is wrong at once, by line', () => {
    expect(
      mistakesIn(`tollgate: 2
name: ""
tolls: {}
tools:
  a: { effect: destroy, colour: red }
rules:
  - { id: one, allow: a, deny: b }
  - { allow: a }
  - { id: two, allow: a, when: 'args.x >' }
gates:
  egress: { alow: [x] }
  taint: {}
`).map((each) => each.slice(0, 60)),
    ).toEqual([
      expect.stringMatching(/^1: `tollgate`, the version/),
      expect.stringMatching(/^2: `name` must be text/),
      expect.stringMatching(/^3: `tolls` is not known here; did you mean `tools`/),
      expect.stringMatching(/^5: `effect` must be one of/),
      expect.stringMatching(/^5: `colour` is not known here/),
      expect.stringMatching(/^7: a rule has exactly one of/),
      expect.stringMatching(/^8: the rule has no `id`/),
      expect.stringMatching(/^9: `when`:/),
      expect.stringMatching(/^11: `alow` is not known here; did you mean `allow`/),
      expect.stringMatching(/^12: the rung `taint` is not configurable yet/),
    ])
  })

  it('needs its head and its rules', () => {
    expect(mistakesIn('')).toHaveLength(1)
    expect(mistakesIn('[]')).toHaveLength(1)
    expect(mistakesIn('name: x\nrules: []')).toEqual([expect.stringContaining('`tollgate: 1` is missing')])
    check('', /`rules` is missing/)
    check('rules: []')
  })

  it('names what is wrong with a rule', () => {
    check('rules: {}', /`rules` must be a list/)
    check('rules: [1]', /must be a mapping/)
    check('rules: [{ id: a, allow: x }, { id: a, allow: y }]', /the id `a` is taken/)
    check('rules: [{ id: "a b", allow: x }]', /letters, digits/)
    check('rules: [{ id: a, allow: 7 }]', /must be text/)
    check('rules: [{ id: a, allow: x, approvers: [ops] }]', /goes with `require`/)
    check('rules: [{ id: a, deny: x, expires: 5m }]', /goes with `require`/)
    check('rules: [{ id: a, require: x, expires: soon }]', /such as `30s`/)
    check('rules: [{ id: a, require: x, expires: 8d }]', /at most 7 days/)
    check('rules: [{ id: a, allow: x, door: window }]', /`door` must be one of/)
  })

  it('names what is wrong with a condition, at its place', () => {
    const parsed = parsePolicy(`${HEAD}rules:\n  - { id: a, allow: x, when: 'tool == nam' }\n`)
    expect(parsed).toMatchObject({ ok: false, mistakes: [{ line: 4, column: expect.any(Number) as number }] })
    check("rules: [{ id: a, allow: x, when: 'args.n + 1' }]", /bool/)
    check('rules: [{ id: a, allow: x, when: \'tool.matches("(")\' }]', /`when`/)
    check("rules: [{ id: a, allow: x, when: '' }]", /must be text/)
  })

  it('names what is wrong with the settings of a rung', () => {
    check(`${RULES}gates: { egress: { allow: ["exa mple"] } }`, /./)
    check(`${RULES}gates: { session-risk: { threshold: 2 } }`, /from 0.1 to 1/)
    check(`${RULES}gates: { session-risk: { window: 2.5 } }`, /whole number/)
    check(`${RULES}gates: { session-risk: { half-life: 31d } }`, /at most 30 days/)
    check(`${RULES}gates: { browser: { max-sentinel-risk: 101 } }`, /from 0 to 100/)
    check(`${RULES}gates: { temporal: { rate: { x: fast } } }`, /a rate is written/)
    check(`${RULES}gates: { temporal: { rate: { x: 999999/366d } } }`, /a rate is written/)
    check(`${RULES}gates: { temporal: { budget: {} } }`, /only `rate` is configurable yet/)
    for (const later of ['taint', 'threat', 'delegation', 'trust', 'privilege', 'scope', 'compliance']) {
      check(`${RULES}gates: { ${later}: {} }`, new RegExp(`the rung \`${later}\` is not configurable yet`))
    }
  })

  it('names what is wrong with a tool', () => {
    check(`${RULES}tools: { x: { schema: { $ref: "https://example.com/s" } } }`, /`schema` cannot be used/)
    check(`${RULES}tools: { x: { commit: hidden } }`, /`commit` must be one of/)
    check(`${RULES}tools: { x: { browser: maybe } }`, /true or false/)
    check(`${RULES}tools: [x]`, /must be a mapping/)
  })

  it('is read by people: no aliases, anchors, tags, merged keys or keys twice', () => {
    check(`${RULES}tools: { x: &a { effect: read }, y: *a }`, /an anchor/, /an alias/)
    check(`${RULES}tools: { x: !secret { effect: read } }`, /not readable as YAML/, /a tag is not allowed/)
    check(`${RULES}${RULES}`, /not readable as YAML/)
    check(`${RULES}tools: { x: { effect: read, effect: pay } }`, /not readable as YAML/)
    check(`${RULES}tools: { x: { << : { effect: read } } }`, /not known here/)
  })

  it('is bounded: a bomb of aliases or a huge file is a mistake, not a stall', () => {
    const bomb = Array.from(
      { length: 30 },
      (_, i) => `a${i}: &a${i} [${`*a${i - 1}, `.repeat(i ? 9 : 0)}x]`,
    ).join('\n')
    expect(mistakesIn(HEAD + bomb).length).toBeGreaterThan(0)
    expect(mistakesIn(`# ${'x'.repeat(1 << 20)}`)).toEqual([expect.stringContaining('longer than')])
    expect(mistakesIn(`${HEAD}rules: ${'['.repeat(20_000)}`).length).toBeGreaterThan(0)
  })
})

describe('a glob', () => {
  it('matches whole names, `*` any run of characters', () => {
    const cases: readonly [string, string, boolean][] = [
      ['fs/read', 'fs/read', true],
      ['fs/read', 'fs/reader', false],
      ['fs/*', 'fs/', true],
      ['fs/*', 'fs/a/b', true],
      ['fs/*', 'xfs/a', false],
      ['*', '', true],
      ['*a*', 'bab', true],
      ['a*a', 'a', false],
      ['a*b*c', 'abc', true],
      ['a*b*c', 'acb', false],
      ['*.env', '.env', true],
      ['a.c', 'abc', false],
      ['A*', 'a', false],
    ]
    for (const [pattern, name, expected] of cases) {
      expect(glob(pattern).matches(name), `${pattern} ${name}`).toBe(expected)
    }
  })

  it('is no slower for a hostile name', () => {
    expect(glob(`${'*a'.repeat(100)}*b`).matches('a'.repeat(256))).toBe(false)
  })
})

describe('an explanation', () => {
  it('says of every rule why it did or did not match', () => {
    const policy = policyOf(`
tools: { "*": { effect: read } }
rules:
  - { id: tool, allow: "b" }
  - { id: principal, allow: "a", principal: "user:*" }
  - { id: session, allow: "a", session: "t*" }
  - { id: door, allow: "a", door: http }
  - { id: condition, allow: "a", when: 'args.n > 5.0' }
  - { id: matched, deny: "a" }
  - { id: after, allow: "a" }
`)
    const intent = capture({
      caller: { tenant: 'default', principal: 'agent:ci' },
      door: 'mcp',
      assurance: 'enforced',
      tool: 'a',
      args: { n: 1 },
      session_id: 's1',
    })
    const snapshot = snapshotOf(intent, {
      time: START,
      policy,
      freezes: createFreezes(),
      tool: undefined,
      session: NEW_SESSION,
      principal: NEW_PRINCIPAL,
      observation: undefined,
      observed: 'agent',
      asked: false,
    })
    expect(explain(policy, subjectOf(intent, snapshot)).map(({ rule, match }) => [rule.id, match])).toEqual([
      ['tool', 'other tool'],
      ['principal', 'other principal'],
      ['session', 'other session'],
      ['door', 'other door'],
      ['condition', 'condition is false'],
      ['matched', 'matched'],
      ['after', 'not reached'],
    ])
  })
})

describe('the ladder', () => {
  it('has every rung in its order, and says how it stands', () => {
    const text = (policy: typeof NO_POLICY): string[] =>
      describeLadder(policy).map(({ rung, standing }) => `${rung}: ${standing}`)
    expect(text(NO_POLICY)).toEqual([
      'freeze: active',
      'schema: active',
      'context: not configured',
      'identity: active',
      'browser: not configured',
      'egress: active',
      'taint: not yet configurable',
      'threat: not yet configurable',
      'delegation: not yet configurable',
      'session-risk: active',
      'trust: not yet configurable',
      'privilege: not yet configurable',
      'scope: not yet configurable',
      'policy: active',
      'temporal: not configured',
      'compliance: not yet configurable',
    ])
    const configured = policyOf(`${RULES}context: { environments: [prod] }
gates: { browser: { domains: [example.com] }, temporal: { rate: { x: 1/h } } }`)
    expect(text(configured).filter((line) => line.endsWith('not configured'))).toEqual([])
  })

  it('is in every decision as a hash that changes with the rungs that are active', async () => {
    const rig = await createRig({ policy: RULES })
    await rig.authorize()
    const before = rig.last('decision').ladder
    const other = await createRig({ policy: `${RULES}gates: { temporal: { rate: { x: 1/h } } }` })
    await other.authorize()
    expect(other.last('decision').ladder).not.toBe(before)
  })
})
