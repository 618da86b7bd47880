// The generated calls of `policy diff`: bounded, deterministic, and good at finding the effects of a policy change.

import { scanText } from '@tollgate/kernel/detection'
import type { Policy } from '@tollgate/kernel/policy'
import { tryCall } from '@tollgate/kernel/workbench'
import { describe, expect, test } from 'vitest'
import { compareGenerated, createFindings } from '../../src/workbench/diff.ts'
import { generateCalls, usualCalls } from '../../src/workbench/generate/calls.ts'
import { callOf } from '../../src/workbench/generate/draft.ts'
import { textsOf } from '../../src/workbench/generate/pattern.ts'
import { HOSTILE, LABELLED } from '../../src/workbench/generate/samples.ts'
import { boundsOf, examplesOf } from '../../src/workbench/generate/shape.ts'
import { sectionsThatDiffer } from '../../src/workbench/settings.ts'
import { knownPolicies, made, measure, randomPolicy, read, type Draftable } from './mutants.ts'

function policy(text: string): Policy {
  const found = read(`tollgate: 1\nname: test\n${text}`)
  if (!found) throw new Error(`no policy: ${text}`)
  return found
}

/** The changes that the generated calls show. */
function changes(a: Policy, b: Policy, most = 600): readonly string[] {
  const findings = createFindings(a, b)
  let tried = 0
  for (tried of compareGenerated(a, b, most, findings));
  expect(tried).toBeGreaterThan(0)
  return [...new Set(findings.comparison.groups(new Set()).map(({ change }) => change))]
}

describe('general properties', () => {
  test('the same policies give the same calls, each once, up to the limit', () => {
    const [a, b] = [made(randomPolicy(3)), made(randomPolicy(4))]
    if (!a || !b) throw new Error('no policy')
    const texts = [...generateCalls(a, b, 900)].map((draft) => JSON.stringify(draft))
    expect(texts).toEqual([...generateCalls(a, b, 900)].map((draft) => JSON.stringify(draft)))
    expect(texts).toHaveLength(900)
    expect(new Set(texts).size).toBe(900)
    expect([...generateCalls(a, b, 0)]).toEqual([])
  })

  test('a policy does not differ from itself, nor from a rewritten copy', () => {
    const some = [...knownPolicies().filter((_, i) => i % 30 === 0), ...[1, 2, 3].map(randomPolicy)]
    expect(some.length).toBeGreaterThan(8)
    for (const data of some) {
      const [a, b] = [made(data), made(rewritten(data))]
      if (!a || !b) throw new Error('no policy')
      expect(a.hash).not.toBe(b.hash)
      expect(changes(a, b, 150)).toEqual([])
      expect(sectionsThatDiffer(a, b)).toEqual([])
      expect(changes(a, a, 150)).toEqual([])
    }
  })
})

/** The same policy with members in another order, where order is insignificant. */
function rewritten(data: Draftable): Draftable {
  const turned = Object.fromEntries(Object.entries(data).toReversed())
  const gates = (data.gates ?? {}) as Record<string, unknown>
  const rules = (data.rules as readonly object[]).map((rule) =>
    Object.fromEntries(Object.entries(rule).toReversed()),
  )
  return {
    ...turned,
    name: 'rewritten',
    rules,
    ...(data.gates !== undefined && { gates: Object.fromEntries(Object.entries(gates).toReversed()) }),
  }
}

const FILES =
  'tools: { fs/read: { effect: read, destinations: none }, fs/write: { effect: write, destinations: none } }\n'
const rule = (text: string): string => `${FILES}rules: [{ id: a, allow: fs/read${text} }]`
const when = (condition: string): string => rule(`, when: '${condition}'`)
const MAIL =
  'tools: { mail/send: { effect: send, destinations: [to] } }\nrules: [{ id: a, allow: mail/send }]\n'
const schema = (text: string): string =>
  `tools: { t: { effect: read, schema: { type: object, properties: { n: ${text} } } } }\nrules: [{ id: a, allow: t }]`
const PAGE = 'tools: { t: { effect: write, browser: true } }\nrules: [{ id: a, allow: t }]\n'
const TIERS =
  'tools: { t: { effect: write, destinations: none } }\nrules: [{ id: a, allow: t }]\ngates: { privilege: {} }\n'

