// The proposed rules for particular calls: how values are generalised, what is left out, and hostile names.

import type { Json, JsonObject } from '@tollgate/evidence'
import { parsePolicy, type Policy } from '@tollgate/kernel/policy'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { celValue } from '../../src/workbench/learn/cel.ts'
import { holdsContent } from '../../src/workbench/learn/content.ts'
import { askRules, policyOfRules } from '../../src/workbench/learn/check.ts'
import { learn, type Learned, type LearnOptions } from '../../src/workbench/learn/learn.ts'
import type { ObservedCall } from '../../src/workbench/learn/observed.ts'
import { observed } from './learn-traces.ts'

let made = 0

function call(args: Json, more: Partial<ObservedCall> = {}): ObservedCall {
  const basic = observed({
    receipt: (made++).toString(16).padStart(8, '0').padEnd(64, 'f'),
    time: '2026-01-05T09:00:00.000Z',
    session: 's',
    principal: 'agent:one',
    door: 'mcp',
    tool: 'fs/read',
    effect: 'read',
    args,
    ...more,
  })
  return { ...basic, ...more }
}

function learned(
  args: readonly Json[],
  more: Partial<ObservedCall> = {},
  options: LearnOptions = {},
): Learned {
  return learn(
    args.map((each) => call(each, more)),
    options,
  )
}

function says({ text }: Learned, asked: ObservedCall): string {
  return askRules(policyOfRules(text), asked)?.action ?? 'none'
}

/** The answers of the rules to calls with these values of one argument. */
function saysTo(rules: Learned, name: string, values: readonly Json[]): readonly string[] {
  return values.map((value) => says(rules, call({ [name]: value })))
}

function policyOf(rules: string): Policy {
  const parsed = parsePolicy(`tollgate: 1\nname: own\ntools: { "*": { effect: read } }\nrules:\n${rules}`)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.mistakes))
  return parsed.policy
}

