import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KernelError } from '../../../src/error.ts'
import {
  hear,
  lookUp,
  NO_PROVENANCE,
  type SeenValues,
  type Origin,
  type Provenance,
  type Spoken,
} from '../../../src/gates/taint/provenance.ts'
import { provenanceText, readProvenance } from '../../../src/gates/taint/record.ts'
import { hashOf } from '../../../src/gates/taint/remembered.ts'
import { valuesIn } from '../../../src/text/values.ts'
import { runs } from '../../../../evidence/test/runs.ts'

const KEY = '0123456789abcdef'.repeat(4)
const key = (): string => KEY
const noKey = (): string => {
  throw new Error('asked for a key')
}
const MOST = 2048

/** A value for each number. */
const id = (n: number): { readonly kind: 'id'; readonly text: string } => ({ kind: 'id', text: `id-${n}` })
const ids = (from: number, count: number): readonly Spoken[] =>
  Array.from({ length: count }, (_, i) => id(from + i))
const heard = (origin: Origin, values: SeenValues['values'], ...labels: readonly string[]): SeenValues => ({
  origin,
  values,
  labels,
})

/** The origin of a value after these were heard, one by one. */
function origin(...all: readonly Origin[]): string {
  const provenance = all.reduce((before, each) => hear(before, key, [heard(each, [id(1)])]), NO_PROVENANCE)
  return lookUp(provenance, id(1)).origin
}

describe('a value of which only the hash is known', () => {
  it('is the value that it was, under the key of its session', () => {
    const [value] = valuesIn('ann@example.com')
    const spoken = value ?? id(0)
    const whole = hear(NO_PROVENANCE, key, [heard('output', [spoken], 'personal')])
    const hashed = hear(NO_PROVENANCE, key, [heard('output', [{ hash: hashOf(KEY, spoken) }], 'personal')])
    expect(provenanceText(hashed)).toBe(provenanceText(whole))
    expect(lookUp(hashed, spoken)).toEqual({ origin: 'output', labels: ['personal'] })
  })
})

describe('the first sighting', () => {
  it('decides: what was said stays said, what came from a tool stays output', () => {
    expect(origin()).toBe('unknown')
    expect(origin('said', 'output', 'flagged')).toBe('said')
    expect(origin('output', 'said')).toBe('output')
    expect(origin('flagged', 'said')).toBe('flagged')
  })

  const named = ['output', 'prose', 'ordered', 'flagged'] as const

  it('by a tool gives way to a cleaner one, but what was flagged stays ordered', () => {
    const then = Object.fromEntries(named.map((first) => [first, named.map((again) => origin(first, again))]))
    expect(then).toEqual({
      output: ['output', 'output', 'output', 'ordered'],
      prose: ['output', 'prose', 'prose', 'ordered'],
      ordered: ['output', 'prose', 'ordered', 'ordered'],
      flagged: ['ordered', 'ordered', 'ordered', 'flagged'],
    })
  })

  it('is the same in either order, whoever says the value in between', () => {
    for (const first of named)
      for (const again of named) {
        expect(origin(first, again)).toBe(origin(again, first))
        expect(origin(first, 'said', again, 'said')).toBe(origin(first, again))
        expect(origin('said', first, again)).toBe('said')
        expect(origin(first, 'said')).toBe(first)
      }
  })

  it('is of the thing, not of its spelling', () => {
    const provenance = hear(NO_PROVENANCE, key, [
      heard('output', valuesIn('see HTTPS://www.Evil.test:443/a/ now')),
    ])
    const look = (text: string): readonly string[] =>
      valuesIn(text).map((value) => lookUp(provenance, value).origin)
    expect(look('http://evil.test/a')).toEqual(['output', 'output'])
    expect(look('https://evil.test/b')).toEqual(['unknown', 'output'])
    expect(look('bob@evil.test')).toEqual(['unknown'])
    expect(lookUp(provenance, { kind: 'url', text: 'evil.test' }).origin).toBe('output')
    expect(lookUp(provenance, { kind: 'id', text: 'evil.test' }).origin).toBe('unknown')
  })
})

