// The API on a real socket, and raw bytes to test it with.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { createConnection, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve, type ListenOptions, type Served } from '../../src/serve.ts'
import { createApiRig, type ApiRig, type RigOptions } from '../api/rig.ts'

export interface ServedRig extends ApiRig, Served {
  readonly port: number
  /**
   * Sends raw bytes, and resolves with everything received. A number waits that many milliseconds, a pattern waits until the
   * answer so far matches it.
   */
  raw(...pieces: readonly Piece[]): Promise<string>
  connect(): Promise<Socket>
}

export type Piece = string | number | RegExp

const open = new Set<Served>()

/** Closes everything that a test left open. */
export async function closeAll(): Promise<void> {
  await Promise.all([...open].map((served) => served.close()))
  open.clear()
}

export async function createServedRig(
  listen: Partial<ListenOptions> = {},
  options: RigOptions = {},
): Promise<ServedRig> {
  const rig = await createApiRig(options)
  const served = await serve(rig.options, { host: '127.0.0.1', port: 0, grace: 500, ...listen })
  open.add(served)
  const port = Number(new URL(served.url).port)
  const connect = (): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const socket = createConnection({ host: '127.0.0.1', port }, () => resolve(socket))
      socket.on('error', reject)
    })
  return {
    ...rig,
    ...served,
    port,
    connect,
    async raw(...pieces) {
      const socket = await connect()
      const answered = textOf(socket)
      for (const piece of pieces) {
        if (typeof piece === 'number') await new Promise((resolve) => setTimeout(resolve, piece))
        else if (typeof piece !== 'string') await received(socket, piece)
        else if (socket.writable) socket.write(piece)
      }
      return answered
    },
  }
}

/** Everything that a socket receives until it closes, or until nothing follows a complete text. */
export function textOf(socket: Socket, isWhole = isWholeResponse): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    let timer: NodeJS.Timeout | undefined
    const done = (): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(text)
    }
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      clearTimeout(timer)
      if (isWhole(text)) timer = setTimeout(done, 150)
    })
    socket.on('close', done)
    socket.on('error', done)
  })
}

/** Whether the text has a final response with its whole body. An interim response (1xx) is not final. */
function isWholeResponse(text: string): boolean {
  const final = text.replace(/^(?:HTTP\/1\.1 1\d\d[^]*?\r\n\r\n)+/, '')
  const end = final.indexOf('\r\n\r\n') + 4
  if (end < 4) return false
  const head = final.slice(0, end)
  const length = /^content-length: *(\d+)/im.exec(head)?.[1]
  if (length !== undefined) return final.length - end >= Number(length)
  return !/^transfer-encoding: *chunked/im.test(head) || final.endsWith('\r\n0\r\n\r\n')
}

/** Resolves when what the socket receives from now on matches, or when it closes. */
function received(socket: Socket, pattern: RegExp): Promise<void> {
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (pattern.test(text)) resolve()
    })
    socket.on('close', resolve)
  })
}

/** A request as text: lines with CRLF, then the body. */
export function request(lines: readonly string[], body = ''): string {
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

// Created for these tests only.
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgtvtu7Lp6zrKopZYp
Pc5sxpFlYaizWd1whIDLHXf0smOhRANCAAQYeDTNTYsGsikBimtcWmeVMWzIPI6F
aDyMpKJsVZlwM0Rs3wHBwYwl7l5g0yKBB/qDBIj9XWh4Wa7/Zd9w4NYS
-----END PRIVATE KEY-----
`
const CERT = `-----BEGIN CERTIFICATE-----
MIIBqDCCAU+gAwIBAgIUfiFBIjHMwakcz1hhjylQVmnuXZUwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExNTE3MjI1MloYDzIxMjYxMDIy
MTcyMjUyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQYeDTNTYsGsikBimtcWmeVMWzIPI6FaDyMpKJsVZlwM0Rs3wHBwYwl
7l5g0yKBB/qDBIj9XWh4Wa7/Zd9w4NYSo30wezAdBgNVHQ4EFgQUUypQxTtGXUBb
Gj36DxNDWnZ8uaMwHwYDVR0jBBgwFoAUUypQxTtGXUBbGj36DxNDWnZ8uaMwDwYD
VR0TAQH/BAUwAwEB/zAoBgNVHREEITAfgglsb2NhbGhvc3SCDGdhdGV3YXkudGVz
dIcEfwAAATAKBggqhkjOPQQDAgNHADBEAiAvw/4f/3JC21dGLpyR92Don+J0Hbw5
aS88POznzK46igIgeGRoIGh811tWX9sD1oHEj36kFolg3necmBT2RCaUe18=
-----END CERTIFICATE-----
`

/** The files of a certificate for localhost. */
export function tlsFiles(): { cert: string; key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-tls-'))
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  writeFileSync(files.cert, CERT)
  writeFileSync(files.key, KEY, { mode: 0o600 })
  return files
}
