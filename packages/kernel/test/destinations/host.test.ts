import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseIpv6 } from '../../src/destinations/address.ts'
import { fold, readHost } from '../../src/destinations/host.ts'

/** Expects exactly these hosts for each text. */
function check(expected: readonly string[], ...texts: readonly string[]): void {
  for (const text of texts) expect(readHost(text), JSON.stringify(text)).toEqual(expected)
}

/** The host that a browser reads, or undefined. */
function browserHost(text: string): string | undefined {
  try {
    return new URL(`http://${text}/`).hostname
  } catch {
    return undefined
  }
}

describe('names', () => {
  it('are lower case and have no trailing dot', () => {
    check(['example.com'], 'example.com', 'EXAMPLE.com', 'Example.Com.')
    check(['_dmarc.a-b.example'], '_dmarc.a-b.example')
  })

  it('are percent-decoded once', () => {
    check(['evil.test'], '%65vil.test', 'evil%2Etest', '%EF%BD%85vil.test')
    check([''], '%2565vil.test', '%', '%e', '%ff.test', 'example.com%40evil.test', 'example.com%2Fevil.test')
  })

  it('have their full-width letters, digits, dots and ligatures mapped', () => {
    check(
      ['evil.test'],
      'ｅｖｉｌ．ｔｅｓｔ',
      'evil。test',
      'evil｡test',
      'ⓔⓥⓘⓛ.test',
      '𝐞vil.test',
      'ＥＶＩＬ.TEST',
    )
    check(['office.test'], 'oﬃce.test')
    check(['a1.test'], 'a１.test', 'a①.test', 'a¹.test')
    check(['k.test'], '\u212a.test')
  })

  it('are unreadable with invisible characters', () => {
    for (const hidden of [
      '\u00ad',
      '\u200b',
      '\u200c',
      '\u200d',
      '\u2060',
      '\ufeff',
      '\ufe0f',
      '\u202e',
      '\u034f',
    ])
      check([''], `ev${hidden}il.test`)
  })

  it('are unreadable if mapping makes a delimiter', () => {
    check([''], 'example.com／.evil.test', 'example.com℀.evil.test', 'example.com＠evil.test', 'a：80', 'a…b')
  })

  it('become punycode beyond ASCII, so that no look-alike equals the ASCII name', () => {
    check(['xn--bcher-kva.example'], 'bücher.example', 'BÜCHER.example', 'bu\u0308cher.example')
    check(['xn--xample-2of.com'], 'еxample.com')
    check(['xn--e1afmkfd.xn--p1ai'], 'пример.рф', 'ПРИМЕР。РФ')
    check(['xn--fsqu00a.xn--0zwm56d'], '例子.测试')
    check(['xn--mgbh0fb.xn--kgbechtv'], 'مثال.إختبار')
  })

  it('are read both ways if the two IDNA standards differ', () => {
    check(['xn--fa-hia.de', 'fass.de'], 'faß.de', 'FAß.de')
    check(['xn--3xa.test', 'xn--4xa.test'], 'ς.test')
    check(['xn--4xa.test'], 'Σ.test')
  })

  it('are unreadable with left-to-right and right-to-left letters in one label', () => {
    check([''], 'aא.test', 'xمثال.test')
  })

  it('are unreadable with a mark before any letter, or in an unsupported script', () => {
    check([''], '\u0301a.test', '\u{10330}.test', '\u0378.test', '\u{1f600}.la')
    check(['xn--ls8h.la'], 'xn--ls8h.la')
  })

  it('are unreadable if a punycode label hides plain ASCII', () => {
    check([''], 'xn--example-.com', 'xn--.com')
  })

  it('are unreadable with other characters, empty labels or too much length', () => {
    check(
      [''],
      '',
      '.',
      'a..b',
      '.a',
      'a..',
      'a b',
      'a"b.test',
      'a,b.test',
      'a*.test',
      '*',
      'a\0.test',
      'a\\b',
      '[a]',
    )
    check([''], `${'a'.repeat(64)}.test`, 'a.'.repeat(127) + 'aa', 'ü'.repeat(64), 'a'.repeat(5000))
    check([`${'a'.repeat(63)}.test`], `${'a'.repeat(63)}.test`)
    check(['a.'.repeat(126) + 'a'], 'a.'.repeat(126) + 'a')
  })
})

