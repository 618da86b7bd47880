// The proof that a hook is on: only a denial whose receipt is in the ledger counts.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agentFolder, agentOf } from '../../../../src/cli/setup/agents/agents.ts'
import { install, partsIn } from '../../../../src/cli/setup/agents/install.ts'
import { AGENTS, type AgentId } from '../../../../src/cli/setup/agents/names.ts'
import { planHookFile } from '../../../../src/cli/setup/agents/plan.ts'
import { installedHooks, proveHook, type HookProof } from '../../../../src/cli/setup/agents/proof.ts'
import { HOOKS_FILE, watchHooks } from '../../../../src/cli/setup/agents/watch-hooks.ts'
import { applyChanges } from '../../../../src/cli/setup/changes/apply.ts'
import { journalFolder } from '../../../../src/cli/setup/changes/journal.ts'
import { ownSurroundings } from '../../../../src/cli/setup/clients/clients.ts'
import { lineOf } from '../../../../src/cli/setup/status-line.ts'
import { silent } from '../../../../src/log.ts'
import { hooksPath } from '../../../../src/mcp/client/local-path.ts'
import { serve, type Served } from '../../../../src/serve.ts'
import { createApiRig, type ApiRig } from '../../../api/rig.ts'
import { newFolder } from '../../../gateway-rig.ts'

const { HOME, XDG_STATE_HOME, XDG_CONFIG_HOME } = process.env
const home = newFolder()
const data = newFolder()
let rig: ApiRig
let served: Served

beforeAll(async () => {
  Object.assign(process.env, {
    HOME: home,
    XDG_STATE_HOME: join(home, 's'),
    XDG_CONFIG_HOME: join(home, 'c'),
  })
  rig = await createApiRig()
  served = await serve(rig.options, { host: '127.0.0.1', port: 0, grace: 100, operators: data })
  for (const id of AGENTS) setUp(id)
})
afterAll(async () => {
  // Other files run in this process, too.
  Object.assign(process.env, { HOME, XDG_STATE_HOME, XDG_CONFIG_HOME })
  for (const [name, value] of Object.entries({ XDG_STATE_HOME, XDG_CONFIG_HOME })) {
    if (value === undefined) Reflect.deleteProperty(process.env, name)
  }
  await served.close()
})

function setUp(id: AgentId, token = rig.token('agent')): void {
  const at = ownSurroundings()
  const folder = agentFolder(at, 'user', id)
  install(id, folder, token, { url: 'http://localhost', socket: hooksPath(data), ca: undefined })
  const wanted = agentOf(id).hookFile(at, 'user', partsIn(folder, id).entry)
  const planned = wanted && planHookFile(wanted)
  if (planned) applyChanges(journalFolder(), id, [planned.change])
}

async function prove(id: AgentId): Promise<HookProof> {
  const hook = installedHooks().find(({ agent }) => agent.id === id)
  if (!hook) throw new Error('it is not installed')
  return proveHook(hook, rig.options.view)
}

test('every agent that setup has changed is found', () => {
  expect(installedHooks().map(({ agent, scope }) => [agent.id, scope])).toEqual(
    AGENTS.map((id) => [id, 'user']),
  )
})

test.each(AGENTS)('%s: its own entry proves that it is on', async (id) => {
  expect(await prove(id)).toMatchObject({ agent: id, is: 'on' })
})

/** Each damage to a hook, and its state then. */
const DAMAGE: readonly (readonly [
  name: string,
  is: HookProof['is'],
  why: RegExp,
  damage: () => Promise<void> | void,
])[] = [
  ['no configuration', 'silent', /has no hook of Tollgate/, () => rmSync(files().wanted.file)],
  ['no entry', 'silent', /has no hook of Tollgate/, () => writeFileSync(files().wanted.file, '{"hooks":{}}')],
  ['a script that allows', 'silent', /did not deny/, () => writeFileSync(files().script, 'exit 0\n')],
  [
    'a script that fails otherwise',
    'blocking',
    /names no receipt/,
    () => writeFileSync(files().script, 'exit 3\n'),
  ],
  ['no script', 'blocking', /names no receipt/, () => rmSync(files().script)],
  [
    'a denial that names no receipt of this ledger',
    'blocking',
    /is not in this ledger/,
    () => deny('f'.repeat(64)),
  ],
  ['a denial that names the receipt of another call', 'blocking', /is not in this ledger/, otherReceipt],
  [
    'a token that the gateway does not know',
    'blocking',
    /does not know the token/,
    () => setUp('codex', `tg_agent_${'x'.repeat(43)}`),
  ],
]

function files(): { readonly wanted: { readonly file: string }; readonly script: string } {
  const hook = installedHooks().find(({ agent }) => agent.id === 'codex')
  if (!hook) throw new Error('it is not installed')
  return { wanted: hook.wanted, script: partsIn(hook.folder, 'codex').entry }
}

function deny(receipt: string): void {
  writeFileSync(files().script, `echo 'Receipt: ${receipt}' >&2; exit 2\n`)
}

async function otherReceipt(): Promise<void> {
  const call = { tool: 'notes/unknown', arguments: {}, session_id: 's' }
  const { json } = await rig.ask('agent', 'POST', '/v1/evaluate', call)
  // Sound: the answer of this route has it.
  deny((json as { receipt: string }).receipt)
}

describe('a hook with', () => {
  test.each(DAMAGE)('%s is %s', async (_, is, why, damage) => {
    await damage()
    const proof = await prove('codex')
    setUp('codex')
    expect(proof.is).toBe(is)
    expect(proof.why).toMatch(why)
    expect(await prove('codex')).toMatchObject({ is: 'on' })
  })
})

test('the gateway asks at intervals about its own hooks, and alerts once for each silence', async () => {
  const alerts: HookProof[] = []
  const other = newFolder()
  const shared = { view: rig.options.view, log: silent, first: 0, every: 5 }
  const foreign = watchHooks({ ...shared, data: other, alert: () => expect.unreachable() })
  writeFileSync(files().script, 'exit 0\n')
  const watch = watchHooks({ ...shared, data, alert: (proof) => void alerts.push(proof) })
  await moments(3)
  expect(alerts).toMatchObject([{ agent: 'codex', is: 'silent' }])
  setUp('codex')
  await moments(2)
  writeFileSync(files().script, 'exit 0\n')
  await moments(2)
  await Promise.all([watch.stop(), foreign.stop()])
  setUp('codex')
  expect(alerts).toHaveLength(2)
  expect(existsSync(join(other, HOOKS_FILE))).toBe(false)
})

/** Waits until the result was written this often. */
async function moments(count: number): Promise<void> {
  const seen = new Set<string>()
  const file = join(data, HOOKS_FILE)
  while (seen.size <= count) {
    if (existsSync(file)) seen.add(readFileSync(file, 'utf8').slice(0, 40))
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const NOW = 1_800_000_000_000

test.each([
  [false, undefined, 'tollgate off: every call is denied', false],
  [true, undefined, 'tollgate on', true],
  [true, { at: NOW, hooks: [{ agent: 'codex', is: 'on' }] }, 'tollgate on · codex on', true],
  [true, { at: NOW, hooks: [{ agent: 'codex', is: 'silent' }] }, 'tollgate on · codex SILENT', false],
  [
    true,
    { at: NOW - 3_600_000, hooks: [{ agent: 'codex', is: 'on' }] },
    'tollgate on · codex not checked',
    false,
  ],
])('the status line for %s, %j', (isRunning, proofs, text, isGood) => {
  expect(lineOf(isRunning, proofs, NOW)).toEqual({ text, isGood })
})
