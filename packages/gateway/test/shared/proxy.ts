// A TCP proxy between a gateway and its database that cuts the connections: before a message of the gateway arrives, or after the
// server has it and before its answer comes back.

import { connect, createServer, type Socket } from 'node:net'

/** A proxy to one port. */
export interface CutProxy {
  readonly port: number
  /** Cuts all connections at the message with this number, counted from now; resolves when it has. */
  cutAt(message: number, when: 'before' | 'after'): Promise<void>
  close(): Promise<void>
}

export async function startProxy(target: number): Promise<CutProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let armed: { left: number; readonly when: 'before' | 'after'; readonly done: () => void } | undefined

  const cutAll = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.destroy()
    pairs.clear()
  }
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    const pair = [client, upstream] as const
    pairs.add(pair)
    let isSilent = false
    client.on('data', (chunk) => {
      if (armed && --armed.left <= 0) {
        const { when, done } = armed
        armed = undefined
        if (when === 'before') cutAll()
        else {
          // The server gets the message. Its answer is dropped, and then the connections are cut.
          isSilent = true
          upstream.write(chunk)
          upstream.once('data', cutAll)
        }
        done()
        return
      }
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (!isSilent) client.write(chunk)
    })
    const end = (): void => {
      pairs.delete(pair)
      client.destroy()
      upstream.destroy()
    }
    for (const socket of pair) socket.on('error', end).on('close', end)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    cutAt: (message, when) =>
      new Promise((resolve) => {
        armed = { left: message, when, done: resolve }
      }),
    close: async () => {
      cutAll()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
