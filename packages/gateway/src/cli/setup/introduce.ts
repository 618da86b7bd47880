// Introduces a server to a running gateway, as the wrapper does when a client starts, so that its tools can be approved.

import { randomBytes } from 'node:crypto'
import { clearTimeout, setTimeout } from 'node:timers'
import { socketPath } from '../../mcp/client/local-path.ts'
import { parseMessage } from '../../mcp/message.ts'
import type { ServerAddress } from '../../mcp/server/upstream.ts'
import { CommandError } from '../program/terminal.ts'
import { VERSION } from '../program/version.ts'
import { joinGateway } from '../mcp/wrap-link.ts'

const TIMEOUT_MS = 60_000

/** Lets the gateway start the server and list its tools. @throws if the gateway or the server does not answer. */
export async function introduce(
  data: string,
  name: string,
  address: ServerAddress & { readonly transport: 'stdio' },
): Promise<void> {
  const { command, args, env, cwd = data, browser } = address
  const process = randomBytes(16).toString('hex')
  const join = { name, command, args, env, cwd, process, ...(browser && { browser }) }
  const waiting = new Map<number, () => void>()
  let fail: (fault: Error) => void = () => undefined
  const failed = new Promise<never>((_, reject) => (fail = reject))
  // The race below handles it; without this, a late failure would end the process.
  failed.catch(() => undefined)
  const silent = (): void => fail(new CommandError(`the gateway did not list the tools of \`${name}\``))
  const timer = setTimeout(silent, TIMEOUT_MS)
  const link = await joinGateway(socketPath(data), join, {
    onLine(line) {
      const message = parseMessage(line, 64 << 20)
      if (message.kind === 'response' && typeof message.id === 'number') waiting.get(message.id)?.()
    },
    onStderr: () => undefined,
    onEnd: silent,
  })
  const asked = (id: number, method: string, params: object): Promise<void> => {
    const answered = new Promise<void>((resolve) => waiting.set(id, resolve))
    link.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return Promise.race([answered, failed])
  }
  try {
    await asked(1, 'initialize', {
      protocolVersion: '2025-11-25',
      // As in `meet.ts`: some servers offer more tools to a client with these.
      capabilities: { sampling: {}, elicitation: {}, roots: {} },
      clientInfo: { name: 'tollgate', version: VERSION },
    })
    // Without `notifications/initialized`, the gateway passes on no question of the server: no client is here to answer one.
    await asked(2, 'tools/list', {})
  } finally {
    clearTimeout(timer)
    link.close()
  }
}
