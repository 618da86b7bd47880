import { describe, expect, it } from 'vitest'
import { labelsIn, nationalIdsIn } from '../../src/text/personal.ts'
import { valuesIn } from '../../src/text/values.ts'

/** The labels of the values in a text. */
const labels = (text: string): readonly string[] => labelsIn(valuesIn(text))

/** Expects exactly these national ids in the text, as `scheme text`. */
function finds(text: string, ...ids: readonly string[]): void {
  const found = nationalIdsIn(text).map(({ scheme, start, end }) => `${scheme} ${text.slice(start, end)}`)
  expect(found, text).toEqual(ids)
}

describe('labels of values', () => {
  it('are `card` and `personal` for a payment card, `personal` for an IBAN', () => {
    expect(labels('pay with 4111 1111 1111 1111')).toEqual(['card', 'personal'])
    expect(labels('DE89 3704 0044 0532 0130 00')).toEqual(['personal'])
    expect(labels('4111111111111111 and 5555555555554444 and DE89370400440532013000')).toEqual([
      'card',
      'personal',
    ])
  })

  it('are none for addresses, telephone numbers, ids and keys', () => {
    expect(
      labels('bob@example.com +14155550100 https://a.test/x acct_1Nf8 xK9vQ2mZ7pL4tR8wB3nY6cJ1'),
    ).toEqual([])
    expect(labelsIn([])).toEqual([])
  })
})

describe('national ids', () => {
  it('are valid US social security numbers', () => {
    finds('SSN: 536-22-8726.', 'us-ssn 536-22-8726')
    finds('000-22-8726 666-22-8726 912-22-8726 536-00-8726 536-22-0000 078-05-1120')
    finds('536228726 536 22 8726 1536-22-8726 536-22-87261 2026-536-22-8726 536-22-8726-1 a536-22-8726')
  })

  it('have valid check characters', () => {
    finds('DNI 12345678Z, NIE X1234567L', 'es-dni 12345678Z', 'es-dni X1234567L')
    finds('12345678A X1234567A 12345678z')
    finds('RSSMRA85T10A562S', 'it-cf RSSMRA85T10A562S')
    finds('RSSMRA85T10A562T RSSMRA85X10A562S')
    finds('1 84 12 76 451 089 46', 'fr-nir 1 84 12 76 451 089 46')
    finds('184127645108947 184137645108946')
    finds('131052-308T', 'fi-hetu 131052-308T')
    finds('131052-308U 321052-308T')
    finds('529.982.247-25', 'br-cpf 529.982.247-25')
    finds('529.982.247-26 111.111.111-11 52998224725')
  })

  it('are found in look-alike characters', () => {
    const text = 'x ５36-2\u200b2-8726 y'
    const [id] = nationalIdsIn(text)
    expect(text.slice(id?.start, id?.end)).toBe('５36-2\u200b2-8726')
  })

  it('are at most 256, and are not found in ordinary numbers', () => {
    expect(nationalIdsIn('536-22-8726 '.repeat(300))).toHaveLength(256)
    finds('call 415-555-0100 on 2026-11-15, order 114-3941689-8772232, 1.234.567,89, 192.168.100-10')
    finds('')
  })
})
