import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { destinationsIn } from '../../src/destinations/find.ts'
import { readHost } from '../../src/destinations/host.ts'
import { readHttpUrl } from '../../src/destinations/url.ts'
import { runs } from '../../../evidence/test/runs.ts'

/** The hosts of a text, sorted; `?` for an unreadable one. */
function hostsIn(text: string, declared: readonly string[]): readonly string[] {
  const hosts = destinationsIn({ url: text }, declared).map(({ host }) => (host === '' ? '?' : host))
  return [...new Set(hosts)].sort()
}

/** Expects these hosts in a declared and in an undeclared argument. */
function check(text: string, ...hosts: readonly string[]): void {
  expect(hostsIn(text, ['url']), `declared ${JSON.stringify(text)}`).toEqual(hosts)
  expect(hostsIn(text, []), `found ${JSON.stringify(text)}`).toEqual(hosts)
}

/** The targets of one URL, as `scheme host port`. */
function targetsOf(text: string): readonly string[] {
  return destinationsIn([text], []).map(({ scheme, host, port }) => `${scheme} ${host} ${port}`)
}

describe('spelling tricks with a URL', () => {
  it('a change of case or an added dot has no effect', () => {
    check('HTTPS://EVIL.Test./x', 'evil.test')
    check('hTtPs://eViL.tEsT', 'evil.test')
  })

  it('reversed, missing or additional slashes have no effect', () => {
    for (const slashes of ['', '/', '//', '///', '////', '\\', '\\\\', '/\\', '\\/', '/\\/\\'])
      check(`https:${slashes}evil.test/`, 'evil.test')
  })

  it('tabs, line ends, spaces or controls that a browser drops have no effect', () => {
    expect(hostsIn('ht\ntps://ev\til.test', ['url'])).toContain('evil.test')
    expect(hostsIn('ht\ntps://ev\til.test', [])).toContain('evil.test')
    check(' \u0001\u001fhttps://evil.test \u0002', 'evil.test')
    expect(hostsIn('https://ev\ril.test', [])).toContain('evil.test')
    check(`https:/\t/${'\t'.repeat(10_000)}evil.test`, 'evil.test')
    check(`https:${'/\n'.repeat(10_000)}evil.test`, 'evil.test')
    expect(hostsIn('https://example.com\n.evil.test/', [])).toContain('example.com.evil.test')
  })

  it('reads every host that userinfo could hide', () => {
    check('https://example.com@evil.test/', 'evil.test', 'example.com')
    check('https://example.com:443@evil.test', 'evil.test', 'example.com')
    check('https://example.com;@evil.test', 'evil.test', 'example.com')
    check('https://example.com @evil.test/', 'evil.test', 'example.com')
    check('https://user:secret@evil.test/', 'evil.test')
    check('https://a@example.com@evil.test/', 'evil.test', 'example.com')
    check('https://a:80@example.com:80@evil.test/', 'evil.test', 'example.com')
  })

  it('reads both hosts if parsers differ about the end of the host', () => {
    check('https://evil.test#@example.com', 'evil.test', 'example.com')
    check('https://evil.test?@example.com/', 'evil.test', 'example.com')
    check('https://evil.test\\@example.com', '?', 'evil.test', 'example.com')
    check('https://example.com\\.evil.test/', '?', 'example.com')
  })

  it('does not trust a percent sign in the host', () => {
    expect(hostsIn('https://example.com%40evil.test', ['url'])).toContain('?')
    expect(hostsIn('https://%65vil.test', [])).toContain('evil.test')
    expect(hostsIn('https://example.com%2Fevil.test', [])).toContain('?')
  })

  it('maps dots and letters that are not ASCII', () => {
    check('https://evil。test/', 'evil.test')
    check('https://ｅｖｉｌ．ｔｅｓｔ/', 'evil.test')
    expect(hostsIn('https://ev\u00adil.test', [])).toEqual(['?', 'evil.test'])
    expect(hostsIn('ｈｔｔｐｓ：／／ｅｖｉｌ．ｔｅｓｔ', [])).toContain('evil.test')
    expect(hostsIn('https://example.com／.evil.test', [])).toContain('?')
    check('https://еxample.com/', 'xn--xample-2of.com')
  })

  it('reads an address in every base', () => {
    check('http://2130706433/', '127.0.0.1')
    check('http://0x7f.1/', '127.0.0.1')
    check('http://0x7f000001', '127.0.0.1')
    check('http://127.1:8080', '127.0.0.1')
    check('http://0177.0.0.1/', '127.0.0.1', '177.0.0.1')
    check('http://4294967296/', '?')
    check('http://[::ffff:127.0.0.1]/', '127.0.0.1')
    check('http://[::ffff:7f00:1]', '127.0.0.1')
    check('http://[64:ff9b::7f00:1]/', '127.0.0.1', '64:ff9b::7f00:1')
    check('http://[fe80::1%25eth0]/', 'fe80::1')
    check('http://[::1', '?')
  })

  it('reads a port with zeros, and refuses an invalid port', () => {
    expect(targetsOf('https://evil.test:/')).toEqual(['https evil.test 443'])
    expect(targetsOf('https://evil.test:0443/')).toEqual(['https evil.test 443'])
    expect(targetsOf('https://evil.test:8443/')).toEqual(['https evil.test 8443'])
    for (const port of ['99999', '65536', '0', 'x', '8o', '-1', '１２']) {
      expect(hostsIn(`https://evil.test:${port}/`, ['url']), port).toContain('?')
      expect(hostsIn(`https://evil.test:${port}/`, []), port).toContain('?')
    }
  })

  it('does not end a host at punctuation if it continues', () => {
    for (const inner of [
      ',x',
      ')',
      '"',
      "'",
      '<',
      '$x',
      '{x}',
      '*',
      '!',
      ';x',
      '&',
      '=',
      '+',
      '|',
      '^',
      '`',
      '\0',
    ])
      expect(hostsIn(`https://example.com${inner}.evil.test/`, []), inner).toContain('?')
    for (const inner of [
      ',x',
      ')',
      '"',
      "'",
      '$x',
      '{x}',
      '*',
      '!',
      ';x',
      '&',
      '=',
      '+',
      '|',
      '^',
      '`',
      '\0',
    ])
      expect(hostsIn(`go https://example.com${inner}.evil.test/`, []), inner).toContain('?')
  })

  it('cannot read a host from a template', () => {
    for (const host of [
      '${HOST}',
      '$HOST',
      '{host}',
      '{{ host }}',
      '$(cat x)',
      'api.${DOMAIN}',
      '*.example.com',
      '%s',
    ])
      expect(hostsIn(`curl https://${host}/x`, []), host).toContain('?')
  })

  it('cannot read an authority that is too long', () => {
    check(`https://${'a'.repeat(2000)}@evil.test/`, '?')
    check(`https://${'a.'.repeat(400)}test/`, '?')
  })
})

