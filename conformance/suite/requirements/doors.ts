// L3: the MCP door, and freezes at every door.

import assert from 'node:assert/strict'
import { sha256 } from '../pack.ts'
import { at, canonical, listAt, textAt, type Fields } from '../reading.ts'
import { resultText, type Caller } from '../caller.ts'
import { SECRET } from '../recorder.ts'
import type { Requirement, World } from '../requirement.ts'

/** The newest decisions of a principal on a tool. */
async function decisionsOf(
  { admin }: World,
  { principal }: Caller,
  tool: string,
): Promise<readonly unknown[]> {
  const query = `kind=decision&principal=${encodeURIComponent(principal)}&tool=${encodeURIComponent(tool)}`
  return listAt((await admin.get(`/v1/receipts?${query}`)).body, 'receipts')
}

async function effectsOf({ admin }: World, decision: unknown): Promise<readonly unknown[]> {
  const { body } = await admin.get(`/v1/receipts?kind=effect&decision=${textAt(decision, 'id')}`)
  return listAt(body, 'receipts')
}

const HOOK = { session_id: 'hook', cwd: '/tmp', hook_event_name: 'PreToolUse', tool_name: 'Bash' }

/** Whether a call passes at each door. */
async function passes(world: World, agent: Caller, call: McpCall): Promise<Fields> {
  const before = world.recorder.calls.length
  const message = await call('read', { text: 'x' }).catch(() => ({}))
  const hook = { ...HOOK, tool_use_id: `u${before}${Math.random()}`, tool_input: { command: 'ls' } }
  const hooked = (await agent.post('/v1/hooks/claude-code', hook)).body
  const page = { tool_name: 'note/any', observation: { url: 'https://example.com/' } }
  return {
    http: (await agent.evaluate({ tool: 'note/any', session_id: 'frozen' })).verdict === 'ALLOW',
    browser: (await agent.post('/v1/browser/evaluate', page)).body.verdict === 'ALLOW',
    mcp: resultText(message) === 'done' || world.recorder.calls.length > before,
    hook: at(hooked, 'hookSpecificOutput', 'permissionDecision') === 'allow',
  }
}

type McpCall = (name: string, args: unknown) => Promise<Fields>

const OPEN = { http: true, browser: true, mcp: true, hook: false }
const CLOSED = { http: false, browser: false, mcp: false, hook: false }

async function freeze(person: Caller, order: Fields): Promise<void> {
  const { status, text } = await person.post('/v1/freeze', order)
  assert.equal(status, 200, text)
}