describe('a path', () => {
  test('of three in a directory allows the directory, and nothing outside of it', () => {
    const rules = learned(['src/a.ts', 'src/b.ts', 'src/c/d.ts'].map((path) => ({ path })))
    expect(rules.text).toContain('all below `src/`')
    expect(saysTo(rules, 'path', ['src/new.ts', 'src/x/y/z.ts'])).toEqual(['allow', 'allow'])
    const outside = [
      'src',
      'src/',
      'src/../x',
      'src/..',
      'src/.env',
      'src/a/./b',
      'src//a',
      'srcs/a',
      '/src/a',
      'src/a\\b',
    ]
    const spelled = [
      'src/%2e%2e/x',
      'src/a%2fb',
      'src/a\0',
      'src/．．/x',
      'src/a\n',
      'src/a b',
      'src/a:b',
      'src/а.ts',
    ]
    for (const path of [...outside, ...spelled])
      expect([path, ...saysTo(rules, 'path', [path])]).toEqual([path, 'none'])
  })

  test('of two in a directory allows the two', () => {
    const rules = learned([{ path: 'src/a.ts' }, { path: 'src/b.ts' }])
    expect(rules.text).not.toContain('WIDER')
    expect(saysTo(rules, 'path', ['src/a.ts', 'src/c.ts'])).toEqual(['allow', 'none'])
  })

  test.each([
    ['the root', ['/a', '/b', '/c']],
    ['a directory at the root', ['/etc/a', '/etc/b', '/etc/c']],
    ['a home directory', ['/home/me/a', '/home/me/b', '/home/me/c']],
    ['all homes', ['/Users/a/x', '/Users/b/x', '/Users/c/x']],
    ['the home shortcut', ['~/a', '~/b', '~/c']],
    ['a home on another disk', ['/mnt/c/Users/dev/a', '/mnt/c/Users/dev/b', '/mnt/c/Users/dev/c']],
    ['another disk', ['/mnt/c/a', '/mnt/c/b', '/mnt/c/c']],
    ['homes elsewhere', ['/var/home/a/x', '/var/home/b/x', '/var/home/c/x']],
    ['homes in homes', ['/home/users/me/a', '/home/users/me/b', '/home/users/me/c']],
    ['the home of root', ['/var/root/a', '/var/root/b', '/var/root/c']],
    ['homes as URLs', ['a', 'b', 'c'].map((name) => `file://localhost/home/me/${name}`)],
    ['homes as URLs without a host', ['a', 'b', 'c'].map((name) => `file:///home/me/${name}`)],
    ['the root as a URL', ['file:///etc/a', 'file:///etc/b', 'file:///etc/c']],
    ['homes from the root', ['home/me/a', 'home/me/b', 'home/me/c']],
    ['a home from where disks are', ['mnt/c/Users/me/a', 'mnt/c/Users/me/b', 'mnt/c/Users/me/c']],
    ['no directory', ['a.ts', 'b.ts', 'c.ts']],
  ])('never allows all of %s', (_, paths) => {
    const rules = learned(paths.map((path) => ({ path })))
    expect(rules.text).not.toContain('WIDER')
    expect(rules.allowed).toBe(3)
  })

  test.each([
    ['/home/me/work/', ['/home/me/work/a', '/home/me/work/b', '/home/me/work/c/d']],
    ['~/work/', ['~/work/a', '~/work/b', '~/work/c']],
    ['src/home/', ['src/home/a', 'src/home/b', 'src/home/c']],
    ['/mnt/c/Users/me/work/', ['a', 'b', 'c'].map((name) => `/mnt/c/Users/me/work/${name}`)],
    ['https://example.com/users/', ['a', 'b', 'c'].map((name) => `https://example.com/users/${name}`)],
    ['./src/', ['./src/a.ts', './src/b.ts', './src/c.ts']],
    ['.github/workflows/', ['.github/workflows/a.yml', '.github/workflows/b.yml', '.github/workflows/c.yml']],
  ])('allows %s where that is shared', (folder, paths) => {
    const rules = learned(paths.map((path) => ({ path })))
    expect(rules.text).toContain(`every path below \`${folder}\``)
    expect(saysTo(rules, 'path', [`${folder}new`, `${folder}../x`, `${folder}.hidden`])).toEqual([
      'allow',
      'none',
      'none',
    ])
  })

  test('allows only the observed directories and single files', () => {
    const paths = ['src/a', 'src/b', 'src/c', 'test/a', 'test/b', 'test/c', 'README.md', 'docs/a']
    const rules = learned(paths.map((path) => ({ path })))
    expect(saysTo(rules, 'path', ['src/x', 'test/x', 'README.md', 'docs/a', 'docs/b', 'LICENSE'])).toEqual([
      'allow',
      'allow',
      'allow',
      'allow',
      'none',
      'none',
    ])
  })

  test('is never free text: without a common directory, other paths need approval', () => {
    const rules = learned(Array.from({ length: 12 }, (_, i) => ({ where_to: `/home/me/file${i}` })))
    expect([rules.allowed, rules.asked]).toEqual([12, 0])
    expect(saysTo(rules, 'where_to', ['/home/me/file3', '/home/me/other', '/etc/passwd'])).not.toContain(
      'none',
    )
    expect(saysTo(rules, 'where_to', ['/home/me/other', '/etc/passwd'])).not.toContain('allow')
    const named = learned(Array.from({ length: 12 }, (_, i) => ({ path: `folder${i}/x` })))
    expect(saysTo(named, 'path', ['folder3/x', 'folder3/y'])).toEqual(['allow', 'require'])
  })

  test('is not assumed for values that only contain a slash', () => {
    const rules = learned(['text/html', 'text/css', 'text/plain'].map((type) => ({ type })))
    expect(rules.text).not.toContain('WIDER')
  })
})