describe('labels', () => {
  it('are those a value was seen under, whoever said it besides', () => {
    const first = hear(NO_PROVENANCE, key, [
      heard('output', [id(1)], 'personal'),
      heard('output', [id(1), id(2)], 'card'),
    ])
    const then = hear(first, key, [heard('said', [id(1), id(2)], 'secret')])
    expect(lookUp(then, id(1)).labels).toEqual(['card', 'personal'])
    expect(lookUp(then, id(2)).labels).toEqual(['card'])
    expect(then.labels).toEqual(['card', 'personal'])
    expect(then).toBe(first)
  })

  it('of a session are kept without any value, and then no key is asked for', () => {
    const provenance = hear(NO_PROVENANCE, noKey, [
      heard('output', [], 'z', 'a'),
      heard('flagged', [], 'flagged'),
    ])
    expect(provenance.labels).toEqual(['a', 'flagged', 'z'])
    expect(readProvenance(provenanceText(provenance)).labels).toEqual(['a', 'flagged', 'z'])
  })

  it('can be 32; one more makes the record full', () => {
    const names = Array.from({ length: 33 }, (_, i) => `label-${i}`)
    const fits = hear(NO_PROVENANCE, key, [heard('output', [id(1)], ...names.slice(0, 32))])
    expect(fits.full).toBe(false)
    expect(lookUp(fits, id(1)).labels).toEqual(names.slice(0, 32).sort())
    expect(lookUp(readProvenance(provenanceText(fits)), id(1)).labels).toEqual(names.slice(0, 32).sort())
    expect(hear(fits, key, [heard('output', [], 'label-32')]).full).toBe(true)
  })
})

describe('what is heard', () => {
  it('changes nothing if it is not new', () => {
    const once = hear(NO_PROVENANCE, key, [heard('output', ids(0, 100), 'a')])
    const again = [
      heard('output', ids(0, 100), 'a'),
      heard('said', ids(0, 100)),
      heard('prose', ids(0, 100), 'a'),
      heard('ordered', ids(0, 100)),
    ]
    expect(hear(once, noKey, again)).toBe(once)
    const known = hear(once, noKey, [heard('flagged', ids(0, 100))])
    expect(hear(known, noKey, [heard('flagged', ids(0, 100)), heard('ordered', ids(0, 100))])).toBe(known)
    expect(hear(once, noKey, [])).toBe(once)
    expect(hear(NO_PROVENANCE, noKey, [heard('output', [])])).toBe(NO_PROVENANCE)
  })

  it('leaves the provenance before it as it was', () => {
    const before = hear(NO_PROVENANCE, key, [heard('flagged', ids(0, 200), 'a')])
    const text = provenanceText(before)
    hear(before, key, [heard('output', ids(0, 400), 'b')])
    expect(provenanceText(before)).toBe(text)
    expect(lookUp(before, id(300)).origin).toBe('unknown')
    expect(provenanceText(NO_PROVENANCE)).toBe('{"entries":"","full":false,"key":"","labels":[]}')
  })

  it('asks for a key once, and only for a good one', () => {
    let asked = 0
    const count = (): string => {
      asked++
      return KEY
    }
    const one = hear(NO_PROVENANCE, count, [heard('said', ids(0, 3)), heard('output', ids(3, 3))])
    hear(one, count, [heard('output', ids(9, 3))])
    expect(asked).toBe(1)
    for (const bad of ['', 'x', KEY.toUpperCase(), `${KEY}0`])
      expect(() => hear(NO_PROVENANCE, () => bad, [heard('said', [id(1)])])).toThrow(KernelError)
  })
})

