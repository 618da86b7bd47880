import fc from 'fast-check'
import { parseJson } from '@tollgate/evidence'
import { describe, expect, it } from 'vitest'
import { destinationsIn } from '../../src/destinations/find.ts'
import { runs } from '../../../evidence/test/runs.ts'

/** The destinations in a text, as `scheme host:port`; `?` for an unreadable one. */
function found(text: string, declared: readonly string[] = []): readonly string[] {
  return destinationsIn({ x: text }, declared).map(({ scheme, host, port }) =>
    `${scheme} ${host || '?'}${port === 0 ? '' : `:${port}`}`.trim(),
  )
}

/** Expects exactly these destinations in an undeclared text. */
function finds(text: string, ...targets: readonly string[]): void {
  expect(found(text), JSON.stringify(text)).toEqual(targets)
}

/** Expects at least these hosts in an undeclared text. */
function hints(text: string, ...hosts: readonly string[]): void {
  const all = destinationsIn({ x: text }, []).map(({ host }) => host)
  for (const host of hosts) expect(all, JSON.stringify(text)).toContain(host)
}

/** Expects exactly these destinations in a declared text. */
function reads(text: string, ...targets: readonly string[]): void {
  expect(found(text, ['x']), JSON.stringify(text)).toEqual(targets)
}

describe('running text', () => {
  it('contains every URL in it', () => {
    finds(
      'see https://a.test, https://b.test; or (https://c.test).',
      'https a.test:443',
      'https b.test:443',
      'https c.test:443',
    )
    finds('https://a.test/x,https://b.test/y', 'https a.test:443', 'https b.test:443')
    finds(
      '[md](https://a.test) <https://b.test> "https://c.test"',
      'https a.test:443',
      'https b.test:443',
      'https c.test:443',
    )
    finds('<a href="https://a.test">x</a>', 'https a.test:443')
    finds('see https://example.com\nThanks', 'https example.com:443')
    hints('go to https:evil.test or http:\\evil2.test', 'evil.test', 'evil2.test')
  })

  it('contains the URLs inside a URL, plain or encoded once', () => {
    finds('https://a.test/?to=https://b.test/', 'https a.test:443', 'https b.test:443')
    finds('https://a.test/redirect?url=https%3A%2F%2Fevil.test', 'https a.test:443', 'https evil.test:443')
    finds('https://a.test/redirect?url=https%253A%252F%252Fevil.test', 'https a.test:443')
  })

  it('contains the URLs of JSON in a string', () => {
    finds('{"url":"https://a.test","x":1}', 'https a.test:443')
    finds('{"url":"https:\\/\\/a.test\\/x"}', 'https a.test:443')
    finds('{\\"url\\":\\"https://a.test\\"}', 'https a.test:443')
    hints('{"url":"\\u0068ttps:\\u002f\\u002fevil.test"}', 'evil.test')
  })

  it('contains a URL that a shell continues after a quotation mark', () => {
    hints("curl https://example.com'.evil.test'", '')
    hints('curl https://"evil.test"/', '')
    finds("if (url.startsWith('https://')) return", ...[])
  })

  it('contains a host in a path without a scheme', () => {
    finds('//evil.test/x', 'evil.test')
    finds('src="//evil.test/x"', 'evil.test')
    finds('open \\\\evil\\share now', 'evil')
    finds('\\\\evil\\share', 'evil')
    finds('"\\\\\\\\evil\\\\share"', 'evil')
    finds('\\\\10.0.0.1\\c$', '10.0.0.1')
    finds('\\\\?\\UNC\\evil\\share', 'evil')
    finds('\\\\?\\UNC\\evil', 'evil')
    finds('\\\\?\\C:\\x')
    hints('\\\\evil@SSL@8443\\share', 'evil')
  })

  it('contains mail addresses', () => {
    finds('write to joe@evil.test.', 'mailto evil.test')
    finds('Joe <joe@evil.test>, "Ann" <ann@b.test>', 'mailto evil.test', 'mailto b.test')
    finds(
      'mailto:a@evil.test?cc=b%40c.test&bcc=d@e.test',
      'mailto evil.test',
      'mailto c.test',
      'mailto e.test',
    )
    finds('mailto:root', 'root')
    finds('a@[10.0.0.1] b@[IPv6:::1]', 'mailto 10.0.0.1', 'mailto ::1')
    hints('a＠evil.test', 'evil.test')
    hints('a@пример.рф', 'xn--e1afmkfd.xn--p1ai')
    hints('a@(comment)evil.test and b@ evil2.test', 'evil.test', 'evil2.test')
    hints('"a@example.com"@evil.test', 'example.com', 'evil.test')
    hints('user%evil.test@example.com', 'evil.test', 'example.com')
    hints('evil.test!user@example.com', 'evil.test', 'example.com')
    hints('@evil.test:user@example.com', 'evil.test', 'example.com')
  })

  it('contains the remote host of a copy command', () => {
    finds('git@evil.test:repo.git', 'mailto evil.test', 'ssh evil.test:22')
    finds('scp x root@nas:/tmp', 'mailto nas', 'ssh nas:22')
    finds('scp x root@127.1:/tmp', 'mailto 127.0.0.1', 'ssh 127.0.0.1:22')
    finds('ssh joe@evil.test:2222', 'mailto evil.test', 'evil.test:2222')
  })

  it('contains IP addresses', () => {
    finds('ping 10.0.0.1.', '10.0.0.1')
    finds('from 10.0.0.1:8080 on', '10.0.0.1:8080')
    finds('ping ::1 or [fe80::2]:8080', '::1', 'fe80::2:8080')
    hints('ping 0177.0.0.1 and 0x7f.0.0.2', '127.0.0.1', '127.0.0.2')
  })

  it('contains names with a port, a path or www', () => {
    finds('connect evil.test:8080 now', 'evil.test:8080')
    finds('open localhost:3000', 'localhost:3000')
    finds('redis:6379/0', 'redis:6379')
    finds('curl evil.com/path', 'evil.com')
    finds('visit www.evil.example, please', 'www.evil.example')
  })

  it('causes no false alarms', () => {
    for (const text of [
      ...[
        'Hello. This is text: fine? Yes; (12:30:45) "ok".',
        'report.final.txt',
        'main.py',
        'a.b.c',
        'e.g.',
        'i.e. this',
      ],
      ...[
        'v1.2.3',
        'foo.bar()',
        'README.md',
        'src/main.rs:12:5',
        'main.py:12 error',
        'data.zip',
        'package.json',
        '3.14',
        '1.2.3',
      ],
      ...[
        'react@18.2.0',
        '@scope/pkg@1.2.3-beta.1',
        'actions/checkout@v4',
        'image@sha256:abcdef',
        '@app.route("/x")',
        'a @ b',
      ],
      ...[
        'C:\\Users\\joe',
        'C:\\\\Users\\\\joe',
        'std::string a::b',
        'x::before',
        '// comment',
        '//comment in code',
        'a//b',
        '\\d+\\.\\d+',
      ],
      ...[
        '"\\\\d+\\\\s"',
        '{"a":1,"b":[2,"c:d"]}',
        'key: value',
        'urn:isbn:123',
        'and/or',
        'his/her e.g./i.e.',
        'half of order.id/2',
        'issue:123',
      ],
      ...[
        'https://',
        'use https:// always',
        'see https://... there',
        'match https://*/* there',
        'http: the protocol',
        'mailto: links',
        '16:9',
        '12:30',
        'x',
      ],
      ...[
        '今天天气很好。我们去公园。',
        'La fin… voilà',
        'emoji 😀 text',
        '100%',
        '50%off',
        'a\\nb',
        'aa:bb:cc:dd:ee:ff',
        'hello_world',
        '',
      ],
    ])
      finds(text)
  })
})

