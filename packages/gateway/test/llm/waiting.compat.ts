// Real clients while a call waits for an approval, with many keep-alives in their streams.

import { setTimeout as pause } from 'node:timers/promises'
import { answerRequest } from '@tollgate/kernel/admin'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { npm, saw } from '../../../../tools/compat/saw.ts'
import { basesOf, CLIENTS, openToolbox } from './clients.ts'
import { runCodex } from './codex.ts'
import { openDoorTo, openLlmGate, type LlmGate } from './gate.ts'
import { sawClient } from './sightings.ts'
import { startUpstream, type Step, type Upstream } from './upstream.ts'

const POLICY = `
tollgate: 1
name: waiting
principals: { "agent:*": { tier: standard } }
tools:
  read_note: { effect: read, destinations: none }
  exec_command: { effect: read, destinations: none }
rules: [{ id: asked, require: [read_note, exec_command], expires: 15m }]
provider-tools: { undeclared: remove }
`
const READ: Step = { text: 'Let me see.', calls: [{ name: 'read_note', args: { name: 'list' } }] }
const DONE: Step = { text: 'All done.' }
// Long enough for some keep-alives. Nothing depends on their number.
const A_WHILE = 300

let gate: LlmGate
let unused: Upstream
let agents = 0

beforeAll(async () => {
  unused = await startUpstream()
  gate = await openLlmGate({ upstream: unused.url, policy: POLICY })
})
afterAll(async () => {
  await gate.close()
  await unused.close()
})

/** Approves the next request of an agent, after some keep-alives. */
async function approve(principal: string): Promise<void> {
  const { kernel, watch } = gate.running.gateway
  const request = await new Promise<string>((resolve) => {
    const stop = watch(() => {
      const found = kernel.approvals.list(kernel.host.now()).find((one) => one.principal === principal)
      if (!found) return
      stop()
      resolve(found.id)
    })
  })
  await pause(A_WHILE)
  await answerRequest(kernel, { tenant: 'default', request, granted: true, approver: 'user:olga' })
}

interface Seen {
  readonly upstream: Upstream
  readonly door: Awaited<ReturnType<typeof openDoorTo>>
}

async function behind<T>(steps: readonly Step[], run: (seen: Seen) => Promise<T>): Promise<T> {
  const principal = `agent:k${agents++}`
  const upstream = await startUpstream(...steps)
  const door = await openDoorTo(gate, upstream.url, principal, { wait: 300_000, quiet: 15 })
  const approved = approve(principal)
  try {
    const outcome = await run({ upstream, door })
    await approved
    expect(upstream.left).toBe(0)
    return outcome
  } finally {
    await door.close()
    await upstream.close()
  }
}

describe.each(CLIENTS)('$name', (client) => {
  test.each([false, true])('waits for an approval, and runs the call, streamed: %s', async (stream) => {
    const tools = openToolbox()
    const outcome = await behind([READ, DONE], ({ door }) => {
      return client.run(basesOf(door.url)[client.base], door.token, { stream, tools, retries: 0 })
    })
    expect(outcome).toMatchObject({ text: 'All done.', turns: 2 })
    expect(tools.ran).toEqual([{ name: 'read_note', args: { name: 'list' } }])
    sawClient(client, stream, 'escalated')
  })
})

test('codex waits for an approval, and runs the command', async () => {
  const call: Step = { calls: [{ name: 'exec_command', args: { cmd: 'cat note.txt' } }] }
  await behind([call, DONE], async ({ door, upstream }) => {
    const run = await runCodex(door.url, door.token, 'Read the note.')
    expect(run.code).toBe(0)
    expect(upstream.requests).toHaveLength(2)
    expect(upstream.requests[1]?.text).toContain('milk, bread')
  })
  saw(npm('@openai/codex'), 'LLM, Responses', 'escalated', 'streamed')
})
