import { describe, expect, it } from 'vitest'
import { describeLadder, snapshotOf, subjectOf, capture } from '../../src/index.ts'
import { explain, parsePolicy, type Mistake } from '../../src/policy.ts'
import { NO_POLICY } from '../../src/open/open.ts'
import { glob } from '../../src/policy/glob.ts'
import { NEW_PRINCIPAL, NEW_SESSION } from '../../src/ledger/session.ts'
import { createFreezes } from '../../src/admin/freezes.ts'
import { createRig, policyOf, START } from '../rig.ts'
import { runs } from '../../../evidence/test/runs.ts'

const HEAD = 'tollgate: 1\nname: test\n'

/** Returns the mistakes in a policy, as `line: message`. */
function mistakesIn(text: string): readonly string[] {
  const parsed = parsePolicy(text)
  return parsed.ok ? [] : parsed.mistakes.map(({ line, message }: Mistake) => `${line}: ${message}`)
}

/** Checks that a policy with this text after its head has exactly this mistake. */
function check(text: string, ...expected: readonly (string | RegExp)[]): void {
  const found = mistakesIn(HEAD + text)
  expect(found, text).toHaveLength(expected.length)
  expected.forEach((each, i) => expect(found[i], text).toMatch(each))
}

const RULES = 'rules: [{ id: a, allow: "x" }]\n'

/** Files that could make a parser quadratic: head, repeated part, tail. */
const HOSTILE: readonly (readonly [string, string, string])[] = [
  // Marks without content between them.
  ['', ',', ''],
  ['a: [', ',', ']'],
  ['{', ', ', '}'],
  ['', '[', ''],
  ['', '{', ''],
  ['', ']', ''],
  ['', '[]', ''],
  ['[', '[],', ']'],
  ['', '[}', ''],
  ['[', '? ', ''],
  ['[', ': ', ''],
  ['{', ':,', '}'],
  ['', '- ', ''],
  ['', '? ', ''],
  ['', '? - ', ''],
  ['', ': ', ''],
  ['', '?\n:\n', ''],
  // Many keys.
  ['', 'k0: 1\n', ''],
  ['{', 'k0: 1, ', '}'],
  ['', 'a: 1\n', ''],
  ['', '? [a0]\n: b\n', ''],
  ['', '[a]: ', ''],
  [`[${'['.repeat(40)}`, '[[]: a]: b, ', ''],
  // Many lines.
  ['', '\n', ''],
  ['a:', '\n', 'b'],
  ['', '#\n', ''],
  ['', 'a\n\n', ''],
  [`a: |\n   x\n${'\n'.repeat(100_000)}`, ' #\n', ''],
  [`- |\n   x\n${'\n'.repeat(100_000)}`, ' #\n', ''],
  ['', '  a:\n b:\n', ''],
  ['', '\t\n', 'a'],
  ['', '\ta: 1\n', ''],
  ['', '-\t', ''],
  // Long texts.
  ['a: ', 'x', ''],
  ['a: "', 'x', ''],
  ['a: "', '\\n', '"'],
  ['a: "', '\\q', '"'],
  ['a: "', '\\', ''],
  ["a: '", "''", "'"],
  ["a: 'x\n ", ' ', "y'"],
  ['a: "x\n', ' \n', '"'],
  ['a: >\n', ' x\n\n  y\n', ''],
  ['a: |\n x\n', '\t\n', ''],
  ['', '"', ''],
  ['[', '"a" ', ']'],
  // Anchors, aliases, tags, directives, documents.
  ['', 'k0: &a0 x\n', ''],
  ['a: &a x\nb: [', '*a, ', ']'],
  ['', '&a ', 'x'],
  ['', '*a\n', ''],
  ['', '- !t0 y\n', ''],
  ['!!omap [', '{k0: 1}, ', ']'],
  ['', '%TAG !a0! x\n', '---\na: 1'],
  ['', '--- a\n', ''],
  ['', '...\n', ''],
  // YAML that is not a policy.
  [HEAD, 'a0: 1\n', ''],
  [`${HEAD}rules:\n`, '- {}\n', ''],
  [`${HEAD}rules:\n`, "- { id: r0, allow: x, when: '((' }\n", ''],
  [`${HEAD}rules: []\ntools:\n`, '  t0: { x: 1 }\n', ''],
  [`${HEAD}rules: []\ngates: { egress: { allow: [`, '"a b", ', ']}}'],
  [`${HEAD}rules: [{ id: a, allow: "`, '*', '" }]'],
]

