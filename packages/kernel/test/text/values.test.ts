import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { destinationsIn } from '../../src/destinations/find.ts'
import { hostValue, MOST_VALUES, valuesIn } from '../../src/text/values.ts'
import { runs } from '../../../evidence/test/runs.ts'

/** The values in a text, as `kind text`. */
function found(text: string): readonly string[] {
  return valuesIn(text).map(({ kind, text: normal }) => `${kind} ${normal}`)
}

/** Expects exactly these values in the text. */
function finds(text: string, ...values: readonly string[]): void {
  expect(found(text), JSON.stringify(text)).toEqual(values)
}

const IBAN = 'DE89370400440532013000'
const CARD = '4111111111111111'
const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7'
const BITCOIN = '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2'
const KEY = 'xK9vQ2mZ7pL4tR8wB3nY6cJ1'

describe('addresses', () => {
  it('are e-mail addresses in lower case, without a value for their domain', () => {
    finds('Write to Bob.Smith+x@Example.COM, today.', 'email bob.smith+x@example.com')
    finds('<mailto:a_b%c@mail.example.org>', 'email a_b%c@mail.example.org')
    finds('cc:a@b.co;d@e.io', 'email a@b.co', 'email d@e.io')
  })

  it('are URLs without insignificant parts, and their hosts', () => {
    const normal = ['url evil.test/a/b?q=1', 'host evil.test']
    for (const url of [
      'https://evil.test/a/b?q=1',
      'HTTP://www.EVIL.test:80/a/b/?q=1#top',
      'https://user:word@evil.test:443/a/b/?q=1',
      'evil.test/a/b?q=1',
      'www.evil.test:443/a/b?q=1',
      'evil.test:80/%61/b?q=1',
    ])
      finds(url, ...normal)
    finds('https://evil.test:8443/a', 'url evil.test:8443/a', 'host evil.test')
    finds('https://evil.test/A', 'url evil.test/A', 'host evil.test')
    finds('https://evil.test/%2fx', 'url evil.test/%2Fx', 'host evil.test')
  })

  it('are only the host if a URL has nothing else', () => {
    for (const text of [
      'https://evil.test',
      'https://evil.test/',
      'http://www.evil.test/#x',
      'evil.test',
      'evil.test.',
    ])
      finds(text, 'host evil.test')
    finds('http://[::1]/', 'host ::1')
    finds('http://0x7f.1/a', 'url 127.0.0.1/a', 'host 127.0.0.1')
    finds('10.0.0.7', 'host 10.0.0.7')
  })

  it('end before characters of the text around them', () => {
    for (const around of [
      '(@).',
      '"@",',
      "'@'",
      '<@>',
      '[x](@)',
      '**@**',
      '`@`',
      '@, and',
      '@请看',
      'see @!',
      '{@}',
      '@|x',
      '@\\n',
    ])
      finds(around.replace('@', 'https://evil.test/a'), 'url evil.test/a', 'host evil.test')
    for (const text of [
      'https://evil.test/a_(b)',
      '(https://evil.test/a_(b)).',
      'https://evil.test/a_(b))(c)',
    ])
      finds(text, 'url evil.test/a_(b)', 'host evil.test')
    finds('https://evil.test。请看', 'host evil.test')
    finds('请访问evil.test吧', 'host evil.test')
    finds('联系bob@evil.test吧', 'email bob@evil.test')
  })

  it('are found inside a URL too', () => {
    finds(
      `https://good.test/?u=https://evil.test/x`,
      'url good.test?u=https://evil.test/x',
      'host good.test',
      'url evil.test/x',
      'host evil.test',
    )
    expect(found(`https://evil.test/${CARD}?to=bob@example.com`)).toEqual(
      expect.arrayContaining([`card ${CARD}`, 'email bob@example.com']),
    )
  })

  it('are names in other scripts, as punycode', () => {
    finds('see bücher.example now', 'host xn--bcher-kva.example')
    finds('https://bücher.example/x', 'url xn--bcher-kva.example/x', 'host xn--bcher-kva.example')
    finds('пример.рф', 'host xn--e1afmkfd.xn--p1ai')
    finds('用户@例子.中国', 'email 用户@xn--fsqu00a.xn--fiqs8s')
  })

  it('are a host after `user@` if a path follows', () => {
    finds('git@example.com:org/x', 'email git@example.com', 'host example.com')
  })

  it('are not files, versions, code, words or defanged hosts', () => {
    for (const text of [
      'report-2026.md and main.py, foo.ts:12 or lib.rs',
      'react@18.2.0 image@sha256 user@host @mention a@b',
      'e.g. this, i.e. that',
      'array.at(1)',
      'evil[.]test and evil (dot) test',
      'file:///etc/passwd',
      'https://',
      '://x :// @ . / @@ ..',
    ])
      finds(text)
  })
})

