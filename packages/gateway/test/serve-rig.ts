// The API on a real socket, and raw bytes to try it with.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { createConnection, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve, type ListenOptions, type Served } from '../src/serve.ts'
import { createApiRig, type ApiRig, type RigOptions } from './api-rig.ts'

export interface ServedRig extends ApiRig, Served {
  readonly port: number
  /** Sends bytes as they are, and answers with all that comes back until the other side hangs up or it is quiet. */
  raw(...pieces: readonly (string | number)[]): Promise<string>
  connect(): Promise<Socket>
}

const open = new Set<Served>()

/** Closes whatever a test left open. */
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
        else if (socket.writable) socket.write(piece)
      }
      return answered
    },
  }
}

/** All that a socket says, until it closes or says nothing for a while. */
export function textOf(socket: Socket, quiet = 150): Promise<string> {
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
      timer = setTimeout(done, quiet)
    })
    socket.on('close', done)
    socket.on('error', done)
    setTimeout(done, 8000).unref()
  })
}

/** A request as text: lines with CRLF, then the body. */
export function request(lines: readonly string[], body = ''): string {
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

// Made for these tests and good for nothing else.
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

/** Files of a certificate for localhost. */
export function tlsFiles(): { cert: string; key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-tls-'))
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  writeFileSync(files.cert, CERT)
  writeFileSync(files.key, KEY, { mode: 0o600 })
  return files
}
