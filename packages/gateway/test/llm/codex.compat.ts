// The real Codex CLI behind the gateway, out of the box: only its provider block is set.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Mark } from '../../../../tools/compat/rows.ts'
import { npm, saw } from '../../../../tools/compat/saw.ts'
import { runCodex, type CodexRun } from './codex.ts'
import { openLlmGate, type LlmGate } from './gate.ts'
import { startUpstream, type Step, type Upstream } from './upstream.ts'

const POLICY = `
tollgate: 1
name: codex
principals: { "agent:*": { tier: standard } }
tools:
  exec_command: { effect: read, destinations: none }
rules:
  - { id: cat, allow: exec_command, when: 'args.cmd == "cat note.txt"' }
  - { id: other, deny: exec_command, because: only the note }
provider-tools: { undeclared: remove }
`

let gate: LlmGate
let upstream: Upstream
let agents = 0

beforeAll(async () => {
  upstream = await startUpstream()
  gate = await openLlmGate({ upstream: upstream.url, policy: POLICY })
})
afterAll(async () => {
  await gate.close()
  await upstream.close()
})

/** Codex always streams. */
function sawCodex(...marks: readonly Mark[]): void {
  saw(npm('@openai/codex'), 'LLM, Responses', 'streamed', ...marks)
}

interface Played extends CodexRun {
  readonly agent: LlmGate
  readonly requests: Upstream['requests']
}

async function play(...steps: readonly Step[]): Promise<Played> {
  const agent = await gate.as(`agent:codex${agents++}`)
  const before = upstream.requests.length
  upstream.script(...steps)
  const run = await runCodex(gate.url, agent.token, 'Read the note.')
  return { ...run, agent, requests: upstream.requests.slice(before) }
}

function saidBy({ events }: CodexRun): readonly unknown[] {
  return events.flatMap(({ type, item }) =>
    type === 'item.completed' && typeof item === 'object' && item !== null && 'text' in item
      ? [item.text]
      : [],
  )
}

describe('codex', () => {
  test('runs an allowed command, and its result reaches the model', async () => {
    const call = { name: 'exec_command', args: { cmd: 'cat note.txt' } }
    const played = await play({ text: 'I look.', calls: [call] }, { text: 'Milk and bread.' })
    expect(played.stderr).not.toContain('ERROR')
    expect(played.code).toBe(0)
    expect(saidBy(played)).toContain('Milk and bread.')
    expect(played.requests).toHaveLength(2)
    expect(played.requests[1]?.text).toContain('milk, bread')
    const decisions = await played.agent.decisions()
    expect(decisions.map(({ tool, verdict }) => `${tool} ${verdict}`)).toEqual([
      'openai/web_search DENY',
      'exec_command ALLOW',
    ])
    expect(await played.agent.effects()).toMatchObject([{ status: 'COMPLETED' }])
    sawCodex('allowed')
  })

  test('tells nothing about its machine to the model server, and offers no tool of the provider', async () => {
    const { requests, code } = await play({ text: 'Hello.' })
    expect(code).toBe(0)
    expect(requests.map(({ body }) => body.client_metadata)).toEqual([undefined])
    expect(requests[0]?.text).not.toContain('installation_id')
    expect(requests[0]?.text).not.toContain('"web_search"')
    expect(JSON.stringify(requests[0]?.headers)).not.toContain('installation_id')
    expect(requests[0]?.body).toMatchObject({ store: false, tool_choice: 'auto' })
    sawCodex()
  })

  test('shows the refusal of a denied command, and does not run it', async () => {
    const call = { name: 'exec_command', args: { cmd: 'cat note.txt > stolen.txt' } }
    const played = await play({ calls: [call] })
    expect(played.code).toBe(0)
    expect(String(saidBy(played).at(-1))).toContain('[Tollgate] The call to `exec_command` was not run.')
    expect(JSON.stringify(played.events)).not.toContain('stolen.txt')
    expect(played.requests).toHaveLength(1)
    sawCodex('denied')
  })

  test('continues after a reply in which one of two commands is denied', async () => {
    const calls = ['cat note.txt', 'rm note.txt'].map((cmd) => ({ name: 'exec_command', args: { cmd } }))
    const played = await play({ calls }, { text: 'Done.' })
    expect(played.code).toBe(0)
    expect(saidBy(played)).toContain('Done.')
    expect(played.requests[1]?.text).toContain('milk, bread')
    expect(played.requests[1]?.text).not.toContain('rm note.txt')
    sawCodex('allowed', 'denied', 'parallel')
  })

  test('gives up on a request that the gateway refuses, with the reason', async () => {
    const run = await runCodex(gate.url, 'no-token', 'Read the note.')
    expect(run.code).not.toBe(0)
    expect(JSON.stringify(run.events) + run.stderr).toContain('token')
    sawCodex()
  })
})
