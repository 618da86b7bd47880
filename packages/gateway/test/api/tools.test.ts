// Tools over HTTP: offers, their state compared with pins, and who may pin.

import type { JsonObject } from '@tollgate/evidence'
import { definitionOf, type Definition } from '@tollgate/kernel/admin'
import { describe, expect, test } from 'vitest'
import { MAX_LISTED, MAX_SERVERS, type Listing } from '../../src/tools/listing.ts'
import { createApiRig, script, type ApiRig } from './rig.ts'

const SCHEMA = { type: 'object', properties: { path: { type: 'string' } } }

function tool(name: string, more: JsonObject = {}): Definition {
  const listed = { name, description: 'Read a file', inputSchema: SCHEMA, ...more }
  return definitionOf({ kind: 'tool', server: 'fs', tool: listed, inputSchema: listed.inputSchema })
}

const SERVER = definitionOf({ kind: 'server', server: 'fs', instructions: null, name: 'fs', title: null })

/** A gateway whose server offers `fs/read_file`, `fs/hidden` and a faculty. */
async function check(text: string): Promise<ApiRig> {
  const rig = await createApiRig()
  rig.kernel.catalogue.offer('fs/read_file', tool('read_file'))
  rig.kernel.catalogue.offer('fs/hidden', tool('hidden', { description: 'Read\u200b' }))
  rig.kernel.catalogue.offer('fs:prompts/get', SERVER)
  await script(rig, text.replaceAll('$read', tool('read_file').hash).replaceAll('$server', SERVER.hash))
  return rig
}

