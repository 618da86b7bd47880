// Real coding agents without a person: their own tools ask the hook door, and their models are behind the LLM door.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isList, isObject, type Json } from '@tollgate/evidence'
import { answerRequest } from '@tollgate/kernel/admin'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { npm, saw, sawNothing } from '../../../../tools/compat/saw.ts'
import { openLlmGate, type LlmGate } from '../llm/gate.ts'
import { startUpstream, type Recorded, type Upstream } from '../llm/upstream.ts'
import { AGENTS, newDesk, runAgent, type AgentRun, type CodingAgent, type Desk } from './agents.ts'
import { PAYLOADS } from './payloads.ts'

const POLICY = `
tollgate: 1
name: agents
principals: { "agent:*": { tier: standard } }
tools: { "*": { effect: execute, destinations: none } }
rules:
  - { id: models, allow: "*", door: llm }
  - { id: rm, deny: builtin/shell, when: 'args.command.startsWith("rm ")', because: files stay }
  - { id: push, require: builtin/shell, when: 'args.command.startsWith("git push")', answer: client }
  - { id: others, allow: "*" }
gates: { taint: { results: { secret: redact } } }
`

const SECRET = 'ghp_' + 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'
/** Nothing listens there. */
const DOWN = 'http://127.0.0.1:9'

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

interface Played extends AgentRun, Desk {
  readonly agent: LlmGate
  /** The requests that its model got, without requests for titles. */
  readonly requests: readonly Recorded[]
}

interface Play {
  /** The address that the hooks ask. */
  readonly hooks?: string
  /** The model is not behind the gateway. */
  readonly direct?: boolean
}

/** Lets the model of an agent propose one command, and then say that it is done. */
async function play(agent: CodingAgent, command: string, { hooks, direct }: Play = {}): Promise<Played> {
  const own = await gate.as(`agent:${agent.name}-${agents++}`)
  const desk = await newDesk()
  const model = direct ? await startUpstream() : upstream
  model.aside({ text: 'A title.' })
  const before = model.requests.length
  model.script({ text: 'I do it.', calls: [agent.shell(command)] }, { text: 'Done.' })
  const models = direct
    ? { anthropic: model.url, openai: `${model.url}/v1` }
    : { anthropic: `${gate.url}/anthropic`, openai: `${gate.url}/openai/v1` }
  const behind = { hooks: hooks ?? gate.url, ...models, token: own.token, words: hooks === undefined }
  const run = await runAgent(agent, desk, behind, 'Do it.')
  expect({ left: model.left, run }).toEqual({ left: 0, run })
  const requests = model.requests.slice(before).filter(({ body }) => hasTools(body.tools))
  if (direct) await model.close()
  return { ...run, ...desk, agent: own, requests }
}

function hasTools(tools: Json | undefined): boolean {
  return isList(tools) && tools.length > 0
}

/** The tools that a model was offered, as the hook names them, for which there are no fixtures. */
function withoutFixtures({ name }: CodingAgent, { body }: Recorded): readonly string[] {
  const { uses = [], renamed = {}, unasked = [] } = PAYLOADS[name] ?? {}
  const known = new Set([...uses.map(({ tool }) => tool), ...unasked])
  const offered = isList(body.tools) ? body.tools.map(nameOf) : []
  return offered.map((tool) => renamed[tool] ?? tool).filter((tool) => !known.has(tool))
}

/** The name of a tool in any dialect. */
function nameOf(tool: Json): string {
  if (!isObject(tool)) return ''
  const { function: inner, name, type } = tool
  if (inner !== undefined) return nameOf(inner)
  const own = name ?? type
  return typeof own === 'string' ? own : ''
}

/** The decisions of the hook door, and the effects of these. */
async function receiptsOf({ agent }: Played): Promise<readonly string[]> {
  const made = (await agent.decisions()).filter(({ door }) => door === 'hook')
  return made.map(({ tool, verdict, reason_code }) => `${tool} ${verdict} ${reason_code}`)
}

/** Approves the next request of an agent. */
async function approveNext(): Promise<void> {
  const { gateway } = gate.running
  const { kernel } = gateway
  const request = await new Promise<string>((resolve) => {
    const look = (): void => {
      const [found] = kernel.approvals.list(kernel.host.now())
      if (found === undefined) return
      unwatch()
      resolve(found.id)
    }
    const unwatch = gateway.watch(look)
    look()
  })
  await answerRequest(kernel, { tenant: 'default', request, granted: true, approver: 'user:olga' })
}

function pushed({ home, work }: Desk): boolean {
  const show = (folder: string): string =>
    spawnSync('git', ['rev-parse', 'main'], { cwd: folder, encoding: 'utf8' }).stdout
  return show(work) !== '' && show(work) === show(join(home, 'remote.git'))
}

describe.each(AGENTS)('$name', (agent) => {
  test('runs an allowed test, and reports its result', async () => {
    const played = await play(agent, 'npm test')
    expect(existsSync(join(played.work, 'ran.txt'))).toBe(true)
    expect(await receiptsOf(played)).toEqual(['builtin/shell ALLOW RULE_ALLOWED'])
    const [decision] = (await played.agent.decisions()).filter(({ door }) => door === 'hook')
    expect(decision).toMatchObject({ assurance: 'advised' })
    expect((await played.agent.effects()).map(({ status }) => status)).not.toContain('UNKNOWN')
    const [first] = played.requests
    expect(first && withoutFixtures(agent, first)).toEqual([])
    saw(npm(agent.from), 'hooks', 'allowed')
  })

  test('does not run a denied rm, and its model learns the reason', async () => {
    const played = await play(agent, 'rm -rf keep.txt')
    expect(existsSync(join(played.work, 'keep.txt'))).toBe(true)
    expect(await receiptsOf(played)).toEqual(['builtin/shell DENY POLICY_VIOLATION'])
    expect(played.requests.at(-1)?.text).toContain('files stay')
    saw(npm(agent.from), 'hooks', 'denied')
  })

  test('waits for the approval of a push, and runs it then', async () => {
    const approved = approveNext()
    const played = await play(agent, 'git push origin main')
    expect(pushed(played)).toBe(true)
    await approved
    expect(await receiptsOf(played)).toEqual([
      'builtin/shell ESCALATE APPROVAL_REQUIRED',
      'builtin/shell ALLOW APPROVAL_GRANTED',
    ])
    saw(npm(agent.from), 'hooks', 'escalated')
  })

  test('runs nothing while the gateway does not answer', async () => {
    const played = await play(agent, 'rm -rf keep.txt', { hooks: DOWN, direct: true })
    expect(existsSync(join(played.work, 'keep.txt'))).toBe(true)
    expect(await receiptsOf(played)).toEqual([])
    sawNothing('nothing is behind the gateway')
  })

  test('gives its model only the inspected output', async () => {
    const played = await play(agent, `echo token ${SECRET.slice(0, 9)}""${SECRET.slice(9)}`, { direct: true })
    expect(await receiptsOf(played)).toEqual(['builtin/shell ALLOW RULE_ALLOWED'])
    const [{ delivery } = {}] = await played.agent.effects()
    expect(delivery).toBe('redacted')
    expect(played.requests).toHaveLength(2)
    expect(played.requests.at(-1)?.text).not.toContain(SECRET)
    saw(npm(agent.from), 'hooks', 'allowed')
  })
})
