import { describe, expect, it } from 'vitest'
import { MAX_VALUES } from '@tollgate/evidence'
import { readJson } from '../../src/llm/read-json.ts'

describe('JSON of a provider', () => {
  it('is read with any spelling of numbers and names', () => {
    expect(readJson('{"a":-0.0,"a":12345678901234567890}')).toEqual({ a: 12345678901234567890 })
  })

  it.each([
    ['numbers', '0,'],
    ['empty lists', '[],'],
    ['members', '{"a":1},'],
  ])('is refused with more values than any JSON may hold: %s', (_, each) => {
    expect(() => readJson(`[${each.repeat(MAX_VALUES)}0]`)).toThrow('too many values')
  })

  it('may be long if it has few values', () => {
    const text = '\\",['.repeat(MAX_VALUES)
    expect(readJson(`["${text}"]`)).toEqual(['",['.repeat(MAX_VALUES)])
  })
})
