// Hostile bytes on a raw socket, and the answers.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { closeAll, createServedRig, request, textOf, type Piece, type ServedRig } from './serve-rig.ts'

let rig: ServedRig
let hasty: ServedRig
beforeAll(async () => {
  rig = await createServedRig({ hosts: ['gateway.test', 'fd00::1'], connections: 50 })
  hasty = await createServedRig({ patience: 500 })
})
afterAll(closeAll)

const BODY = '{"tool":"fs/read_file"}'
const auth = (at = rig): string => `Authorization: Bearer ${at.token('agent')}`

/** A valid call, with some lines replaced or added. */
function call(lines: readonly string[], body = BODY, at = rig): string {
  const good = [
    'Host: localhost',
    auth(at),
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  const named = new Set(lines.map((line) => line.split(':')[0]?.toLowerCase()))
  const kept = good.filter((line) => !named.has(line.split(':')[0]?.toLowerCase()))
  return request(['POST /v1/evaluate HTTP/1.1', ...kept, ...lines, 'Connection: close'], body)
}

async function check(pieces: readonly Piece[], expected: RegExp, at = rig): Promise<void> {
  const before = at.receipts().length
  const text = await at.raw(...pieces)
  expect(text).toMatch(expected)
  expect(text).not.toContain('ALLOW')
  expect(at.receipts().length).toBe(before)
}

test('a valid call on a raw socket succeeds, so that the following tests fail for their own reason', async () => {
  expect(await rig.raw(call([]))).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*"verdict":"ALLOW"/)
})

describe('the Host header', () => {
  const good = [
    'localhost',
    'LOCALHOST:1',
    '127.0.0.1',
    '127.0.0.1:8080',
    '[::1]:80',
    'gateway.test',
    '[fd00::1]:443',
  ]
  test.each(good)('%s is the gateway', async (host) => {
    expect(await rig.raw(request(['GET /healthz HTTP/1.1', `Host: ${host}`, 'Connection: close']))).toMatch(
      /^HTTP\/1\.1 200/,
    )
  })

  const rebinding = [
    'evil.test',
    'evil.test:80',
    'localhost.evil.test',
    'localhost@evil.test',
    'localhost:80@evil.test',
    '127.0.0.1.evil.test',
    'gateway.test.',
    '0.0.0.0',
    '127.1',
    '2130706433',
    'localhost:',
    'localhost:123456',
    'localhost:80:80',
    '[::1]evil.test',
    '::1',
    '',
  ]
  test.each(rebinding)('%s is not', async (host) => {
    await check([request(['GET /healthz HTTP/1.1', `Host: ${host}`, 'Connection: close'])], /^HTTP\/1\.1 421/)
  })

  test('must occur exactly once', async () => {
    await check([request(['GET /healthz HTTP/1.1', 'Connection: close'])], /^HTTP\/1\.1 400/)
    await check([call(['Host: localhost', 'Host: localhost'])], /^HTTP\/1\.1 400/)
    await check([call(['Host: localhost', 'host: evil.test'])], /^HTTP\/1\.1 400/)
  })
})

describe('the Origin header', () => {
  const foreign = ['http://evil.test', 'null', 'http://localhost:1', 'http://127.0.0.1', 'localhost', '']
  test.each(foreign)('`%s` is refused', (origin) =>
    check([call([`Origin: ${origin}`])], /^HTTP\/1\.1 403[^]*origin-forbidden/),
  )

  test('of the gateway itself is accepted', async () => {
    expect(await rig.raw(call(['Origin: http://localhost']))).toMatch(/^HTTP\/1\.1 200/)
    expect(await rig.raw(call(['Origin: https://localhost']))).toMatch(/^HTTP\/1\.1 200/)
  })

  test('preflights are refused', async () => {
    const lines = [
      'Host: localhost',
      'Origin: http://evil.test',
      'Access-Control-Request-Method: POST',
      'Connection: close',
    ]
    const text = await rig.raw(request(['OPTIONS /v1/evaluate HTTP/1.1', ...lines]))
    expect(text).toMatch(/^HTTP\/1\.1 403/)
    expect(text.toLowerCase()).not.toContain('access-control')
    const same = await rig.raw(
      request(['OPTIONS /v1/evaluate HTTP/1.1', 'Host: localhost', 'Connection: close']),
    )
    expect(same).toMatch(/^HTTP\/1\.1 405[^]*allow: POST/i)
    expect(same.toLowerCase()).not.toContain('access-control')
  })
})