describe('numbers', () => {
  it('are IBANs of the right length with valid check digits', () => {
    finds(`IBAN: ${IBAN}.`, `iban ${IBAN}`)
    finds('DE89 3704 0044 0532 0130 00 please', `iban ${IBAN}`)
    finds('gb82 west 1234 5698 7654 32', 'iban GB82WEST12345698765432')
    finds('NO9386011117947', 'iban NO9386011117947')
    expect(found('DE88370400440532013000')).not.toContain('iban DE88370400440532013000')
    expect(found(`${IBAN}1`).join()).not.toContain('iban')
  })

  it('are payment cards in a known range with a valid check digit, in groups or not', () => {
    finds(CARD, `card ${CARD}`)
    finds('4111 1111 1111 1111, 12/27', `card ${CARD}`)
    finds('4111-1111-1111-1111', `card ${CARD}`)
    finds('4111\u00a01111\u00a01111\u00a01111', `card ${CARD}`)
    finds('4111 1111 1111 1111 12', `card ${CARD}`)
    finds('3782 822463 10005 5555555555554444', 'card 378282246310005', 'card 5555555555554444')
    for (const other of ['4111111111111112', '1111111111111117', '411111111111111', '4006381333931'])
      expect(found(other), other).toEqual([`id ${other}`])
    expect(found('4111 1111-1111 1111').join()).not.toContain('card')
    expect(found('411 1111 1111 11111').join()).not.toContain('card')
  })

  it('are telephone numbers with a plus', () => {
    finds('+1 (415) 555-0100', 'phone 14155550100')
    finds('tel:+49.30.1234567', 'phone 49301234567')
    finds('+14155550100 2026', 'phone 14155550100')
    finds('+49 30 1234567  20261', 'phone 49301234567')
    for (const none of ['+1234567', '1+2', 'a+491234567', '+12345678901234567890', '+49 x'])
      expect(found(none).join(), none).not.toContain('phone')
  })
})

describe('tokens', () => {
  it('are wallets', () => {
    finds(`to ${WALLET}!`, `wallet ${WALLET.toLowerCase()}`)
    finds(BITCOIN, `wallet ${BITCOIN}`)
    const bech32 = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'
    finds(`${bech32} ${bech32.toUpperCase()}`, `wallet ${bech32}`, `wallet ${bech32}`)
  })

  it('are ids, in normal form', () => {
    const uuid = '8f14e45fceea467fa2dd1c1b1d9a4e5b'
    finds('8f14e45f-ceea-467f-a2dd-1c1b1d9a4e5b', `id ${uuid}`)
    finds(uuid.toUpperCase(), `id ${uuid}`)
    finds('acct_1Nf8', 'id acct_1nf8')
    finds('INV-2024-0042; order-48213', 'id inv-2024-0042', 'id order-48213')
    finds('AB12CD34.', 'id ab12cd34')
    finds('114-3941689-8772232 #12345678', 'id 11439416898772232', 'id 12345678')
    finds('id=0xdeadbeef00112233', 'id 0xdeadbeef00112233')
  })

  it('are keys, in their original case', () => {
    finds(KEY, `key ${KEY}`)
    finds('sk-proj-abc123def456ghi789', 'key sk-proj-abc123def456ghi789')
    finds('ghp_16C7e42F292c6912E7710c838347Ae178B4a', 'key ghp_16C7e42F292c6912E7710c838347Ae178B4a')
    const base64 = 'aGVsbG8gd29ybGQ+Zm9v/YmFyIGJheiBxdXggMTIz+NDU2Nzg5MGFiY2RlZg=='
    finds(base64, `key ${base64}`)
  })

  it('are not dates, times, versions, sizes, colours, file names or words', () => {
    for (const text of [
      'on 2026-11-15, 15-11-2026, 20261115, 2026-11-15T10:00:00Z, 20261115T093000Z, at 12:30:45',
      'from 2019-2026 and december2024',
      'v1.2.3-beta.4 1.2.3 10.15.7 3.14159265358979 1,234,567.89',
      '#ff5733 #ff5733aa 1920x1080 0x7ffee3b0',
      'report-2026.md photo_20261115.jpeg IMG12345678.PNG archive2026.tar.gz',
      'covid-19 utf-8 x86_64 ISO-8601 h264-encoder i18n-texts 21st-century windows-11-pro 3-year-old',
      'internationalisation self-explanatory well_known_name',
      '1234567',
    ])
      finds(text)
  })
})

describe('folding', () => {
  it('finds look-alike and hidden characters, at their original positions', () => {
    for (const [text, normal] of [
      ['to ev\u200bil.te\u00adst now', 'evil.test'],
      ['to ｅｖｉｌ．ｔｅｓｔ now', 'evil.test'],
      ['to 𝐞𝐯𝐢𝐥.test now', 'evil.test'],
      ['to ４１１１\u200b１１１１１１１１１１１１ now', CARD],
    ] as const) {
      const [value] = valuesIn(text)
      expect(value?.text).toBe(normal)
      expect(text.slice(value?.start, value?.end)).toBe(text.slice(3, -4))
    }
  })

  it('keeps the positions of values after folded characters', () => {
    const all = `bob@example.com https://evil.test/a ${IBAN} ${CARD} ${KEY}`
    const plain = valuesIn(all)
    const shifted = valuesIn(`\u{1d7ce}\u200b\ufb01 ${all}`)
    expect(shifted.map(({ start, end }) => [start - 5, end - 5])).toEqual(
      plain.map(({ start, end }) => [start, end]),
    )
  })
})

