// A server gets the credentials of the principal whose calls it gets, and no others.

import { expect, onTestFinished, test } from 'vitest'
import { silent } from '../../src/log.ts'
import { createMcp } from '../../src/mcp/mcp.ts'
import type { ServerAddress } from '../../src/mcp/server/upstream.ts'
import { createSite } from '../gateway-rig.ts'
import { connectTo, plainServer } from './rig.ts'

test('each principal is connected with its own credentials, and a person who reviews tools with the shared ones', async () => {
  const gateway = await (await createSite()).open()
  const own = new Map([['agent:ci', { authorization: 'Bearer ci' }]])
  const headers = { authorization: 'Bearer shared', 'x-team': 'blue' }
  const address: ServerAddress = { transport: 'http', url: 'https://x.example/mcp', headers, own }
  const used: string[] = []
  const connect = connectTo({ tracker: plainServer() })
  const mcp = createMcp({
    kernel: gateway.kernel,
    log: silent,
    servers: new Map([['tracker', address]]),
    connect: (server, ...rest) => {
      used.push(JSON.stringify(server.address.transport === 'http' && server.address.headers))
      return connect(server, ...rest)
    },
    watch: gateway.watch,
  })
  onTestFinished(async () => {
    await mcp.close()
    await gateway.close()
  })
  const greet = async (principal: string, scope: Parameters<typeof mcp.converse>[1]): Promise<void> => {
    const conversation = mcp.converse({ tenant: 'default', principal }, scope)
    const clientInfo = { name: 'test', version: '1' }
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    await conversation?.take(
      { kind: 'request', id: 1, method: 'initialize', params },
      { send: () => undefined },
    )
  }
  await mcp.meet()
  await greet('agent:ci', { kind: 'all' })
  await greet('agent:ci', { kind: 'server', name: 'tracker' })
  await greet('agent:other', { kind: 'all' })
  const shared = JSON.stringify(headers)
  const ci = JSON.stringify({ ...headers, authorization: 'Bearer ci' })
  expect(used).toEqual([shared, ci, ci, shared])
})