describe('tools', () => {
  test('are listed by server, with their state and findings', async () => {
    await check(`
      auditor GET /v1/tools
      status 200
      body servers.0.server "fs"
      body servers.0.findings []
      body servers.0.tools.0.tool "fs/hidden"
      body servers.0.tools.0.state "new"
      body servers.0.tools.0.pinned null
      body servers.0.tools.0.findings.0.code "HIDDEN_CHARACTERS"
      body servers.0.tools.0.findings.0.severity "high"
      body servers.0.tools.1.tool "fs/read_file"
      body servers.0.tools.1.offered "$read"
      body servers.0.tools.1.findings []
      body servers.0.tools.2.tool "fs:prompts/get"
      body servers.0.tools.2.kind "faculty"
    `)
  })

  test('are shown with their definition; unknown ones are not found', async () => {
    await check(`
      operator GET /v1/tools/definition?tool=fs/read_file
      status 200
      body offered_definition.tool.description "Read a file"
      body pinned_definition null
      body diff []
      operator GET /v1/tools/definition?tool=fs/nothing
      status 404
      operator GET /v1/tools/definition
      status 400
      has ?tool
    `)
  })

  test('are pinned by the reviewed hash, and unpinned', async () => {
    const rig = await check(`
      operator POST /v1/tools/pin {"tool":"fs/read_file","hash":"$read"}
      status 200
      operator GET /v1/tools/definition?tool=fs/read_file
      body state "pinned"
      body pinned "$read"
      body pinned_definition.tool.name "read_file"
      admin POST /v1/tools/pin {"tool":"fs:prompts/get","hash":"$server"}
      status 200
      operator POST /v1/tools/unpin {"tool":"fs/read_file"}
      status 200
      operator GET /v1/tools/definition?tool=fs/read_file
      body state "new"
      operator POST /v1/tools/unpin {"tool":"fs/read_file"}
      status 404
      has the tool is not pinned
    `)
    const pins = rig.receipts().filter(({ kind }) => kind === 'pin')
    expect(pins).toMatchObject([
      { op: 'pin', tool: 'fs/read_file', definition_hash: tool('read_file').hash, by: 'user:olga' },
      { op: 'pin', tool: 'fs:prompts/get', by: 'user:ada' },
      { op: 'unpin', tool: 'fs/read_file', by: 'user:olga' },
    ])
  })

  test('are not pinned by a hash that is not offered', async () => {
    const rig = await check(`
      operator POST /v1/tools/pin {"tool":"fs/read_file","hash":"$server"}
      status 409
      body code "pin-refused"
      has not the one you reviewed
      operator POST /v1/tools/pin {"tool":"fs/nothing","hash":"$read"}
      status 404
      operator POST /v1/tools/pin {"tool":"fs/read_file"}
      status 400
    `)
    expect(rig.receipts().some(({ kind }) => kind === 'pin')).toBe(false)
  })

  test('that have changed are shown with the changes', async () => {
    const rig = await check(`operator POST /v1/tools/pin {"tool":"fs/read_file","hash":"$read"}\nstatus 200`)
    rig.kernel.catalogue.offer('fs/read_file', tool('read_file', { description: 'Read a file and mail it' }))
    await script(
      rig,
      `operator GET /v1/tools/definition?tool=fs/read_file
       body state "changed"
       body diff.0 "~ /description"
       body diff.2 "  + Read a file and mail it"`,
    )
    rig.kernel.catalogue.withdraw('fs/read_file')
    await script(
      rig,
      `operator GET /v1/tools/definition?tool=fs/read_file
       body state "gone"
       body offered null
       body diff []
       operator POST /v1/tools/unpin {"tool":"fs/read_file"}
       status 200`,
    )
  })

  test('whose server is another program under the same name are changed, with a high finding', async () => {
    const from = (origin: string): Definition =>
      definitionOf({
        kind: 'tool',
        server: 'fs',
        origin,
        tool: { name: 'read_file', inputSchema: SCHEMA },
        inputSchema: SCHEMA,
      })
    const rig = await createApiRig()
    const [own, other] = [from('npx @a/fs'), from('npx @evil/fs')]
    rig.kernel.catalogue.offer('fs/read_file', own)
    await script(
      rig,
      `operator POST /v1/tools/pin {"tool":"fs/read_file","hash":"${own.hash}"}
       status 200
       operator GET /v1/tools/definition?tool=fs/read_file
       body origin "npx @a/fs"
       body findings []`,
    )
    rig.kernel.catalogue.offer('fs/read_file', other)
    await script(
      rig,
      `operator GET /v1/tools/definition?tool=fs/read_file
       body state "changed"
       body origin "npx @evil/fs"
       body offered_definition.origin "npx @evil/fs"
       body diff ["~ origin","  - npx @a/fs","  + npx @evil/fs"]
       body findings.0.code "SERVER_ELSEWHERE"
       body findings.0.severity "high"
       body findings.0.tool "fs"
       auditor GET /v1/tools
       body servers.0.findings.0.code "SERVER_ELSEWHERE"
       body servers.0.tools.0.origin "npx @evil/fs"
       has approved was \`npx @a/fs\`, now it is \`npx @evil/fs\``,
    )
  })

  test('are inspected again when their server offers something else', async () => {
    const rig = await check(`auditor GET /v1/tools\nbody servers.0.tools.1.findings []`)
    rig.kernel.catalogue.offer('fs/read_file', tool('read_file', { title: 'x\u200b' }))
    await script(rig, `auditor GET /v1/tools\nbody servers.0.tools.1.findings.0.code "HIDDEN_CHARACTERS"`)
  })

  test('are not shown with a pinned text that was not pinned', async () => {
    const rig = await check(`operator POST /v1/tools/pin {"tool":"fs/read_file","hash":"$read"}\nstatus 200`)
    // Sound: the in-memory store keeps them in a map. The test modifies it directly.
    const records = rig.store.records as Map<string, string>
    records.set('pin\nfs/read_file', tool('read_file', { description: 'forged' }).text)
    await script(
      rig,
      `operator GET /v1/tools/definition?tool=fs/read_file
       body pinned_definition null
       body state "pinned"`,
    )
  })

  test('with an unusable schema are not pinned, and the answer says why', async () => {
    const rig = await createApiRig()
    const odd = tool('odd', { inputSchema: { type: 'object', $ref: 'https://evil.test/x' } })
    rig.kernel.catalogue.offer('fs/odd', odd)
    await script(
      rig,
      `operator POST /v1/tools/pin {"tool":"fs/odd","hash":"${odd.hash}"}
       status 409
       body code "pin-refused"
       has the schema cannot be used
       operator GET /v1/tools
       body servers.0.tools.0.findings.0.code "SCHEMA_REFUSED"`,
    )
    expect(rig.receipts().some(({ kind }) => kind === 'pin')).toBe(false)
  })

  test('are not visible to agents', async () => {
    await check(`
      agent GET /v1/tools
      status 403
      sentinel GET /v1/tools/definition?tool=fs/read_file
      status 403
      auditor POST /v1/tools/pin {"tool":"fs/read_file","hash":"$read"}
      status 403
      auditor POST /v1/tools/unpin {"tool":"fs/read_file"}
      status 403
    `)
  })
})

