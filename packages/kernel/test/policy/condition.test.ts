import { parseJson } from '@tollgate/evidence'
import { describe, expect, it } from 'vitest'
import { KernelError } from '../../src/error.ts'
import { conditionEnvironment, type Condition, type Values } from '../../src/policy/condition.ts'

const environment = conditionEnvironment({
  args: 'dyn',
  destinations: { list: { scheme: 'string', host: 'string', port: 'int' } },
  labels: 'map<string, string>',
  principal: 'string',
  risk: 'double',
  session: { record: { id: 'string', calls: 'int' } },
  time: 'timestamp',
  tool: 'string',
})

const VALUES: Values = {
  args: { amount: 12.5, n: 2, path: '/src/.env', tags: ['a', 'b'], nothing: null, deep: { er: { x: true } } },
  destinations: [
    { scheme: 'https', host: 'example.com', port: 443n },
    { scheme: 'http', host: 'evil.test', port: 8080n },
  ],
  labels: { team: 'blue' },
  principal: 'agent:ci',
  risk: 0.25,
  session: { id: 's1', calls: 3n },
  time: { ms: Date.UTC(2026, 10, 15, 14, 30) },
  tool: 'http/post',
}

function compiled(source: string): Condition {
  const result = environment.compile(source)
  if ('test' in result) return result
  throw new Error(`${source}: ${result.message}`)
}

/** Checks that the conditions hold for the values above, or for these overrides. */
function holds(sources: readonly string[], values: Values = {}): void {
  for (const source of sources) expect(compiled(source).test({ ...VALUES, ...values }), source).toBe(true)
}

/** Returns the failure of the condition. */
function failure(source: string, values: Values = {}): string {
  try {
    return String(compiled(source).test({ ...VALUES, ...values }))
  } catch (error) {
    if (!(error instanceof KernelError) || error.code !== 'CONDITION_FAILED') throw error
    return error.message.replace('the condition failed: ', '')
  }
}

/** Returns the mistake in the source, with its offset. */
function mistake(source: string): string {
  const result = environment.compile(source)
  return 'test' in result ? 'none' : `${result.offset}: ${result.message}`
}

describe('a condition', () => {
  it('compares all variables of a rule', () => {
    holds([
      'tool == "http/post" && principal.startsWith("agent:")',
      'tool in ["http/post", "http/put"] && !(tool in ["http/get"])',
      'args.amount <= 100.0 && args.amount > 12',
      'args.path.matches("(^|/)\\\\.env") && args.path.contains("src") && args.path.endsWith("env")',
      'destinations.exists(d, d.host == "example.com" && d.port == 443)',
      '!destinations.all(d, d.scheme == "https")',
      'destinations.exists_one(d, d.port > 1000)',
      'destinations.map(d, d.host) == ["example.com", "evil.test"]',
      'destinations.map(d, d.port > 1000, d.host) == ["evil.test"]',
      'size(destinations.filter(d, d.port < 1000)) == 1',
      'risk < 0.5 && session.calls + 1 == 4 && session.id == "s1"',
      'labels.team == "blue" && labels["team"] == "blue" && "team" in labels && !("owner" in labels)',
      'has(args.path) && !has(args.secret) && has(args.deep.er.x) && args.deep.er.x',
      'has(args.nothing) && args.nothing == null',
      'args.tags[1] == "b" && args.tags.size() == 2 && "a" in args.tags',
      'args.n == 2 && args.n == 2.0 && args.n == 2u',
      'type(args.n) == double && type(session.calls) == int && type(args) == map',
    ])
  })

  it('supports times', () => {
    holds([
      'time > timestamp("2026-01-01T00:00:00Z") && time == timestamp("2026-11-15T15:30:00+01:00")',
      'time.getHours() == 14 && time.getHours("+02:00") == 16 && time.getHours("-15:00") == 23',
      'time.getDayOfWeek() == 0 && time.getFullYear() == 2026 && time.getMonth() == 10',
      'time - timestamp("2026-11-15T14:00:00Z") == duration("30m")',
      'string(time + duration("1.5s")) == "2026-11-15T14:30:01.5Z"',
      'time.getDayOfYear() == 318 && timestamp("0099-12-31T00:00:00Z").getDayOfYear() == 364',
    ])
  })

  it('measures text in code points, and orders it by them', () => {
    holds(['size("a\u{1f600}") == 2', '"\u{1f600}" > "\uffff"', '"a" < "b" && "a" < "aa"'])
  })

  it('keeps 64-bit numbers apart from doubles', () => {
    holds([
      '9223372036854775807 + -1 == 9223372036854775806',
      '-9223372036854775808 < 0',
      '7 / 2 == 3',
      '-7 % 3 == -1',
    ])
    expect(failure('9223372036854775807 + session.calls > 0')).toBe('an int overflows 64 bits')
    expect(failure('session.calls / 0 == 1')).toBe('an int is divided by zero')
  })

  it('lists exactly the variables that it uses', () => {
    expect([...compiled('destinations.all(d, d.host == tool || tool == "x")').uses]).toEqual([
      'destinations',
      'tool',
    ])
    expect([...compiled('[1].all(tool, tool == 1)').uses]).toEqual([])
    expect([...compiled('has(args.x)').uses]).toEqual(['args'])
  })

  it('needs no values for unused variables, and reads each of the others once', () => {
    expect(compiled('true || args.x').test({})).toBe(true)
    let reads = 0
    const values = {
      get args() {
        reads++
        return { x: 1 }
      },
    }
    expect(compiled('[1, 2, 3].all(n, args.x == 1.0)').test(values)).toBe(true)
    expect(reads).toBe(1)
  })

  it('prefers a loop variable to a variable of the same name', () => {
    holds(['["x"].all(tool, tool == "x") && tool == "http/post"', '[1].all(x, [2].all(x, x == 2) && x == 1)'])
  })
})