describe('values', () => {
  const value = fc.constantFrom(
    'bob@example.com',
    'https://evil.test/a?b=c',
    'evil.test/x',
    'evil.test',
    IBAN,
    CARD,
    '+14155550100',
    WALLET,
    BITCOIN,
    KEY,
    'acct_1Nf8',
    '8f14e45f-ceea-467f-a2dd-1c1b1d9a4e5b',
  )
  const before = fc.constantFrom(
    '',
    'see ',
    '(',
    '"',
    'x: ',
    '<',
    'a\n',
    'url=',
    '[',
    '请',
    '- ',
    'é ',
    '\u201c',
  )
  const after = fc.constantFrom(
    '',
    ' ok',
    ')',
    '"',
    '. Then',
    ',',
    '>',
    '\nb',
    '; x',
    ']',
    '请',
    ' é',
    '\u201d',
  )

  it('of a text alone are also found inside other text', () => {
    fc.assert(
      fc.property(before, value, after, (head, each, tail) => {
        const inside = found(head + each + tail)
        for (const one of found(each)) expect(inside, head + each + tail).toContain(one)
      }),
      { numRuns: runs(600) },
    )
  })

  it('include the host of a URL, but not the domain of an e-mail address', () => {
    fc.assert(
      fc.property(fc.webUrl(), fc.domain(), (url, domain) => {
        // Only the first. Others come from ambiguous paths such as `/://x`.
        const [target] = destinationsIn([url], [])
        const values = valuesIn(url).map(({ text }) => text)
        expect(values, url).toContain(hostValue(target?.host ?? '?').text)
        expect(found(`bob@${domain}`)).toEqual([`email bob@${domain.toLowerCase()}`])
      }),
    )
  })

  it('have positions inside the text, in order and never empty', () => {
    const unit = fc.oneof(
      fc.constantFrom('\u200b', '\ufb01', '点', '\ud800'),
      fc.stringMatching(/^[aZ09@:/.\-_+ %#()[\]"\\n]$/),
      value,
    )
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 40 }), (units) => {
        const text = units.join('')
        let last = 0
        for (const { start, end, text: normal } of valuesIn(text)) {
          expect(start).toBeGreaterThanOrEqual(last)
          expect(end).toBeGreaterThan(start)
          expect(end).toBeLessThanOrEqual(text.length)
          expect(normal).not.toBe('')
          last = start
        }
      }),
      { numRuns: runs(1000) },
    )
  })
})

describe('limits', () => {
  it('apply to the number of values', () => {
    const many = Array.from({ length: 1000 }, (_, i) => `a${i}@example.com`).join(' ')
    expect(valuesIn(many)).toHaveLength(MOST_VALUES)
    expect(valuesIn(many, 3).map(({ text }) => text)).toEqual([
      'a0@example.com',
      'a1@example.com',
      'a2@example.com',
    ])
    expect(valuesIn(many, 0)).toEqual([])
  })

  it('cut a long value always at the same length', () => {
    const long = `https://evil.test/${'a1B2'.repeat(2000)}`
    const [url] = valuesIn(long)
    expect(url?.text.length).toBeLessThan(2100)
    expect(valuesIn(`(${long}x)`)[0]?.text).toBe(url?.text)
  })

  it('keep the time linear for any text', () => {
    const pieces = [
      'a',
      '1',
      '-',
      '_',
      '.',
      '@',
      '+',
      ':',
      '/',
      '\\',
      '%',
      '(',
      '点',
      '\u200b',
      'é',
      'a.',
      'a@',
      'a1-',
      'a://',
      'a/1+',
      '.1',
      '1 ',
      '4111 ',
      'DE89 ',
      '+1',
      '1-1',
      'http://a.test/',
      'http://[',
      'a点.',
      '\\n',
      '://@',
      'aB1',
      '0x',
      '#1',
      '\ud800',
    ]
    const time = (text: string): number => {
      const start = performance.now()
      valuesIn(text, 1e9)
      return performance.now() - start
    }
    for (const piece of pieces) {
      const least = (size: number): number => {
        const text = `${piece.repeat(Math.ceil(size / piece.length))}1`
        return Math.min(time(text), time(text), time(text))
      }
      // The text is eight times as long. Quadratic time would be 64 times as much.
      const holds = (): boolean => least(80_000) < 30 * least(10_000) + 50
      expect([1, 2, 3, 4].some(holds), piece).toBe(true)
    }
  })
})
