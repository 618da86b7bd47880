// `path.within`, `host.within` and `url.within`: inside for every program that parses the text, or not inside.

import { describe, expect, it } from 'vitest'
import type { Json } from '@tollgate/evidence'
import { conditionEnvironment } from '../../src/policy/condition.ts'
import { WITHIN_KINDS, type WithinKind } from '../../src/policy/cel/within.ts'
import { CONDITION_VARIABLES } from '../../src/policy/parse/parse.ts'

const environment = conditionEnvironment(CONDITION_VARIABLES)

function outcomeOf(source: string, args: Json): boolean | 'fails' {
  const condition = environment.compile(source)
  if (!('test' in condition)) throw new Error(condition.message)
  try {
    return condition.test({ args })
  } catch {
    return 'fails'
  }
}

interface Row {
  readonly base: string
  readonly inside: readonly string[]
  readonly outside: readonly string[]
}

const ROWS: Readonly<Record<WithinKind, readonly Row[]>> = {
  path: [
    {
      base: '/notes',
      inside: [
        '/notes',
        '/notes/',
        '/notes/a',
        '/notes/a/b.txt',
        '/notes//a',
        '/notes/./a',
        '/notes/a/../b',
      ].concat([
        '/notes/.env',
        '/notes/..a',
        '/notes/a..',
        '/notes/é',
        '/notes/a b',
        '/notes/a/..',
        '/notes/a;b',
        '/notes/\u00a5500',
        '/notes/1\u20442',
      ]),
      outside: [
        '/notes/../x',
        '/notes/..',
        '/notes/a/../../x',
        '/notes/./../x',
        '/notes//../x',
        '/notes/a/..//../x',
      ]
        .concat([
          '/notes/../notes/a',
          '/x/../notes/a',
          '//notes/a',
          '/./notes/a',
          ' /notes/a',
          '/notes-evil',
          '/notesx/a',
        ])
        .concat([
          '/notes.',
          '/NOTES/a',
          '/Notes',
          'notes/a',
          './notes/a',
          '~/notes',
          '',
          '/',
          '.',
          'file:///notes/a',
        ])
        .concat([
          '/notes\\a',
          '/notes/..\\x',
          '\\notes\\a',
          '/notes/a\0',
          '/notes/a\0/../x',
          '/notes/\n',
          '/notes/a\u007f',
        ])
        .concat([
          '/notes/%2e%2e/x',
          '/notes/..%2fx',
          '/notes/%252e%252e/x',
          '/notes/a%20b',
          '/notes/.. /x',
          '/notes/... /x',
        ])
        .concat([
          '/notes/...',
          '/notes/. ./x',
          '/notes/..;/x',
          '/notes/\uff0e\uff0e/x',
          '/notes/..\u200b/x',
          '/notes/\u2025/x',
        ])
        .concat(['/notes/a\uff0fb', '/notes/\u2028', `/notes/${'a'.repeat(4096)}`])
        // White space that `trim` removes, and characters that a code page maps to a slash or a backslash.
        .concat(['/notes/..\u00a0', '/notes/..\u3000', '/notes/..\u2003/x', '/notes/..:/x', '/notes/..?/x'])
        .concat(
          ['\u2044', '\u2215', '\u2216', '\u29f5', '\u29f8', '\u00a5', '\u20a9'].flatMap((slash) => [
            `/notes/..${slash}x`,
            `/notes/a${slash}..${slash}..${slash}x`,
          ]),
        ),
    },
    { base: '/notes/', inside: ['/notes', '/notes/a'], outside: ['/notes-evil', '/notes/../x'] },
    {
      base: '/srv/data',
      inside: ['/srv/data/x'],
      outside: ['/srv', '/srv/x', '/srv/data/../x', '/srv//data/x'],
    },
    {
      base: 'src',
      inside: ['src', 'src/a.ts'],
      outside: ['/src/a', './src/a', 'srcs', 'src/../a', 'lib/src/a', '../src'],
    },
    { base: '~/notes', inside: ['~/notes/a'], outside: ['~root/notes/a', '/notes/a', '~/notes/../x'] },
  ],
  host: [
    {
      base: 'example.com',
      inside: ['example.com', 'EXAMPLE.com', 'api.example.com', 'a.b.example.com'],
      outside: [
        'example.com.evil.test',
        'evilexample.com',
        'example.comx',
        'com',
        'example',
        '',
        '.example.com',
        'a..example.com',
      ]
        .concat([
          'example.com:443',
          'user@example.com',
          'https://example.com',
          'example.com/',
          'example.com\0',
          ' example.com',
        ])
        .concat([
          'example.com.',
          'ex%61mple.com',
          'ｅxample.com',
          'exam\u00adple.com',
          'example。com',
          'example.com\\.evil.test',
        ])
        .concat([
          'evil.test?.example.com',
          'evil.test#.example.com',
          'evil.test/.example.com',
          'xn--evil-.example.com',
          'boo\u212a.example.com',
        ]),
    },
    {
      base: '10.0.0.1',
      inside: ['10.0.0.1'],
      outside: ['10.0.0.10', 'x.10.0.0.1', '10.1', '0x0a.0.0.1', '167772161'],
    },
    {
      base: 'localhost',
      inside: ['localhost', 'a.localhost'],
      outside: ['localhost.evil.test', '127.0.0.1'],
    },
  ],
  url: [
    {
      base: 'https://example.com/api',
      inside: [
        'https://example.com/api',
        'https://example.com/api/',
        'https://EXAMPLE.com/api/v1',
        'https://example.com/api?q=1',
      ]
        .concat([
          'https://example.com/api/a#b',
          'https://example.com:443/api/a',
          'https://example.com/api/a/../b',
        ])
        .concat([
          'https://example.com/api/a%20b',
          'https://example.com/api/%C3%A9',
          'https://example.com/api?u=../x',
        ]),
      outside: [
        'https://example.com/api/../x',
        'https://example.com/api-evil',
        'https://example.com/apix',
        'https://example.com/',
      ]
        .concat([
          'https://example.com',
          'https://example.com/API',
          'http://example.com/api',
          'https://example.com:444/api',
        ])
        .concat([
          'https://sub.example.com/api',
          'https://example.com.evil.test/api',
          'https://example.com@evil.test/api',
        ])
        .concat([
          'https://user@example.com/api',
          'https://evil.test\\@example.com/api',
          'https://evil.test/?https://example.com/api',
        ])
        .concat([
          'https://example.com\\api',
          'https:/example.com/api',
          'https:example.com/api',
          '//example.com/api',
          '/api',
          '',
        ])
        .concat([
          'https://example.com/api/%2e%2e/x',
          'https://example.com/api/..%2fx',
          'https://example.com/api/%252e%252e/x',
        ])
        .concat([
          'https://example.com/api/..;/x',
          'https://example.com/api/%c0%ae%c0%ae/x',
          'https://example.com/api/a%00',
          'https://example.com/api/..%3fx',
          'https://example.com/api/..%23',
          'https://example.com/api/..%E3%80%80',
          'https://example.com/api/..%E2%88%95x',
        ])
        .concat([
          'https://example.com/api/%5c..',
          'https://example.com/api/a%',
          'https://example.com/./api',
          'https://example.com//api',
        ])
        .concat([
          ' https://example.com/api',
          'https://example.com/api/a b',
          'https://example.com/api/é',
          'javascript:https://example.com/api',
        ])
        .concat([`https://example.com/api/${'a'.repeat(2048)}`]),
    },
    {
      base: 'https://example.com',
      inside: ['https://example.com', 'https://example.com/', 'https://example.com/a?b'],
      outside: [
        'https://example.com/../x',
        'https://example.com.evil.test/',
        'https://example.com:8443/',
        'http://example.com/',
      ],
    },
    {
      base: 'http://[::1]:8080/a',
      inside: ['http://[::1]:8080/a/b'],
      outside: ['http://[::1]/a', 'http://[::2]:8080/a'],
    },
  ],
}

