// Reading the ledger over HTTP: pages, proofs, packs, streams, sessions.

import { openProof, parseTrust, verifyPack, type Receipt } from '@tollgate/evidence'
import { closeSessions } from '@tollgate/kernel'
import { describe, expect, test, vi } from 'vitest'
import { App } from '../../src/api/app.ts'
import type { Page } from '../../src/view.ts'
import { createApiRig, script, type ApiRig, type Person } from './rig.ts'

async function busy(calls = 3): Promise<ApiRig> {
  const rig = await createApiRig()
  for (let i = 0; i < calls; i++) {
    await rig.ask('agent', 'POST', '/v1/evaluate', {
      tool: 'fs/read_file',
      arguments: { i },
      session_id: 's1',
    })
  }
  return rig
}

interface Listed {
  readonly receipts: { index: number; id: string; receipt: Receipt }[]
  readonly next: number | null
}

async function list(rig: ApiRig, person: Person, query: string): Promise<Listed> {
  return (await rig.ask(person, 'GET', `/v1/receipts${query}`)).json as unknown as Listed
}

describe('receipts', () => {
  test('are listed newest first, page by page, each exactly once', async () => {
    const rig = await busy(5)
    const seen: number[] = []
    let query = '?kind=decision&limit=2'
    while (true) {
      const { receipts, next } = await list(rig, 'auditor', query)
      seen.push(...receipts.map(({ index }) => index))
      if (next === null) break
      query = `?kind=decision&limit=2&from=${next}`
    }
    expect(seen).toHaveLength(5)
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => b - a))
  })

  test('are found by their contents', async () => {
    const rig = await busy(2)
    await rig.ask('other', 'POST', '/v1/evaluate', { tool: 'fs/write_file' })
    const found = async (query: string): Promise<number> =>
      (await list(rig, 'auditor', query)).receipts.length
    expect(await found('?verdict=DENY')).toBe(1)
    expect(await found('?verdict=ALLOW')).toBe(2)
    expect(await found('?principal=agent:b')).toBe(1)
    expect(await found('?tool=fs/read_file&session=s1')).toBe(2)
    expect(await found('?kind=genesis&direction=on')).toBe(1)
    const [first] = (await list(rig, 'auditor', '?verdict=ALLOW')).receipts
    expect(await found(`?decision=${first?.id ?? ''}`)).toBe(1)
  })

  test('are found by the beginning of their ids, if the caller may see them', async () => {
    const rig = await busy(2)
    const [first] = (await list(rig, 'auditor', '?verdict=ALLOW')).receipts
    const begins = `?begins=${(first?.id ?? '').slice(0, 8)}`
    for (const role of ['auditor', 'agent'] as const) {
      expect((await list(rig, role, begins)).receipts.map(({ id }) => id)).toEqual([first?.id])
    }
    expect((await list(rig, 'other', begins)).receipts).toEqual([])
    await script(rig, 'auditor GET /v1/receipts?begins=abc\nstatus 400')
  })

  test('refuse unknown parameters', async () => {
    await script(
      await busy(0),
      `
      auditor GET /v1/receipts?kind=nonsense
      status 400
      auditor GET /v1/receipts?limit=1001
      status 400
      auditor GET /v1/receipts?limit=1e2
      status 400
      auditor GET /v1/receipts?limit=1&limit=2
      status 400
      auditor GET /v1/receipts?from=-1
      status 400
      auditor GET /v1/receipts?constructor=1
      status 400
      auditor GET /v1/receipts/nonsense
      status 404
      auditor GET /v1/receipts/%ff
      status 400
      auditor GET /v2/receipts
      status 404
      auditor PUT /v1/receipts
      status 405
      header allow GET
      `,
    )
  })

  test('show their envelope, byte for byte', async () => {
    const rig = await busy(1)
    const index = rig.store.entries.length - 1
    const { json, text } = await rig.ask('agent', 'GET', `/v1/receipts/${rig.store.entries[index]?.id ?? ''}`)
    expect(json.envelope).toBe(Buffer.from(rig.store.envelopes[index] ?? []).toString())
    expect(text).toContain(Buffer.from(rig.store.entries[index]?.payload ?? []).toString())
  })

  test('are proven under a new checkpoint', async () => {
    const rig = await busy(3)
    const index = rig.store.entries.length - 2
    const { text, headers } = await rig.ask(
      'agent',
      'GET',
      `/v1/receipts/${rig.store.entries[index]?.id ?? ''}/proof`,
    )
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const { keys } = await parseTrust(await rig.trust())
    const envelope = rig.store.envelopes[index] ?? new Uint8Array()
    const opened = await openProof(text, envelope, { ledger: keys })
    expect(opened).toMatchObject({ index })
  })

  test('of an effect belong to the principal of its decision', async () => {
    const rig = await busy(1)
    const decision = rig.store.entries.at(-1)?.id ?? ''
    const { json } = await rig.ask('agent', 'POST', '/v1/effects', { decision, status: 'COMPLETED' })
    const effect = `/v1/receipts/${String(json.receipt)}`
    expect((await rig.ask('agent', 'GET', effect)).status).toBe(200)
    expect((await rig.ask('other', 'GET', effect)).status).toBe(404)
    expect((await rig.ask('auditor', 'GET', effect)).status).toBe(200)
    expect((await list(rig, 'agent', '?kind=effect')).receipts).toHaveLength(1)
  })

  test.each(['far-auditor', 'agent'] as const)(
    'of genesis and keys are shown to every reader: %s',
    async (who) => {
      const rig = await busy(0)
      const genesis = `/v1/receipts/${rig.store.entries[0]?.id ?? ''}`
      expect((await rig.ask(who, 'GET', genesis)).status).toBe(200)
      expect((await rig.ask(who, 'GET', `${genesis}/proof`)).status).toBe(200)
      for (const kind of ['genesis', 'key']) {
        const { json: body } = await rig.ask(who, 'GET', `/v1/receipts?kind=${kind}`)
        expect(body).toMatchObject({ receipts: [{ receipt: { kind } }], next: null })
      }
    },
  )
})

