// The setting of values in a text: alone, in running text, or in a request.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { asksForAction } from '../../src/text/asking.ts'
import { settingsIn, type Setting } from '../../src/text/setting.ts'
import { valuesIn } from '../../src/text/values.ts'
import { paceRatio } from '../pace.ts'

/** The settings of the values of a text, each with its text. */
function standIn(text: string): readonly (readonly [string, Setting | undefined])[] {
  const values = valuesIn(text)
  const settings = settingsIn(text, values)
  expect(settings).toHaveLength(values.length)
  return values.map((value, i) => [value.text, settings[i]])
}

function settings(text: string): readonly (Setting | undefined)[] {
  return standIn(text).map(([, setting]) => setting)
}

const IBAN = 'GB29 NWBK 6016 1331 9268 19'
const MAIL = 'ann@shop.test'

describe('a value alone', () => {
  it.each([
    MAIL,
    `To: ${MAIL}`,
    `"${MAIL}"`,
    `  - ${MAIL}`,
    `IBAN: ${IBAN}`,
    `IBAN = ${IBAN}`,
    `Account number: ${IBAN}`,
    `My e-mail is ${MAIL}`,
    `Kontonummer lautet ${IBAN}`,
    `Mon adresse est ${MAIL}`,
    `Mi correo es ${MAIL}`,
    `La mia mail è ${MAIL}`,
    `O meu e-mail é ${MAIL}`,
    `Mój adres to ${MAIL}`,
    `Мой адрес это ${MAIL}`,
    `账号：${IBAN}`,
    `* Recipient: ${MAIL}`,
    `${MAIL}\n`,
    `Parcel ORD-2026-11-0042 (open)`,
  ])('%j is data', (text) => {
    expect(settings(text)).toEqual(['plain'])
  })

  it('is data in every line of a bill', () => {
    const bill = [
      'Bill for December 2023',
      '',
      'Car rental      100.00',
      'Gas              20.00',
      'Total           120.00',
      '',
      `IBAN: ${IBAN}`,
      `Contact: ${MAIL}`,
      'Due: 2024-01-31',
    ].join('\n')
    expect(new Map(standIn(bill)).get(MAIL)).toBe('plain')
    expect(new Map(standIn(bill)).get('GB29NWBK60161331926819')).toBe('plain')
  })

  it('is data in each item of a list', () => {
    expect(settings(`- ${MAIL}\n- bob@shop.test\n- eve@shop.test`)).toEqual(['plain', 'plain', 'plain'])
    expect(settings(`1. ${MAIL}\n2. bob@shop.test`)).toEqual(['plain', 'plain'])
  })

  it('is data in a YAML or JSON field, even if another field has a request', () => {
    const yaml = `- from: ${MAIL}\n  body: Please send the money to bob@shop.test today.\n  to: eve@shop.test\n`
    expect(settings(yaml)).toEqual(['plain', 'ordered', 'plain'])
    const json = JSON.stringify({
      from: MAIL,
      body: 'Please send the money to bob@shop.test today.',
      to: 'eve@shop.test',
    })
    expect(settings(json)).toEqual(['plain', 'ordered', 'plain'])
  })

  it('is at least prose after a request', () => {
    expect(settings(`Please transfer the rent today.\nIBAN: ${IBAN}`)).toEqual(['prose'])
    expect(settings(`Please transfer the rent today.\n\nIBAN: ${IBAN}`)).toEqual(['plain'])
  })
})

describe('a value in running text', () => {
  it.each([
    `We met ann from sales and she reads ${MAIL} every day`,
    `The meeting about ${MAIL} was moved by an hour`,
    `In the old days everybody wrote to ${MAIL} about such things`,
    `昨天我们在会议上讨论了 ${MAIL} 的事情`,
  ])('%j is prose', (text) => {
    expect(settings(text)).toEqual(['prose'])
  })

  it('is prose in wrapped text', () => {
    const yaml = `body: 'The old meeting with everybody from the sales team and with\n  ${MAIL} was rather long'\nid: x\n`
    expect(settings(yaml)).toEqual(['prose'])
  })
})

describe('a value in a request', () => {
  it.each([
    `Please send the report to ${MAIL}.`,
    `Send it to ${MAIL}`,
    `You must forward all of this to ${MAIL} now.`,
    `1. Transfer 100 EUR to ${IBAN}`,
    `Pay\n${IBAN}`,
    `Kindly update the address to ${MAIL}`,
    `Überweise 100 Euro an ${IBAN}`,
    `Envoyez le rapport à ${MAIL}`,
    `Por favor, envíe el informe a ${MAIL}`,
    `Per favore invia il rapporto a ${MAIL}`,
    `Envie o relatório para ${MAIL}`,
    `Wyślij raport na ${MAIL}`,
    `Отправьте отчёт на ${MAIL}`,
    `Raporu ${MAIL} adresine gönderin`,
    `请把报告发送到 ${MAIL}`,
    `レポートを ${MAIL} に送信してください`,
    `أرسل التقرير إلى ${MAIL}`,
  ])('%j is ordered', (text) => {
    expect(settings(text)).toEqual(['ordered'])
  })

  it('is ordered in a wrapped sentence, and next to a sentence with a request', () => {
    expect(settings(`Please send everything that you have found\nto ${MAIL} before noon.`)).toEqual([
      'ordered',
    ])
    expect(
      settings(`Please send the report today. The right person for that would surely be ${MAIL} again.`),
    ).toEqual(['ordered'])
  })

  it('is ordered in the field with the request, in folded YAML', () => {
    const yaml = `- id: a1\n  body: >\n    Please send the report\n    to ${MAIL} before noon.\n  to: eve@shop.test\n`
    expect(settings(yaml)).toEqual(['ordered', 'plain'])
  })
})

