// Joins the two connections of a tunnel until one of them ends, fails or is idle for too long.

import type { Socket } from 'node:net'

/** How long the rest of a tunnel may take after one side has ended. */
const ENDING = 10_000

/** Copies bytes in both directions. Neither side can have more waiting than the other side's buffer holds. */
export function join(client: Socket, server: Socket, head: Buffer, idle: number): void {
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    from.setTimeout(idle, () => destroyBoth(client, server))
    from.on('error', () => destroyBoth(client, server))
    from.once('end', () => {
      from.setTimeout(ENDING)
      to.setTimeout(ENDING)
    })
    // After a proper end, `to` may still have bytes to send.
    from.once('close', () => void (from.readableEnded || to.destroy()))
  }
  if (head.length > 0) server.write(head)
  client.pipe(server)
  server.pipe(client)
}

function destroyBoth(...sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy()
}