async function fetchPack(rig: ApiRig, query: string, person: Person = 'auditor'): Promise<Response> {
  const headers = { authorization: `Bearer ${rig.token(person)}` }
  return rig.app.fetch(new Request(`http://x/v1/evidence/export${query}`, { headers }))
}

describe('export', () => {
  test.each([
    ['', `-0-`],
    ['?from=14', '-14-'],
    ['?from=14&to=15', '-14-15.pack'],
    ['?continues=5', '-0-'],
    ['?session=s1', '.pack'],
    ['?principal=agent:a&tool=fs/read_file&verdict=ALLOW', '.pack'],
    ['?since=2026-01-05T09:00:00.000Z&until=2027-01-05T09:00:00.000Z', '.pack'],
    ['?session=s1&receipt=$last&from=3', '.pack'],
    ['?receipt=$last', '.pack'],
    ['?receipt=$last&from=0&to=3', '-0-3.pack'],
  ])('of `%s` verifies under the trust file', async (query, name) => {
    const rig = await busy(4)
    const response = await fetchPack(rig, query.replace('$last', rig.store.entries.at(-1)?.id ?? ''))
    expect(response.headers.get('content-disposition')).toContain('ledger.example-api-')
    expect(response.headers.get('content-disposition')).toContain(name)
    const pack = new Uint8Array(await response.arrayBuffer())
    const report = await verifyPack([pack], { trust: await parseTrust(await rig.trust()) })
    expect(report.findings).toEqual([])
    expect(report.exit).toBe(0)
  })

  test('of a range has the policies in force at its start', async () => {
    const rig = await busy(2)
    const policy = rig.receipts().findIndex(({ kind }) => kind === 'policy')
    const from = rig.receipts().length - 1
    const response = await fetchPack(rig, `?from=${from}`)
    const report = await verifyPack([new Uint8Array(await response.arrayBuffer())])
    // The genesis receipt, the writer's key and the policy.
    expect(policy).toBe(2)
    expect(report.selected).toBe(3)
    const one = await verifyPack([new Uint8Array(await (await fetchPack(rig, '?from=2&to=3')).arrayBuffer())])
    expect(one.selected).toBe(2)
  })

  test('of a single receipt is possible for another tenant, if the receipt is its own', async () => {
    const rig = await busy(1)
    const { json } = await rig.ask('far-agent', 'POST', '/v1/evaluate', { tool: 'x' })
    const response = await fetchPack(rig, `?receipt=${String(json.receipt)}`, 'far-auditor')
    expect(response.status).toBe(200)
    const report = await verifyPack([new Uint8Array(await response.arrayBuffer())], {
      trust: await parseTrust(await rig.trust()),
    })
    expect(report.exit).toBe(0)
  })

  /** The indexes of the receipts in a filtered export, and its report. */
  async function exported(rig: ApiRig, query: string, person: Person = 'auditor') {
    const indexes: number[] = []
    const pack = new Uint8Array(await (await fetchPack(rig, query, person)).arrayBuffer())
    const report = await verifyPack([pack], {
      trust: await parseTrust(await rig.trust()),
      onReceipt: ({ index }) => indexes.push(index),
    })
    expect(report.exit).toBe(0)
    return { indexes, report }
  }

  test('with filters has the matching receipts, the keys and the policies in force, and nothing else', async () => {
    const rig = await busy(3)
    await rig.ask('other', 'POST', '/v1/evaluate', { tool: 'fs/read_file' })
    const last = rig.receipts().length - 1
    const { indexes, report } = await exported(rig, '?principal=agent:b')
    expect(indexes).toEqual([0, 1, 2, last])
    expect(report).toMatchObject({ selected: 4 })
    expect(report.range).toBeUndefined()
    expect((await exported(rig, `?kind=decision&to=${last - 1}`)).indexes).not.toContain(last)
  })

  test('with a period has the receipts of that period', async () => {
    const rig = await busy(1)
    rig.host.time += 3_600_000
    const since = new Date(rig.host.time).toISOString()
    const first = rig.receipts().length
    await rig.ask('agent', 'POST', '/v1/evaluate', { tool: 'fs/read_file', session_id: 's2' })
    const later = rig.receipts().map((_, index) => index)
    expect((await exported(rig, `?since=${since}`)).indexes).toEqual([0, 1, 2, ...later.slice(first)])
    expect((await exported(rig, `?until=${since}`)).indexes).toEqual(
      later.slice(0, first).filter((index) => rig.receipts()[index]?.tenant === 'default'),
    )
    expect((await list(rig, 'auditor', `?since=${since}`)).receipts).toHaveLength(later.length - first)
    expect((await list(rig, 'auditor', `?until=${since}`)).receipts.map(({ index }) => index)).not.toContain(
      first,
    )
  })

  test('with filters shows only the caller’s tenant', async () => {
    const rig = await busy(1)
    const { json } = await rig.ask('far-agent', 'POST', '/v1/evaluate', { tool: 'x' })
    const own = rig.store.entries.findIndex(({ id }) => id === json.receipt)
    const { indexes } = await exported(rig, '?kind=decision', 'far-auditor')
    expect(indexes).toEqual([0, 1, own])
    expect((await fetchPack(rig, '?session=s1', 'far-auditor')).status).toBe(404)
    expect((await fetchPack(rig, '', 'far-auditor')).status).toBe(403)
  })

  test('with filters that match nothing, or with a day that does not exist, is refused', async () => {
    const rig = await busy(1)
    expect((await fetchPack(rig, '?session=none')).status).toBe(404)
    expect((await fetchPack(rig, '?since=2026-13-45T09:00:00.000Z')).status).toBe(400)
    expect((await rig.ask('auditor', 'GET', '/v1/receipts?until=2026-01-05T99:00:00.000Z')).status).toBe(400)
  })

  test('of a missing receipt is refused before anything is sent', async () => {
    const rig = await busy(1)
    for (const query of [
      '?from=9999',
      '?from=5&to=5',
      '?continues=9999',
      '?since=9999',
      '?to=99999',
      '?receipt=x',
    ]) {
      const response = await fetchPack(rig, query)
      expect([query, response.status]).toEqual([query, 400])
    }
  })
})