describe('a failure', () => {
  it('is ignored if the other side decides', () => {
    holds([
      '!(args.none == 1 && false)',
      '!(false && args.none == 1)',
      'args.none == 1 || true',
      'args.tags.exists(t, t == 1 / 0 || t == "b")',
      '[0, 1, 2].exists(n, 2 / n == 2)',
      '![0, 1, 2].all(n, 2 / n == 2)',
    ])
    expect(failure('args.none == 1 && true')).toContain('no key `none`')
    expect(failure('args.none == 1 || false')).toContain('no key `none`')
    expect(failure('[0, 1].all(n, 2 / n == 2)')).toContain('divided by zero')
    expect(failure('[0, 1].exists_one(n, 2 / n == 2)')).toContain('divided by zero')
  })

  it('gives the cause', () => {
    expect(failure('args.none == 1')).toBe('there is no key `none`; test for it with `has()` first')
    expect(failure('args.amount.x == 1')).toBe('`double` has no key `x`, only maps have keys')
    expect(failure('args[tool] == 1')).toBe('there is no such key; test for it with `in` first')
    expect(failure('args.tags[2] == "c"')).toBe('the index is outside the list')
    expect(failure('args.amount')).toBe('its result is not a bool; compare it with something')
    expect(failure('args.amount ? true : false')).toBe('a part of the condition must be a bool and is not')
    expect(failure('args.path < 1.0')).toBe('`string` and `double` have no order; compare values of one type')
    expect(failure('args.n.all(x, true)')).toBe('a loop needs a list or a map, not `double`')
    expect(failure('{"a": 1, "a": 2}.a == 1')).toBe('a map has the same key twice')
    expect(failure('int(args.path) == 1')).toBe('a text cannot be parsed as `int`')
    expect(failure('"a".matches(args.path + "(")')).toBe('a pattern is not accepted by RE2')
    expect(failure('"a".matches(args.path + "a{2}")')).toContain(
      'a pattern computed at run time must not contain `{`',
    )
    expect(failure('tool == principal && args.n == 1', { tool: 'agent:ci', args: [] })).toContain(
      '`list` has no key',
    )
  })

  it('explains that numbers in arguments are doubles', () => {
    expect(failure('args.n + 1 == 3')).toBe(
      '`double + int` is not defined; numbers in arguments are doubles: write `1.0`, not `1`',
    )
    holds(['args.n + 1.0 == 3.0'])
  })

  it('is the result of a missing value or another type', () => {
    const none: Values = {}
    expect(() => compiled('tool == "x"').test(none)).toThrow('the variable `tool` has no value here')
    expect(failure('tool.startsWith("x")', { tool: 1 })).toBe('`startsWith(double, string)` is not defined')
    expect(failure('time.getHours() == 1', { time: 'now' })).toBe('a timestamp was not given in milliseconds')
    expect(failure('time.getHours() == 1', { time: { ms: 1e18 } })).toBe(
      'a timestamp is outside the years 1 to 9999',
    )
  })

  it('never reveals a value', () => {
    const secret = 'hunter2'
    const values = { args: { [secret]: secret, list: [secret], text: secret }, tool: secret }
    const sources = [
      'args[tool].x',
      'args[args.text + "x"]',
      'int(args.text) == 1',
      'args.text + 1 == 2',
      'args.list[5] == ""',
      'args.text.matches("(" + args.text)',
      'timestamp(args.text) == time',
      'args.text',
      'args.text && true',
      'args.list.all(x, x)',
      'bool(tool)',
      'duration(tool) == duration("1s")',
      'tool in args.text',
      '{args.list: 1} == {}',
      'time.getHours(tool) == 1',
      '[args.text].exists_one(x, x)',
      'double(args.text) < 1.0',
      '-args.text == 1',
    ]
    for (const source of sources) {
      const message = failure(source, values)
      expect(message, source).not.toBe('true')
      expect(message, source).not.toContain(secret)
    }
  })
})