describe('a full record', () => {
  const full = (extra: SeenValues): Provenance =>
    hear(NO_PROVENANCE, key, [
      heard('flagged', ids(0, 10), 'f'),
      heard('said', ids(10, 10)),
      heard('output', ids(20, MOST - 20), 'o'),
      extra,
    ])

  it('forgets the oldest output first, then the oldest said, and flagged last', () => {
    const one = full(heard('output', ids(5000, 5)))
    const origins = (p: Provenance, from: number, count: number): readonly string[] =>
      ids(from, count).map((value) => lookUp(p, value).labels.join() || lookUp(p, value).origin)
    expect(one.full).toBe(true)
    expect(provenanceText(one).length).toBeLessThan(40_000)
    expect(origins(one, 0, 20)).toEqual([...Array<string>(10).fill('f'), ...Array<string>(10).fill('said')])
    // Forgotten: under any label of the session. Kept: under its own.
    expect(origins(one, 20, 6)).toEqual([...Array<string>(5).fill('f,o'), 'o'])
    const flood = hear(one, key, [heard('flagged', ids(6000, MOST - 15), 'f')])
    expect(ids(10, 10).map((value) => lookUp(flood, value).origin)).toEqual([
      ...Array<string>(5).fill('output'),
      ...Array<string>(5).fill('said'),
    ])
    expect(lookUp(flood, id(0)).origin).toBe('flagged')
  })

  it('takes nothing unknown for new: it is output, under every label', () => {
    const one = full(heard('output', [id(9999)], 'x'))
    expect(lookUp(one, id(123_456))).toEqual({ origin: 'output', labels: ['f', 'o', 'x'] })
    expect(hear(one, key, [heard('said', [id(123_456)])])).toBe(one)
  })

  it('does not let a forgotten value be laundered by saying it', () => {
    const one = full(heard('output', ids(5000, 5)))
    const said = hear(one, key, [heard('said', [id(20)])])
    expect(lookUp(said, id(20)).origin).toBe('output')
    expect(lookUp(hear(said, key, [heard('flagged', [id(20)])]), id(20)).origin).toBe('flagged')
  })

  it('forgets prose after output and before what was said, and ordered after that', () => {
    const one = hear(NO_PROVENANCE, key, [
      heard('ordered', ids(0, 5)),
      heard('said', ids(5, 5)),
      heard('prose', ids(10, 5)),
      heard('output', ids(15, 5)),
    ])
    const left = (count: number): readonly string[] => {
      const flood = hear(one, key, [heard('flagged', ids(5000, MOST - 20 + count))])
      return ids(0, 20).map((value) => (flood.older.has(hashOf(KEY, value)) ? 'kept' : 'gone'))
    }
    const kept = (from: number, to: number): readonly string[] =>
      Array.from({ length: 20 }, (_, i) => (i >= from && i < to ? 'kept' : 'gone'))
    expect(left(5)).toEqual(kept(0, 15))
    expect(left(10)).toEqual(kept(0, 10))
    expect(left(15)).toEqual(kept(0, 5))
    expect(left(20)).toEqual(kept(0, 0))
  })

  it('takes what is unknown for the worst that may have been forgotten', () => {
    const unknown = (...origins: readonly Origin[]): string => {
      const all = origins.map((each, i) => heard(each, ids(10_000 * i, MOST)))
      return lookUp(hear(NO_PROVENANCE, key, all), id(123_456)).origin
    }
    expect(unknown('output', 'output')).toBe('output')
    expect(unknown('output', 'prose')).toBe('prose')
    expect(unknown('prose', 'prose')).toBe('prose')
    expect(unknown('prose', 'ordered')).toBe('ordered')
    expect(unknown('said', 'output')).toBe('output')
  })

  it('is full for good, also once it is written and read', () => {
    const one = readProvenance(provenanceText(full(heard('output', [id(9999)]))))
    expect(one.full).toBe(true)
    expect(hear(one, key, [heard('output', [id(1)])]).full).toBe(true)
  })

  it('is one of which output was cut short, but not what was said', () => {
    const cut = { ...heard('output', [id(1)]), cut: true }
    expect(hear(NO_PROVENANCE, key, [cut]).full).toBe(true)
    expect(hear(NO_PROVENANCE, key, [{ ...cut, origin: 'said' }]).full).toBe(false)
    expect(hear(NO_PROVENANCE, key, [heard('output', ids(0, 5000))]).full).toBe(true)
    expect(lookUp(hear(NO_PROVENANCE, noKey, [{ ...cut, values: [] }]), id(1)).origin).toBe('output')
  })
})