describe('a URL', () => {
  const urls = ['a', 'b', 'c'].map((name) => ({ url: `https://example.com/docs/${name}` }))

  test('is limited to scheme, host, port and directory', () => {
    const rules = learned(urls)
    expect(saysTo(rules, 'url', ['https://example.com/docs/x'])).toEqual(['allow'])
    const others = [
      'http://example.com/docs/x',
      'https://example.com:444/docs/x',
      'https://example.com/x',
      'https://example.com.evil.test/docs/x',
    ]
    const tricks = [
      'https://example.com/docs/../x',
      'https://example.com/docs/%2e%2e/x',
      'https://a@example.com/docs/x',
      'HTTPS://example.com/docs/x',
      'https://example.com/docs/a?x=y',
    ]
    for (const url of [...others, ...tricks])
      expect([url, ...saysTo(rules, 'url', [url])]).toEqual([url, 'none'])
  })

  test('may have a query only if one was observed', () => {
    const rules = learned([...urls, { url: 'https://example.com/docs/d?page=2' }])
    expect(
      saysTo(rules, 'url', [
        'https://example.com/docs/x?page=3',
        'https://example.com/docs/x?u=https://evil.test',
      ]),
    ).toEqual(['allow', 'none'])
  })
})

describe('numbers, texts, lists and objects', () => {
  test('up to eight numbers are listed, more become a range of integers', () => {
    const few = learned([1, 2, 9].map((n) => ({ n })))
    expect(saysTo(few, 'n', [2, 3])).toEqual(['allow', 'none'])
    const many = learned(Array.from({ length: 9 }, (_, i) => ({ n: 10 * i })))
    expect(saysTo(many, 'n', [0, 5, 80, 81, -1, 0.5, '5', 1e300])).toEqual([
      'allow',
      'allow',
      'allow',
      'none',
      'none',
      'none',
      'none',
      'none',
    ])
    expect(many.text).toContain('WIDER than seen: allows every whole number from 0 to 80')
    const halves = learned(Array.from({ length: 9 }, (_, i) => ({ n: i / 2 })))
    expect(saysTo(halves, 'n', [0.25, 4.5])).toEqual(['allow', 'none'])
  })

  const texts = Array.from({ length: 12 }, (_, i) => ({ q: `what is number ${i}?` }))

  test('many texts are limited in length if the tool only reads', () => {
    const rules = learned(texts)
    expect(rules.text).toContain('up to 20 characters')
    expect(saysTo(rules, 'q', ['another one', 'x'.repeat(21), 'a\nb', '', 'über'])).toEqual([
      'allow',
      'none',
      'none',
      'none',
      'none',
    ])
  })

  test('many texts are allowed by characters and length if they are only written or sent', () => {
    for (const effect of ['write', 'send'] as const) {
      const rules = learned(texts, { effect })
      expect(rules.rules.map(({ action }) => action)).toEqual(['allow'])
      expect([rules.allowed, rules.asked]).toEqual([12, 0])
      expect(rules.text).toContain('WIDER than seen: allows every text of')
    }
  })

  test('many executed texts are allowed exactly, and others need approval', () => {
    const running = learned(texts.map(({ q }) => ({ sql: q })))
    expect(running.rules.map(({ action }) => action)).toEqual(['allow', 'require'])
    expect([running.allowed, running.asked]).toEqual([12, 0])
    expect(running.text).toContain('because: "`sql` is free text that is executed"')
    const [first] = texts
    expect(saysTo(running, 'sql', [first?.q ?? '', `${first?.q ?? ''} x`, 7])).toEqual([
      'allow',
      'require',
      'none',
    ])
    const executing = learned(texts, { effect: 'execute' })
    expect(executing.rules.map(({ action }) => action)).toEqual(['allow', 'require'])
    expect(executing.text).toContain('because: "`q` is free text, and the tool executes it"')
  })

  test.each<[string, (text: string) => JsonObject]>([
    ['query', (text) => ({ query: text })],
    ['queries[]', (text) => ({ queries: [text] })],
    ['commands[]', (text) => ({ commands: [text] })],
    ['command.line', (text) => ({ command: { line: text } })],
    ['filters.by', (text) => ({ filters: { by: text } })],
    ['where', (text) => ({ where: text })],
    ['jsSource', (text) => ({ jsSource: text })],
    ['python', (text) => ({ python: text })],
    ['bash', (text) => ({ bash: text })],
    ['argv[]', (text) => ({ argv: [text] })],
    ['pipeline[].stage', (text) => ({ pipeline: [{ stage: text }] })],
    ['template', (text) => ({ template: text })],
    ['expr', (text) => ({ expr: text })],
    ['rawquery', (text) => ({ rawquery: text })],
    ['SQLText', (text) => ({ SQLText: text })],
  ])('%s is executed, for any effect class of the tool', (path, of) => {
    for (const effect of ['read', 'write', 'send'] as const) {
      const rules = learned(
        texts.map(({ q }) => of(q)),
        { effect },
      )
      expect([rules.allowed, rules.asked]).toEqual([12, 0])
      expect(rules.text).toContain(`because: "\`${path}\` is free text that is executed"`)
      expect(says(rules, call(of('what is it?')))).toBe('require')
    }
  })

  test('an executed path does not allow its directory', () => {
    const few = learned(['a', 'b', 'c'].map((name) => ({ command: `/usr/bin/${name}` })))
    expect(few.text).not.toContain('WIDER')
    const many = learned(
      Array.from({ length: 12 }, (_, i) => ({ file: `scripts/run${i}.sh` })),
      { effect: 'execute' },
    )
    expect([many.allowed, many.asked]).toEqual([12, 0])
    expect(saysTo(many, 'file', ['scripts/run3.sh', 'scripts/other.sh'])).toEqual(['allow', 'require'])
  })

  test('a single long list keeps its order, repetitions and length', () => {
    const items = Array.from({ length: 8 }, (_, i) => `${'abcdefghij'.repeat(6)}-${i}`)
    for (const effect of ['read', 'execute'] as const) {
      const rules = learned([{ argv: items }], { effect })
      expect(rules.rules.map(({ action }) => action)).toEqual(['allow'])
      expect(rules.text).not.toContain('WIDER')
      const [first = ''] = items
      const others = [items.toReversed(), items.map(() => first), items.slice(1), [...items, first]]
      expect(saysTo(rules, 'argv', [items, ...others])).toEqual(['allow', 'none', 'none', 'none', 'none'])
    }
  })

  test('a list in any order is marked as wider, and needs approval if it is executed', () => {
    const lists = [{ argv: ['rm', 'a'] }, { argv: ['ls', '/'] }]
    const run = learned(lists, { effect: 'execute' })
    expect([run.allowed, run.asked]).toEqual([2, 0])
    expect(
      saysTo(run, 'argv', [
        ['rm', 'a'],
        ['rm', '/'],
        ['rm', 'b'],
      ]),
    ).toEqual(['allow', 'require', 'none'])
    const read = learned(lists.map(({ argv }) => ({ of: argv })))
    expect(read.text).toContain('WIDER than seen: allows any 2 items of the values below, in any order')
    const long = learned([{ of: Array.from({ length: 80 }, (_, i) => `item ${i}`) }])
    expect(long.text).toContain('WIDER than seen: allows any 80 items of the values below, in any order')
  })

  test('executed arguments are not recombined', () => {
    const rules = learned(
      [
        { program: 'rm', of: 'a' },
        { program: 'ls', of: '/' },
      ],
      { effect: 'execute' },
    )
    const asked = (args: Json): string => says(rules, call(args, { effect: 'execute' }))
    expect([asked({ program: 'ls', of: '/' }), asked({ program: 'rm', of: '/' })]).toEqual([
      'allow',
      'require',
    ])
  })

  test('lists keep items and length, objects keep names', () => {
    const rules = learned([{ of: ['a', 'b'] }, { of: ['b'] }])
    expect(saysTo(rules, 'of', [['a'], ['b', 'a'], [], ['a', 'b', 'a'], ['c'], 'a', [['a']]])).toEqual([
      'allow',
      'allow',
      'none',
      'none',
      'none',
      'none',
      'none',
    ])
    const nested = learned([{ o: { x: 1, y: 'a' } }, { o: { x: 1 } }])
    expect(saysTo(nested, 'o', [{ x: 1 }, { y: 'a' }, { x: 1, y: 'b' }, { x: 1, z: 1 }, null])).toEqual([
      'allow',
      'none',
      'none',
      'none',
      'none',
    ])
  })

  test('values of several types keep their types', () => {
    const rules = learned([{ v: null }, { v: 1 }, { v: 'a' }, { v: true }, { v: [] }])
    expect(saysTo(rules, 'v', [null, 1, 'a', true, [], 0, 'b', false, {}, ['a']])).toEqual([
      ...Array<string>(5).fill('allow'),
      ...Array<string>(5).fill('none'),
    ])
  })

  test('arguments that are not an object are allowed exactly', () => {
    const rules = learned([[], 'text', 7, null])
    expect([rules.allowed, says(rules, call({})), says(rules, call('other'))]).toEqual([4, 'none', 'none'])
  })

  test('deeply nested values are allowed exactly, and others need approval', () => {
    const deep = (i: number): JsonObject => ({ a: { b: { c: { d: { e: { f: i } } } } } })
    const rules = learned(Array.from({ length: 20 }, (_, i) => deep(i)))
    expect([rules.allowed, rules.asked, rules.uncovered]).toEqual([20, 0, []])
    expect([says(rules, call(deep(3))), says(rules, call(deep(30))), says(rules, call({ a: 1 }))]).toEqual([
      'allow',
      'require',
      'none',
    ])
  })

  /** Calls with many arguments, each with `values` different values. */
  function wide(
    calls: number,
    names: number,
    values: number,
    of: (i: number, n: number) => number,
  ): readonly JsonObject[] {
    const value = (i: number, n: number): string => `${'x'.repeat(35)} ${n} ${of(i, n) % values}`
    return Array.from({ length: calls }, (_, i) =>
      Object.fromEntries(Array.from({ length: names }, (_, n) => [`argument_${n}`, value(i, n)])),
    )
  }

  test('calls that do not fit into one condition are listed, if they are few', () => {
    const rules = learned(wide(6, 40, 5, (i, n) => i + n))
    expect([rules.allowed, rules.uncovered]).toEqual([6, []])
    expect(rules.text).not.toContain('WIDER')
  })

  test('too many calls become a rough rule that needs approval', () => {
    const calls = wide(400, 16, 40, (i, n) => Math.floor(i / 40 ** (n % 2)))
    const rules = learned(calls)
    expect([rules.allowed + rules.asked, rules.uncovered]).toEqual([400, []])
    expect([rules.allowed > 0, rules.asked > 0]).toEqual([true, true])
    expect(rules.rules.at(-1)?.action).toBe('require')
    expect(rules.text).toContain('needs approval: the observed values do not fit')
    expect(says(rules, call({ ...calls[0], argument_0: 7 }))).toBe('none')
  })

  test('widened parts are always listed', () => {
    const fixed = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`a${i}`, i]))
    const rules = learned(Array.from({ length: 9 }, (_, i) => ({ ...fixed, zz: i })))
    expect(rules.text).toContain('WIDER than seen: allows every whole number from 0 to 8')
    expect(rules.text).toContain('more values, see the condition')
  })

  test('calls that cannot be described still get a rule that needs approval', () => {
    const huge = (i: number): JsonObject =>
      Object.fromEntries(
        Array.from({ length: 63 }, (_, n) => [`${'\u{1f600}'.repeat(20)}${n}`, { [`x${i}`]: [i, n] }]),
      )
    const rules = learned(Array.from({ length: 20 }, (_, i) => huge(i)))
    expect([rules.asked, rules.uncovered]).toEqual([20, []])
    expect(rules.text).toContain('WIDER than seen: allows anything of type map')
    expect([says(rules, call([])), says(rules, call({}, { tool: 'fs/other' }))]).toEqual(['none', 'none'])
  })

  test('too many destinations need approval', () => {
    const urls = Array.from({ length: 200 }, (_, i) => `https://host-${i}.example.com/`)
    const rules = learned(urls.map((url) => ({ url })))
    expect([rules.allowed + rules.asked, rules.uncovered]).toEqual([200, []])
    expect(rules.asked).toBeGreaterThan(0)
    expect(rules.text).toContain('WIDER than seen: allows every destination that `gates.egress` allows')
  })

  test('conditions for long texts stay within the cost limit', () => {
    const rules = learned(Array.from({ length: 10 }, (_, i) => ({ q: `${i} ${'ä'.repeat(100_000)}` })))
    expect([rules.allowed, rules.uncovered]).toEqual([10, []])
  })

  test('calls that cannot be listed exactly are reported, not generalised', () => {
    const rules = learned([{ q: 'x'.repeat(5000) }, { q: 'y' }], {}, { exact: true })
    expect([rules.allowed, rules.uncovered.length]).toEqual([1, 1])
  })
})

