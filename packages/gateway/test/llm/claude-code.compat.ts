// The real Claude Code behind the LLM door, out of the box: only the two variables of the page are set.

import { answerRequest } from '@tollgate/kernel/admin'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Mark } from '../../../../tools/compat/rows.ts'
import { npm, saw } from '../../../../tools/compat/saw.ts'
import { runClaudeCode, type ClaudeCodeRun } from './claude-code.ts'
import { openLlmGate, type LlmGate } from './gate.ts'
import { startUpstream, type Step, type Upstream } from './upstream.ts'

const POLICY = `
tollgate: 1
name: claude-code
principals: { "agent:*": { tier: standard } }
tools:
  Bash: { effect: read, destinations: none }
rules:
  - { id: cat, allow: Bash, when: 'args.command == "cat note.txt"' }
  - { id: list, require: Bash, when: 'args.command == "ls"', expires: 15m }
  - { id: other, deny: Bash, because: only the note }
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

/** Claude Code always streams. */
function sawClaudeCode(...marks: readonly Mark[]): void {
  saw(npm('@anthropic-ai/claude-code'), 'LLM, Messages', 'streamed', ...marks)
}

const bash = (command: string) => ({ name: 'Bash', args: { command, description: 'a step' } })

interface Played extends ClaudeCodeRun {
  readonly agent: LlmGate
  readonly requests: Upstream['requests']
}

function play(...steps: readonly Step[]): Promise<Played> {
  return playAs(`agent:claude-code${agents++}`, ...steps)
}

async function playAs(principal: string, ...steps: readonly Step[]): Promise<Played> {
  const agent = await gate.as(principal)
  const before = upstream.requests.length
  upstream.script(...steps)
  const run = await runClaudeCode(gate.url, agent.token, 'Read the note.')
  return { ...run, agent, requests: upstream.requests.slice(before) }
}

/** The answer that Claude Code prints at the end. */
function resultOf({ events }: ClaudeCodeRun): string {
  return String(events.find(({ type }) => type === 'result')?.result)
}

async function verdicts({ agent }: Played): Promise<readonly string[]> {
  return (await agent.decisions()).map(({ tool, verdict }) => `${tool} ${verdict}`)
}

describe('claude code', () => {
  test('runs an allowed command, and its result reaches the model', async () => {
    const played = await play({ text: 'I look.', calls: [bash('cat note.txt')] }, { text: 'Milk and bread.' })
    expect(played.stderr).toBe('')
    expect(played.code).toBe(0)
    expect(resultOf(played)).toBe('Milk and bread.')
    expect(played.requests).toHaveLength(2)
    expect(played.requests[1]?.text).toContain('milk, bread')
    expect(await verdicts(played)).toEqual(['Bash ALLOW'])
    expect(await played.agent.effects()).toMatchObject([{ status: 'COMPLETED' }])
    sawClaudeCode('allowed')
  })

  test('shows the refusal of a denied command, and does not run it', async () => {
    const played = await play({ calls: [bash('cat note.txt > stolen.txt')] })
    expect(resultOf(played)).toContain('[Tollgate] The call to `Bash` was not run.')
    expect(JSON.stringify(played.events)).not.toContain('stolen.txt')
    expect(played.requests).toHaveLength(1)
    expect(await verdicts(played)).toEqual(['Bash DENY'])
    expect(await played.agent.effects()).toEqual([])
    sawClaudeCode('denied')
  })

  test('continues after a reply in which one of two commands is denied', async () => {
    const calls = [bash('cat note.txt'), bash('rm note.txt')]
    const played = await play({ calls }, { text: 'Done.' })
    expect(played.code).toBe(0)
    expect(resultOf(played)).toBe('Done.')
    expect(played.requests[1]?.text).toContain('milk, bread')
    expect(played.requests[1]?.text).not.toContain('rm note.txt')
    expect(await verdicts(played)).toEqual(['Bash ALLOW', 'Bash DENY'])
    sawClaudeCode('allowed', 'denied', 'parallel')
  })

  test('runs a command that needs an approval after the approval, and not before', async () => {
    const principal = `agent:claude-code${agents++}`
    const before = await playAs(principal, { calls: [bash('ls')] })
    expect(resultOf(before)).toContain('approv')
    expect(JSON.stringify(before.events)).not.toContain('note.txt\\n')
    const { kernel } = gate.running.gateway
    const asked = kernel.approvals.list(kernel.host.now()).filter((one) => one.principal === principal)
    expect(asked).toHaveLength(1)
    const request = asked[0]?.id ?? ''
    await answerRequest(kernel, { tenant: 'default', request, granted: true, approver: 'user:olga' })
    const after = await playAs(principal, { calls: [bash('ls')] }, { text: 'One note.' })
    expect(resultOf(after)).toBe('One note.')
    expect(after.requests[1]?.text).toContain('note.txt')
    expect(await verdicts(after)).toEqual(['Bash ESCALATE', 'Bash ALLOW'])
    sawClaudeCode('escalated')
  })

  test('ends with the reason if the gateway does not know its token', async () => {
    const run = await runClaudeCode(gate.url, 'no-token', 'Read the note.')
    expect(run.code).not.toBe(0)
    expect(resultOf(run)).toContain('401')
    sawClaudeCode()
  })
})