describe('the scheme of a URL', () => {
  it('can be any with two slashes, and has its default port', () => {
    expect(targetsOf('ftp://a.test/x')).toEqual(['ftp a.test 21'])
    expect(targetsOf('wss://a.test/')).toEqual(['wss a.test 443'])
    expect(targetsOf('ssh://git@a.test/x')).toEqual(['ssh a.test 22'])
    expect(targetsOf('git+ssh://git@a.test/x')).toEqual(['git+ssh a.test 22'])
    expect(targetsOf('s3://bucket/key')).toEqual(['s3 bucket 0'])
    expect(targetsOf('smb://nas/share')).toEqual(['smb nas 445'])
    expect(targetsOf('custom://a.test')).toEqual(['custom a.test 0'])
    expect(targetsOf('jdbc:postgresql://db.a.test:5433/x')).toEqual(['postgresql db.a.test 5433'])
    expect(targetsOf('postgres://u:p@one.test,two.test:6432/x')).toEqual([
      'postgres one.test 5432',
      'postgres two.test 6432',
    ])
  })

  it('is `file` only for another machine', () => {
    for (const local of [
      'file:///etc/hosts',
      'file:/etc/hosts',
      'file://localhost/x',
      'file://C:/x',
      'file:x',
    ])
      expect(targetsOf(local), local).toEqual([])
    expect(targetsOf('file://evil.test/x')).toEqual(['file evil.test 0'])
    expect(targetsOf('file:////evil.test/x')).toEqual(['file evil.test 0'])
    expect(targetsOf('file:\\\\evil\\share')).toEqual(['file evil 0'])
  })

  it('is not `data`, `javascript`, or that of a path with three slashes', () => {
    for (const text of [
      'data:text/plain;base64,QUJD',
      'javascript:alert(1)',
      'sqlite:///x.db',
      'unix:///var/run/x',
      'urn:a:b',
    ])
      expect(targetsOf(text), text).toEqual([])
    expect(targetsOf("javascript:fetch('https://evil.test')")).toEqual(['https evil.test 443'])
    expect(targetsOf('git:///evil.test/x')).toEqual(['git evil.test 9418'])
  })
})

