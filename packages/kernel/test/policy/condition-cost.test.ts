import { describe, expect, it } from 'vitest'
import { KernelError } from '../../src/error.ts'
import { conditionEnvironment, type ConditionValue } from '../../src/policy/condition.ts'

const environment = conditionEnvironment({ args: 'dyn', tool: 'string' })

/** Returns the result of the condition, or the message of its failure. */
function outcome(source: string, args: ConditionValue = {}): string {
  const condition = environment.compile(source)
  if (!('test' in condition)) throw new Error(`${source.slice(0, 80)}: ${condition.message}`)
  try {
    return String(condition.test({ args, tool: 't' }))
  } catch (error) {
    if (!(error instanceof KernelError) || error.code !== 'CONDITION_FAILED') throw error
    return error.message
  }
}

const EXHAUSTED =
  'the condition failed: it takes more than 100000 steps; simplify it or shorten the arguments'

/** Checks that the evaluation exhausts its budget. */
function exhausts(source: string, args: ConditionValue = {}): void {
  expect(outcome(source, args), source.slice(0, 80)).toBe(EXHAUSTED)
}

/** Checks that the source is refused with this message. */
function refuses(source: string, message: string | RegExp): void {
  const result = environment.compile(source)
  expect('test' in result ? 'none' : result.message, source.slice(0, 80)).toMatch(message)
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i)
}

describe('loops', () => {
  it('within loops over long lists exhaust the budget', () => {
    exhausts('args.all(a, args.all(b, a + b >= 0.0))', numbers(1000))
    exhausts('args.all(a, args.all(b, args.all(c, args.all(d, true))))', numbers(100))
    exhausts('size(args.map(a, args.map(b, args.filter(c, true)))) > 0', numbers(100))
    exhausts('args.exists_one(a, args.exists(b, false))', numbers(1000))
  })

  it('over a thousand items do not', () => {
    expect(outcome('args.all(a, a >= 0.0 && a < 1000.0)', numbers(1000))).toBe('true')
  })

  it('cannot absorb the end of the budget like a failure', () => {
    const busy = 'args.all(a, args.all(b, true))'
    exhausts(`${busy} || true`, numbers(1000))
    exhausts(`!(${busy} && false)`, numbers(1000))
    exhausts(`[1, 2].exists(x, ${busy} || x == 2)`, numbers(1000))
  })

  it('are charged for the failures that they absorb', () => {
    exhausts('args.all(a, a.none == 1)', numbers(10_000))
    exhausts('args.all(a, a.none == 1 || true)', numbers(10_000))
  })
})

describe('values', () => {
  it('cannot be doubled without limit', () => {
    exhausts(`["aaaaaaaaaaaaaaaa"]${'.map(x, x + x)'.repeat(40)}.size() == 1`)
    exhausts(`[[1, 2]]${'.map(x, x + x)'.repeat(40)}.size() == 1`)
    exhausts(`[b"aaaaaaaaaaaaaaaa"]${'.map(x, x + x)'.repeat(40)}.size() == 1`)
  })

  it('that share parts are charged for each part', () => {
    const doubled = `[[1]]${'.map(x, [x, x])'.repeat(30)}`
    exhausts(`${doubled} == ${doubled}`)
    const maps = `[{"a": 1}]${'.map(x, {"l": x, "r": x})'.repeat(30)}`
    exhausts(`${maps} == ${maps}`)
  })

  it('of the same large size are charged when compared', () => {
    const list = numbers(20_000)
    exhausts('args.a.all(x, args.b == args.c)', { a: numbers(10), b: list, c: [...list] })
    exhausts('args.a.all(x, !("x" in args.b))', { a: numbers(10), b: list })
    const text = 'a'.repeat(1_000_000)
    exhausts('args.a.all(x, args.b != args.c)', { a: numbers(10), b: `${text}b`, c: `${text}c` })
    exhausts('args.a.all(x, args.b < args.c)', { a: numbers(10), b: `${text}b`, c: `${text}c` })
    exhausts('args.a.all(x, !args.b.contains(args.c))', {
      a: numbers(10),
      b: text,
      c: `${text.slice(0, 500)}b`,
    })
    exhausts('args.a.all(x, size(args.b) > 0)', { a: numbers(10), b: text })
  })

  it('that are nested too deeply are not compared', () => {
    let deep: ConditionValue = []
    for (let i = 0; i < 100_000; i++) deep = [deep]
    expect(outcome('args.a == args.b', { a: deep, b: [deep] })).toContain('is nested too deeply')
  })

  it('of a megabyte can be searched', () => {
    const args = { text: `${'lorem ipsum '.repeat(80_000)}secret` }
    expect(outcome('args.text.contains("secret") && args.text.endsWith("secret")', args)).toBe('true')
    expect(outcome('args.text.matches("[0-9]{16}")', args)).toBe('false')
  })
})