describe.each(WITHIN_KINDS)('%s.within', (kind) => {
  it.each(ROWS[kind])('of $base', ({ base, inside, outside }) => {
    const source = `${kind}.within(args.value, ${JSON.stringify(base)})`
    for (const [expected, texts] of [[true, inside] as const, [false, outside] as const]) {
      for (const value of texts) {
        expect(outcomeOf(source, { value }), JSON.stringify(value)).toBe(expected)
        // The form for a rule that denies.
        expect(outcomeOf(`!${source}`, { value }), JSON.stringify(value)).toBe(!expected)
      }
    }
  })

  it('fails for values other than text, which denies the call', () => {
    for (const source of [
      `${kind}.within(args.value, "example.com")`,
      `!${kind}.within(args.value, "example.com")`,
    ]) {
      const known = kind === 'url' ? source.replace('example.com', 'https://example.com') : source
      for (const value of [null, 1, true, ['/notes'], { a: 1 }])
        expect(outcomeOf(known, { value })).toBe('fails')
      expect(outcomeOf(known, {})).toBe('fails')
    }
  })

  it('does not hide a loop variable of the same name', () => {
    const list = { list: ['/a', '/b'] }
    expect(outcomeOf(`args.list.all(${kind}, ${kind}.startsWith("/"))`, list)).toBe(true)
  })
})

describe('the base of `within`', () => {
  it.each([
    ['path.within(args.p, "")', /not a usable directory/],
    ['path.within(args.p, "/")', /not a usable directory/],
    ['path.within(args.p, "/a/../b")', /not a usable directory/],
    ['path.within(args.p, "./a")', /not a usable directory/],
    ['path.within(args.p, "//a")', /not a usable directory/],
    ['path.within(args.p, "/a//b")', /not a usable directory/],
    ['path.within(args.p, "C:\\\\a")', /not a usable directory/],
    ['path.within(args.p, "/a%20b")', /not a usable directory/],
    ['host.within(args.p, "")', /not a hostname/],
    ['host.within(args.p, "*.example.com")', /not a hostname/],
    ['host.within(args.p, "https://example.com")', /not a hostname/],
    ['host.within(args.p, "example.com:443")', /not a hostname/],
    ['url.within(args.p, "example.com/api")', /not a usable URL/],
    ['url.within(args.p, "ftp://example.com/")', /not a usable URL/],
    ['url.within(args.p, "https://example.com/a?b")', /not a usable URL/],
    ['url.within(args.p, "https://u@example.com/")', /not a usable URL/],
    ['url.within(args.p, "https://example.com/%2e%2e/a")', /not a usable URL/],
    ['path.within(args.p, args.q)', /quoted text/],
    ['path.within(args.p, "/a" + "/b")', /quoted text/],
    ['path.within(args.p)', /within/],
    ['path.within(args.p, "/a", "/b")', /within/],
    ['args.p.within("/a")', /within/],
    ['args.p.within("/a", "/b")', /within/],
    ['args.p.exists(path, path.within(args.q, "/a"))', /within/],
    ['path == "/a"', /path/],
    ['[path].size() == 1', /path/],
  ])('%s is refused', (source, message) => {
    const condition = environment.compile(source)
    expect('message' in condition ? condition.message : 'accepted').toMatch(message)
  })
})