describe('a policy', () => {
  it('parses as the documents show', () => {
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
    expect(policy.gates.temporal.limits).toMatchObject([{ name: 'mail/*', calls: 20, period: 3_600_000 }])
    expect(policy.rules[3]).toMatchObject({ approvers: ['ops'], expires: 900_000 })
  })

  it('reports all mistakes at once, by line', () => {
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
  scope: { required: maybe }
`).map((each) => each.slice(0, 60)),
    ).toEqual([
      expect.stringMatching(/^1: `tollgate`, the version/),
      expect.stringMatching(/^2: `name` must be text/),
      expect.stringMatching(/^3: `tolls` is not known here; did you mean `tools`/),
      expect.stringMatching(/^5: `effect` must be one of/),
      expect.stringMatching(/^5: `colour` is not known here/),
      expect.stringMatching(/^7: a rule needs exactly one of/),
      expect.stringMatching(/^8: the rule has no `id`/),
      expect.stringMatching(/^9: `when`:/),
      expect.stringMatching(/^11: `alow` is not known here; did you mean `allow`/),
      expect.stringMatching(/^12: `required` must be/),
    ])
  })

  it('needs its head and its rules', () => {
    expect(mistakesIn('')).toHaveLength(1)
    expect(mistakesIn('[]')).toHaveLength(1)
    expect(mistakesIn('name: x\nrules: []')).toEqual([expect.stringContaining('`tollgate: 1` is missing')])
    check('', /`rules` is missing/)
    check('rules: []')
  })

  it('reports mistakes in a rule', () => {
    check('rules: {}', /`rules` must be a list/)
    check('rules: [1]', /must be a mapping/)
    check('rules: [{ id: a, allow: x }, { id: a, allow: y }]', /the id `a` is already used/)
    check('rules: [{ id: "a b", allow: x }]', /letters, digits/)
    check('rules: [{ id: a, allow: 7 }]', /must be text/)
    check('rules: [{ id: a, allow: x, approvers: [ops] }]', /only valid with `require`/)
    check('rules: [{ id: a, deny: x, expires: 5m }]', /only valid with `require`/)
    check('rules: [{ id: a, deny: x, answer: client }]', /not valid with `deny`/)
    check('rules: [{ id: a, require: x, answer: me }]', /`answer` must be one of/)
    check('rules: [{ id: a, require: x, answer: client, approvers: [b] }]', /cannot tell who answers/)
    check('rules: [{ id: a, require: x, expires: soon }]', /such as `30s`/)
    check('rules: [{ id: a, require: x, expires: 8d }]', /at most 7 days/)
    check('rules: [{ id: a, allow: x, door: window }]', /`door` must be one of/)
  })

  it('reports mistakes in a condition, at their place', () => {
    const parsed = parsePolicy(`${HEAD}rules:\n  - { id: a, allow: x, when: 'tool == nam' }\n`)
    expect(parsed).toMatchObject({ ok: false, mistakes: [{ line: 4, column: expect.any(Number) as number }] })
    check("rules: [{ id: a, allow: x, when: 'args.n + 1' }]", /bool/)
    check('rules: [{ id: a, allow: x, when: \'tool.matches("(")\' }]', /`when`/)
    check("rules: [{ id: a, allow: x, when: '' }]", /must be text/)
  })

  it('escalates at the threshold at the latest, even if only `threshold` is set', () => {
    const risk = (settings: string): unknown => {
      const parsed = parsePolicy(`${HEAD}${RULES}gates: { session-risk: ${settings} }`)
      return parsed.ok && parsed.policy.gates.sessionRisk
    }
    expect(risk('{ threshold: 0.2 }')).toMatchObject({ ask: 200_000, threshold: 200_000 })
    expect(risk('{ threshold: 0.9 }')).toMatchObject({ ask: 280_000, threshold: 900_000 })
    expect(risk('{ ask: 0.4, threshold: 0.4 }')).toMatchObject({ ask: 400_000, threshold: 400_000 })
  })

  it('reports mistakes in the settings of a gate', () => {
    check(`${RULES}gates: { egress: { allow: ["exa mple"] } }`, /./)
    check(`${RULES}gates: { session-risk: { threshold: 2 } }`, /from 0.1 to 1/)
    check(`${RULES}gates: { session-risk: { window: 2.5 } }`, /whole number/)
    check(`${RULES}gates: { session-risk: { half-life: 31d } }`, /at most 30 days/)
    check(
      `${RULES}gates: { session-risk: { ask: 0.5 } }`,
      /`ask` is 0.5, above `threshold` 0.38: .*at most 0.38, or raise `threshold`/,
    )
    check(
      `${RULES}gates: { session-risk: { ask: 0.3, threshold: 0.2 } }`,
      /`ask` is 0.3, above `threshold` 0.2/,
    )
    check(`${RULES}gates: { browser: { max-sentinel-risk: 101 } }`, /from 0 to 100/)
    check(`${RULES}gates: { temporal: { rate: { x: fast } } }`, /a rate is written/)
    check(`${RULES}gates: { temporal: { rate: { x: 999999/366d } } }`, /a rate is written/)
    check(
      `${RULES}gates: { scope: { require: true } }`,
      /`require` is not known here; did you mean `required`/,
    )
    check(`${RULES}gates: { scope: true }`, /must be a mapping of `required`/)
    check(`${RULES}gates: { delegation: {} }`, /is configured under `principals`/)
  })

  it('reports mistakes in a tool', () => {
    check(`${RULES}tools: { x: { schema: { $ref: "https://example.com/s" } } }`, /`schema` cannot be used/)
    check(`${RULES}tools: { x: { commit: hidden } }`, /`commit` must be one of/)
    check(`${RULES}tools: { x: { browser: maybe } }`, /true or false/)
    for (const more of ['effect: send', 'sinks: [to]', 'destinations: [to]', 'browser: true'])
      check(`${RULES}tools: { x: { pure: true, ${more} } }`, /`pure` includes/)
    check(`${RULES}tools: { x: { pure: yes } }`, /true or false/)
    check(`${RULES}provider-tools: { undeclared: allow }`, /`undeclared` must be one of/)
    check(`${RULES}tools: [x]`, /must be a mapping/)
    check(`${RULES}tools: { x: { returns: [Secret] } }`, /label/)
    check(`${RULES}tools: { x: { takes: [personal] } }`, /must be a mapping/)
    check(`${RULES}tools: { x: { takes: { body: [Secret] } } }`, /label/)
    const many = Array.from({ length: 28 }, (_, i) => `l${i}`)
    check(`${RULES}tools: { x: { returns: [${many.join(', ')}] } }`, /more than 27 different labels/)
    check(`${RULES}tools: { x: { takes: { '*': [${many.join(', ')}] } } }`, /more than 27 different labels/)
    check(`${RULES}tools: { x: { cost: -1 } }`, /`cost` must be/)
    check(`${RULES}tools: { x: { cost: [amount] } }`, /`cost`, a number or the path of an argument,/)
  })

  it('refuses a rule that could never match, because its gate is not configured', () => {
    const rule = (when: string): string => `rules: [{ id: a, deny: "x", when: '${when}' }]\n`
    check(rule('"secret" in labels'), /`labels` is always empty without/)
    check(rule('trust < 400.0'), /`trust` never changes without/)
    check(`${rule('"secret" in labels')}gates: { taint: {} }`)
    check(`${rule('trust < 400.0')}gates: { trust: {} }`)
  })

  it('reports mistakes in a principal', () => {
    check(`${RULES}principals: { a: { key: x } }`, /`tier` is missing/)
    check(`${RULES}principals: { a: { tier: standard, key: x } }`, /not an Ed25519 public key/)
    check(`${RULES}principals: { a: { tier: standard, delegate-only: 1 } }`, /true or false/)
    const key = `"${'A'.repeat(43)}="`
    check(`${RULES}principals: { a: { tier: standard, key: ${key} } }`, /not an Ed25519 public key/)
    const strong = '"11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="'
    check(`${RULES}principals: { a: { tier: standard, key: ${strong} } }`)
    check(`${RULES}principals: { "a:*": { tier: standard, key: ${strong} } }`, /belongs to one principal/)
    const twice = `{ a: { tier: standard, key: ${strong} }, b: { tier: standard, key: ${strong} } }`
    check(`${RULES}principals: ${twice}`, /another principal has the same `key`/)
  })

  it('has no aliases, anchors, tags, merged keys or repeated keys, because people read it', () => {
    check(`${RULES}tools: { x: &a { effect: read }, y: *a }`, /an anchor/, /an alias/)
    check(`${RULES}tools: { x: !secret { effect: read } }`, /not readable as YAML/, /a tag is not allowed/)
    check(`${RULES}${RULES}`, /`rules` appears twice here/)
    check(`${RULES}tools: { x: { effect: read, effect: pay } }`, /`effect` appears twice here/)
    check(`${RULES}tools: { x: { effect: read, "effect": pay } }`, /`effect` appears twice here/)
    check(
      `${RULES}"tools": {}\n'tools': {}\n? tools\n: {}`,
      /`tools` appears twice here/,
      /`tools` appears twice here/,
    )
    check(`${RULES}tools: { x: { schema: { type: object, 'type': array } } }`, /`type` appears twice here/)
    check(`${RULES}tools: { x: { schema: { a: [{ b: { 1: x, "1": y } }] } } }`, /`1` appears twice here/)
    check(`${RULES}tools: { x: { schema: { [a]: x, ? { b: c } : y } } }`, /a list or a mapping/, /a list or/)
    check(`${RULES}tools: { x: { << : { effect: read } } }`, /not known here/)
  })

  it('reports an empty list if a missing list means any', () => {
    for (const field of ['principal', 'session', 'door']) {
      const message = new RegExp(`\`${field}\` is an empty list; remove it to match any`)
      check(`rules: [{ id: a, allow: x, ${field}: [] }]`, message)
    }
    check(
      'rules: [{ id: a, require: x, approvers: [] }]',
      /`approvers` is an empty list; remove it to match any/,
    )
    for (const action of ['allow', 'deny', 'require']) {
      check(`rules: [{ id: a, ${action}: [] }]`, new RegExp(`\`${action}\` names no tool`))
    }
    for (const field of ['environments', 'tenants', 'workspaces']) {
      check(
        `${RULES}context: { ${field}: [] }`,
        new RegExp(`\`${field}\` is an empty list; remove it to match any`),
      )
    }
  })

  it('accepts an empty list that allows or declares nothing', () => {
    check('rules: []')
    check(`${RULES}gates: { egress: { allow: [], ask: [], deny: [] }, browser: { domains: [] } }`)
    check(`${RULES}tools: { x: { sinks: [], destinations: [] } }`)
  })

  it('has no control characters in names, and no long names', () => {
    const long = 'x'.repeat(257)
    const places: readonly ((name: string) => string)[] = [
      (name) => `rules: [{ id: a, allow: ${name} }]`,
      (name) => `rules: [{ id: a, deny: [x, ${name}] }]`,
      (name) => `rules: [{ id: a, allow: x, principal: ${name} }]`,
      (name) => `rules: [{ id: a, allow: x, session: ${name} }]`,
      (name) => `rules: [{ id: a, require: x, approvers: [${name}] }]`,
      (name) => `${RULES}context: { environments: [${name}] }`,
      (name) => `${RULES}context: { tenants: [${name}] }`,
      (name) => `${RULES}context: { workspaces: ${name} }`,
      (name) => `${RULES}principals: { ${name}: { tier: standard } }`,
      (name) => `${RULES}tools: { ${name}: { effect: read } }`,
      (name) => `${RULES}gates: { temporal: { rate: { ${name}: 1/h } } }`,
    ]
    for (const place of places) {
      check(place('"a\\nb"'), /has a control character such as a line break; remove it/)
      check(place('"\\x9b"'), /has a control character/)
      check(place(`"${long}"`), /is longer than 256 characters/)
      check(place(`"${'*'.repeat(256)}"`))
      check(place('"a\\ud800"'), /a lone surrogate/)
      check(place('"\\ud83d\\ude00"'))
    }
    check(`${RULES}tools: { "": {} }`, /the name of a tool is empty/)
  })

  it('has no control characters in its name and reasons, and no long ones', () => {
    const named = (name: string): readonly string[] => mistakesIn(`tollgate: 1\nname: ${name}\n${RULES}`)
    expect(named('"a\\nb"')).toEqual([expect.stringMatching(/^2: `name` has a control character/)])
    expect(named('"\\udc00"')).toEqual([expect.stringMatching(/^2: a text has a lone surrogate/)])
    expect(named('x'.repeat(201))).toEqual([expect.stringMatching(/^2: `name` is longer than 200/)])
    expect(named('x'.repeat(200))).toEqual([])
    check('rules: [{ id: a, deny: x, because: "a\\tb" }]', /`because` has a control character/)
    check('rules: [{ id: a, deny: x, because: "\\ud800" }]', /a lone surrogate/)
    check(`rules: [{ id: a, deny: x, because: ${'x'.repeat(501)} }]`, /`because` is longer than 500/)
    check(`rules: [{ id: a, deny: x, because: ${'x'.repeat(500)} }]`)
  })

  it('is well-formed text everywhere, literal and escaped', () => {
    check(`${RULES}# \ud800`, /control character or a lone surrogate here/)
    check(`${RULES}# \u0007`, /control character or a lone surrogate here/)
    check(`# all that follows is a comment to us\r${RULES}`, /control character or a lone surrogate here/)
    check(RULES.replaceAll('\n', '\r\n'))
    check(`${RULES}tools: { x: { schema: { type: object, title: "\\ud800" } } }`, /a lone surrogate/)
    check(
      `${RULES}tools: { x: { schema: { type: object, properties: { "\\udfff": {} } } } }`,
      /a lone surrogate/,
    )
    check(`${RULES}tools: { x: { sinks: ["\\ud800"] } }`, /a lone surrogate/)
  })

  it('is one document without directives', () => {
    const whole = `${HEAD}${RULES}`
    expect(mistakesIn(`---\n${whole}...\n`)).toEqual([])
    expect(mistakesIn(`%YAML 1.1\n---\n${whole}`)).toEqual([expect.stringMatching(/^1: a directive/)])
    expect(mistakesIn(`%TAG ! tag:example.com,2000:\n---\n${whole}`)).toEqual([
      expect.stringMatching(/^1: a directive/),
    ])
    expect(mistakesIn(`${whole}...\n%YAML 1.1\n`)).toEqual([expect.stringMatching(/^5: a directive/)])
    expect(mistakesIn(`${whole}---\n${whole}`)).toEqual([expect.stringMatching(/^4: a second document/)])
    expect(mistakesIn(`---\n---\n${whole}`)).toEqual([expect.stringMatching(/^2: a second document/)])
    check(`${RULES}tools: { x: { browser: yes } }`, /true or false/)
    check(`${RULES}gates:\n\t`, /not readable as YAML: Tabs are not allowed/)
  })

  it('means the same, line by line, with comments and empty lines between its lines', () => {
    const lines = [
      '# a policy',
      'tollgate: 1 # one',
      'name: "n"',
      'rules: # all of them',
      '  - id: a',
      '    allow: [x, # and',
      '      y]',
      '    because: |-',
      '      #1',
      '  -',
      '    id: b',
      '    deny: >-',
      '      z',
      'context: {}',
    ]
    for (const gap of [
      '',
      '\n',
      '   # a comment\n\n#\n \t\n',
      '\t# a comment\r\n\r\n',
      ' # x\n\n'.repeat(200),
    ]) {
      // The content of a block scalar belongs to the text.
      const text = lines
        .map((line) => (/^ {6}[#z]|\||>/.test(line) ? `${line}\n` : `${line}\n${gap}`))
        .join('')
      const policy = policyOf(text)
      const each = gap.split('\n').length - 1
      expect(policy.rules.map(({ id, line, because }) => [id, line, because])).toEqual([
        ['a', 5 + 4 * each, '#1'],
        ['b', 11 + 8 * each, undefined],
      ])
      expect(policy.rules.map(({ tools }) => tools.map(({ source }) => source))).toEqual([['x', 'y'], ['z']])
    }
  })

  it('reports the place of a missing value, also before empty lines', () => {
    const parsed = parsePolicy('tollgate: 1\nname:\n\n# why\n\nrules: []\n')
    expect(parsed).toMatchObject({ ok: false, mistakes: [{ line: 2, column: 6 }] })
  })

  it('reports the first hundred mistakes, and the number of the others', () => {
    const rules = (count: number): readonly string[] =>
      mistakesIn(`${HEAD}rules:\n${'- { id: a b, allow: x }\n'.repeat(1)}${'- 1\n'.repeat(count - 1)}`)
    expect(rules(101)).toHaveLength(101)
    expect(rules(101).at(-1)).toMatch(/^104: must be a mapping/)
    expect(rules(5000)).toHaveLength(101)
    expect(rules(5000).at(-1)).toBe('104: and 4900 more mistakes after this line')
  })

  it('stops after a hundred YAML errors', () => {
    const found = mistakesIn(`${HEAD}rules: [${','.repeat(1000)}]`)
    expect(found).toHaveLength(101)
    expect(found.at(-1)).toMatch(/too many mistakes; the rest of the file was not checked/)
    expect(mistakesIn(']'.repeat(1000)).at(-1)).toMatch(
      /too many mistakes; the rest of the file was not checked/,
    )
  })

  it('has mistakes of one short line each, even if they quote the file', () => {
    const texts = [
      `${HEAD}${RULES}"a\\nb\\ud83d\\ude00": 1`,
      `${HEAD}${RULES}"${'x'.repeat(59)}\\ud83d\\ude00": 1`,
      `${HEAD}${RULES}gates: { egress: { allow: ["${'a\\nb/'.repeat(10_000)}"] } }`,
      `${HEAD}${RULES}tools: { x: !${'y'.repeat(10_000)} {} }`,
      `${HEAD}${RULES}a: @${'y'.repeat(10_000)}\n b\n`,
      `${HEAD}${RULES}a: "\\q${'y'.repeat(10_000)}\n b`,
    ]
    for (const text of texts) {
      const parsed = parsePolicy(text)
      expect(parsed.ok).toBe(false)
      for (const { message } of parsed.ok ? [] : parsed.mistakes) {
        expect(message).toMatch(/^[^\u0000-\u001f\u007f-\u009f]+$/)
        expect(message.isWellFormed()).toBe(true)
        expect(message.length).toBeLessThanOrEqual(message.startsWith('not readable') ? 200 : 2000)
      }
    }
  })

  it('may nest as deeply as a policy needs, and no deeper', () => {
    const schema = (depth: number): string =>
      `${RULES}tools: { x: { schema: ${'{ a: '.repeat(depth)}1${' }'.repeat(depth)} } }`
    check(schema(59), /`schema` cannot be used/)
    check(schema(60), /nested deeper than 64 levels/)
    for (const deep of ['[', '{ a: ', '- ', '? ', '? - ', 'a: [', '[{']) {
      const found = mistakesIn(deep.repeat(50_000))
      expect(found.length, deep).toBeGreaterThan(0)
    }
  })

  it('is bounded: an alias bomb or a huge file is a mistake, not a stall', () => {
    const bomb = Array.from(
      { length: 30 },
      (_, i) => `a${i}: &a${i} [${`*a${i - 1}, `.repeat(i ? 9 : 0)}x]`,
    ).join('\n')
    expect(mistakesIn(HEAD + bomb).length).toBeGreaterThan(0)
    expect(mistakesIn(`# ${'x'.repeat(1 << 20)}`)).toEqual([expect.stringContaining('longer than')])
    expect(mistakesIn(`${HEAD}rules: ${'['.repeat(20_000)}`).length).toBeGreaterThan(0)
  })

  it.each(HOSTILE)('parses in time linear in its length: %j', (head, part, tail) => {
    const body = Array.from({ length: Math.ceil(runs(160_000) / part.length) }, (_, i) =>
      part.replaceAll('0', String(i)),
    ).join('')
    const parsed = parsePolicy(head + body + tail)
    expect(parsed.ok ? [] : parsed.mistakes).not.toHaveLength(0)
    expect(parsed.ok ? 0 : parsed.mistakes.length).toBeLessThanOrEqual(101)
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

  it('is not slower for a hostile name', () => {
    expect(glob(`${'*a'.repeat(100)}*b`).matches('a'.repeat(256))).toBe(false)
  })
})

describe('an explanation', () => {
  it('gives the match of every rule', () => {
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
      tenant: undefined,
      lineage: undefined,
      chain: undefined,
      data: undefined,
      key: () => '',
      trusted: undefined,
      observation: undefined,
      observed: 'agent',
      asked: false,
      observing: false,
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
  it('has every step in order, with its status', () => {
    const text = (policy: typeof NO_POLICY): string[] =>
      describeLadder(policy).map(({ rung, standing }) => `${rung}: ${standing}`)
    expect(text(NO_POLICY)).toEqual([
      'freeze: active',
      'schema: active',
      'context: not configured',
      'identity: active',
      'browser: not configured',
      'egress: active',
      'taint: not configured',
      'threat: not configured',
      'delegation: not configured',
      'session-risk: active',
      'trust: not configured',
      'privilege: not configured',
      'scope: active',
      'policy: active',
      'temporal: not configured',
      'compliance: not configured',
    ])
    const configured = policyOf(`${RULES}context: { environments: [prod] }
principals: { agent:worker: { tier: standard, delegate-only: true } }
gates:
  browser: { domains: [example.com] }
  taint: {}
  threat: {}
  trust: {}
  privilege: {}
  temporal: { rate: { x: 1/h } }
  compliance: { rules: [{ id: a, then: allow }] }`)
    expect(text(configured).filter((line) => line.endsWith('not configured'))).toEqual([])
  })

  it('is in every decision as a hash that changes with the active steps', async () => {
    const rig = await createRig({ policy: RULES })
    await rig.authorize()
    const before = rig.last('decision').ladder
    const other = await createRig({ policy: `${RULES}gates: { temporal: { rate: { x: 1/h } } }` })
    await other.authorize()
    expect(other.last('decision').ladder).not.toBe(before)
  })
})