describe('patterns', () => {
  it('that stall a backtracking engine take few steps', () => {
    const args = { text: `${'a'.repeat(26)}!` }
    expect(outcome('[1, 2, 3].all(n, !args.text.matches("^(a+)+$"))', args)).toBe('true')
    expect(outcome('!args.text.matches("^(a|a)*$") && !args.text.matches("(a*)*b")', args)).toBe('true')
  })

  it('are charged by the length of the text', () => {
    const args = { list: numbers(1000), text: `${'a'.repeat(10_000)}!` }
    exhausts('args.list.all(n, !args.text.matches("^(a+)+$"))', args)
  })

  it('from the arguments are charged by their length, cached or not, and cannot count repetitions', () => {
    const pattern = 'a?'.repeat(50)
    exhausts('args.list.all(n, tool.matches(args.pattern))', { list: numbers(1000), pattern })
    exhausts(
      'args.all(p, !tool.matches(p))',
      numbers(1000).map((n) => `${pattern}${n}`),
    )
    expect(outcome('!tool.matches(args)', 'a{1000}'.repeat(9))).toContain('computed at run time')
    expect(outcome('!tool.matches(args)', 'a'.repeat(257))).toContain('computed at run time')
  })

  it('of one source give the same answer every time', () => {
    const patterns = numbers(40).map((n) => `^(t${n}|t)$`)
    expect(outcome('args.all(p, tool.matches(p))', patterns)).toBe('true')
    expect(outcome('args.all(p, tool.matches(p))', patterns)).toBe('true')
  })
})

describe('sources', () => {
  it('that are nested too deeply are refused before they can exhaust the stack', () => {
    for (const count of [65, 200, 1300, 2000]) {
      refuses(`${'('.repeat(count)}true${')'.repeat(count)}`, /nests deeper/)
      refuses(`${'['.repeat(count)}true${']'.repeat(count)} == []`, /nests deeper/)
      refuses(`${'{1:'.repeat(Math.min(count, 1300))}true`, /nests deeper/)
      refuses(`args${'.a'.repeat(count)}`, /nests deeper/)
      refuses(`args${'[0]'.repeat(Math.min(count, 1300))}`, /nests deeper/)
      refuses(`${'!'.repeat(count)}true`, /more than 32 consecutive signs/)
      refuses(
        `${'! // not\n'.repeat(33)}${'- '.repeat(Math.min(count, 1300))}1 == 1`,
        /more than 32 consecutive signs/,
      )
      refuses(`true${'||true'.repeat(Math.min(count, 600))}`, /nests deeper/)
      refuses(`1${'+1'.repeat(count)} > 0`, /nests deeper/)
      refuses(`${'true?true:'.repeat(Math.min(count, 400))}true`, /nests deeper/)
      refuses(`${'size('.repeat(Math.min(count, 800))}tool`, /nests deeper/)
    }
    refuses('(!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!'.repeat(120), /nests deeper/)
  })

  it('that are too long or have too many parts are refused', () => {
    refuses(`tool == "${'x'.repeat(4096)}"`, /longer than 4096/)
    refuses(`[${'1,'.repeat(1024)}1] == []`, /more than 1024 parts/)
    refuses('tool == "\ud800"', /surrogate/)
  })

  it('of random tokens are compiled or refused, and never throw', () => {
    const pieces =
      '( ) [ ] { } . , : ? ! - + * / % < > = == != <= >= && || in true null 1 1u 1.5 0x1 "a" r"\\" b\'x\' args tool x .all( .map( has( size( // \n ` \\ " \' """ $ é'.split(
        ' ',
      )
    let seed = 1
    for (let round = 0; round < 5000; round++) {
      let source = ''
      for (let i = 0; i < 12; i++) {
        seed = (seed * 48271) % 2147483647
        source += `${pieces[seed % pieces.length] ?? ''}${seed % 3 === 0 ? ' ' : ''}`
      }
      const result = environment.compile(source)
      if ('message' in result) expect(result.offset).toBeLessThanOrEqual(source.length)
    }
  })
})