export const DOORS: readonly Requirement[] = [
  {
    id: 'D1',
    level: 'L3',
    claims: ['H1', 'H2'],
    says: 'A denied call does not reach the MCP server.',
    async test(world) {
      const agent = await world.caller('agent')
      const call = await agent.mcp('own')
      const before = world.recorder.calls.length
      await call('forbidden', { text: 'x' })
      const [decision] = await decisionsOf(world, agent, 'own/forbidden')
      assert.equal(at(decision, 'receipt', 'verdict'), 'DENY')
      assert.equal(world.recorder.calls.length, before)
    },
  },
  {
    id: 'D2',
    level: 'L3',
    claims: ['H17', 'H20'],
    says: 'The MCP server gets exactly the arguments whose hash is in the receipt.',
    async test(world) {
      const agent = await world.caller('agent')
      const call = await agent.mcp('own')
      await call('read', { text: 'z\u20ac' })
      const [decision] = await decisionsOf(world, agent, 'own/read')
      const hash = sha256(canonical(world.recorder.calls.at(-1)))
      assert.equal(at(decision, 'receipt', 'args_hash'), hash)
      assert.equal(at(decision, 'receipt', 'assurance'), 'enforced')
    },
  },
  {
    id: 'D3',
    level: 'L3',
    claims: ['C8'],
    says: 'The decision is in the ledger before the call reaches the MCP server, and the effect is not.',
    async test(world) {
      const agent = await world.caller('agent')
      const call = await agent.mcp('own')
      let seen: Fields = {}
      world.recorder.during(async () => {
        const [decision] = await decisionsOf(world, agent, 'own/read')
        const effects = decision === undefined ? [] : await effectsOf(world, decision)
        seen = {
          decided: at(decision, 'receipt', 'verdict'),
          effects: effects.length,
        }
      })
      await call('read', { text: 'x' })
      assert.deepEqual(seen, { decided: 'ALLOW', effects: 0 })
    },
  },
  {
    id: 'D4',
    level: 'L3',
    claims: ['H16'],
    says: 'A result is forwarded only after its effect is in the ledger.',
    async test(world) {
      const agent = await world.caller('agent')
      const call = await agent.mcp('own')
      for (let run = 0; run < 3; run++) {
        assert.equal(resultText(await call('read', { text: `x${run}` })), 'done')
        const [decision] = await decisionsOf(world, agent, 'own/read')
        const [effect] = await effectsOf(world, decision)
        assert.equal(at(effect, 'receipt', 'status'), 'COMPLETED')
      }
    },
  },
  {
    id: 'D5',
    level: 'L3',
    claims: ['H12'],
    says: 'An MCP call that needs an approval does not reach the server before a person approves it, and then once.',
    async test(world) {
      const agent = await world.caller('agent')
      const call = await agent.mcp('own')
      const before = world.recorder.calls.length
      await call('ask', { text: 'x' })
      const [decision] = await decisionsOf(world, agent, 'own/ask')
      assert.equal(at(decision, 'receipt', 'verdict'), 'ESCALATE')
      assert.equal(world.recorder.calls.length, before)
      const person = await world.caller('operator')
      const { status } = await person.post(`/v1/approvals/${textAt(decision, 'id')}/approve`, {})
      assert.equal(status, 200)
      assert.equal(resultText(await call('ask', { text: 'x' })), 'done')
      await call('ask', { text: 'x' })
      assert.equal(world.recorder.calls.length, before + 1)
    },
  },
  {
    id: 'D6',
    level: 'L3',
    claims: ['S15'],
    says: 'A secret in the result of a tool is removed before the agent gets it.',
    async test(world) {
      const agent = await world.caller('agent')
      const call = await agent.mcp('own')
      const message = await call('leak', { text: 'x' })
      assert.match(resultText(message), /the key is/)
      assert.doesNotMatch(JSON.stringify(message), new RegExp(SECRET))
    },
  },
  {
    id: 'D7',
    level: 'L3',
    claims: ['H19'],
    says: 'The MCP door refuses a message that has the same key twice.',
    async test(world) {
      const agent = await world.caller('agent')
      await agent.mcp('own')
      const before = world.recorder.calls.length
      const params = '{"name":"forbidden","name":"read","arguments":{"text":"x"}}'
      const text = `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":${params}}`
      await agent.send('POST', '/mcp/own', text, { accept: 'application/json, text/event-stream' })
      assert.equal(world.recorder.calls.length, before)
    },
  },
  {
    id: 'F1',
    level: 'L3',
    claims: ['S1'],
    says: 'While everything is frozen, no door lets a call pass. When the freeze ends, calls pass again.',
    async test(world) {
      const [agent, person] = [await world.caller('agent'), await world.caller('operator')]
      const call = await agent.mcp('own')
      assert.deepEqual(await passes(world, agent, call), OPEN)
      await freeze(person, { scope: 'all', frozen: true })
      try {
        assert.deepEqual(await passes(world, agent, call), CLOSED)
      } finally {
        await freeze(person, { scope: 'all', frozen: false })
      }
      assert.deepEqual(await passes(world, agent, await agent.mcp('own')), OPEN)
    },
  },
  {
    id: 'F2',
    level: 'L3',
    claims: ['S1'],
    says: 'The freeze of a principal stops it at every door, and no other principal.',
    async test(world) {
      const [agent, other] = [await world.caller('agent'), await world.caller('agent')]
      const person = await world.caller('operator')
      const [call, another] = [await agent.mcp('own'), await other.mcp('own')]
      await freeze(person, { scope: 'principal', target: agent.principal, frozen: true })
      assert.deepEqual(await passes(world, agent, call), CLOSED)
      assert.deepEqual(await passes(world, other, another), OPEN)
    },
  },
  {
    id: 'F3',
    level: 'L3',
    claims: ['S1'],
    says: 'The freeze of a session stops this session and no other.',
    async test({ caller }) {
      const [agent, person] = [await caller('agent'), await caller('operator')]
      await freeze(person, { scope: 'session', target: 's-f3', frozen: true })
      const frozen = await agent.evaluate({ tool: 'note/any', session_id: 's-f3' })
      const open = await agent.evaluate({ tool: 'note/any', session_id: 's-f3-other' })
      assert.deepEqual([frozen.verdict, open.verdict], ['DENY', 'ALLOW'])
    },
  },
  {
    id: 'F4',
    level: 'L3',
    claims: [],
    says: 'Only operators and admins can lift a freeze.',
    async test({ caller }) {
      const [agent, person] = [await caller('agent'), await caller('operator')]
      await freeze(person, { scope: 'principal', target: agent.principal, frozen: true })
      const order = { scope: 'principal', target: agent.principal, frozen: false }
      for (const role of ['agent', 'host', 'sentinel', 'auditor', 'metrics']) {
        const holder = role === 'agent' ? agent : await caller(role)
        assert.equal((await holder.post('/v1/freeze', order)).status, 403, role)
      }
      assert.equal((await agent.evaluate({ tool: 'note/any' })).verdict, 'DENY')
      await freeze(person, order)
      assert.equal((await agent.evaluate({ tool: 'note/any' })).verdict, 'ALLOW')
    },
  },
]