/** The cleaner of two; beside anything else, what is flagged is ordered. */
function either(a: Origin, b: Origin): Origin {
  if (a === b) return a
  if (a === 'flagged' || b === 'flagged') return 'ordered'
  if (a === 'output' || b === 'output') return 'output'
  return 'prose'
}

/** The laws in the plainest words: everything in one map, by text. */
class Model {
  readonly seen = new Map<string, { origin: Origin; labels: Set<string> }>()

  hear({ origin: now, labels, values }: SeenValues): void {
    for (const value of values) {
      const text = 'text' in value ? value.text : value.hash
      const known = this.seen.get(text) ?? { origin: now, labels: new Set() }
      if (known.origin !== 'said' && now !== 'said') known.origin = either(known.origin, now)
      if (now !== 'said') for (const label of labels) known.labels.add(label)
      this.seen.set(text, known)
    }
  }
}

describe('the laws', () => {
  const step: fc.Arbitrary<SeenValues> = fc.record({
    origin: fc.constantFrom('said', 'output', 'prose', 'ordered', 'flagged'),
    labels: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'personal', 'secret')),
    values: fc.array(fc.nat(120).map(id), { maxLength: 30 }),
  })
  const story = fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 12 })

  it('hold as in the plain model, through writing and reading at any time', () => {
    fc.assert(
      fc.property(story, fc.boolean(), (turns, isStored) => {
        const model = new Model()
        let provenance = NO_PROVENANCE
        for (const turn of turns) {
          turn.forEach((each) => model.hear(each))
          provenance = hear(provenance, key, turn)
          if (isStored) provenance = readProvenance(provenanceText(provenance))
        }
        for (let n = 0; n <= 120; n++) {
          const known = model.seen.get(id(n).text)
          expect(lookUp(provenance, id(n))).toEqual(
            known
              ? { origin: known.origin, labels: [...known.labels].sort() }
              : { origin: 'unknown', labels: [] },
          )
        }
      }),
      { numRuns: runs(200) },
    )
  })

  it('hold that what was written is read, and is written the same again', () => {
    fc.assert(
      fc.property(story, (turns) => {
        const text = provenanceText(turns.reduce((before, turn) => hear(before, key, turn), NO_PROVENANCE))
        expect(provenanceText(readProvenance(text))).toBe(text)
      }),
    )
  })

  it('hold that the same things heard at once or one by one are the same record', () => {
    fc.assert(
      fc.property(story, (turns) => {
        const all = turns.flat()
        const one = all.reduce((before, each) => hear(before, key, [each]), NO_PROVENANCE)
        expect(provenanceText(one)).toBe(provenanceText(hear(NO_PROVENANCE, key, all)))
      }),
    )
  })
})