describe('a request with ambiguous framing', () => {
  const chunked = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`
  const smuggled: Readonly<Record<string, () => string>> = {
    'with a length and chunks': () => call(['Content-Length: 6', 'Transfer-Encoding: chunked'], chunked),
    'with chunks and a length': () => call(['Transfer-Encoding: chunked', 'Content-Length: 6'], chunked),
    'with two lengths': () => call(['Content-Length: 23', 'Content-Length: 24']),
    'with the same length twice': () => call(['Content-Length: 23', 'Content-Length: 23']),
    'with a list of lengths': () => call(['Content-Length: 23, 23']),
    'with a signed length': () => call(['Content-Length: +23']),
    'with a length in another base': () => call(['Content-Length: 0x17']),
    'with a coding that is no coding': () => call(['Transfer-Encoding: xchunked'], chunked),
    'with chunks that are not last': () => call(['Transfer-Encoding: chunked, gzip'], chunked),
    'with chunks twice': () => call(['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], chunked),
    'with a space before the colon': () => call(['Transfer-Encoding : chunked', 'Content-Length: 23']),
    'with a folded header': () => call(['X-A: a\r\n Transfer-Encoding: chunked']),
    'with a bare line feed': () => call(['X-A: a\nTransfer-Encoding: chunked']),
    'with a bare carriage return': () => call(['X-A: a\rTransfer-Encoding: chunked']),
    'with a null byte': () => call(['X-A: a\0b']),
    'with a chunk that is longer than it says': () =>
      call(['Transfer-Encoding: chunked'], `3\r\n${BODY}\r\n0\r\n\r\n`),
    'with a chunk size that is no number': () =>
      call(['Transfer-Encoding: chunked'], `zz\r\n${BODY}\r\n0\r\n\r\n`),
  }
  test.each(Object.entries(smuggled))('%s is refused', (_, make) => {
    const sent = make()
    // Chunked bodies are sent without the length of the helper.
    const text = /longer|no number|no coding|not last|twice/.test(_)
      ? sent.replace(/Content-Length: \d+\r\n(?=[^]*Transfer)/, '')
      : sent
    return check([text], /^HTTP\/1\.1 (?:400|501|413)/)
  })

  test('two tokens are refused', async () => {
    await check([call([auth(), auth()])], /^HTTP\/1\.1 400/)
    await check([call([auth(), `Authorization: Bearer ${rig.token('admin')}`])], /^HTTP\/1\.1 400/)
    await check([call(['Content-Type: application/json', 'Content-Type: text/plain'])], /^HTTP\/1\.1 400/)
  })

  test('a second request after a refused one is not answered', async () => {
    const text = await rig.raw(call(['Content-Length: 6', 'Transfer-Encoding: chunked'], chunked) + call([]))
    expect(text.match(/^HTTP\/1\.1 \d/gm)).toHaveLength(1)
    expect(text).not.toContain('ALLOW')
  })

  test('chunks alone are fine', async () => {
    const lines = [
      'Host: localhost',
      auth(),
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
      'Connection: close',
    ]
    expect(await rig.raw(request(['POST /v1/evaluate HTTP/1.1', ...lines], chunked))).toMatch(
      /"verdict":"ALLOW"/,
    )
  })
})

describe('limits', () => {
  test('on the body, with or without a length', async () => {
    await check([call(['Content-Length: 70000'], '{')], /^HTTP\/1\.1 413[^]*connection: close/i)
    const lines = ['Host: localhost', auth(), 'Content-Type: application/json', 'Transfer-Encoding: chunked']
    const piece = `4000\r\n${'x'.repeat(0x4000)}\r\n`
    await check([request(['POST /v1/evaluate HTTP/1.1', ...lines], piece.repeat(6))], /^HTTP\/1\.1 413/)
  })

  test('on the URL and on headers', async () => {
    await check([request([`GET /${'a'.repeat(9000)} HTTP/1.1`, 'Host: localhost'])], /^HTTP\/1\.1 414/)
    const many = Array.from({ length: 70 }, (_, i) => `X-${i}: 1`)
    await check([request(['GET /healthz HTTP/1.1', 'Host: localhost', ...many])], /^HTTP\/1\.1 431/)
    await check(
      [request(['GET /healthz HTTP/1.1', 'Host: localhost', `X: ${'a'.repeat(20_000)}`])],
      /^HTTP\/1\.1 431/,
    )
  })

  test('on the time that a header takes', async () => {
    await check(['GET /healthz HTTP/1.1\r\nHost: local', /408/, 'host\r\n\r\n'], /^HTTP\/1\.1 408/, hasty)
  })

  test('on the time that a body takes, even if it arrives slowly', async () => {
    const drops = BODY.slice(0, -1)
      .split('')
      .flatMap((drop) => [drop, 100])
    const before = hasty.receipts().length
    const text = await hasty.raw(call([], BODY, hasty).slice(0, -BODY.length), ...drops)
    expect(text).toMatch(/^HTTP\/1\.1 408/)
    expect(hasty.receipts().length).toBe(before)
  })
})

describe('nothing is read before the sender is authenticated', () => {
  test('an unauthenticated sender of a large body gets its answer at once', async () => {
    const lines = ['Host: localhost', 'Content-Type: application/json', 'Content-Length: 60000']
    await check([request(['POST /v1/evaluate HTTP/1.1', ...lines])], /^HTTP\/1\.1 401[^]*connection: close/i)
  })

  test('a sender with `Expect` gets 100 Continue only with a valid token', async () => {
    const stranger = [
      'Host: localhost',
      'Content-Type: application/json',
      `Content-Length: ${BODY.length}`,
      'Expect: 100-continue',
    ]
    const refused = await rig.raw(request(['POST /v1/evaluate HTTP/1.1', ...stranger]))
    expect(refused).toMatch(/^HTTP\/1\.1 401/)
    expect(refused).not.toContain('100 Continue')
    const text = await rig.raw(
      request(['POST /v1/evaluate HTTP/1.1', ...stranger, auth(), 'Connection: close']),
      /100 Continue/,
      BODY,
    )
    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200/)
  })
})

test('a body whose token is revoked halfway is not acted on', async () => {
  const { token, info } = await rig.tokens.issue(
    { role: 'admin', tenant: 'default', principal: 'user:thief' },
    'test',
  )
  const body = '{"role":"admin","principal":"user:heir"}'
  const lines = ['Host: localhost', `Authorization: Bearer ${token}`, 'Content-Type: application/json']
  const head = request([
    'POST /v1/tokens HTTP/1.1',
    ...lines,
    `Content-Length: ${body.length}`,
    'Connection: close',
  ])
  const socket = await rig.connect()
  const answered = textOf(socket)
  socket.write(head + body.slice(0, 10))
  await new Promise((resolve) => setTimeout(resolve, 50))
  await rig.tokens.revoke(info.hash, 'test')
  const before = rig.receipts().length
  socket.write(body.slice(10))
  expect(await answered).toMatch(/^HTTP\/1\.1 401/)
  expect(rig.receipts().length).toBe(before)
  expect(rig.tokens.list().some(({ principal }) => principal === 'user:heir')).toBe(false)
})

describe('invalid requests', () => {
  const odd: Readonly<Record<string, string>> = {
    'an absolute target': request([
      'GET http://localhost/healthz HTTP/1.1',
      'Host: localhost',
      'Connection: close',
    ]),
    'a bare star': request(['OPTIONS * HTTP/1.1', 'Host: localhost', 'Connection: close']),
    'an invented method': request(['EVAL /v1/evaluate HTTP/1.1', 'Host: localhost']),
    'an old version': request(['GET /healthz HTTP/0.9', 'Host: localhost']),
    'a new version': request(['GET /healthz HTTP/2.0', 'Host: localhost']),
    noise: 'hello\r\n\r\n',
    'a TLS hello': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  }
  test.each(Object.entries(odd))('%s is a bad request', (_, text) => check([text], /^HTTP\/1\.1 400/))

  test('CONNECT is refused', async () => {
    const text = await rig.raw(request(['CONNECT localhost:22 HTTP/1.1', 'Host: localhost']))
    expect(text).not.toMatch(/^HTTP\/1\.1 2/)
  })

  test('an upgrade is refused', async () => {
    const lines = ['Host: localhost', 'Connection: Upgrade, close', 'Upgrade: h2c']
    const text = await rig.raw(request(['GET /healthz HTTP/1.1', ...lines]))
    expect(text).not.toContain('101')
  })

  test('HEAD is refused', async () => {
    await check(
      [request(['HEAD /v1/receipts/stream HTTP/1.1', 'Host: localhost', auth(), 'Connection: close'])],
      /^HTTP\/1\.1 405/,
    )
  })
})

test('afterwards the gateway still decides calls', async () => {
  expect(await rig.raw(call([]))).toMatch(/"verdict":"ALLOW"/)
})