/** Changes that allow a call that was denied before. */
const LOOSER: readonly (readonly [what: string, before: string, after: string])[] = [
  ['a shorter prefix', when('args.path.startsWith("/work/")'), when('args.path.startsWith("/work")')],
  ['another suffix', when('args.path.endsWith(".md")'), when('args.path.endsWith("md")')],
  ['a part that may be there', when('!args.path.contains("..")'), when('!args.path.contains("../")')],
  ['a constant', when('args.mode == "safe"'), when('args.mode == "fast"')],
  ['a bound by one', when('args.n < 100'), when('args.n <= 100')],
  ['a bound by ten', when('args.n <= 100.0'), when('args.n <= 110.0')],
  ['one more in a list', when('args.c in ["EUR"]'), when('args.c in ["EUR", "USD"]')],
  ['a class in a pattern', when('args.p.matches("^[a-z]+$")'), when('args.p.matches("^[a-z0-9]+$")')],
  ['an anchor gone', when('args.p.matches("^/a/[^/]+$")'), when('args.p.matches("^/a/[^/]+")')],
  ['a choice in a pattern', when('args.p.matches("\\\\.(md|txt)$")'), when('args.p.matches("\\\\.(md|txt|sh)$")')],
  ['and to or', when('args.a == 1 && args.b == 2'), when('args.a == 1 || args.b == 2')],
  ['a condition gone', when('has(args.x) && args.x == true'), rule('')],
  ['a loop', when('args.l.all(x, x.startsWith("a"))'), when('args.l.exists(x, x.startsWith("a"))')],
  ['a size', when('size(args.l) < 3'), when('size(args.l) < 4')],
  ['an index', when('args["x-y"] == "1"'), when('args["x-y"] != "2"')],
  ['one more prefix', when('["/a"].exists(p, args.p.startsWith(p))'), when('["/a", "/b"].exists(p, args.p.startsWith(p))')],
  ['an hour', when('time.getHours() < 17'), when('time.getHours() < 18')],
  ['a tier in a condition', `principals: { 'agent:*': { tier: standard } }\n${when('tier == "admin"')}`, `principals: { 'agent:*': { tier: standard } }\n${when('tier != "observer"')}`],
  ['a removed deny', `${FILES}rules: [{ id: d, deny: fs/read, when: 'args.p == "x"' }, { id: a, allow: 'fs/*', when: 'has(args.p)' }]`, `${FILES}rules: [{ id: a, allow: 'fs/*', when: 'has(args.p)' }]`],
  ['rules in another order', `${FILES}rules: [{ id: d, deny: 'fs/*', when: 'args.p.startsWith("/s")' }, { id: a, allow: fs/read, when: 'args.p.endsWith(".md")' }]`, `${FILES}rules: [{ id: a, allow: fs/read, when: 'args.p.endsWith(".md")' }, { id: d, deny: 'fs/*', when: 'args.p.startsWith("/s")' }]`],
  ['more tools', rule(''), `${FILES}rules: [{ id: a, allow: 'fs/*' }]`],
  ['more principals', rule(", principal: 'agent:a'"), rule(", principal: 'agent:a*'")],
  ['more sessions', rule(', session: s1'), rule(", session: 's*'")],
  ['more doors', rule(', door: mcp'), rule(', door: [mcp, http]')],
  ['another environment', `context: { environments: [prod] }\n${rule('')}`, `context: { environments: [prod, dev] }\n${rule('')}`],
  ['another workspace', `context: { workspaces: [w1] }\n${rule('')}`, rule('')],
  ['a host', `${MAIL}gates: { egress: { allow: [a.test] } }`, `${MAIL}gates: { egress: { allow: [a.test, b.test] } }`],
  ['hosts below', `${MAIL}gates: { egress: { allow: [a.test] } }`, `${MAIL}gates: { egress: { allow: [a.test, '*.a.test'] } }`],
  ['a removed denied hostname', `${MAIL}gates: { egress: { allow: ['*'], deny: [b.test] } }`, `${MAIL}gates: { egress: { allow: ['*'] } }`],
  ['a network', `${MAIL}gates: { egress: { allow: [10.0.0.0/16] } }`, `${MAIL}gates: { egress: { allow: [10.0.0.0/15] } }`],
  ['a host in a condition', when('args.x == 1 && destinations.all(d, d.host == "a.test")'), when('args.x == 1 && destinations.all(d, d.host in ["a.test"]) || args.x == 2')],
  ['the destinations of a tool', `${MAIL}gates: { egress: { allow: [a.test] } }`, `${MAIL.replace('[to]', 'none')}gates: { egress: { allow: [a.test] } }`],
  ['a bound of a schema', schema('{ type: number, maximum: 10 }'), schema('{ type: number, maximum: 11 }')],
  ['a word of a schema', schema('{ enum: [a, b] }'), schema('{ enum: [a, b, c] }')],
  ['a length of a schema', schema('{ type: string, maxLength: 5 }'), schema('{ type: string, maxLength: 6 }')],
  ['a property of a schema', schema('{ type: string }'), 'tools: { t: { effect: read } }\nrules: [{ id: a, allow: t }]'],
  ['opening hours', `${rule('')}\ngates: { temporal: { hours: { '*': 'mon-fri 08:00-18:00' } } }`, `${rule('')}\ngates: { temporal: { hours: { '*': 'mon-sat 08:00-18:00' } } }`],
  ['a cost', "tools: { t: { effect: read, cost: amount } }\nrules: [{ id: a, allow: t }]\ngates: { temporal: { budget: { cost: 100/day } } }", "tools: { t: { effect: read, cost: amount } }\nrules: [{ id: a, allow: t }]\ngates: { temporal: { budget: { cost: 101/day } } }"],
  ['a label that may leave', `${MAIL}gates: { egress: { allow: ['*'] }, taint: { deny: [secret, card] } }`, `${MAIL}gates: { egress: { allow: ['*'] }, taint: { deny: [secret] } }`],
  ['an internal destination', `${MAIL}gates: { egress: { allow: ['*'] }, taint: { deny: [card] } }`, `${MAIL}gates: { egress: { allow: ['*'] }, taint: { deny: [card], internal: [a.test] } }`],
  ['untrusted values', `${MAIL}gates: { egress: { allow: ['*'] }, taint: { provenance: { untrusted: deny } } }`, `${MAIL}gates: { egress: { allow: ['*'] }, taint: {} }`],
  ['a threat', `${rule('')}\ngates: { threat: {} }`, `${rule('')}\ngates: { threat: { arguments: { high: label } } }`],
  ['compliance', `${MAIL}gates: { egress: { allow: ['*'] }, compliance: { jurisdictions: { eu: [a.test] }, rules: [{ id: c, labels: [personal], outside: [eu], then: deny }] } }`, `${MAIL}gates: { egress: { allow: ['*'] } }`],
  ['a tier', `principals: { p: { tier: observer } }\n${TIERS}`, `principals: { p: { tier: standard } }\n${TIERS}`],
  ['acting alone', `principals: { p: { tier: admin, delegate-only: true } }\n${TIERS}`, `principals: { p: { tier: admin } }\n${TIERS}`],
  ['trust', `${rule('')}\ngates: { trust: { needs: { read: 501 } } }`, `${rule('')}\ngates: { trust: { needs: { read: 500 } } }`],
  ['a domain of the browser', `${PAGE}gates: { egress: { allow: ['*'] }, browser: { domains: [a.test] } }`, `${PAGE}gates: { egress: { allow: ['*'] }, browser: { domains: [a.test, b.test] } }`],
  ['risk of a page', `${PAGE}gates: { egress: { allow: ['*'] }, browser: { domains: [a.test], max-sentinel-risk: 50 } }`, `${PAGE}gates: { egress: { allow: ['*'] }, browser: { domains: [a.test], max-sentinel-risk: 60 } }`],
] // oxfmt-ignore