describe('the principal', () => {
  test('is exactly the observed one, unless three share a prefix', () => {
    const by = (...names: readonly string[]): Learned =>
      learn(names.map((principal) => call({}, { principal })))
    const two = by('agent:a', 'agent:b')
    expect(says(two, call({}, { principal: 'agent:c' }))).toBe('none')
    const three = by('agent:build-1', 'agent:build-2', 'agent:build-30')
    expect(three.text).toContain('WIDER than seen: allows every principal that begins with `agent:build-`')
    expect(['agent:build-4', 'agent:x'].map((principal) => says(three, call({}, { principal })))).toEqual([
      'allow',
      'none',
    ])
    // The prefix `agent:` alone matches every agent.
    expect(by('agent:a', 'agent:b', 'agent:c').text).toContain('principal: ["agent:a", "agent:b", "agent:c"]')
    expect(by('x://a', 'x://b', 'x://c').text).not.toContain('WIDER than seen: allows every principal')
    expect(by('a', 'b', 'c').text).toContain('principal: ["a", "b", "c"]')
    const exact = learn(
      ['agent:a', 'agent:b', 'agent:c'].map((principal) => call({}, { principal })),
      { exact: true },
    )
    expect(exact.rules.map(({ principals }) => principals)).toEqual([['agent:a'], ['agent:b'], ['agent:c']])
  })

  test('is not widened by a `*` in its name, and neither is the tool', () => {
    const rules = learn([call({}, { principal: 'agent:*', tool: 'fs/*' })])
    expect(rules.allowed).toBe(1)
    expect(says(rules, call({}, { principal: 'agent:x', tool: 'fs/*' }))).toBe('none')
    expect(says(rules, call({}, { principal: 'agent:*', tool: 'fs/x' }))).toBe('none')
  })

  test('is limited to the observed doors', () => {
    const rules = learn([call({}, { door: 'mcp' }), call({}, { door: 'sdk' })])
    expect((['mcp', 'sdk', 'llm'] as const).map((door) => says(rules, call({}, { door })))).toEqual([
      'allow',
      'allow',
      'none',
    ])
  })
})