describe('a mistake', () => {
  it('gives the problem and its place', () => {
    expect(mistake('tol == "x"')).toMatch(
      /^0: `tol` is not declared; the variables are `args`, `destinations`, /,
    )
    expect(mistake('(tool == "x"')).toBe('12: the condition ends too early; expected `)`')
    expect(mistake('')).toBe('0: the condition ends too early')
    expect(mistake('tool = "x"')).toBe('5: `=` is not expected here')
    expect(mistake('true true')).toBe('5: `true` is not expected here')
    expect(mistake('tool == "x')).toBe('8: unterminated string')
    expect(mistake('destinations.all(d, d.hots == "x")')).toBe('22: there is no field `hots` in this record')
    expect(mistake('tool.startsWith(1)')).toBe('0: there is no function `string.startsWith(int)`')
    expect(mistake('tool == 1')).toBe('0: `string == int` is not defined')
    expect(mistake('[1].all(1, true)')).toContain('must be a new name')
    expect(mistake('tool ? true : false')).toContain('must be bool')
  })

  it('is a condition without a bool result', () => {
    expect(mistake('tool')).toBe('0: the condition gives `string`, not `bool`; compare it with something')
    expect(mistake('size(tool)')).toContain('gives `int`')
    expect(mistake('args.flag')).toBe('none')
  })

  it('is a literal that always fails', () => {
    expect(mistake('tool.matches("(")')).toBe(
      '13: the pattern is not accepted by RE2: missing closing ): `(`',
    )
    expect(mistake('tool.matches("(?<=a)b")')).toContain('is not accepted by RE2')
    expect(mistake('tool.matches("a{1000}b{1000}c{1000}")')).toContain('has too many repetitions')
    expect(mistake('time > timestamp("yesterday")')).toContain('7: a text cannot be parsed as `timestamp`')
    expect(mistake('time > timestamp("2026-02-30T00:00:00Z")')).toContain('cannot be parsed')
    expect(mistake('9223372036854775808 > 1')).toBe('0: the number does not fit into 64 bits')
    expect(mistake('-9223372036854775809 < 1')).toBe('0: the number does not fit into 64 bits')
  })

  it('is an unsupported feature of CEL', () => {
    expect(mistake('args.?x == 1')).toBe('4: the optional syntax `.?` is not supported; test with `has()`')
    expect(mistake('args[?"x"] == 1')).toContain('`[?` is not supported')
    expect(mistake('google.protobuf.Struct{} == args')).toContain(
      'messages like `Struct{}` are not supported',
    )
    expect(mistake('args.`a-b` == 1')).toContain('quoted field names are not supported')
    expect(mistake('tool.lowerAscii() == "x"')).toBe(
      '0: there is no function `lowerAscii`; extensions of CEL are not supported',
    )
    expect(mistake('cel.bind(x, 1, x == 1)')).toContain('no function `bind`')
    expect(mistake('args.transformList(i, v, v) == []')).toContain('no function `transformList`')
    expect(mistake('time.getHours("Europe/Berlin") == 1')).toContain('names of time zones are not supported')
    expect(mistake('has(args["x"].y)')).toContain('`has()` takes a field of a variable')
  })

  it('is a source that the parser reads differently from the specification', () => {
    expect(mistake(String.raw`tool == r"\" || tool == "x"`)).toContain('a backslash before a quote')
    expect(mistake('b"ÿ" == b"a"')).toContain('non-ASCII')
    holds([String.raw`r"\\" == "\\\\"`, String.raw`r'''\'x''' == "\\'x"`, `"http://x" != '//"' // "`])
  })

  it('does not stop the environment', () => {
    expect(mistake('[].all(x, x > 0)')).toContain('cannot be determined')
    holds(['tool == "http/post"'])
  })
})

