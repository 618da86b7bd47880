// Remarks of `reviewPolicy`: one remark per problem, at its place.

import { describe, expect, it } from 'vitest'
import { REMARK_CODES } from '../../src/workbench/review/remark.ts'
import { reviewPolicy } from '../../src/workbench/review/review.ts'
import { policyOf } from './review-rig.ts'

const TOOLS = `tools:
  fs/read: { effect: read }
  fs/write: { effect: write }
  fs/delete: { effect: delete, returns: [house] }
  net/get: { effect: send }
`

/** Returns `line:column CODE message` of each remark on rules, which begin in line 9. */
function remarks(rules: string, more = '', known: readonly string[] = []): readonly string[] {
  const text = `tollgate: 1\nname: x\n${TOOLS}rules:\n${rules}${more}`
  return reviewPolicy(policyOf(text), known).map(
    ({ line, column, code, message }) => `${line}:${column} ${code} ${message}`,
  )
}

/** Returns the codes of the remarks on rules, without those about unused names. */
function codes(rules: string, more = ''): readonly string[] {
  const all = remarks(rules, more).map((text) => text.split(' ')[1] ?? '')
  return all.filter((code) => !['TOOL_UNUSED', 'ALLOWS_DANGER', 'PREFIX_BARE'].includes(code))
}

const when = (condition: string, rest = ''): readonly string[] =>
  codes(`  - { id: a, deny: 'fs/*'${rest}, when: ${JSON.stringify(condition)} }\n`, 'gates: { trust: {} }\n')

describe('rules that are never reached', () => {
  it('are reported with the rule that decides before them', () => {
    expect(
      remarks(
        "  - { id: first, deny: 'fs/*' }\n  - { id: second, allow: fs/read }\n  - { id: n, deny: net/get }\n",
      ),
    ).toEqual([
      '10:5 RULE_UNREACHABLE rule `second` is never reached: `first` (line 9) decides these calls first',
    ])
  })

  it.each([
    ['the same condition', "deny: fs/*, when: 'args.n == 1'", "allow: fs/read, when: 'args.n == 1'"],
    ['a condition that is always true', "deny: fs/*, when: 'risk >= 0.0'", 'allow: fs/read'],
    ['fewer principals', "deny: fs/*, principal: 'a*'", 'allow: fs/read, principal: ab'],
    ['fewer doors', 'deny: fs/*, door: [mcp, llm]', 'allow: fs/read, door: llm'],
    ['fewer sessions', "deny: fs/*, session: 's*'", "allow: fs/read, session: 's1*'"],
  ])('are found with %s', (_, first, second) => {
    const found = codes(`  - { id: a, ${first} }\n  - { id: b, ${second} }\n`)
    expect(found).toContain('RULE_UNREACHABLE')
  })

  it.each([
    ['another condition', "deny: fs/*, when: 'args.n == 1'", "allow: fs/read, when: 'args.n == 2'"],
    ['no condition', "deny: fs/*, when: 'args.n == 1'", 'allow: fs/read'],
    ['a condition that may fail', "deny: fs/*, when: 'args.n == 1 || args.n != 1'", 'allow: fs/read'],
    ['more principals', 'deny: fs/*, principal: a', 'allow: fs/read, principal: [a, b]'],
    ['anybody', 'deny: fs/*, principal: a', 'allow: fs/read'],
    ['more doors', 'deny: fs/*, door: mcp', 'allow: fs/read'],
    ['a wider pattern', 'deny: fs/read', 'allow: fs/*'],
  ])('are not found with %s', (_, first, second) => {
    const found = codes(`  - { id: a, ${first} }\n  - { id: b, ${second} }\n`)
    expect(found).not.toContain('RULE_UNREACHABLE')
  })

  it('are found if several rules together decide everything', () => {
    const all = remarks(`  - { id: a, deny: fs/read, door: [mcp, llm, hook] }
  - { id: b, deny: fs/write }
  - { id: c, deny: fs/*, door: [http, sdk, browser] }
  - { id: d, require: [fs/read, fs/write] }
`)
    expect(all.filter((text) => text.includes('UNREACHABLE'))).toEqual([
      '12:5 RULE_UNREACHABLE rule `d` is never reached: `a` (line 9), `b` (line 10), `c` (line 11) together decide these calls first',
    ])
  })

  it('are reported in part: the names without effect', () => {
    const all = remarks(`  - { id: a, deny: fs/read }
  - { id: b, deny: net/get, door: mcp, principal: x }
  - { id: c, require: [fs/write, fs/read] }
  - { id: d, require: net/get, door: [llm, mcp], principal: x }
`)
    expect(all.filter((text) => text.includes('SHADOWED'))).toEqual([
      '11:34 RULE_SHADOWED the tool `fs/read` of rule `c` has no effect: `a` (line 9) decides these calls first',
      '12:38 RULE_SHADOWED the door `mcp` of rule `d` has no effect: `b` (line 10) decides these calls first',
    ])
  })

  it('are reported if an earlier rule partly overrides them', () => {
    const rules = "  - { id: a, allow: '*/read' }\n  - { id: b, deny: 'fs/*' }\n"
    expect(remarks(rules).filter((text) => text.includes('CROSSED'))).toEqual([
      '10:5 RULE_CROSSED rule `b` does not apply to `fs/read`: rule `a` (line 9) allows the calls first',
    ])
    // An exception inside the pattern of the later rule is normal.
    expect(codes("  - { id: a, allow: fs/read }\n  - { id: b, deny: 'fs/*' }\n")).toEqual([])
  })
})