test('calls of one tenant are not allowed for another', () => {
  for (const exact of [false, true]) {
    const rules = learned([{}], { tenant: 'acme' }, { exact })
    expect(['acme', 'other'].map((tenant) => says(rules, call({}, { tenant })))).toEqual(['allow', 'none'])
    expect(rules.text).toContain('tenant == "acme"')
  }
  const both = learn([call({}, { tenant: 'acme' }), call({}, { tenant: 'bolt' })])
  expect(['acme', 'bolt', 'other'].map((tenant) => says(both, call({}, { tenant })))).toEqual([
    'allow',
    'allow',
    'none',
  ])
})

test('rules are limited to the observed environment and workspace', () => {
  const rules = learn([call({}, { environment: 'dev' }), call({}, { environment: 'test', workspace: 'w' })])
  expect(rules.allowed).toBe(2)
  const places = [{ environment: 'dev' }, { environment: 'prod' }, {}, { environment: 'dev', workspace: 'v' }]
  expect(places.map((place) => says(rules, call({}, place)))).toEqual(['allow', 'none', 'none', 'none'])
  const exact = learn([call({}, { environment: 'dev' }), call({}, { workspace: 'w' })], { exact: true })
  expect(exact.rules).toHaveLength(2)
  expect(exact.text).not.toContain('WIDER')
})