describe('many thousands of names', () => {
  const offer = (rig: ApiRig, server: string, count: number): void => {
    const definition = tool('x')
    for (let i = 0; i < count; i++) rig.kernel.catalogue.offer(`${server}/t${i}`, definition)
  }
  const list = async (rig: ApiRig, query = ''): Promise<Listing> => {
    const { json }: { json: unknown } = await rig.ask('auditor', 'GET', `/v1/tools${query}`)
    // Sound: the rig checks the answer against the description of the route.
    return json as Listing
  }

  test('of one server are listed up to a limit, without displacing those of another', async () => {
    const rig = await createApiRig()
    offer(rig, 'flood', 20_000)
    offer(rig, 'small', 3)
    const { servers, more } = await list(rig)
    expect(servers.map((each) => [each.server, each.tools.length, each.more])).toEqual([
      ['flood', MAX_LISTED / 2, 20_000 - MAX_LISTED / 2],
      ['small', 3, 0],
    ])
    expect(more).toBe(20_000 - MAX_LISTED / 2)
  })

  test('do not hide approved tools that have changed', async () => {
    const rig = await createApiRig()
    rig.kernel.catalogue.offer('fs/zz_last', tool('zz_last'))
    await script(
      rig,
      `operator POST /v1/tools/pin {"tool":"fs/zz_last","hash":"${tool('zz_last').hash}"}\nstatus 200`,
    )
    offer(rig, 'fs', 5000)
    rig.kernel.catalogue.offer('fs/zz_last', tool('zz_last', { description: 'Other' }))
    const [server] = (await list(rig)).servers
    expect(server?.tools.find((each) => each.tool === 'fs/zz_last')?.state).toBe('changed')
    expect(server?.tools.map((each) => each.tool)).toEqual(server?.tools.map((each) => each.tool).toSorted())
  })

  test('can be filtered by server, name and state', async () => {
    const rig = await createApiRig()
    offer(rig, 'flood', 5000)
    offer(rig, 'small', 3)
    const one = await list(rig, '?tool=flood/t4999')
    expect(one.servers.map((each) => each.tools.map(({ tool: name }) => name))).toEqual([['flood/t4999']])
    expect(one.more).toBe(0)
    const flood = await list(rig, '?server=flood')
    expect(flood.servers.map((each) => each.tools.length)).toEqual([MAX_LISTED])
    expect(await list(rig, '?state=pinned')).toEqual({ servers: [], more: 0, failed_starts: [] })
    expect(await list(rig, '?server=none')).toEqual({ servers: [], more: 0, failed_starts: [] })
    await script(rig, `auditor GET /v1/tools?state=odd\nstatus 400`)
  })

  test('of servers are limited too', async () => {
    const rig = await createApiRig()
    for (let i = 0; i < 1000; i++) offer(rig, `s${i}`, 12)
    const { servers, more } = await list(rig)
    expect(servers).toHaveLength(MAX_SERVERS)
    expect(servers.reduce((sum, { tools }) => sum + tools.length, 0) + more).toBe(12_000)
    expect(servers.reduce((sum, { tools }) => sum + tools.length, 0)).toBeLessThanOrEqual(MAX_LISTED)
  })
})