describe('conditions', () => {
  it.each([
    'false',
    '1 > 2',
    'effect == "erase"',
    'effect == "send"',
    'door == "mcp" && door == "llm"',
    'tier == "observer" && tier in ["standard", "admin"]',
    'args.n == 1 && args.n == 2',
    'args.n == "a" && args.n == 1',
    'args.n == 1 && args.n != 1',
    'args.n == 1 && !(args.n == 1)',
    'args.n > 5 && args.n < 3',
    'args.n > 5 && args.n <= 5',
    'args.n >= 5 && args.n <= 5 && args.n != 5',
    '5 < args.n && 3 > args.n',
    'args.n in ["a", "b"] && args.n in ["c"]',
    'args.n in ["a", "b"] && !(args.n in ["b", "a"])',
    'args.n > 5 && args.n == "x"',
    'has(args.n) && !has(args.n)',
    'args.n == 1 && (true && args.n == 2)',
    '(args.n == 1 && args.n == 2) || (args.m > 3 && args.m < 2)',
    'tool == "net/get"',
    'risk > 1.0',
    'trust < 0.0 || trust > 1000.0',
    'args.yes ? args.n < 1 && args.n > 2 : false',
    '[1, 2].exists(x, x == 3)',
    'size(args.x) < 0',
    'args.x.size() == -1',
    '!(size(args.x) >= 0)',
    'size(args.x) > 3 && size(args.x) < 2',
    'args.x.startsWith("/a") && args.x == "/b"',
    'args.x in ["/a", "/b"] && args.x.endsWith("c")',
    'args.x == "/a/b" && !args.x.startsWith("/a")',
    'args.x.startsWith("/a") && args.x.startsWith("/b/")',
    'args.x.endsWith(".ts") && args.x.endsWith(".js")',
    'args.x.contains("a") && args.x == 1',
  ])('%s can never be true', (condition) => {
    expect(when(condition)).toContain('CONDITION_NEVER_TRUE')
  })

  it.each([
    'true',
    '1 < 2',
    'effect != "send"',
    'risk >= 0.0',
    'risk <= 1.0 || args.n',
    'door in ["mcp"] || door != "mcp"',
    'tool == "a" || tool != "a"',
    'true || args.n == 1',
  ])('%s is always true', (condition) => {
    expect(when(condition)).toContain('CONDITION_ALWAYS_TRUE')
  })

  it.each([
    'args.n == 1',
    'args.n == args.m && args.n != args.m + 0',
    // A double is equal to both of these ints.
    'args.n == 9007199254740992 && args.n == 9007199254740993',
    'args.n > 9007199254740992 && args.n < 9007199254740994',
    'args.n >= 5 && args.n <= 5',
    'args.n == 5 && args.n == 5.0',
    'args.n != 1 && args.n != 2',
    '!(args.n < 5) && !(args.n >= 5)',
    // A failure is not false, and denies.
    'args.n == 1 || args.n != 1',
    'effect == "read"',
    'tool == "fs/read"',
    'tool.startsWith("fs/")',
    'risk > 0.5',
    '[1, 2, 3].all(effect, effect < 4)',
    // A value without a size fails, and a failure is not true.
    'size(args.x) >= 0',
    'size(args.x) == 0',
    'args.x.startsWith("/a") && args.x == "/a/b"',
    'args.x.startsWith("/a") && args.x.startsWith("/a/b") && args.x.endsWith("b")',
    'args.x.startsWith("/a") && !args.x.startsWith("/a/b")',
    'args.x.startsWith(args.y) && args.x == "/b"',
    'tool.startsWith("a") || !tool.startsWith("a")',
    'args.x.contains("a") && args.x.contains("b")',
    'door == "mcp" && args.n == 1',
  ])('%s gets no remark', (condition) => {
    expect(when(condition)).toEqual([])
  })

  it('see only the doors of their rule', () => {
    expect(when('door == "mcp"', ', door: [llm, sdk]')).toEqual(['CONDITION_NEVER_TRUE'])
    expect(when('door == "llm"', ', door: [llm]')).toEqual(['CONDITION_ALWAYS_TRUE'])
  })

  it('of a rule for tools that only a server names see the class `admin`', () => {
    expect(codes(`  - { id: a, deny: '*', when: 'effect == "admin"' }\n`)).toEqual([])
    expect(codes(`  - { id: a, deny: 'fs/*', when: 'effect == "pay"' }\n`)).toEqual(['CONDITION_NEVER_TRUE'])
  })

  it('get a remark for words that a variable never equals, even if another part may be true', () => {
    const all = remarks(`  - { id: a, deny: '*', when: 'effect in ["read", "wirte"] || args.n == 1' }\n`)
    expect(all).toEqual(['9:31 WORD_UNKNOWN `effect` is compared with "wirte", which it never equals'])
  })

  it('that never hold do not cover later rules', () => {
    expect(codes(`  - { id: a, deny: 'fs/*', when: 'false' }\n  - { id: b, deny: 'fs/*' }\n`)).toEqual([
      'CONDITION_NEVER_TRUE',
    ])
  })
})