describe('calls that are left out', () => {
  test('include all calls of an excluded session, with the reason', () => {
    const { calls, left } = learn([
      call({ a: 1 }, { session: 'bad' }),
      call({ a: 2 }, { session: 'bad', clean: false, why: 'a result was withheld' }),
      call({ a: 3 }, { session: 'good' }),
      call({ a: 4 }, { session: 'bad', principal: 'agent:two' }),
    ])
    expect(calls.map(({ args }) => args)).toEqual([{ a: 3 }, { a: 4 }])
    expect(left).toEqual([
      { why: 'their session is not usable: a result was withheld', calls: 2, sessions: 1 },
    ])
  })

  test.each(['delete', 'pay', 'admin'] as const)('include tools of the effect class %s', (effect) => {
    const { rules, left } = learned([{}], { effect })
    expect([rules, left.map(({ calls }) => calls)]).toEqual([[], [1]])
  })

  test('include calls with a secret', () => {
    const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
    const { text, left } = learned([{ token: secret }])
    expect(text).toBe('rules: []\n')
    expect(left[0]?.why).toContain('seem to contain a secret')
  })

  test.each<[string, Json]>([
    ['a password by its name', { password: 'hunter2horsebattery', user: 'x' }],
    ['a number by its name', { passcode: 4711 }],
    ['a token by its name', { api_token: 'f3b9c1d2e4a5968778695a4b3c2d1e0f', n: 1 }],
    ['a key by its name', { 'x-api-key': 'abc' }],
    ['a name above it', { credentials: { of: ['abc'] } }],
    ['a header', { headers: { Authorization: 'Bearer abcdefghijklmnop' } }],
    ['a header in a list', { headers: [{ name: 'Authorization', value: 'Basic YWJj' }] }],
    ['a header as text', { headers: ['Authorization: Basic YWJj'] }],
    ['a user in a URL', { url: 'https://bob:s3cretpw@example.com/a' }],
    ['a user in a URL in a text', { text: ['clone https://s3cretpw@example.com/a please'] }],
    ['a user for a command', { line: 'curl -u bob:s3cretpw https://example.com/' }],
    ['a password in a text', { line: 'mysql --password=hunter2horse' }],
  ])('is %s', (_, args) => {
    const { text, left } = learned([args])
    expect(text).toBe('rules: []\n')
    expect(left[0]?.why).toContain('seem to contain a secret')
  })

  test('do not include calls that only mention secrets', () => {
    const harmless = [
      { max_tokens: 100, environment: 'test' },
      { path: 'src/token/password.ts' },
      { password: '', q: 'how do I reset my password?' },
      { to: 'anna@example.com', url: 'https://example.com/@anna' },
      { key: 'ABC-1', secret: false },
    ]
    for (const args of harmless) expect([args, learned([args]).allowed]).toEqual([args, 1])
  })

  test('include tools with such a class in the current policy; the stricter class counts', () => {
    const tools = (effect: string): Policy => {
      const parsed = parsePolicy(
        `tollgate: 1\nname: own\ntools: { fs/read: { effect: ${effect} } }\nrules: []\n`,
      )
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.mistakes))
      return parsed.policy
    }
    for (const effect of ['delete', 'pay', 'admin']) {
      const { rules, left } = learned([{}], {}, { policy: tools(effect) })
      expect([rules, left[0]?.why]).toEqual([
        [],
        `a tool of the effect class ${effect} needs a rule written by a person`,
      ])
    }
    const unknown = learned([{}], { tool: 'fs/gone' }, { policy: tools('read') })
    expect(unknown.left[0]?.why).toContain('of the effect class admin')
    const calls = Array.from({ length: 12 }, (_, i) => ({ q: `what is ${i}?` }))
    const actions = (effect: 'read' | 'execute', now: string): readonly string[] =>
      learned(calls, { effect }, { policy: tools(now) }).rules.map(({ action }) => action)
    expect(actions('read', 'read')).toEqual(['allow'])
    expect(actions('read', 'execute')).toEqual(['allow', 'require'])
    expect(actions('execute', 'read')).toEqual(['allow', 'require'])
  })

  test('include calls that the policy already decides, with the rule', () => {
    const policy = policyOf(
      [
        '  - { id: known, allow: fs/read, when: "args.n == 1" }',
        '  - { id: never, deny: fs/read, when: "args.n == 2" }',
        '  - { id: ask, require: fs/read, when: "args.n == 3" }',
        '  - { id: learned-fs-read, deny: other }',
        '',
      ].join('\n'),
    )
    const { rules, left } = learned(
      [1, 2, 3, 4].map((n) => ({ n })),
      {},
      { policy },
    )
    expect(left.map(({ why }) => why)).toEqual([
      'rule `known` of the policy already allows them',
      'rule `never` of the policy denies them; change that rule if they should be allowed',
      'rule `ask` of the policy already escalates them',
    ])
    expect(rules.map(({ id, when }) => [id, when[1]])).toEqual([['learned-fs-read-2', 'args == {"n": 4}']])
  })

  test('include invalid calls', () => {
    expect(learned([{ n: 2 ** 60 }]).left[0]?.why).toBe('the arguments cannot be read')
  })

  test('without calls there are no rules', () => {
    expect(learn([])).toMatchObject({ text: 'rules: []\n', rules: [], allowed: 0, uncovered: [] })
  })
})