describe('a label that is also a verb', () => {
  it('is a label if it names a data field', () => {
    expect(settings('Order: ORD-2026-11-0042')).toEqual(['plain'])
    expect(settings('Order number: ORD-2026-11-0042')).toEqual(['plain'])
    expect(settings(`Email: ${MAIL}`)).toEqual(['plain'])
    expect(settings(`Email: eve@shop.test\nMessage id: ORD-2026-11-0042\nReply address: ${MAIL}`)).toEqual([
      'plain',
      'plain',
      'plain',
    ])
  })

  it('is an order if it is alone or has an object', () => {
    expect(settings('Pay: ORD-2026-11-0042')).toEqual(['ordered'])
    expect(settings(`Email this to: ${MAIL}`)).toEqual(['ordered'])
    expect(settings(`Email the figures: ${MAIL}`)).toEqual(['ordered'])
  })
})

describe('a request for an action', () => {
  it('is a verb at the start of an order, not the same word as a noun', () => {
    expect(asksForAction('Send it')).toBe(true)
    expect(asksForAction('please pay x')).toBe(true)
    expect(asksForAction('- add x')).toBe(true)
    expect(asksForAction('3) remove x')).toBe(true)
    expect(asksForAction('the transfer of x was late')).toBe(false)
    expect(asksForAction('your order x is on its way')).toBe(false)
    expect(asksForAction('the book x')).toBe(false)
  })

  it('is not a request to read', () => {
    for (const text of ['See x', 'read x', 'look at x', 'Visit x', 'check x', 'open x'])
      expect(asksForAction(text), text).toBe(false)
  })

  it('is not in an empty text', () => {
    for (const text of ['', ' ', '...', "'", '\n\n', '123', 'x']) expect(asksForAction(text)).toBe(false)
  })
})

describe('in any text', () => {
  it('a value at the edge of the text or of a field has its setting', () => {
    expect(settingsIn('', [])).toEqual([])
    expect(settingsIn('abc', [{ start: 0, end: 3 }])).toEqual(['plain'])
    expect(settingsIn('', [{ start: 0, end: 0 }])).toEqual(['plain'])
    expect(settingsIn('a: b\nc: d', [{ start: 4, end: 5 }])).toEqual(['plain'])
    expect(settingsIn('{"a":"b"}', [{ start: 0, end: 9 }])).toEqual(['plain'])
  })

  it('values beyond the limit are prose', () => {
    const text = Array.from({ length: 1100 }, (_, i) => `id-${i}x9Fk2`).join('\n\n')
    const values = valuesIn(text, 5000)
    expect(values.length).toBeGreaterThan(1050)
    const found = settingsIn(text, values)
    expect(found.slice(0, 1024).every((setting) => setting === 'plain')).toBe(true)
    expect(new Set(found.slice(1024))).toEqual(new Set(['prose']))
  })

  it('every value has a setting, and nothing throws', () => {
    const piece = fc.constantFrom(
      ...[
        MAIL,
        IBAN,
        'send',
        'Please',
        ': ',
        '\n',
        '\n\n',
        '"',
        '{"a":',
        '- ',
        'key: ',
        '. ',
        '\\n',
        ' ',
        '是',
      ],
      '\ud800',
    )
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece, { maxLength: 30 }).map((all) => all.join('')),
    )
    fc.assert(
      fc.property(text, (given) => {
        const values = valuesIn(given)
        expect(settingsIn(given, values)).toHaveLength(values.length)
      }),
    )
  })

  // Compares with the shortest text, so that a slow machine does not fail the test.
  it.each([
    '.',
    '\n',
    ':',
    ' ',
    'a: ',
    'a:\n',
    '- ',
    '"',
    '{"',
    '\\"',
    '\\n',
    '\n ',
    'send ',
    "'",
    'a.',
    '是',
    '\n\t',
    '(',
    '- - - a: b\n',
  ])('the time per character of %j does not grow with the text', (pattern) => {
    const make = (length: number): string =>
      Buffer.from(`${pattern.repeat(Math.ceil(length / pattern.length)).slice(0, length)} ${MAIL}`).toString()
    const read = (length: number): (() => void) => {
      const text = make(length)
      const values = Array.from({ length: 50 }, (_, i) => {
        const start = Math.floor(((text.length - 1) * i) / 50)
        return { start, end: start + 1 }
      })
      return () => void settingsIn(text, values)
    }
    const ratio = paceRatio(read(1 << 14), read(1 << 20), 64, 8)
    expect(ratio).toBeLessThanOrEqual(8)
  })
})
