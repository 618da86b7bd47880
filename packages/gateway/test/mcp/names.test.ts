// Names of servers and tools on the command line, also beyond what a list holds.

import { definitionOf } from '@tollgate/kernel/admin'
import { describe, expect, test } from 'vitest'
import type { Connection } from '../../src/cli/program/connect.ts'
import { find, listingOf, type NamedTools } from '../../src/cli/mcp/names.ts'
import { MAX_LISTED, MAX_SERVERS } from '../../src/tools/listing.ts'
import { createApiRig, type ApiRig } from '../api/rig.ts'

function offer(rig: ApiRig, server: string, count: number): void {
  const definition = definitionOf({ kind: 'tool', server, tool: { name: 'x' } })
  for (let i = 0; i < count; i++) rig.kernel.catalogue.offer(`${server}/t${i}`, definition)
}

/** An API client that records its requests. */
function connected(rig: ApiRig, asked: string[]): Connection {
  return {
    local: undefined,
    place: 'a test',
    request(path) {
      asked.push(path)
      const headers = { authorization: `Bearer ${rig.token('operator')}` }
      return rig.app.fetch(new Request(new URL(path, 'http://localhost'), { headers }))
    },
    close: () => Promise.resolve(),
  }
}

async function check(rig: ApiRig, name: string, asked: string[] = []): Promise<NamedTools> {
  const connection = connected(rig, asked)
  return find(connection, await listingOf(connection), name)
}

describe('a name', () => {
  test('of a listed tool is found without another request', async () => {
    const rig = await createApiRig()
    offer(rig, 'fs', 3)
    const asked: string[] = []
    expect(await check(rig, 'fs/t1', asked)).toMatchObject({ isServer: false, tools: [{ tool: 'fs/t1' }] })
    expect(asked).toHaveLength(1)
    expect((await check(rig, 'fs')).tools).toHaveLength(3)
  })

  test('of a tool beyond the list is found', async () => {
    const rig = await createApiRig()
    offer(rig, 'flood', 6000)
    const listed = (await check(rig, 'flood')).tools.map(({ tool }) => tool)
    expect(listed).not.toContain('flood/t999')
    const { tools, isServer } = await check(rig, 'flood/t999')
    expect(isServer).toBe(false)
    expect(tools.map(({ tool }) => tool)).toEqual(['flood/t999'])
  })

  test('of a server with too many tools is requested separately', async () => {
    const rig = await createApiRig()
    offer(rig, 'flood', 6000)
    offer(rig, 'small', 3)
    const { server, tools } = await check(rig, 'flood')
    expect(tools).toHaveLength(MAX_LISTED)
    expect(server.more).toBe(6000 - MAX_LISTED)
  })

  test('of a server beyond the list is found', async () => {
    const rig = await createApiRig()
    for (let i = 0; i <= MAX_SERVERS; i++) offer(rig, `s${i}`, 1)
    offer(rig, 'z', 2)
    const { server, isServer } = await check(rig, 'z')
    expect([server.server, server.tools.length, isServer]).toEqual(['z', 2, true])
  })

  test('of nothing is refused, with suggestions', async () => {
    const rig = await createApiRig()
    offer(rig, 'fs', 2)
    await expect(check(rig, 'fs/t9')).rejects.toThrow('no server or tool `fs/t9`')
    offer(rig, 'flood', 6000)
    await expect(check(rig, 'flood/none')).rejects.toThrow('no server or tool `flood/none`')
  })
})