describe('grants', () => {
  it('of everything are reported anywhere', () => {
    expect(codes("  - { id: a, allow: '*' }\n")).toEqual(['ALLOWS_EVERYTHING'])
    expect(codes("  - { id: a, allow: '**', when: 'true', principal: x }\n")).toContain('ALLOWS_EVERYTHING')
    // Every tool of every server.
    expect(codes("  - { id: a, allow: '*/*' }\n")).toEqual(['ALLOWS_EVERYTHING'])
    expect(codes("  - { id: a, allow: 'fs/*' }\n")).toEqual([])
    expect(codes("  - { id: a, deny: '*' }\n")).toEqual([])
    expect(codes("  - { id: a, allow: '*', when: 'args.n == 1' }\n")).toEqual([])
  })

  it('of dangerous tools without a condition are reported', () => {
    const danger = (rules: string): readonly string[] =>
      remarks(rules).filter((text) => text.includes('DANGER'))
    expect(danger("  - { id: a, allow: 'fs/*' }\n")).toEqual([
      '9:5 ALLOWS_DANGER rule `a` allows `fs/delete` (delete) without a condition',
    ])
    expect(danger("  - { id: a, allow: 'fs/*', when: 'args.n == 1' }\n")).toEqual([])
    // An earlier rule considers the tool.
    expect(
      danger("  - { id: a, deny: fs/delete, when: 'args.n == 1' }\n  - { id: b, allow: 'fs/*' }\n"),
    ).toEqual([])
    expect(danger("  - { id: a, require: fs/delete }\n  - { id: b, allow: 'fs/*' }\n")).toEqual([])
  })
})