describe('a newly allowed call is found', () => {
  for (const [what, before, after] of LOOSER) {
    test(what, () => {
      const found = changes(policy(before), policy(after))
      expect(found).toContain('DENY→ALLOW')
      // In the other direction it becomes stricter.
      expect(changes(policy(after), policy(before))).toContain('ALLOW→DENY')
    })
  }
})

test('random changes of known policies are found', () => {
  const { rate, found, missed } = measure(knownPolicies(), 24, 120)
  console.info(
    `found ${found} of ${found + missed.length} changes that matter (${(rate * 100).toFixed(1)} %)`,
  )
  expect(found).toBeGreaterThan(10)
  expect(rate).toBeGreaterThanOrEqual(0.95)
})

describe('the parts of generated calls', () => {
  test('the samples are detected by gates', () => {
    const gates = 'gates: { taint: {}, threat: {} }'
    const labels = policy(`tools: { t: { effect: read } }\nrules: [{ id: a, allow: t }]\n${gates}`)
    for (const { label, text } of LABELLED) {
      const call = callOf({
        tool: 't',
        args: { text },
        principal: 'p',
        session: 's',
        door: 'mcp',
        tenant: 'd',
        time: 0,
      })
      expect(tryCall(labels, call, 0).snapshot.labels()).toContain(label)
    }
    for (const text of HOSTILE)
      expect(scanText(text).filter(({ class: kind }) => kind !== 'secret')).not.toEqual([])
  })

  test('texts match the patterns they come from', () => {
    const patterns = [
      '^/work/[a-z0-9_-]+\\.(md|txt)$',
      '(^|/)\\.env',
      '^\\d{3}-\\d{2,4}$',
      '(?i)^select\\s+\\*',
      '[^/]+/x?',
      '^(?:a|b(c|d)){2}$',
      '\\x41|\\w+@example\\.com',
    ]
    for (const pattern of patterns) {
      const texts = textsOf(pattern)
      const javascript = new RegExp(pattern.replace('(?i)', ''), pattern.startsWith('(?i)') ? 'i' : '')
      expect(texts.length).toBeGreaterThan(0)
      expect(texts.filter((text) => !javascript.test(text))).toEqual([])
    }
  })

  test('an invalid or huge pattern gives few short texts or none', () => {
    const hostile = [
      '(',
      '[',
      '[a',
      'a{2',
      '(?P<',
      '\\',
      '[[:alpha:]]',
      '(a|b)*'.repeat(160),
      '('.repeat(500) + ')'.repeat(500),
      'a{999}'.repeat(100),
      '((x{99}){99}){9}',
      '[\\',
    ]
    for (const pattern of hostile) {
      const texts = textsOf(pattern)
      expect(texts.length).toBeLessThanOrEqual(24)
      expect(Math.max(0, ...texts.map(({ length }) => length))).toBeLessThanOrEqual(4096)
    }
  })

  test('a recursive or invalid schema terminates', () => {
    const circle = { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] } as const
    expect(examplesOf(circle)).toHaveLength(2)
    expect(boundsOf(circle).map(([path]) => path)).toEqual([['a']])
    expect(boundsOf({ properties: 3 })).toEqual([])
    expect(examplesOf({ $ref: '#/$ref' })).toEqual([])
  })
})