describe('IPv4 addresses', () => {
  it('are read in decimal, octal, hexadecimal and short forms', () => {
    check(['127.0.0.1'], '127.0.0.1', '127.0.0.1.', '2130706433', '0x7f000001', '0X7F.1', '127.1', '127.0.1')
    check(['127.0.0.1'], '0x7f.0.0.0x1', '017700000001', '0177.1', '１２７.０.０.１', '127。0。0。1')
    check(['0.0.0.0'], '0', '0x0')
    check(['255.255.255.255'], '4294967295')
  })

  it('are read both ways if a leading zero can be octal', () => {
    check(['127.0.0.1', '177.0.0.1'], '0177.0.0.1')
    check(['8.8.8.8', '10.8.8.8'], '010.8.8.8')
    check(['', '8.8.8.8'], '08.8.8.8')
  })

  it('are unreadable if a part is too large, superfluous or not a number', () => {
    check([''], '256.0.0.1', '1.2.3.256', '4294967296', '1.2.3.4.5', 'a.1', '1.2.3.0x', '0x', '0xg.1.2.3')
  })

  it('are names if the last label is not a number', () => {
    check(['0x7f.example'], '0x7f.example')
    check(['127.0.0.1.example.com'], '127.0.0.1.example.com')
  })
})

describe('IPv6 addresses', () => {
  it('are formatted as in RFC 5952', () => {
    check(['::1'], '::1', '[::1]', '[0:0:0:0:0:0:0:1]', '0000::0001')
    check(['2001:db8::1:0:0:1'], '2001:DB8:0:0:1:0:0:1', '[2001:db8::1:0:0:1]')
    check(['2001:db8:0:1:1:1:1:1'], '2001:db8:0:1:1:1:1:1')
    check(['::'], '::', '[::]')
    check(['1:2:3:4:5:6:7:8'], '1:2:3:4:5:6:7:8')
  })

  it('are the mapped IPv4 host', () => {
    check(['127.0.0.1'], '[::ffff:127.0.0.1]', '::ffff:7f00:1', '0:0:0:0:0:FFFF:127.0.0.1')
  })

  it('are also the IPv4 host that a translator or a tunnel reaches', () => {
    check(['::7f00:1', '127.0.0.1'], '::127.0.0.1')
    check(['64:ff9b::7f00:1', '127.0.0.1'], '64:ff9b::127.0.0.1', '64:ff9b::7f00:1')
    check(['::ffff:0:7f00:1', '127.0.0.1'], '::ffff:0:127.0.0.1')
    check(['2002:7f00:1::', '127.0.0.1'], '2002:7f00:1::')
  })

  it('are the same host in any zone', () => {
    check(['fe80::1'], 'fe80::1%eth0', '[fe80::1%25eth0]', '[fe80::1%1]')
  })

  it('are unreadable in any other form', () => {
    check(
      [''],
      ':',
      ':::',
      '1::2::3',
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      '12345::',
      '::1.2.3',
      '::01.2.3.4',
      '[::1',
    )
    check([''], '[v1.a:b]', 'fe80::1%', '::ffff:1.2.3.4:5', '1::2:3:4:5:6:7:8', '::1%a]b')
  })
})

describe('properties', () => {
  it('reads its own output as the same host', () => {
    const character = fc.constantFrom(...Array.from('aZ0.-_%1x:[]éßΣя。ａ①א\u00ad'))
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: character, maxLength: 12 })), (text) => {
        for (const host of readHost(text)) if (host !== '') expect(readHost(host)).toContain(host)
      }),
    )
  })

  it('folds folded text to the same text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(fold(fold(text))).toBe(fold(text))
      }),
    )
  })

  it('reads every character as a browser does, or not at all', () => {
    let read = 0
    for (let point = 0x80; point < 0x20000; point++) {
      const text = `a${String.fromCodePoint(point)}1.test`
      if (point >= 0xd800 && point < 0xe000) continue
      const hosts = readHost(text)
      if (hosts.includes('')) continue
      read++
      const browser = browserHost(text)
      if (browser !== undefined) expect(hosts, `U+${point.toString(16)}`).toContain(browser)
    }
    expect(read).toBeGreaterThan(30_000)
  })

  it('reads every IPv6 address as a browser does', () => {
    const group = fc.constantFrom('0', '1', 'ffff', '7f00', '00ab', '')
    fc.assert(
      fc.property(fc.array(group, { minLength: 2, maxLength: 9 }), (parts) => {
        const text = parts.join(':')
        const browser = browserHost(`[${text}]`)
        expect(parseIpv6(text) === undefined, text).toBe(browser === undefined)
        if (browser !== undefined) expect(readHost(text)).toEqual(readHost(browser))
      }),
    )
  })
})