describe('names', () => {
  it('of unknown tools are reported, in rules and in settings', () => {
    const more = `gates:
  temporal: { rate: { 'mail/*': 1/h, 'fs/*': 1/h }, hours: { 'pay/*': 'mon-fri 08:00-18:00' } }
  compliance: { rules: [{ id: c, tools: [fs/read, crm/x], then: deny }] }
`
    const rules = "  - { id: a, deny: [fs/raed, 'fs/w*'] }\n  - { id: b, deny: 'git/*' }\n"
    const strange = (known: readonly string[]): readonly string[] =>
      remarks(rules, more, known).filter((text) => text.includes('TOOL_UNKNOWN'))
    expect(strange([])).toEqual([
      '9:21 TOOL_UNKNOWN `fs/raed` matches no declared or offered tool',
      '10:20 TOOL_UNKNOWN `git/*` matches no declared or offered tool, so rule `b` has no effect',
      '12:23 TOOL_UNKNOWN `mail/*` matches no declared or offered tool, so the rate has no effect',
      '12:62 TOOL_UNKNOWN `pay/*` matches no declared or offered tool, so the window has no effect',
      '13:51 TOOL_UNKNOWN `crm/x` matches no declared or offered tool',
    ])
    expect(strange(['git/log', 'mail/send', 'crm/x', 'pay/now'])).toHaveLength(1)
  })

  it('of declared tools that no rule names are reported once', () => {
    expect(remarks('  - { id: a, deny: fs/read }\n')).toEqual([
      '5:3 TOOL_UNUSED no rule names `fs/write`, `fs/delete` and `net/get`, so every call is denied',
    ])
  })

  it('of undeclared principals are reported', () => {
    const people = "principals:\n  'agent:*': { tier: standard }\n  agent:ci: { tier: admin }\n"
    const rules = "  - { id: a, deny: '*', principal: ['user:*', 'agent:x', '*:ci'] }\n"
    expect(remarks(rules, people)).toEqual([
      '9:37 PRINCIPAL_UNKNOWN `user:*` in rule `a` is not declared and therefore in the tier `observer`',
      '12:3 PRINCIPAL_COVERED `agent:ci` has no effect: `agent:*` comes first and matches everything that it matches',
    ])
    expect(remarks(rules)).toEqual([])
  })

  it('of tools that an earlier pattern matches are reported; an exact name precedes patterns', () => {
    const text = `tollgate: 1
name: x
tools: { 'a/*': { effect: read }, 'a/b*': { effect: pay }, a/c: { effect: pay } }
rules: [{ id: a, deny: '*' }]
`
    expect(reviewPolicy(policyOf(text)).map(({ code, line, column }) => [code, line, column])).toEqual([
      ['TOOL_COVERED', 3, 35],
    ])
  })

  it('of labels that no data has are reported', () => {
    const more = `gates:
  taint: { deny: [secret, house], ask: [persnal], results: { hous: redact, card: redact } }
  compliance: { rules: [{ id: c, labels: [personal, medical], then: deny }] }
`
    expect(remarks("  - { id: a, deny: '*' }\n", more)).toEqual([
      '11:41 LABEL_UNKNOWN no data ever has the label `persnal`',
      '11:62 LABEL_UNKNOWN no data ever has the label `hous`',
      '12:53 LABEL_UNKNOWN no data ever has the label `medical`',
    ])
  })

  it('of hostnames on two lists are reported', () => {
    const more = 'gates: { egress: { allow: [a.com, b.com], ask: [b.com], deny: [A.com] } }\n'
    expect(remarks("  - { id: a, deny: '*' }\n", more)).toEqual([
      '10:28 HOST_COVERED the hostname is in both `allow` and `deny`; `deny` takes precedence',
      '10:49 HOST_COVERED the hostname is in both `ask` and `allow`; `allow` takes precedence',
    ])
  })
})