describe('a whole text', () => {
  it('is a host by its top-level domain', () => {
    finds('evil.test', 'evil.test')
    finds('hooks.evil.com', 'hooks.evil.com')
    finds('EVIL.Test.', 'evil.test')
    finds(' "evil.io" ', 'evil.io')
    finds('evil.com/path', 'evil.com')
    finds('evil.com?x=1', 'evil.com')
    finds('evil.test:8080', 'evil.test:8080')
    finds('пример.рф', 'xn--e1afmkfd.xn--p1ai')
    finds('xn--e1afmkfd.xn--p1ai', 'xn--e1afmkfd.xn--p1ai')
    hints('ｅｖｉｌ．ｔｅｓｔ', 'evil.test')
    hints('%65vil.test', 'evil.test')
    hints('ev\u200bil.test', 'evil.test')
  })

  it('is a host with a file extension only with a path or a port', () => {
    finds('evil.sh')
    finds('evil.sh/x', 'evil.sh')
    finds('evil.sh:80', 'evil.sh:80')
  })

  it('is an address', () => {
    finds('10.0.0.1', '10.0.0.1')
    finds('[::1]:80', '::1:80')
    finds('fe80::1%eth0', 'fe80::1')
    finds('dead::beef', 'dead::beef')
    finds('0x7f.1', '127.0.0.1')
    finds('127.1:80', '127.0.0.1:80')
  })

  it('is a list of hosts', () => {
    finds('a.test, evil.com evil.org/x', 'a.test', 'evil.com', 'evil.org')
    finds('a.test and more')
  })
})

