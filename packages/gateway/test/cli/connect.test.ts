// Runs the command against servers that fail, hang or send wrong answers. Needs the build.

import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { tlsFiles } from '../serve/serve-rig.ts'

const COMMAND = fileURLToPath(new URL('../../bin/tollgate.mjs', import.meta.url))
const TOKEN = `tg_admin_${'0'.repeat(43)}`

let folder: string
let server: Server | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-connect-'))
})
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
  server = undefined
  rmSync(folder, { recursive: true })
})

function listen(answer: RequestListener): Promise<string> {
  return new Promise((resolve) => {
    server = createServer(answer).listen(0, '127.0.0.1', () => {
      // Sound: it listens on a port.
      const { port } = server?.address() as AddressInfo
      resolve(`http://127.0.0.1:${port}`)
    })
  })
}

interface Ran {
  readonly exit: number | null
  readonly out: string
  readonly err: string
}

/** Runs the command in the folder. `during` gets a function that ends it. */
function run(
  url: string,
  args: readonly string[],
  during?: (kill: () => void) => void,
  more: NodeJS.ProcessEnv = {},
): Promise<Ran> {
  const env = { PATH: process.env.PATH, HOME: folder, TOLLGATE_URL: url, TOLLGATE_TOKEN: TOKEN, ...more }
  const child = spawn(process.execPath, [COMMAND, ...args], { cwd: folder, env })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  during?.(() => child.kill('SIGINT'))
  return new Promise((resolve) => child.on('close', (exit) => resolve({ exit, out, err })))
}

describe('an export', () => {
  it('that is interrupted leaves no file and fails', async () => {
    const url = await listen((_, response) => {
      response.writeHead(200, { 'content-type': 'application/x-tar' })
      response.write('half a pack', () => response.destroy())
    })
    const { exit, out, err } = await run(url, ['export', '-o', 'all.pack'])
    expect(exit).toBe(1)
    expect(out).toBe('')
    expect(err).toContain('the export is incomplete')
    expect(readdirSync(folder)).toEqual([])
  })

  it('that is ended by Ctrl-C leaves no file and exits with 130', async () => {
    let kill = (): void => undefined
    const url = await listen((_, response) => {
      response.writeHead(200, { 'content-type': 'application/x-tar' })
      response.write('half a pack')
      const timer = setInterval(() => {
        if (readdirSync(folder).length === 0) return
        clearInterval(timer)
        kill()
      }, 10)
    })
    const { exit } = await run(url, ['export', '-o', 'all.pack'], (end) => (kill = end))
    expect(exit).toBe(130)
    expect(readdirSync(folder)).toEqual([])
  })

  it('to standard output that is interrupted fails as well', async () => {
    const url = await listen((_, response) => {
      response.writeHead(200).write('half a pack', () => response.destroy())
    })
    expect((await run(url, ['export'])).exit).toBe(1)
  })
})

describe('an answer', () => {
  it('with a problem is printed with its remedy, without control characters', async () => {
    const url = await listen((_, response) => {
      response.writeHead(403, { 'content-type': 'application/problem+json' })
      response.end(JSON.stringify({ detail: 'you \u009b2Jmay not.', remedy: 'Ask an admin.' }))
    })
    const { exit, err } = await run(url, ['freeze', 'all'])
    expect(exit).toBe(1)
    expect(err).toContain('\ntollgate: error: you ·2Jmay not\ntollgate: → Ask an admin\n')
  })

  it('that is not JSON is an error', async () => {
    const url = await listen((_, response) => response.end('<html>'))
    const { exit, err } = await run(url, ['status'])
    expect(exit).toBe(1)
    expect(err).toContain('the answer is not complete JSON')
  })

  it('with a redirect is not followed, so that the token is not sent elsewhere', async () => {
    let followed = false
    const url = await listen((request, response) => {
      followed ||= request.url === '/elsewhere'
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    const { exit, err } = await run(url, ['status'])
    expect(exit).toBe(1)
    expect(followed).toBe(false)
    expect(err).not.toContain('tg_')
  })

  it('gets the token in a header, never in the address', async () => {
    let seen: readonly (string | undefined)[] = []
    const url = await listen((request, response) => {
      seen = [request.url, request.headers.authorization]
      response.writeHead(500).end()
    })
    await run(url, ['status'])
    expect(seen).toEqual(['/v1/status', `Bearer ${TOKEN}`])
  })
})

describe('a connection with TLS', () => {
  it('to a certificate of an unknown authority fails as such, and works with the authority', async () => {
    const { cert, key } = tlsFiles()
    const secure = createSecure({ cert: readFileSync(cert), key: readFileSync(key) }, (_, response) => {
      response.writeHead(403).end('{"detail":"reached"}')
    })
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve))
    try {
      // Sound: it listens on a port.
      const url = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`
      const { exit, err } = await run(url, ['status'])
      expect(exit).toBe(1)
      expect(err).toContain(`the certificate of \`${url}\` is not from an authority that this machine trusts`)
      expect(err).toContain('`--ca FILE` or TOLLGATE_CA')
      expect((await run(url, ['status'], undefined, { NODE_EXTRA_CA_CERTS: cert })).err).toContain('reached')
    } finally {
      secure.closeAllConnections()
      secure.close()
    }
  })

  it('to a server without TLS fails as such', async () => {
    const url = (await listen((_, response) => response.end())).replace('http:', 'https:')
    const { err } = await run(url, ['status'])
    expect(err).toContain('answers, but TLS fails')
    expect(err).toContain('use an `http://` address')
  })
})

describe('a tail', () => {
  it('continues after a restart of the gateway, and ends when the token is refused', async () => {
    const asked: string[] = []
    const url = await listen((request, response) => {
      asked.push(request.url ?? '')
      if (asked.length === 1) return void response.end('{"size":7}')
      if (asked.length === 4) return void response.writeHead(401).end('{"detail":"gone"}')
      const index = asked.length + 5
      const receipt = { kind: 'recovery', closed: 1, time: '2026-01-05T09:00:00.000Z' }
      const data = JSON.stringify({ index, id: 'ab'.repeat(32), receipt })
      // Keep-alive comments and incomplete events are ignored. The second stream breaks in the middle of an event.
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`: hello\n\nid: ${index}\nevent: receipt\ndata: ${data}\n\nid: 99\ndata: {"ind`, () =>
        response.destroy(),
      )
    })
    const { exit, out, err } = await run(url, ['receipts', 'tail', '--json'])
    expect(asked).toEqual([
      '/v1/status',
      '/v1/receipts/stream?from=7',
      '/v1/receipts/stream?from=8',
      '/v1/receipts/stream?from=9',
    ])
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { index: number }).index),
    ).toEqual([7, 8])
    expect([exit, err]).toEqual([1, 'tollgate: error: gone\n'])
  })
})