describe('rules that the egress gate outvotes', () => {
  const TOOLS =
    "tools:\n  'mail/send': { effect: send, destinations: [to, cc] }\n  'mail/note': { effect: write }\n  'web/local': { effect: send, destinations: none }\n"
  const egress = (when: string, more = '', tool = 'mail/send'): readonly string[] => {
    const text = `tollgate: 1\nname: x\n${TOOLS}rules:\n  - { id: inside, allow: ${tool}${when && `, when: '${when}'`} }\n${more}`
    const found = reviewPolicy(policyOf(text)).filter(({ code }) => code === 'EGRESS_CLOSED')
    return found.map(({ line, message, remedy }) => `${line} ${message}: ${remedy}`)
  }
  const denied =
    '8 rule `inside` allows calls to `example.com`, but `gates.egress` does not list this host, so these calls are denied: add '
  const opened = '; more calls are then allowed'

  it.each([
    'args.to.endsWith("@example.com")',
    'args.to.all(x, x.endsWith("@Example.com"))',
    'size(destinations) > 0 && destinations.all(d, d.host == "example.com")',
    'destinations.all(d, d.host in ["example.com"])',
    'destinations.all(d, host.within(d.host, "example.com"))',
    'url.within(args.url, "https://example.com/api")',
  ])('are reported with an edit, for the condition %s', (when) => {
    expect(egress(when)).toEqual([`${denied}\`egress: { allow: ['example.com'] }\` under \`gates\`${opened}`])
    const other = 'gates: { egress: { allow: [other.test] } }\n'
    expect(egress(when, other)).toEqual([`${denied}\`'example.com'\` to \`gates.egress.allow\`${opened}`])
    for (const list of ['allow', 'ask', 'deny'])
      expect(egress(when, `gates: { egress: { ${list}: [example.com] } }\n`)).toEqual([])
    expect(
      egress(when, 'gates: { egress: { allow: ["mailto:example.com", "https://example.com"] } }\n'),
    ).toEqual([])
    expect(egress(when, '', 'web/local')).toEqual([])
  })

  it('are reported without a host in the condition if no host is listed and the tool declares destinations', () => {
    expect(egress('')).toEqual([
      `8 rule \`inside\` allows \`mail/send\`, but \`gates.egress\` lists no host, so every call with a destination is denied: add \`egress: { allow: ['example.com'] }\` under \`gates\`, with the hosts of your destinations instead of \`example.com\`${opened}`,
    ])
    expect(egress('', '', "'mail/*'")).toHaveLength(1)
    for (const tool of ['mail/note', 'web/local', 'other/tool']) expect(egress('', '', tool)).toEqual([])
    expect(egress('', 'gates: { egress: { allow: ["*"] } }\n')).toEqual([])
  })

  it.each([
    '!args.to.endsWith("@example.com")',
    'destinations.all(d, !(d.host == "example.com"))',
    'path.within(args.path, "/example.com")',
  ])('are not reported for a host that the condition %s excludes or does not name', (when) => {
    expect(egress(when).join()).not.toContain('calls to')
  })
})

describe('a review', () => {
  const many = (rule: (i: number) => string): string =>
    `tollgate: 1\nname: x\nrules:\n${Array.from({ length: 3000 }, (_, i) => `  - { id: r${i}, ${rule(i)} }`).join('\n')}\n`

  it('ends soon for any patterns, and reports if it did not compare all of them', () => {
    const policy = policyOf(many((i) => `deny: '*x${i}y*'`))
    const began = performance.now()
    const found = reviewPolicy(policy)
    expect(performance.now() - began).toBeLessThan(30_000)
    expect(found.map(({ code, line }) => [code, line])).toEqual([['REVIEW_CUT', 1]])
  })

  it('has at most a thousand remarks', () => {
    const found = reviewPolicy(policyOf(many(() => 'deny: a')))
    expect(found).toHaveLength(1001)
    expect(found.at(-1)).toMatchObject({
      code: 'REVIEW_CUT',
      message: 'there are 1999 more remarks after this line',
    })
  })

  it('has a remedy for every remark, and no remarks on a policy without tools and rules', () => {
    expect(reviewPolicy(policyOf('tollgate: 1\nname: x\nrules: []\n'))).toEqual([])
    for (const { remedy, code } of reviewPolicy(policyOf(many(() => 'deny: a')))) {
      expect(remedy).toMatch(/\S/)
      expect(REMARK_CODES).toContain(code)
    }
  })
})
