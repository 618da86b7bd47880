// A guard forwards only what the gateway allows of a result, even if answers are lost.

import { afterEach, describe, expect, it } from 'vitest'
import { sha256Hex, type Json } from '../../evidence/src/index.ts'
import { createClient, Withheld, type Client, type ClientOptions } from '../src/index.ts'
import type { Fault } from './stand-in-faults.ts'
import { AGENT_TOKEN, startStandIn, type Asked, type StandIn, type StandInOptions } from './stand-in.ts'

let standIn: StandIn | undefined

afterEach(async () => {
  await standIn?.close()
  standIn = undefined
})

async function start(
  options: StandInOptions,
  more: Partial<ClientOptions> = {},
): Promise<{ gateway: StandIn; client: Client }> {
  const gateway = (standIn = await startStandIn(options))
  return {
    gateway,
    client: createClient({ url: gateway.url, token: AGENT_TOKEN, timeout: 2_000, retries: 2, ...more }),
  }
}

const REDACTING: StandInOptions = {
  inspect: () => ({
    delivery: 'redacted',
    labels: ['secret'],
    findings: ['AWS_KEY'],
    output: { text: 'the key is [removed]' },
  }),
}
const WITHHOLDING: StandInOptions = {
  inspect: () => ({ delivery: 'withheld', labels: ['sealed'], findings: ['IGNORE_INSTRUCTIONS'] }),
}
const RESULT = { text: 'the key is hunter2' }

/** Faults for the requests to one path, in order; then none. */
function faultsAt(path: string, faults: readonly Fault[]): (asked: Asked) => Fault | undefined {
  const left = [...faults]
  return (asked) => (asked.path === path ? left.shift() : undefined)
}

/** Calls a guarded tool. Returns the outcome and how often the tool ran. */
async function call(client: Client, result: unknown = RESULT): Promise<[ended: unknown, runs: number]> {
  let runs = 0
  const guarded = client.guard('fs/read_file', () => {
    runs++
    return result
  })
  const ended = await guarded({}).catch((fault: unknown) => fault)
  return [ended, runs]
}

describe('a result', () => {
  it('that is delivered in full is returned unchanged', async () => {
    const { client } = await start({})
    const [ended, runs] = await call(client)
    expect(ended).toBe(RESULT)
    expect(runs).toBe(1)
  })

  it('of bytes is returned as bytes after redaction, and a buffer as a buffer', async () => {
    const { client } = await start({ inspect: () => ({ delivery: 'redacted', output: 'left' }) })
    const given = new TextEncoder().encode('the key')
    const [bytes] = await call(client, given)
    const [buffer] = await call(client, given.buffer)
    expect(bytes).toBeInstanceOf(Uint8Array)
    expect(buffer).toBeInstanceOf(ArrayBuffer)
    for (const each of [bytes, buffer]) {
      expect(new TextDecoder().decode(each as Uint8Array<ArrayBuffer> | ArrayBuffer)).toBe('left')
    }
  })

  it('that is withheld throws `Withheld` without the output', async () => {
    const { gateway, client } = await start(WITHHOLDING)
    const [thrown, runs] = await call(client)
    expect(thrown).toBeInstanceOf(Withheld)
    expect(thrown).toMatchObject({
      code: 'output-withheld',
      tool: 'fs/read_file',
      decision: gateway.receipts('effect')[0]?.decision,
      receipt: gateway.ledger.entries.at(-1)?.id,
      labels: ['sealed'],
      findings: ['IGNORE_INSTRUCTIONS'],
    })
    expect(JSON.stringify(thrown)).toContain('"withheld":true')
    expect(JSON.stringify([thrown, Object.entries(thrown as object)])).not.toContain('hunter2')
    expect(runs).toBe(1)
  })

  it('of `undefined` cannot be withheld', async () => {
    const { client } = await start(WITHHOLDING)
    let runs = 0
    const guarded = client.guard('fs/read_file', () => {
      runs++
    })
    await expect(guarded({})).resolves.toBeUndefined()
    expect(runs).toBe(1)
  })

  it('that cannot be sent is reported by its digest', async () => {
    const seen: Json[] = []
    const { client } = await start({
      fault({ path, body }) {
        if (path === '/v1/effects') seen.push(body)
        return undefined
      },
    })
    await call(client, 'x'.repeat(600_000))
    await call(client, { big: 1n })
    expect(seen).toMatchObject([
      { output_digest: { bytes: 600_002, sha256: sha256Hex(`"${'x'.repeat(600_000)}"`) } },
      { output_digest: { bytes: 0, sha256: sha256Hex('') } },
    ])
  })
})