describe('the text', () => {
  test('states the evidence', () => {
    const { text } = learn([
      call({ n: 1 }, { receipt: 'abcdef0123456789', time: '2026-01-05T09:00:00.000Z' }),
      call({ n: 2 }, { receipt: '0123456789abcdef', time: '2026-01-05T10:00:00.000Z', session: 't' }),
    ])
    expect(text).toContain(
      '# fs/read: 2 calls, 2 sessions, 1 principal, 2026-01-05T09:00:00.000Z to 2026-01-05T10:00:00.000Z',
    )
    expect(text).toContain('# receipts abcdef01 01234567\n')
    expect(text).toContain('#   n: 2 values, 1, 2\n')
  })

  const name = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 30 })
    .map((text) => text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '#').toWellFormed())
  const value = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }).map((json) => wellFormed(json as Json))

  test('parses and allows the observed calls, for random calls', () => {
    const observedCall = fc.record({ tool: name, principal: name, args: value })
    fc.assert(
      fc.property(fc.array(observedCall, { minLength: 1, maxLength: 12 }), fc.boolean(), (given, exact) => {
        const calls = given.map(({ args, ...more }) => call(args, more))
        const { allowed, asked, uncovered, left } = learn(calls, { exact })
        const others = left.reduce((sum, each) => sum + each.calls, 0)
        expect(allowed + asked + others + uncovered.length).toBe(calls.length)
        // In exact mode, only calls that are too long or have contents are missing.
        const missing = calls.filter(({ receipt }) => uncovered.includes(receipt))
        const isLeftOut = ({ args }: (typeof calls)[number]): boolean =>
          holdsContent(args) || celValue(args).length > 2000
        expect(missing.every((each) => exact && isLeftOut(each))).toBe(true)
      }),
      { numRuns: 60, endOnFailure: true },
    )
  })

  test('parses for random values of one argument', () => {
    fc.assert(
      fc.property(name, fc.array(value, { minLength: 1, maxLength: 30 }), (argument, values) => {
        const { allowed, asked, uncovered, left } = learned(values.map((each) => ({ [argument]: each })))
        const others = left.reduce((sum, each) => sum + each.calls, 0)
        expect([allowed + asked + others, uncovered]).toEqual([values.length, []])
      }),
      { numRuns: 60, endOnFailure: true },
    )
  })
})

function wellFormed(json: Json): Json {
  return JSON.parse(
    JSON.stringify(json)
      .toWellFormed()
      .replaceAll(/\\ud[89a-f][0-9a-f]{2}/gi, '?'),
  ) as Json
}