describe('the record', () => {
  it('holds no value in plain text, and another hash under another key', () => {
    const texts = ['bob@example.com', 'evil.test/x', 'DE89370400440532013000', 'acct_1Nf8']
    const values = texts.flatMap((text) => valuesIn(text))
    const text = provenanceText(hear(NO_PROVENANCE, key, [heard('output', values, 'personal')]))
    for (const value of values) expect(text.toLowerCase()).not.toContain(value.text.toLowerCase())
    const other = provenanceText(
      hear(NO_PROVENANCE, () => 'f'.repeat(64), [heard('output', values, 'personal')]),
    )
    const pieces = (record: string): readonly string[] =>
      /"entries":"([^"]*)"/.exec(record)?.[1]?.match(/.{14}/g) ?? []
    expect(pieces(text)).toHaveLength(values.length)
    expect(pieces(text).filter((piece) => pieces(other).includes(piece))).toEqual([])
  })

  it('is bounded however much was heard', () => {
    const names = Array.from({ length: 32 }, (_, i) => `label-${'x'.repeat(20)}-${i}`)
    const most = hear(NO_PROVENANCE, key, [heard('output', ids(0, 4000), ...names)])
    const text = provenanceText(most)
    expect(text.length).toBeLessThan(65_536)
    expect(provenanceText(readProvenance(text))).toBe(text)
  })

  it('has a letter for each origin, and no other', () => {
    for (const each of ['said', 'output', 'prose', 'ordered', 'flagged'] as const) {
      const text = provenanceText(hear(NO_PROVENANCE, key, [heard(each, [id(1)])]))
      expect(lookUp(readProvenance(text), id(1)).origin).toBe(each)
      const written = /"entries":"[0-9a-f]{12}(.)"/.exec(text)?.[1] ?? ''
      expect('soprf').toContain(written)
    }
    const good = provenanceText(hear(NO_PROVENANCE, key, [heard('output', [id(1)])]))
    for (const letter of [
      'a',
      'e',
      'g',
      'q',
      't',
      'x',
      '0',
      '9',
      'S',
      'O',
      'P',
      'R',
      'F',
      ' ',
      '',
      'oo',
      '\\u006f',
    ])
      expect(() => readProvenance(good.replace(/o"/, `${letter}"`)), letter).toThrow(KernelError)
  })

  it('is refused in any other form, without a word of it', () => {
    const good = provenanceText(hear(NO_PROVENANCE, key, [heard('output', [id(1), id(2)], 'a')]))
    expect(readProvenance(good).labels).toEqual(['a'])
    const piece = /"entries":"(.{14})/.exec(good)?.[1] ?? ''
    for (const bad of [
      '',
      'null',
      '[]',
      '"x"',
      '{}',
      good.slice(0, -1),
      ` ${good}`,
      `${good}\n`,
      good.replace('"full":false', '"full":0'),
      good.replace('"full":false', '"full":false,"full":false'),
      good.replace('"full":false', '"full":false,"more":1'),
      good.replace(KEY, ''),
      good.replace(KEY, KEY.toUpperCase()),
      good.replace(KEY, KEY.slice(1)),
      good.replace('["a"]', '["A"]'),
      good.replace('["a"]', '["a","a"]'),
      good.replace('["a"]', '[]'),
      good.replace('["a"]', '"a"'),
      good.replace('["a"]', '[1]'),
      good.replace('["a"]', `[${Array.from({ length: 33 }, (_, i) => `"a${i}"`).join()}]`),
      good.replace(piece, ''.padEnd(14, 'z')),
      good.replace(piece, `${piece.slice(0, 13)}2`),
      good.replace(piece, `${piece.slice(0, 12)}x1`),
      good.replace(piece, piece + piece),
      good.replace(piece, piece.slice(1)),
      good.replace(piece, piece.repeat(5000)),
      good.replace(
        piece,
        Array.from({ length: 2100 }, (_, i) => `${String(i).padStart(12, '0')}o1`).join(''),
      ),
      `{"__proto__":${good}}`,
      '['.repeat(70_000),
    ]) {
      let fault: unknown
      try {
        readProvenance(bad)
      } catch (thrown) {
        fault = thrown
      }
      expect(fault, bad.slice(0, 200)).toMatchObject({
        code: 'STATE_MALFORMED',
        message: 'the record of a session is not one that was written here',
      })
    }
  })
})