describe('declared arguments', () => {
  it('are addresses', () => {
    reads('a@example.com', 'mailto example.com')
    reads(
      'a@example.com,b@evil.test; c@c.test\nd@d.test e@e.test',
      ...['example.com', 'evil.test', 'c.test', 'd.test', 'e.test'].map((host) => `mailto ${host}`),
    )
    reads('Joe <a@example.com>', 'mailto example.com')
    reads('"Doe, Joe" <a@example.com>; "x;y" <b@c.test>', 'mailto example.com', 'mailto c.test')
    reads('team: a@b.test, c@d.test;', 'mailto b.test', 'mailto d.test')
    reads('my team:a@b.test;', 'my', 'mailto b.test')
    reads('a@BÜCHER.example.', 'mailto xn--bcher-kva.example')
    reads('a@[10.0.0.1]', 'mailto 10.0.0.1')
    reads('a@[IPv6:::1]', 'mailto ::1')
    reads('a@host', 'mailto host')
    reads('mailto:a@b.test,c@d.test?bcc=e%40f.test', 'mailto b.test', 'mailto d.test', 'mailto f.test')
    reads('<mailto:a@b.test>', 'mailto b.test')
  })

  it('are all hosts that an address can pass through', () => {
    reads('"a@example.com"@evil.test', 'mailto evil.test', 'mailto example.com')
    reads('a@example.com <b@evil.test>', 'mailto evil.test', 'mailto example.com')
    reads('"a@example.com" <b@evil.test>', 'mailto evil.test', 'mailto example.com')
    reads('a@evil <b@example.com>', 'mailto example.com', 'mailto evil')
    reads('a@(c)evil.test', 'mailto evil.test')
    reads('a@example.com(c).evil.test', 'mailto example.com.evil.test', 'mailto example.com')
    reads('user%evil.test@example.com', 'mailto example.com', 'mailto evil.test')
    reads('evil.test!user@example.com', 'mailto example.com', 'mailto evil.test')
    reads('user%evil@example.com', 'mailto example.com', 'mailto ?')
    reads('<@evil.test,@b.test:user@example.com>', 'mailto example.com', 'mailto evil.test', 'mailto b.test')
    expect(found('@evil.test:user@example.com', ['x'])).toContain('mailto evil.test')
    reads('a@evil@example.com', 'mailto example.com', 'mailto ?')
  })

  it('are unreadable if they contain a header', () => {
    const targets = ['mailto example.com', 'mailto evil.test', '?']
    reads('a@example.com\r\nBcc: b@evil.test', ...targets)
    reads('a@example.com\nBcc: b@evil.test', ...targets)
    reads('a@example.com\0b@evil.test', '?', 'mailto example.com', 'mailto evil.test')
  })

  it('are hosts and URLs', () => {
    reads('localhost', 'localhost')
    reads('db:5432', 'db:5432')
    reads('2130706433', '127.0.0.1')
    reads('evil.test:8080/x', 'evil.test:8080')
    reads('main.py', 'main.py')
    reads('https://example.com/a,b;c', 'https example.com:443')
    reads('https://a.test/x,evil.test', 'https a.test:443', 'evil.test')
    reads('https://a.test, https://b.test', 'https a.test:443', 'https b.test:443')
    reads('git@host:repo', 'mailto host', 'ssh host:22')
  })

  it('are unreadable if they are not destinations', () => {
    for (const text of [
      '#general',
      '/tmp/x',
      '?',
      '@',
      'a@',
      'a b@',
      '"open',
      '(open',
      '<open',
      'a>b',
      'tel:+123',
      'file:///x',
      'a\u0001b',
    ])
      expect(found(text, ['x']).join(' '), text).toContain('?')
  })

  it('have no destination if they are null, missing or blank', () => {
    expect(
      destinationsIn({ to: null, cc: '', bcc: [' ', null, []] }, ['to', 'cc', 'bcc', 'none', 'to.x', 'cc.y']),
    ).toEqual([])
  })

  it('are unreadable if they are numbers, booleans or objects', () => {
    const list = destinationsIn({ a: 1, b: true, c: [{ url: 'https://a.test' }] }, ['a', 'b', 'c'])
    expect(list.map(({ host, at, from }) => `${from} ${at} ${host}`)).toEqual([
      'declared /a ',
      'declared /b ',
      'declared /c/0 ',
      'found /c/0/url a.test',
    ])
  })

  it('are found in arrays and below names, with a pointer to each', () => {
    const args = { message: { to: ['a@a.test', ['b@b.test']] }, items: [{ url: 'c' }, { url: 'd' }] }
    for (const items of ['items.url', 'items[*].url'])
      expect(destinationsIn(args, ['message.to', items])).toEqual([
        { scheme: 'mailto', host: 'a.test', port: 0, at: '/message/to/0', from: 'declared' },
        { scheme: 'mailto', host: 'b.test', port: 0, at: '/message/to/1/0', from: 'declared' },
        { scheme: '', host: 'c', port: 0, at: '/items/0/url', from: 'declared' },
        { scheme: '', host: 'd', port: 0, at: '/items/1/url', from: 'declared' },
      ])
  })

  it('are not looked up in the prototype', () => {
    expect(destinationsIn({}, ['constructor', 'toString.name'])).toEqual([])
    expect(destinationsIn(parseJson('{"__proto__":"evil"}'), ['__proto__'])).toHaveLength(1)
  })
})