describe('the browser as an oracle', () => {
  const piece = fc.constantFrom(
    ...[
      'http:',
      'https:',
      'ws:',
      'ftp:',
      'file:',
      'HTTP:',
      '//',
      '/',
      '\\',
      '@',
      ':',
      '%40',
      '%2e',
      '%65',
      '%',
      '%00',
    ],
    ...[
      '1',
      '0',
      '127',
      '256',
      '0x7f',
      '0177',
      '08',
      '.',
      '..',
      '。',
      '．',
      'evil',
      'example.com',
      '.evil.test',
      'test',
    ],
    ...[
      'ｅ',
      'ß',
      'é',
      'ς',
      '①',
      '℀',
      'א',
      'ａ',
      '\u00ad',
      '\u200d',
      '\ufeff',
      '#',
      '?',
      '\t',
      '\n',
      ' ',
      '\u0001',
    ],
    ...[
      '"',
      "'",
      '<',
      '>',
      '[',
      ']',
      '::1',
      '::ffff:1.2.3.4',
      'xn--',
      '-',
      '_',
      ',',
      ';',
      '(',
      ')',
      '{',
      '}',
      '*',
      '!',
    ],
    ...[
      '$',
      '&',
      '=',
      '|',
      '^',
      '~',
      '+',
      '`',
      '80',
      '443',
      '65536',
      'C:',
      'localhost',
      'xn--bcher-kva',
      'مثال',
    ],
  )
  const start = fc.constantFrom('http:', 'https://', 'ws:/', 'ftp:\\', 'file://', 'http://', '')
  const hostile = fc
    .tuple(start, fc.array(piece, { minLength: 1, maxLength: 8 }))
    .map(([head, rest]) => head + rest.join(''))

  /** The URL that a browser would connect to. */
  function browserUrl(text: string): URL | undefined {
    const url = URL.canParse(text) ? new URL(text) : undefined
    return url !== undefined && url.hostname !== '' && /^(?:https?|wss?|ftp|file):$/.test(url.protocol)
      ? url
      : undefined
  }

  for (const declared of [['url'], []]) {
    it(`never reads a host that we do not report, ${declared.length > 0 ? 'declared' : 'found'}`, () => {
      let [read, plain] = [0, 0]
      fc.assert(
        fc.property(hostile, (text) => {
          const url = browserUrl(text)
          if (url === undefined) return
          const found = destinationsIn({ url: text }, declared)
          read++
          if (found.some(({ host }) => host === '')) return
          plain++
          const scheme = url.protocol.slice(0, -1)
          for (const host of readHost(url.hostname)) {
            const same = found.filter(
              (destination) => destination.host === host && destination.scheme === scheme,
            )
            expect(same, `${JSON.stringify(text)} is ${url.host}`).not.toEqual([])
            if (url.port !== '') expect(same.map(({ port }) => String(port))).toContain(url.port)
          }
        }),
        { numRuns: runs(20_000) },
      )
      // Ensures that the property was tested on readable texts.
      expect(plain).toBeGreaterThan(read / 10)
      expect(plain).toBeGreaterThan(runs(500))
    })
  }
})

