import { describe, expect, it } from 'vitest'
import { destinationsIn } from '../../src/destinations/find.ts'
import { matchesHost, parseHostPattern, type HostPattern } from '../../src/destinations/pattern.ts'

function parsed(text: string): HostPattern {
  const pattern = parseHostPattern(text)
  if (typeof pattern === 'string') throw new Error(pattern)
  return pattern
}

/** Whether the pattern matches every destination of a declared text. */
function matches(pattern: string, text: string): boolean {
  const destinations = destinationsIn({ to: text }, ['to'])
  expect(destinations, text).not.toEqual([])
  return destinations.every((destination) => matchesHost(parsed(pattern), destination))
}

/** Expects that the pattern matches all of the first texts and none of the second. */
function check(pattern: string, yes: readonly string[], no: readonly string[]): void {
  for (const text of yes) expect(matches(pattern, text), `${pattern} for ${text}`).toBe(true)
  for (const text of no) expect(matches(pattern, text), `${pattern} for ${text}`).toBe(false)
}

describe('host patterns', () => {
  it('match exactly one host', () => {
    check(
      'Example.com.',
      [
        'https://example.com/',
        'EXAMPLE.com',
        'a@example.com',
        'example.com',
        'ssh://example.com',
        'http://example.com:80',
      ],
      [
        'https://a.example.com',
        'https://example.com.evil.test',
        'https://notexample.com',
        'https://еxample.com',
        'a@b@example.com',
      ],
    )
    check('bücher.example', ['https://xn--bcher-kva.example'], ['https://bucher.example'])
  })

  it('match all hosts below a host, but not the host', () => {
    check(
      '*.example.com',
      ['https://a.example.com', 'x@a.b.example.com'],
      ['https://example.com', 'https://aexample.com'],
    )
  })

  it('match everything that is readable', () => {
    check(
      '*',
      ['https://evil.test:8443', 'a@b.test', '10.0.0.1', 'redis://x:1'],
      ['#general', 'https://a.test:99999'],
    )
  })

  it('need an explicit port for other ports', () => {
    check(
      'example.com',
      ['example.com:443', 'wss://example.com:443'],
      ['https://example.com:8443', 'http://example.com:443', 'example.com:8443', 'foo://example.com:9'],
    )
    check(
      'example.com:8443',
      ['https://example.com:8443', 'example.com:8443'],
      ['https://example.com', 'example.com', 'a@example.com'],
    )
    check(
      'example.com:*',
      ['https://example.com:8443', 'https://example.com', 'a@example.com'],
      ['https://a.example.com'],
    )
    check('*:443', ['https://evil.test'], ['http://evil.test'])
  })

  it('match one scheme', () => {
    check(
      'https://example.com',
      ['https://example.com', 'https://example.com:443/x'],
      ['http://example.com', 'example.com', 'https://example.com:8443', 'a@example.com'],
    )
    check('https://*.example.com:8443', ['https://a.example.com:8443'], ['https://a.example.com'])
    check('mailto:example.com', ['a@example.com'], ['https://example.com', 'git@example.com:x'])
    check('mailto:*.example.com', ['a@b.example.com'], ['a@example.com'])
    check('s3://bucket', ['s3://bucket/key'], ['s3://other/key'])
  })

  it('match an address in any spelling', () => {
    check(
      '127.0.0.1',
      ['http://2130706433', 'http://[::ffff:7f00:1]', 'http://0x7f.1', '127.1'],
      ['http://127.0.0.2', 'http://127.0.0.1.example.com'],
    )
    check('[::1]:8080', ['http://[0:0::1]:8080'], ['http://[::1]', 'http://[::2]:8080'])
    check('::1', ['http://[::1]'], ['http://[::2]'])
    check('[::1]:*', ['http://[::1]:9'], [])
    check('::ffff:127.0.0.1', ['http://127.0.0.1'], [])
  })

  it('match the addresses of a network, but no names', () => {
    check(
      '10.0.0.0/8',
      ['10.1.2.3', 'http://10.255.255.255', 'http://[::ffff:10.0.0.1]'],
      ['11.0.0.1', '10.example.com', 'http://[::10.0.0.1]', 'http://[a00::]'],
    )
    check('10.128.0.0/9', ['10.128.0.1', '10.255.0.1'], ['10.127.255.255'])
    check('192.168.1.4/30', ['192.168.1.7'], ['192.168.1.8', '192.168.1.3'])
    check('2001:db8::/32', ['http://[2001:db8:1::1]'], ['http://[2001:db9::]', '32.1.13.184'])
    check('0.0.0.0/0', ['http://1.2.3.4'], ['http://[::1]', 'https://example.com'])
    check('1.2.3.4/32', ['http://1.2.3.4'], ['http://1.2.3.5'])
  })

  it('are refused with a message if they are invalid or ambiguous', () => {
    for (const text of [
      ...[
        '',
        ' ',
        'a b',
        'https://example.com/',
        'example.com/x',
        'https://',
        'mailto:',
        'user@example.com',
        'exam*ple.com',
      ],
      ...[
        '*example.com',
        '*.',
        'a.*.b',
        '**',
        '*.10.0.0.1',
        'example.com:',
        'example.com:0',
        'example.com:99999',
        'example.com:x',
      ],
      ...[
        'faß.de',
        '0177.0.0.1',
        '256.0.0.1',
        '10.0.0.1/8',
        '10.0.0.0/33',
        '2001:db8::1/32',
        '::/129',
        '64:ff9b::1.2.3.4',
        '[::1',
        'https:example.com',
      ],
    ]) {
      const problem = parseHostPattern(text)
      expect(typeof problem, text).toBe('string')
      expect(problem).toContain(`\`${text}\` `)
    }
  })
})
