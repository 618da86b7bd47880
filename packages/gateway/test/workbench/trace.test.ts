// Reading the recorded history from a ledger file, in this thread or ahead in another one.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { authorize, complete } from '@tollgate/kernel'
import { activatePolicy } from '@tollgate/kernel/admin'
import { parsePolicy } from '@tollgate/kernel/policy'
import type { TraceEntry } from '@tollgate/kernel/workbench'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defaultConfigText, readConfig, type Config } from '../../src/config/config.ts'
import { createKey } from '../../src/keyring.ts'
import { silent } from '../../src/log.ts'
import { foundLedger, openGateway, openView } from '../../src/open.ts'
import { tracePages } from '../../src/workbench/trace.ts'

const POLICY = `tollgate: 1
name: trace
principals: { "agent:*": { tier: standard } }
tools: { notes/read: { effect: read, destinations: none } }
rules: [{ id: reads, allow: notes/read }]
`
// More than one page of the history, which has two entries per call.
const CALLS = 150

const folder = mkdtempSync(join(tmpdir(), 'tollgate-trace-'))
let config: Config

beforeAll(async () => {
  const keyring = { keys: [await createKey(folder, 'ledger'), await createKey(folder, 'writer')] }
  const text = `${defaultConfigText({ ledger: 'ledger.example/trace', port: 0 })}head-guard: off\n`
  writeFileSync(join(folder, 'tollgate.yaml'), text, { mode: 0o600 })
  config = readConfig(folder)
  await foundLedger(config, keyring)
  const { kernel, close } = await openGateway(config, keyring, silent)
  const parsed = parsePolicy(POLICY)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.mistakes))
  await activatePolicy(kernel, parsed.policy, 'user:test')
  await Promise.all(
    Array.from({ length: CALLS }, async (_, i) => {
      const { permit, decided } = await authorize(kernel, {
        caller: { tenant: 'default', principal: 'agent:a' },
        session_id: `s${i % 7}`,
        door: 'mcp',
        assurance: 'enforced',
        tool: 'notes/read',
        args: { name: `note ${i}` },
      })
      if (!permit) throw new Error(decided.reason)
      await complete(kernel, permit, { status: 'COMPLETED', output: new Uint8Array(8) })
    }),
  )
  await close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function read(apart: boolean): Promise<{ entries: readonly TraceEntry[]; pages: number }> {
  const { view, close } = await openView(config, apart)
  const entries: TraceEntry[] = []
  let pages = 0
  for await (const page of tracePages(view)) {
    entries.push(...page)
    pages++
  }
  await close()
  return { entries, pages }
}

describe('the history of a ledger', () => {
  it('has every entry once and in order, each decision with its kept call', async () => {
    const { entries, pages } = await read(false)
    expect(pages).toBeGreaterThan(2)
    const clocks = entries.map(({ receipt }) => receipt.lamport_clock)
    expect(clocks).toEqual([...new Set(clocks)].sort((a, b) => a - b))
    const kept = entries.flatMap(({ receipt, kept }) => (receipt.kind === 'decision' ? [kept ?? ''] : []))
    const names = kept.map((text) => (JSON.parse(text) as { args: { name: string } }).args.name)
    expect(new Set(names).size).toBe(CALLS)
    expect(names).toHaveLength(CALLS)
  })

  it('is the same when a thread reads it', async () => {
    expect(await read(true)).toEqual(await read(false))
  })

  it.each([false, true])('can be stopped in the middle and closed (in a thread: %s)', async (apart) => {
    const { view, close } = await openView(config, apart)
    let pages = 0
    for await (const page of tracePages(view)) if (page.length > 0 && ++pages === 2) break
    await close()
    expect(pages).toBe(2)
    await expect(view.size()).rejects.toMatchObject({ code: 'STORE_FAILED' })
  })

  it('reports errors of reading ahead', async () => {
    const { view, close } = await openView(config, true)
    let asked = 0
    const failing = {
      ...view,
      payloads: (start: number, limit: number, beside?: string) =>
        beside !== undefined && ++asked === 2
          ? Promise.reject(new Error('the disk is gone'))
          : view.payloads(start, limit, beside),
    }
    const read: number[] = []
    const reading = (async () => {
      for await (const page of tracePages(failing)) read.push(page.length)
    })()
    await expect(reading).rejects.toThrow('the disk is gone')
    expect(read.at(-1)).toBe(200)
    await close()
  })
})