/** Reads a number of events from a stream. */
async function events(response: Response, count: number): Promise<string[]> {
  const found: string[] = []
  let text = ''
  // Sound: the body of a response is a stream of bytes.
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString()
    const parts = text.split('\n\n')
    text = parts.pop() ?? ''
    found.push(...parts.filter((part) => part.startsWith('id:')))
    if (found.length >= count) break
  }
  return found
}

async function openStream(rig: ApiRig, query = '', more: Record<string, string> = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${rig.token('agent')}`, ...more }
  return rig.app.fetch(new Request(`http://x/v1/receipts/stream${query}`, { headers }))
}

describe('the stream', () => {
  test('shows only new receipts, and only those of the caller', async () => {
    const rig = await busy(2)
    const response = await openStream(rig)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const reading = events(response, 2)
    await rig.ask('other', 'POST', '/v1/evaluate', { tool: 'fs/read_file' })
    const one = await rig.ask('agent', 'POST', '/v1/evaluate', { tool: 'fs/read_file' })
    const two = await rig.ask('agent', 'POST', '/v1/evaluate', { tool: 'fs/read_file' })
    const [first = '', second = ''] = await reading
    expect(first).toMatch(/^id: \d+\nevent: receipt\ndata: \{"index":/)
    expect(first).toContain(String(one.json.receipt))
    expect(second).toContain(String(two.json.receipt))
  })

  test('resumes after the last event, and from an index', async () => {
    const rig = await busy(3)
    const size = rig.store.envelopes.length
    const resumed = await events(await openStream(rig, '', { 'last-event-id': String(size - 3) }), 2)
    expect(resumed.map((event) => event.split('\n')[0])).toEqual([`id: ${size - 2}`, `id: ${size - 1}`])
    const from = await events(await openStream(rig, `?from=${size - 1}`), 1)
    expect(from[0]).toMatch(`id: ${size - 1}`)
  })

  test('ends when the gateway stops', async () => {
    const rig = await busy(1)
    const reading = (await openStream(rig)).text()
    await new Promise((resolve) => setTimeout(resolve, 20))
    rig.app.end()
    expect(await reading).toBe(': tollgate\n\n')
  })

  test('ends when the token is revoked', async () => {
    const rig = await busy(1)
    const { token, info } = await rig.tokens.issue(
      { role: 'agent', tenant: 'default', principal: 'agent:a' },
      'test',
    )
    const reading = (await openStream(rig, '', { authorization: `Bearer ${token}` })).text()
    await new Promise((resolve) => setTimeout(resolve, 20))
    await rig.tokens.revoke(info.hash, 'test')
    expect(await reading).toBe(': tollgate\n\n')
  })

  test('queues nothing for a reader that does not read', async () => {
    const rig = await busy(1)
    let pages = 0
    const view = {
      ...rig.view,
      page: (request: Parameters<typeof rig.view.page>[0]) => (pages++, rig.view.page(request)),
    }
    const slow = await createApiRig({ api: { view } })
    const response = await openStream(slow, '?from=0')
    const reader = response.body?.getReader()
    await reader?.read()
    for (let i = 0; i < 50; i++) await slow.ask('agent', 'POST', '/v1/evaluate', { tool: 'fs/read_file' })
    expect(pages).toBeLessThanOrEqual(1)
    await reader?.cancel()
  })

  test('is limited per principal', async () => {
    const rig = await busy(0)
    const headers = { authorization: `Bearer ${rig.token('agent')}` }
    const open = (): Promise<Response> =>
      rig.app.fetch(new Request('http://x/v1/receipts/stream', { headers }))
    for (let i = 0; i < 32; i++) void (await open()).text()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect((await open()).status).toBe(429)
    expect((await rig.ask('agent', 'GET', '/v1/status')).status).toBe(200)
    const others = rig.app.fetch(
      new Request('http://x/v1/receipts/stream', {
        headers: { authorization: `Bearer ${rig.token('other')}` },
      }),
    )
    expect((await others).status).toBe(200)
    rig.app.end()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect((await open()).status).toBe(200)
  })

  test('is limited per principal for simultaneous requests', async () => {
    const rig = await busy(0)
    const all = await Promise.all(Array.from({ length: 300 }, () => openStream(rig)))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(32)
    expect(all.filter(({ status }) => status === 429)).toHaveLength(268)
    // A closed stream is no longer counted, even if it was never read.
    for (const { body } of all) await body?.cancel()
    expect((await openStream(rig)).status).toBe(200)
  })

  test('is not counted for a caller that disconnected before it began', async () => {
    const rig = await busy(0)
    const headers = { authorization: `Bearer ${rig.token('agent')}` }
    for (let i = 0; i < 40; i++) {
      const abort = new AbortController()
      const asked = new Request('http://x/v1/receipts/stream', { headers, signal: abort.signal })
      const opening = rig.app.fetch(asked)
      abort.abort()
      expect((await opening).status).toBe(200)
    }
  })

  test('is not counted when it cannot be opened', async () => {
    const size = vi.fn(() => Promise.reject(new Error('no reader')))
    const rig = await createApiRig({ api: { view: { ...(await createApiRig()).view, size } } })
    for (let i = 0; i < 40; i++) expect((await openStream(rig)).status).toBe(500)
    expect(size).toHaveBeenCalledTimes(40)
  })

  test('reads at most every 50 ms, however fast the ledger grows, and misses nothing', async () => {
    const base = await createApiRig()
    let looks = 0
    let ring = (): void => undefined
    const view = { ...base.view, size: () => (looks++, Promise.resolve(1)) }
    const watch = (listener: (size: number) => void): (() => void) => {
      ring = () => listener(1)
      return () => undefined
    }
    const rig = await createApiRig({ api: { view, watch } })
    const reading = (await openStream(rig, '?from=1')).text()
    const start = performance.now()
    // It looks again and again, however long that takes on a loaded machine.
    while (looks < 6) {
      ring()
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    expect(looks).toBeLessThanOrEqual(Math.ceil((performance.now() - start) / 50) + 1)
    rig.app.end()
    await reading
  })

  test('releases everything when its reader disconnects', async () => {
    const rig = await busy(1)
    const abort = new AbortController()
    const headers = { authorization: `Bearer ${rig.token('agent')}` }
    const response = await rig.app.fetch(
      new Request('http://x/v1/receipts/stream', { headers, signal: abort.signal }),
    )
    const reading = response.text()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect((await rig.ask('auditor', 'GET', '/metrics')).text).toContain('tollgate_streams_open 1')
    abort.abort()
    await reading
    expect((await rig.ask('auditor', 'GET', '/metrics')).text).toContain('tollgate_streams_open 0')
  })
})

describe('sessions', () => {
  test('show the stored state, as in the ledger', async () => {
    await script(
      await busy(3),
      `
      agent GET /v1/sessions/s1
      status 200
      body decisions 3
      body broken false
      body principal "agent:a"
      auditor GET /v1/sessions/s1?principal=agent:a
      body decisions 3
      auditor GET /v1/sessions/s1
      status 400
      has Name the principal of the session
      agent GET /v1/sessions/nonsense
      status 404
      agent GET /v1/sessions/s1%0Ax
      status 404
      `,
    )
  })

  test('that were closed by retention are not shown as broken, and explanations match decisions', async () => {
    const rig = await busy(2)
    await closeSessions(rig.kernel, [{ name: 'session\ndefault\nagent:a\ns1', seq: 2 }])
    await script(
      rig,
      `
      agent GET /v1/sessions/s1
      body decisions 2
      body broken false
      auditor POST /v1/policy/explain {"tool":"web/click","principal":"agent:a","session_id":"s1"}
      let $code = reason_code
      agent POST /v1/evaluate {"tool":"web/click","session_id":"s1"}
      has "$code"
      agent GET /v1/sessions/s1
      body decisions 3
      `,
    )
  })

  test('are found even if their last decision is far back', async () => {
    const rig = await busy(2)
    const page = (): Promise<Page> => Promise.resolve({ entries: [], next: 7 })
    const app = new App({ ...rig.options, view: { ...rig.view, page } })
    const headers = { authorization: `Bearer ${rig.token('agent')}` }
    const response = await app.fetch(new Request('http://x/v1/sessions/s1', { headers }))
    expect(await response.json()).toMatchObject({
      decisions: 2,
      broken: false,
      last: { receipt: rig.store.entries.at(-1)?.id },
    })
  })

  test('are shown as broken when their record was modified', async () => {
    const rig = await busy(2)
    const name = 'session\ndefault\nagent:a\ns1'
    const records = rig.store.records as Map<string, string>
    records.set(name, records.get(name)?.replace('"denials":0', '"denials":1') ?? '')
    await script(rig, 'agent GET /v1/sessions/s1\nbody broken true\nbody decisions 2')
  })
})

describe('reading in turn', () => {
  /** A ledger whose pages are returned when the test says so. */
  async function slowRig(): Promise<{ rig: ApiRig; most: () => number; go: () => void }> {
    const base = await createApiRig()
    let now = 0
    let most = 0
    const held: (() => void)[] = []
    const view = {
      ...base.view,
      async page() {
        most = Math.max(most, ++now)
        await new Promise<void>((resolve) => held.push(resolve))
        now--
        return { entries: [], next: undefined }
      },
    }
    const rig = await createApiRig({ api: { view } })
    const go = (): void => {
      for (const resolve of held.splice(0)) resolve()
    }
    return { rig, most: () => most, go }
  }

  const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))

  test('an agent has at most eight concurrent reads; more wait, and beyond the queue they are refused', async () => {
    const { rig, most, go } = await slowRig()
    const statuses: number[] = []
    const asking = Array.from({ length: 300 }, async () => {
      const { status, headers } = await rig.ask('agent', 'GET', '/v1/receipts?tool=none')
      statuses.push(status)
      if (status === 429) expect(headers.get('retry-after')).toBe('1')
    })
    await soon()
    expect(most()).toBe(8)
    expect(statuses).toEqual(Array.from({ length: 228 }, () => 429))
    // Other callers are answered meanwhile, and so is the same agent when it evaluates a call.
    const other = rig.ask('other', 'GET', '/v1/receipts')
    expect((await rig.ask('agent', 'POST', '/v1/evaluate', { tool: 'fs/read_file' })).status).toBe(200)
    for (let i = 0; i < 12; i++) {
      go()
      await soon()
    }
    await Promise.all(asking)
    expect((await other).status).toBe(200)
    expect(statuses.filter((status) => status === 200)).toHaveLength(72)
    expect(most()).toBeLessThanOrEqual(9)
  })

  test('a failed read frees its turn', async () => {
    const page = (): Promise<never> => Promise.reject(new Error('no reader'))
    const rig = await createApiRig({ api: { view: { ...(await createApiRig()).view, page } } })
    for (let i = 0; i < 20; i++) expect((await rig.ask('agent', 'GET', '/v1/receipts')).status).toBe(500)
  })

  test('streams wait for their turn and are not interrupted', async () => {
    const { rig, most, go } = await slowRig()
    const streams = await Promise.all(Array.from({ length: 32 }, () => openStream(rig, '?from=0')))
    const reading = streams.map((each) => each.text())
    const asking = Array.from({ length: 64 }, () => rig.ask('agent', 'GET', '/v1/receipts'))
    await soon()
    expect(most()).toBe(8)
    rig.app.end()
    for (let i = 0; i < 20; i++) {
      go()
      await soon()
    }
    for (const text of await Promise.all(reading)) expect(text).toMatch(/^: tollgate/)
    await Promise.all(asking)
    expect(rig.log.filter(({ level }) => level === 'error')).toEqual([])
  })
})