describe('if the answer to a report is lost', () => {
  it('and the ledger has the report of another output, it is not forwarded', async () => {
    const { gateway, client } = await start({
      fault: ({ path, body }) => {
        if (path !== '/v1/effects' || told) return undefined
        told = true
        // Another program with the same token reports first.
        void other.report(body.decision as string, { status: 'COMPLETED', output: 'harmless' })
        return { kind: 'drop-before' }
      },
    })
    let told = false
    const other = createClient({ url: gateway.url, token: AGENT_TOKEN })
    const [thrown, runs] = await call(client)
    expect(thrown).toBeInstanceOf(Withheld)
    expect(thrown).toMatchObject({ receipt: null })
    expect(runs).toBe(1)
  })

  it('a manual report returns the facts from the ledger', async () => {
    const { gateway, client } = await start({
      ...REDACTING,
      fault: faultsAt('/v1/effects', [{ kind: 'drop-after' }]),
    })
    const { receipt } = await client.evaluate({ tool: 'fs/read_file' })
    expect(await client.report(receipt ?? '', { status: 'COMPLETED', output: 'x' })).toEqual({
      receipt: gateway.ledger.entries.at(-1)?.id,
      delivery: 'redacted',
      labels: ['secret'],
      findings: ['AWS_KEY'],
    })
  })
})

describe('a call', () => {
  it('sends its delegation and its sources, from the guard or from the call', async () => {
    const asked: Json[] = []
    const { client } = await start({
      fault({ path, body }) {
        if (path === '/v1/evaluate') asked.push(body)
        return undefined
      },
    })
    const [first, second] = [sha256Hex('first'), sha256Hex('second')]
    const read = client.guard('fs/read_file', () => 1, { delegation: first })
    const sources = [{ source_channel: 'USER', text: 'read it' }] as const
    await read({})
    await read({}, { delegation: second, sources })
    await client.evaluate({ tool: 'fs/read_file', delegation: second, sources })
    expect(asked).toMatchObject([
      { delegation: first },
      { delegation: second, sources },
      { delegation: second, sources },
    ])
    expect(asked[0]).not.toHaveProperty('sources')
  })

  it('reads its sources once', async () => {
    const asked: Json[] = []
    const { client } = await start({
      fault({ path, body }) {
        if (path !== '/v1/evaluate') return undefined
        asked.push(body)
        return asked.length === 1 ? { kind: 'drop-before' } : undefined
      },
    })
    const source = { source_channel: 'TOOL_OUTPUT' as const, text: 'before' }
    const running = client.guard('fs/read_file', () => 1)({}, { sources: [source] })
    source.text = 'after'
    await running
    expect(asked).toHaveLength(2)
    for (const each of asked) expect(each).toMatchObject({ sources: [{ text: 'before' }] })
  })

  it('under a delegation does not run on a proven ALLOW under another', async () => {
    const { gateway, client } = await start({})
    let runs = 0
    const options = { trust: gateway.trust, principal: 'agent:ci', delegation: sha256Hex('one') }
    // The stand-in has no delegations, so its decisions name none.
    await expect(client.guard('fs/read_file', () => runs++, options)({})).rejects.toMatchObject({
      code: 'receipt-unproven',
    })
    expect(runs).toBe(0)
  })
})
