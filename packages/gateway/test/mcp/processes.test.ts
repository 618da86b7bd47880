// Processes on the local socket without a named session: each has an id in receipts, and all share the state of their
// principal.

import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { answerRequest } from '@tollgate/kernel/admin'
import { afterEach, describe, expect, it } from 'vitest'
import { joinGateway, type WrapLink } from '../../src/cli/mcp/wrap-link.ts'
import { readConfig } from '../../src/config/config.ts'
import { socketPath } from '../../src/mcp/client/local-path.ts'
import type { Join } from '../../src/mcp/client/local-join.ts'
import { fsckLedger } from '../../src/open.ts'
import { openGate, type Gate } from './gate.ts'

const SERVER = fileURLToPath(new URL('crm-server.mjs', import.meta.url))
const POLICY = `
tollgate: 1
name: processes
principals: { "agent:*": { tier: admin } }
tools:
  crm/lookup: { effect: read, destinations: none, returns: [personal] }
  crm/post: { effect: send, destinations: [url] }
rules: [{ id: all, allow: "crm/*" }]
gates:
  egress: { allow: ["*"] }
  taint: { deny: [secret], internal: [], provenance: { untrusted: allow, ordered: allow, flagged: deny } }
`
const INITIALIZE = {
  kind: 'request',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
} as const

const ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** The answer to one request of a process that joins only for it. */
async function once(gate: Gate, method: string, params: object, more: Partial<Join> = {}): Promise<string> {
  let link: WrapLink | undefined
  try {
    return await new Promise<string>((resolve, reject) => {
      const join = { name: 'crm', command: process.execPath, args: [SERVER], env: {}, cwd: process.cwd() }
      const events = {
        // The server may first send a notification.
        onLine: (line: Buffer) => {
          if (isAnswer(line)) resolve(line.toString())
        },
        onStderr: () => undefined,
        onEnd: () => reject(new Error('the gateway has gone')),
      }
      joinGateway(socketPath(gate.data), { ...join, initialize: INITIALIZE, ...more }, events).then(
        (joined) => {
          link = joined
          joined.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
        },
        reject,
      )
    })
  } finally {
    link?.close()
  }
}

function isAnswer(line: Buffer): boolean {
  const message: unknown = JSON.parse(line.toString())
  return typeof message === 'object' && message !== null && 'id' in message && message.id === 1
}

async function open(policy = POLICY): Promise<Gate> {
  const gate = await openGate({}, { policy })
  ends.push(() => gate.close())
  await once(gate, 'tools/list', {})
  await gate.pin('crm')
  return gate
}

const LOOKUP = { name: 'lookup', arguments: { id: '7' } }
const post = (text: string) => ({ name: 'post', arguments: { url: 'https://api.example/notes', text } })

/** The decisions about all calls, oldest first. */
async function decisions(gate: Gate) {
  const all = [...(await gate.record('crm/lookup')), ...(await gate.record('crm/post'))]
  return all.map(({ decision }) => decision).sort((a, b) => a.seq - b.seq)
}

describe('a client that joins as a new process before every call', () => {
  it('is escalated for labelled data in small parts to one sink within six calls, as if it had stayed', async () => {
    const gate = await open()
    for (let i = 0; i < 3; i++) {
      await once(gate, 'tools/call', LOOKUP)
      await once(gate, 'tools/call', post(`note ${i}`))
    }
    const all = await decisions(gate)
    expect(all.map(({ reason_code }) => reason_code).slice(4)).toEqual([
      all[0]?.reason_code,
      'SESSION_RISK_APPROVAL_REQUIRED',
    ])
    expect(all.map(({ session }) => session.seq)).toEqual([0, 1, 2, 3, 4, 5])
    const ids = new Set(all.map(({ session }) => session.id))
    expect(ids.size).toBe(6)
    for (const id of ids) expect(id).toMatch(/^mcp:[0-9a-f]{32}$/)
  })

  it('may run an approved call once, and the ledger verifies', async () => {
    const gate = await open(POLICY.replace('rules: [', 'rules: [{ id: ask, require: "crm/post" }, '))
    await once(gate, 'tools/call', post('hello'))
    const [asked] = await gate.record('crm/post')
    expect(asked?.decision.verdict).toBe('ESCALATE')
    const { kernel } = gate.running.gateway
    const [request] = kernel.approvals.list(kernel.host.now())
    const answer = { tenant: 'default', request: request?.id ?? '', granted: true, approver: 'user:olga' }
    await answerRequest(kernel, answer)
    for (let i = 0; i < 2; i++) await once(gate, 'tools/call', post('hello'))
    expect((await decisions(gate)).map(({ verdict }) => verdict)).toEqual(['ESCALATE', 'ALLOW', 'ESCALATE'])
    await ends.pop()?.()
    expect(await fsckLedger(readConfig(gate.data), () => undefined)).toMatchObject({ ok: true, problems: [] })
  })
})

describe('a value that one process has read', () => {
  it('keeps its label in the next process', async () => {
    const gate = await open(POLICY.replace('deny: [secret]', 'deny: [personal]'))
    await once(gate, 'tools/call', LOOKUP)
    await once(gate, 'tools/call', post('please see 1234-0000'))
    await once(gate, 'tools/call', post('please see 4711-2203'))
    const [unrelated, read] = await gate.record('crm/post')
    expect(unrelated?.decision.verdict).toBe('ALLOW')
    expect(read?.decision).toMatchObject({ verdict: 'DENY', rung: 'taint', labels: ['personal'] })
  })
})

describe('the session of a process', () => {
  it('is the one in `_meta`, else the id it joins with, also when it joins again', async () => {
    const gate = await open()
    const process = randomBytes(16).toString('hex')
    for (let i = 0; i < 2; i++) await once(gate, 'tools/call', LOOKUP, { process })
    await once(gate, 'tools/call', { ...LOOKUP, _meta: { 'dev.tollgate/session': 's1' } }, { process })
    const ids = (await decisions(gate)).map(({ session }) => [session.id, session.seq])
    expect(ids).toEqual([
      [`mcp:${process}`, 0],
      [`mcp:${process}`, 1],
      ['s1', 0],
    ])
  })
})