describe('the strict reader', () => {
  /** Expects this origin for the URL. */
  function reads(text: string, expected: string): void {
    const url = readHttpUrl(text)
    expect(url && `${url.scheme} ${url.host} ${url.port}`, text).toBe(expected)
  }

  it('reads a plain absolute URL', () => {
    reads('https://example.com', 'https example.com 443')
    reads('HTTP://Example.COM:8080/a?b#c', 'http example.com 8080')
    reads('https://example.com./', 'https example.com 443')
    reads('https://10.0.0.1/', 'https 10.0.0.1 443')
    reads('https://[::1]:8443/', 'https ::1 8443')
    reads('https://xn--bcher-kva.example/@x', 'https xn--bcher-kva.example 443')
    reads(`https://example.com/${'a'.repeat(2028)}`, 'https example.com 443')
  })

  it('refuses everything that parsers read differently', () => {
    for (const text of [
      ...[
        '',
        'example.com',
        '//example.com',
        'https:example.com',
        'https:/example.com',
        'https:///example.com',
      ],
      ...[
        'https://a@example.com/',
        'https://@example.com/',
        'https://example.com\\',
        'https:\\\\example.com',
      ],
      ...[
        ' https://example.com',
        'https://example.com ',
        'https://exa\tmple.com',
        'https://example.com/\n',
        'https://',
      ],
      ...[
        'https://ex%61mple.com',
        'https://example.com?x',
        'https://example.com#x',
        'https://bücher.example/',
      ],
      ...[
        'https://example.com/ü',
        'https://127.1/',
        'https://0177.0.0.1/',
        'https://0x7f.0.0.1',
        'https://2130706433',
      ],
      ...[
        'https://example.com:/',
        'https://example.com:0/',
        'https://example.com:080/',
        'https://example.com:65536/',
      ],
      ...[
        'https://[::ffff:127.0.0.1]/',
        'https://[::127.0.0.1]/',
        'https://[fe80::1%25a]/',
        'https://[::1',
        'https://a..b',
      ],
      ...[
        'ftp://example.com/',
        'javascript:alert(1)',
        'https://xn--example-.com/',
        'https://exa"mple.com',
        'https://a,b/',
      ],
      ...[
        'https://256.1.1.1/',
        'https://1.2.3.4.5/',
        `https://example.com/${'a'.repeat(2029)}`,
        'https://*.test/',
      ],
    ])
      expect(readHttpUrl(text), text).toBeUndefined()
  })

  it('agrees with the browser on every URL that it reads', () => {
    const part = fc.constantFrom(
      ...[
        'a',
        'b.c',
        '.',
        '-',
        '_',
        '1',
        '0x1',
        '10.0.0.1',
        ':80',
        ':8080',
        '/',
        '?',
        '@',
        '[::1]',
        'xn--',
        '%41',
      ],
    )
    fc.assert(
      fc.property(
        fc.constantFrom('http://', 'https://'),
        fc.array(part, { maxLength: 5 }),
        (scheme, parts) => {
          const text = scheme + parts.join('')
          const url = readHttpUrl(text)
          if (url === undefined || !URL.canParse(text)) return
          const browser = new URL(text)
          expect(url.host, text).toBe(browser.hostname.replace(/^\[|\]$|\.$/g, ''))
          expect(String(url.port)).toBe(browser.port || (scheme === 'http://' ? '80' : '443'))
        },
      ),
      { numRuns: runs(5000) },
    )
  })
})