describe('hostile policies', () => {
  const many = (count: number, each: (i: number) => string): string =>
    Array.from({ length: count }, (_, i) => each(i)).join('\n')
  const rules = (count: number, each: (i: number) => string): string =>
    `tools: { '*': { effect: read } }\nrules:\n${many(count, (i) => `  - { id: r${i}, ${each(i)} }`)}`

  test.each([
    [
      'many rules',
      (v: number) => rules(1500, (i) => `allow: t/${i}, when: 'args.n < ${i === 700 ? i + v : i}'`),
      true,
    ],
    [
      'large patterns',
      (v: number) =>
        rules(4, (i) => `allow: t${i}, when: 'args.p.matches("^(${'(a|b)*c?'.repeat(60)})${v}$")'`),
      true,
    ],
    [
      'deep conditions',
      (v: number) =>
        rules(
          4,
          (i) =>
            `allow: t${i}, when: '${Array.from({ length: 60 }, (_, j) => `args.x${j}.startsWith("${j + v}")`).join(i % 2 === 0 ? ' && ' : ' || ')}'`,
        ),
      true,
    ],
    [
      'long lists',
      (v: number) =>
        rules(
          3,
          (i) =>
            `allow: t${i}, when: 'args.x in [${Array.from({ length: 400 }, (_, j) => `"${j + v}"`).join(', ')}]'`,
        ),
      true,
    ],
  ] as const)('%s are tried within bounds, and their change is found', (_, write, isFound) => {
    const [a, b] = [policy(write(0)), policy(write(1))]
    const began = performance.now()
    expect(changes(a, b, 400).includes('DENY→ALLOW')).toBe(isFound)
    // Generous, for a busy machine.
    expect(performance.now() - began).toBeLessThan(50_000)
  })

  test('the larger the policies, the fewer the calls', () => {
    const [small, large] = [policy(rule('')), policy(rules(9000, (i) => `allow: t${i}`))]
    expect(usualCalls(small, small)).toBe(20_000)
    expect(usualCalls(large, large)).toBeLessThan(2000)
  })
})

describe('generated calls for `within`', () => {
  const rule = (condition: string): Policy =>
    policy(
      `tools: { fs/read: { effect: read } }\nprincipals: { 'agent:*': { tier: admin } }\nrules: [{ id: a, allow: fs/read, when: ${JSON.stringify(condition)} }]\ngates: { egress: { allow: ['*'] } }\n`,
    )

  test.each([
    ['path.within(args.p, "/notes")', 'path.within(args.p, "/notes/a")'],
    ['path.within(args.p, "/notes")', 'args.p.startsWith("/notes")'],
    ['host.within(args.p, "example.com")', 'args.p == "example.com"'],
    ['host.within(args.p, "example.com")', 'args.p.endsWith("example.com")'],
    ['url.within(args.p, "https://example.com/api")', 'url.within(args.p, "https://example.com")'],
    ['url.within(args.p, "https://example.com/api")', 'args.p.startsWith("https://example.com/api")'],
  ])('tell %s from %s', (one, other) => {
    expect(changes(rule(one), rule(one))).toEqual([])
    expect(changes(rule(one), rule(other)).length).toBeGreaterThan(0)
  })
})
