import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KernelError } from '../../../src/error.ts'
import {
  addSeen,
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
  throw new Error('a key was requested')
}
const MAX_VALUES = 2048

/** A distinct value for each number. */
const id = (n: number): { readonly kind: 'id'; readonly text: string } => ({ kind: 'id', text: `id-${n}` })
const ids = (from: number, count: number): readonly Spoken[] =>
  Array.from({ length: count }, (_, i) => id(from + i))
const seen = (origin: Origin, values: SeenValues['values'], ...labels: readonly string[]): SeenValues => ({
  origin,
  values,
  labels,
})

/** The origin of a value after these sightings, one by one. */
function origin(...all: readonly Origin[]): string {
  const provenance = all.reduce((before, each) => addSeen(before, key, [seen(each, [id(1)])]), NO_PROVENANCE)
  return lookUp(provenance, id(1)).origin
}

describe('a value of which only the hash is known', () => {
  it('equals the original value under the key of its session', () => {
    const [value] = valuesIn('ann@example.com')
    const spoken = value ?? id(0)
    const whole = addSeen(NO_PROVENANCE, key, [seen('output', [spoken], 'personal')])
    const hashed = addSeen(NO_PROVENANCE, key, [seen('output', [{ hash: hashOf(KEY, spoken) }], 'personal')])
    expect(provenanceText(hashed)).toBe(provenanceText(whole))
    expect(lookUp(hashed, spoken)).toEqual({ origin: 'output', labels: ['personal'] })
  })
})