describe('an environment', () => {
  it('refuses a variable with a reserved name of CEL', () => {
    for (const name of ['int', 'google', 'cel', 'in it', 'if', 'true', '__proto__', '']) {
      const variables = Object.fromEntries([[name, 'string' as const]])
      expect(() => conditionEnvironment(variables), name).toThrow(KernelError)
    }
  })

  it('supports nested records', () => {
    const nested = conditionEnvironment({
      a: { record: { b: { list: { c: 'list<string>' } }, m: 'map<string, int>' } },
    })
    const condition = nested.compile('a.b.all(x, x.c[0] == "d") && a.m.n == 1')
    expect('test' in condition && condition.test({ a: { b: [{ c: ['d'] }], m: { n: 1n } } })).toBe(true)
    expect('test' in nested.compile('a.b.all(x, x.d == 1)')).toBe(false)
  })
})

describe('keys', () => {
  const KEYS = ['__proto__', 'constructor', 'toJSON', 'hasOwnProperty', 'length', 'valueOf']

  it('are data, even with special names', () => {
    for (const key of KEYS) {
      const args = parseJson(`{"${key}": 1, "a": {"${key}": "x"}}`)
      holds([`args["${key}"] == 1.0 && "${key}" in args.a && args.a.${key} == "x" && has(args.a.${key})`], {
        args,
      })
      holds(
        [`{"${key}": 1}["${key}"] == 1 && args.a == {"${key}": "x"} && args.a.exists(k, k == "${key}")`],
        { args },
      )
    }
  })

  it('are not inherited', () => {
    for (const key of KEYS) {
      for (const args of [{}, parseJson('{}')]) {
        holds([`!has(args.${key}) && !("${key}" in args) && !(tool in args) && args != {"${key}": 1}`], {
          args,
          tool: key,
        })
        expect(failure(`args.${key} == 1`, { args })).toContain('there is no key')
        expect(failure('args[tool] == 1', { args, tool: key })).toContain('there is no such key')
      }
      expect(failure(`args.${key} == 1`, { args: [1] })).toContain('`list` has no key')
      expect(failure(`args.${key} == 1`, { args: 'text' })).toContain('`string` has no key')
    }
  })

  it('have an order that does not depend on how the map was written', () => {
    const sources = ['args.map(k, k) == ["10", "9", "a", "b"]', 'args == {"a": 1, "b": 2, "9": 3, "10": 4}']
    for (const text of ['{"a":1,"b":2,"9":3,"10":4}', '{"10":4,"b":2,"9":3,"a":1}'])
      holds(sources, { args: parseJson(text) })
  })
})
