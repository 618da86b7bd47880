// Server-sent events: the same events for any split of the text, within a memory limit.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventParser, type ServerEvent } from '../src/events.ts'

function parse(...pieces: string[]): readonly ServerEvent[] {
  const parser = new EventParser()
  return pieces.flatMap((piece) => parser.push(piece))
}

describe('events', () => {
  it.each([
    ['one', 'id: 7\nevent: receipt\ndata: {}\n\n', [{ id: '7', event: 'receipt', data: '{}' }]],
    ['one of several lines', 'data: a\ndata: b\n\n', [{ id: '', event: 'message', data: 'a\nb' }]],
    ['without a space after the colon', 'data:a\n\n', [{ id: '', event: 'message', data: 'a' }]],
    ['with two spaces after the colon', 'data:  a\n\n', [{ id: '', event: 'message', data: ' a' }]],
    ['with only a field name', 'data\n\n', [{ id: '', event: 'message', data: '' }]],
    ['that end with carriage returns', 'data: a\r\rdata: b\r\n\r\n', ['a', 'b']],
    ['after comments', ': hello\n\n:\n\ndata: a\n\n', ['a']],
    ['with unknown fields', 'retry: 5\nfoo: bar\ndata: a\n\n', ['a']],
    ['that keep the last id', 'id: 1\ndata: a\n\ndata: b\n\n', ['a', 'b']],
  ])('are read: %s', (_, text, expected) => {
    const events = parse(text)
    expect(typeof expected[0] === 'string' ? events.map(({ data }) => data) : events).toEqual(expected)
  })

  it('are returned when they are complete', () => {
    expect(parse('data: a')).toEqual([])
    expect(parse('data: a\n')).toEqual([])
    expect(parse('event: receipt\n\n')).toEqual([])
  })

  it('are the same for any split of the text', () => {
    const line = fc.constantFrom('data: a', 'data', 'id: 4', 'event: x', ': note', '', '', 'data:b')
    const end = fc.constantFrom('\n', '\r', '\r\n')
    const text = fc.array(fc.tuple(line, end)).map((lines) => lines.flat().join(''))
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (whole, cuts) => {
        const places = cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b)
        const pieces = [...places, whole.length].map((place, i) => whole.slice(places[i - 1] ?? 0, place))
        expect(parse(...pieces)).toEqual(parse(whole))
      }),
    )
  })

  it('are refused if a line, or an event of many lines, is too long', () => {
    expect(() => parse('x'.repeat((1 << 20) + 1))).toThrow('longer than')
    expect(() => parse(...Array.from({ length: 70 }, () => `data: ${'x'.repeat(16_000)}\n`))).toThrow(
      'longer than',
    )
  })
})