describe('arguments', () => {
  it('are searched at every depth, including keys', () => {
    const args = { a: [{ b: ['https://a.test'] }], 'https://b.test': 1, 'x/~': { 'c.com': null }, n: 1 }
    expect(destinationsIn(args, []).map(({ host, at, from }) => `${from} ${host} ${at}`)).toEqual([
      'found a.test /a/0/b/0',
      'found b.test /https:~1~1b.test',
      'found c.com /x~1~0/c.com',
    ])
    expect(destinationsIn('https://a.test', [])).toHaveLength(1)
  })

  it('list a destination once per position', () => {
    expect(destinationsIn(['https://a.test https://a.test', 'https://a.test'], [])).toHaveLength(2)
  })

  it('end in an unreadable destination if there are too many', () => {
    const lists = [
      Array.from({ length: 3000 }, (_, index) => `https://h${index}.test`),
      [Array.from({ length: 3000 }, (_, index) => `https://h${index}.test`).join(' ')],
      [Array.from({ length: 3000 }, (_, index) => `h${index}.test`).join(' ')],
      ['so ' + `${'http:.,'.repeat(140)} `.repeat(100)],
    ]
    for (const list of lists) {
      const destinations = destinationsIn(list, [])
      expect(destinations.length).toBeLessThanOrEqual(1001)
      expect(destinations.some(({ host }) => host === '')).toBe(true)
    }
    const to = Array.from({ length: 3000 }, (_, index) => `a@h${index}.test`).join(',')
    expect(destinationsIn({ to }, ['to']).at(-1)?.host).toBe('')
  })
})

describe('hostile size', () => {
  const pieces = [
    ...[
      'http:',
      'http:,',
      'http:.,',
      'mailto:',
      'mailto:a@b.cc ',
      '@',
      'a@',
      'a@(',
      'a@(c)',
      '@ ',
      '//',
      ':',
      '1:',
      '::1 ',
      '.',
      'a.',
      '1.',
    ],
    ...[
      'www.',
      '[',
      '\\',
      '\\\\a\\',
      'http://a@',
      'http://a\\.',
      '%',
      '%40',
      '\\u0040',
      '。',
      'ａ',
      '\u00ad',
      'é',
      '"',
      '("',
      '<',
      ',',
      ' ',
    ],
    ...[
      'a',
      '-',
      'a:1/',
      'a.com/',
      'a.com ',
      'x@evil.test,',
      '1.2.3.4 ',
      'ß.',
      '!a@',
      '\\\\?\\UNC\\',
      'xn--.',
      'https://e\t',
      '/\t',
      '[:',
      'a::',
    ],
  ]

  it('is read in linear time', () => {
    for (const [index, piece] of pieces.entries()) {
      // The largest arguments for some, smaller ones for others. With worse than linear time, either takes minutes.
      const size = index % 8 === 0 ? runs(2 ** 20) : runs(2 ** 17)
      const text = piece.repeat(Math.ceil(size / piece.length))
      expect(destinationsIn({ x: text }, ['x']).length, piece).toBeLessThanOrEqual(1001)
    }
  })

  it('never throws', () => {
    const text = fc
      .array(fc.constantFrom(...pieces, 'evil.test', '>', ')', '\n', '\0', ';'), { maxLength: 12 })
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: 'binary' })), (x) => {
        for (const { host, port } of destinationsIn({ x }, ['x'])) {
          expect(host).toMatch(/^[a-z0-9._:-]*$/)
          expect(port).toBeLessThan(65536)
        }
      }),
      { numRuns: runs(5000) },
    )
  })

  it('finds a URL, an address and a host anywhere among other words', () => {
    const word = fc.constantFrom('and', '(x)', '12:30', 'e.g.', '"q"', 'a/b', 'é', '{', 'x=1', '-', '\n')
    const target = fc.constantFrom(
      'https://evil.test/x',
      'joe@evil.test',
      '//evil.test/',
      'evil.test:8080',
      'evil.test/x',
    )
    fc.assert(
      fc.property(fc.array(word), target, fc.array(word), (before, it, after) => {
        hints([...before, it, ...after].join(' '), 'evil.test')
      }),
    )
  })
})