describe('the first sighting', () => {
  it('decides: `said` stays `said`, a value from a tool stays a tool’s value', () => {
    expect(origin()).toBe('unknown')
    expect(origin('said', 'output', 'flagged')).toBe('said')
    expect(origin('output', 'said')).toBe('output')
    expect(origin('flagged', 'said')).toBe('flagged')
  })

  const named = ['output', 'prose', 'ordered', 'flagged'] as const

  it('in a tool’s output is replaced by a less suspicious one, but `flagged` stays at least `ordered`', () => {
    const then = Object.fromEntries(named.map((first) => [first, named.map((again) => origin(first, again))]))
    expect(then).toEqual({
      output: ['output', 'output', 'output', 'ordered'],
      prose: ['output', 'prose', 'prose', 'ordered'],
      ordered: ['output', 'prose', 'ordered', 'ordered'],
      flagged: ['ordered', 'ordered', 'ordered', 'flagged'],
    })
  })

  it('does not depend on the order, nor on who says the value in between', () => {
    for (const first of named)
      for (const again of named) {
        expect(origin(first, again)).toBe(origin(again, first))
        expect(origin(first, 'said', again, 'said')).toBe(origin(first, again))
        expect(origin('said', first, again)).toBe('said')
        expect(origin(first, 'said')).toBe(first)
      }
  })

  it('does not depend on the spelling', () => {
    const provenance = addSeen(NO_PROVENANCE, key, [
      seen('output', valuesIn('see HTTPS://www.Evil.test:443/a/ now')),
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
  it('are those of all sightings, even if the value was said, too', () => {
    const first = addSeen(NO_PROVENANCE, key, [
      seen('output', [id(1)], 'personal'),
      seen('output', [id(1), id(2)], 'card'),
    ])
    const then = addSeen(first, key, [seen('said', [id(1), id(2)], 'secret')])
    expect(lookUp(then, id(1)).labels).toEqual(['card', 'personal'])
    expect(lookUp(then, id(2)).labels).toEqual(['card'])
    expect(then.labels).toEqual(['card', 'personal'])
    expect(then).toBe(first)
  })

  it('of a session are kept without any value, and need no key', () => {
    const provenance = addSeen(NO_PROVENANCE, noKey, [
      seen('output', [], 'z', 'a'),
      seen('flagged', [], 'flagged'),
    ])
    expect(provenance.labels).toEqual(['a', 'flagged', 'z'])
    expect(readProvenance(provenanceText(provenance)).labels).toEqual(['a', 'flagged', 'z'])
  })

  it('are limited to 32; one more makes the record full', () => {
    const names = Array.from({ length: 33 }, (_, i) => `label-${i}`)
    const fits = addSeen(NO_PROVENANCE, key, [seen('output', [id(1)], ...names.slice(0, 32))])
    expect(fits.full).toBe(false)
    expect(lookUp(fits, id(1)).labels).toEqual(names.slice(0, 32).sort())
    expect(lookUp(readProvenance(provenanceText(fits)), id(1)).labels).toEqual(names.slice(0, 32).sort())
    expect(addSeen(fits, key, [seen('output', [], 'label-32')]).full).toBe(true)
  })
})

describe('adding values', () => {
  it('changes nothing if they are not new', () => {
    const once = addSeen(NO_PROVENANCE, key, [seen('output', ids(0, 100), 'a')])
    const again = [
      seen('output', ids(0, 100), 'a'),
      seen('said', ids(0, 100)),
      seen('prose', ids(0, 100), 'a'),
      seen('ordered', ids(0, 100)),
    ]
    expect(addSeen(once, noKey, again)).toBe(once)
    const known = addSeen(once, noKey, [seen('flagged', ids(0, 100))])
    expect(addSeen(known, noKey, [seen('flagged', ids(0, 100)), seen('ordered', ids(0, 100))])).toBe(known)
    expect(addSeen(once, noKey, [])).toBe(once)
    expect(addSeen(NO_PROVENANCE, noKey, [seen('output', [])])).toBe(NO_PROVENANCE)
  })

  it('does not change the previous provenance', () => {
    const before = addSeen(NO_PROVENANCE, key, [seen('flagged', ids(0, 200), 'a')])
    const text = provenanceText(before)
    addSeen(before, key, [seen('output', ids(0, 400), 'b')])
    expect(provenanceText(before)).toBe(text)
    expect(lookUp(before, id(300)).origin).toBe('unknown')
    expect(provenanceText(NO_PROVENANCE)).toBe('{"entries":"","full":false,"key":"","labels":[]}')
  })

  it('requests a key once, and rejects an invalid one', () => {
    let asked = 0
    const count = (): string => {
      asked++
      return KEY
    }
    const one = addSeen(NO_PROVENANCE, count, [seen('said', ids(0, 3)), seen('output', ids(3, 3))])
    addSeen(one, count, [seen('output', ids(9, 3))])
    expect(asked).toBe(1)
    for (const bad of ['', 'x', KEY.toUpperCase(), `${KEY}0`])
      expect(() => addSeen(NO_PROVENANCE, () => bad, [seen('said', [id(1)])])).toThrow(KernelError)
  })
})

describe('a full record', () => {
  const full = (extra: SeenValues): Provenance =>
    addSeen(NO_PROVENANCE, key, [
      seen('flagged', ids(0, 10), 'f'),
      seen('said', ids(10, 10)),
      seen('output', ids(20, MAX_VALUES - 20), 'o'),
      extra,
    ])

  it('removes the oldest `output` first, then the oldest `said`, and `flagged` last', () => {
    const one = full(seen('output', ids(5000, 5)))
    const origins = (p: Provenance, from: number, count: number): readonly string[] =>
      ids(from, count).map((value) => lookUp(p, value).labels.join() || lookUp(p, value).origin)
    expect(one.full).toBe(true)
    expect(provenanceText(one).length).toBeLessThan(40_000)
    expect(origins(one, 0, 20)).toEqual([...Array<string>(10).fill('f'), ...Array<string>(10).fill('said')])
    // A removed value has all labels of the session. A kept value has its own.
    expect(origins(one, 20, 6)).toEqual([...Array<string>(5).fill('f,o'), 'o'])
    const flood = addSeen(one, key, [seen('flagged', ids(6000, MAX_VALUES - 15), 'f')])
    expect(ids(10, 10).map((value) => lookUp(flood, value).origin)).toEqual([
      ...Array<string>(5).fill('output'),
      ...Array<string>(5).fill('said'),
    ])
    expect(lookUp(flood, id(0)).origin).toBe('flagged')
  })

  it('counts an unknown value as `output` with every label', () => {
    const one = full(seen('output', [id(9999)], 'x'))
    expect(lookUp(one, id(123_456))).toEqual({ origin: 'output', labels: ['f', 'o', 'x'] })
    expect(addSeen(one, key, [seen('said', [id(123_456)])])).toBe(one)
  })

  it('does not launder a removed value that is said again', () => {
    const one = full(seen('output', ids(5000, 5)))
    const said = addSeen(one, key, [seen('said', [id(20)])])
    expect(lookUp(said, id(20)).origin).toBe('output')
    expect(lookUp(addSeen(said, key, [seen('flagged', [id(20)])]), id(20)).origin).toBe('flagged')
  })

  it('removes `output`, `prose`, `said` and `ordered` in this order', () => {
    const one = addSeen(NO_PROVENANCE, key, [
      seen('ordered', ids(0, 5)),
      seen('said', ids(5, 5)),
      seen('prose', ids(10, 5)),
      seen('output', ids(15, 5)),
    ])
    const left = (count: number): readonly string[] => {
      const flood = addSeen(one, key, [seen('flagged', ids(5000, MAX_VALUES - 20 + count))])
      return ids(0, 20).map((value) => (flood.older.has(hashOf(KEY, value)) ? 'kept' : 'gone'))
    }
    const kept = (from: number, to: number): readonly string[] =>
      Array.from({ length: 20 }, (_, i) => (i >= from && i < to ? 'kept' : 'gone'))
    expect(left(5)).toEqual(kept(0, 15))
    expect(left(10)).toEqual(kept(0, 10))
    expect(left(15)).toEqual(kept(0, 5))
    expect(left(20)).toEqual(kept(0, 0))
  })

  it('counts an unknown value as the worst that may have been removed', () => {
    const unknown = (...origins: readonly Origin[]): string => {
      const all = origins.map((each, i) => seen(each, ids(10_000 * i, MAX_VALUES)))
      return lookUp(addSeen(NO_PROVENANCE, key, all), id(123_456)).origin
    }
    expect(unknown('output', 'output')).toBe('output')
    expect(unknown('output', 'prose')).toBe('prose')
    expect(unknown('prose', 'prose')).toBe('prose')
    expect(unknown('prose', 'ordered')).toBe('ordered')
    expect(unknown('said', 'output')).toBe('output')
  })

  it('stays full, even after it is written and read', () => {
    const one = readProvenance(provenanceText(full(seen('output', [id(9999)]))))
    expect(one.full).toBe(true)
    expect(addSeen(one, key, [seen('output', [id(1)])]).full).toBe(true)
  })

  it('results from cut output, but not from cut user text', () => {
    const cut = { ...seen('output', [id(1)]), cut: true }
    expect(addSeen(NO_PROVENANCE, key, [cut]).full).toBe(true)
    expect(addSeen(NO_PROVENANCE, key, [{ ...cut, origin: 'said' }]).full).toBe(false)
    expect(addSeen(NO_PROVENANCE, key, [seen('output', ids(0, 5000))]).full).toBe(true)
    expect(lookUp(addSeen(NO_PROVENANCE, noKey, [{ ...cut, values: [] }]), id(1)).origin).toBe('output')
  })
})

/** The less suspicious of two origins. `flagged` with another origin is `ordered`. */
function either(a: Origin, b: Origin): Origin {
  if (a === b) return a
  if (a === 'flagged' || b === 'flagged') return 'ordered'
  if (a === 'output' || b === 'output') return 'output'
  return 'prose'
}

/** A simple model of the laws: one map by text. */
class Model {
  readonly seen = new Map<string, { origin: Origin; labels: Set<string> }>()

  add({ origin: now, labels, values }: SeenValues): void {
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

  it('match the simple model, with or without writing and reading in between', () => {
    fc.assert(
      fc.property(story, fc.boolean(), (turns, isStored) => {
        const model = new Model()
        let provenance = NO_PROVENANCE
        for (const turn of turns) {
          turn.forEach((each) => model.add(each))
          provenance = addSeen(provenance, key, turn)
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

  it('give the same text after writing and reading', () => {
    fc.assert(
      fc.property(story, (turns) => {
        const text = provenanceText(turns.reduce((before, turn) => addSeen(before, key, turn), NO_PROVENANCE))
        expect(provenanceText(readProvenance(text))).toBe(text)
      }),
    )
  })

  it('give the same record for values added at once or one by one', () => {
    fc.assert(
      fc.property(story, (turns) => {
        const all = turns.flat()
        const one = all.reduce((before, each) => addSeen(before, key, [each]), NO_PROVENANCE)
        expect(provenanceText(one)).toBe(provenanceText(addSeen(NO_PROVENANCE, key, all)))
      }),
    )
  })
})

describe('the record', () => {
  it('contains no value in plain text, and other hashes under another key', () => {
    const texts = ['bob@example.com', 'evil.test/x', 'DE89370400440532013000', 'acct_1Nf8']
    const values = texts.flatMap((text) => valuesIn(text))
    const text = provenanceText(addSeen(NO_PROVENANCE, key, [seen('output', values, 'personal')]))
    for (const value of values) expect(text.toLowerCase()).not.toContain(value.text.toLowerCase())
    const other = provenanceText(
      addSeen(NO_PROVENANCE, () => 'f'.repeat(64), [seen('output', values, 'personal')]),
    )
    const pieces = (record: string): readonly string[] =>
      /"entries":"([^"]*)"/.exec(record)?.[1]?.match(/.{14}/g) ?? []
    expect(pieces(text)).toHaveLength(values.length)
    expect(pieces(text).filter((piece) => pieces(other).includes(piece))).toEqual([])
  })

  it('has a limited size', () => {
    const names = Array.from({ length: 32 }, (_, i) => `label-${'x'.repeat(20)}-${i}`)
    const most = addSeen(NO_PROVENANCE, key, [seen('output', ids(0, 4000), ...names)])
    const text = provenanceText(most)
    expect(text.length).toBeLessThan(65_536)
    expect(provenanceText(readProvenance(text))).toBe(text)
  })

  it('accepts only the letters of the origins', () => {
    for (const each of ['said', 'output', 'prose', 'ordered', 'flagged'] as const) {
      const text = provenanceText(addSeen(NO_PROVENANCE, key, [seen(each, [id(1)])]))
      expect(lookUp(readProvenance(text), id(1)).origin).toBe(each)
      const written = /"entries":"[0-9a-f]{12}(.)"/.exec(text)?.[1] ?? ''
      expect('soprf').toContain(written)
    }
    const good = provenanceText(addSeen(NO_PROVENANCE, key, [seen('output', [id(1)])]))
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

  it('is rejected in any other form, without quoting it', () => {
    const good = provenanceText(addSeen(NO_PROVENANCE, key, [seen('output', [id(1), id(2)], 'a')]))
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
        message: 'the data record of a session is malformed or was changed',
      })
    }
  })
})
