// Every tool of every client, with an allowed, a denied and an escalated call, at every route that the client may ask.

import { readdirSync } from 'node:fs'
import { canonicalize, sha256Hex, type Decision, type Json } from '@tollgate/evidence'
import { describe, expect, test } from 'vitest'
import { HOOK_CLIENTS } from '../../src/hooks/clients.ts'
import { createApiRig, type ApiRig } from '../api/rig.ts'
import { PAYLOADS, ROUTES, type ClientPayloads, type ToolUse } from './payloads.ts'

const SETTINGS = 'tools: { "*": { effect: write } }\ngates: { egress: { allow: ["*"] } }'

/** The words that each route must or must not answer with, so that the client runs the call or does not. */
const RUNS: Readonly<Record<string, Json>> = {
  'claude-code': { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' } },
  codex: {},
  cursor: { permission: 'allow' },
  copilot: { permissionDecision: 'allow' },
  opencode: { decision: 'allow' },
}
const BLOCKS: Readonly<Record<string, RegExp>> = {
  'claude-code':
    /^\{"hookSpecificOutput":\{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"\[Tollgate\]/,
  codex:
    /^\{"hookSpecificOutput":\{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"\[Tollgate\]/,
  cursor: /^\{"permission":"deny","user_message":"\[Tollgate\]/,
  copilot: /^\{"permissionDecision":"deny","permissionDecisionReason":"\[Tollgate\]/,
  opencode: /^\{"decision":"deny","reason":"\[Tollgate\]/,
}

/** VS Code reads the form of Claude Code, at any route. */
const formOf = (route: string, set: string): string => (set === 'vscode' ? 'claude-code' : route)

/** Sends a use of a tool to a route, in a session of its own. */
async function send(rig: ApiRig, route: string, set: string, use: ToolUse, at: number): Promise<string> {
  const { event, body } = payloadsOf(set).before(use, `use_${at}`)
  const sent = { ...body }
  for (const name of ['session_id', 'conversation_id', 'sessionId', 'session'])
    if (name in sent) sent[name] = `session-${at}`
  const own = set === 'cursor' && route === 'claude-code' ? 'PreToolUse' : event
  const query = own === undefined || set === 'vscode' ? '' : `?event=${own}`
  const { status, text } = await rig.ask('agent', 'POST', `/v1/hooks/${route}${query}`, sent as Json)
  expect({ tool: use.tool, status, text }).toMatchObject({ status: 200 })
  return text
}

function payloadsOf(set: string): ClientPayloads {
  const payloads = PAYLOADS[set]
  if (!payloads) throw new Error(`no payloads of ${set}`)
  return payloads
}

function decisions(rig: ApiRig): readonly Decision[] {
  return rig.receipts().filter((receipt) => receipt.kind === 'decision')
}

test('every file of fixtures has payloads and a route, and says how we know it', () => {
  const files = readdirSync(new URL('fixtures', import.meta.url)).map((file) => file.replace(/\.json$/, ''))
  expect(files.sort()).toEqual([...new Set(ROUTES.map(([, set]) => set))].sort())
  expect(Object.keys(PAYLOADS).sort()).toEqual(files)
  for (const { where, source } of Object.values(PAYLOADS))
    expect(source.includes('fixtures only')).toBe(where === 'documented')
})

test.each(HOOK_CLIENTS.map((client) => [client.name, client] as const))(
  'every tool of %s with a canonical name has a row of fixtures',
  (name, { tools }) => {
    const rows = payloadsOf(name).uses.map(({ tool }) => tool)
    expect(Object.keys(tools).filter((tool) => !rows.includes(tool))).toEqual([])
    expect(rows.length).toBe(new Set(rows).size)
  },
)

describe.each(ROUTES)('at the route %s, payloads of %s', (route, set) => {
  const { uses } = payloadsOf(set)

  test('an allowed call runs, and is judged under its canonical name and arguments', async () => {
    const rig = await createApiRig({
      policy: `tollgate: 1\nname: a\nrules: [{ id: all, allow: "*" }]\n${SETTINGS}`,
    })
    for (const [at, use] of uses.entries()) {
      expect(JSON.parse(await send(rig, route, set, use, at))).toEqual(RUNS[formOf(route, set)])
      const { tool, args_hash, door, assurance, session } = decisions(rig)[at] ?? {}
      expect({ tool, args_hash, door, assurance, session: session?.id }).toEqual({
        ...{ tool: use.canonical, door: 'hook', assurance: 'advised' },
        args_hash: sha256Hex(canonicalize(use.canonicalArgs ?? use.args)),
        session: `${set}:session-${at}`,
      })
    }
  })

  test.each([
    ['a denied call', 'deny', 'DENY POLICY_VIOLATION'],
    ['a call that needs an approval', 'require', 'ESCALATE APPROVAL_REQUIRED'],
  ])('%s does not run', async (_, action, expected) => {
    const rig = await createApiRig({
      policy: `tollgate: 1\nname: a\nrules: [{ id: all, ${action}: "*" }]\n${SETTINGS}`,
    })
    for (const [at, use] of uses.entries()) {
      expect(await send(rig, route, set, use, at)).toMatch(BLOCKS[formOf(route, set)] ?? /$^/)
      const { verdict, reason_code } = decisions(rig)[at] ?? {}
      expect(`${verdict} ${reason_code}`).toBe(expected)
    }
  })
})

test('one use that a client reports by its own hook and by that of another client is one decision', async () => {
  for (const [one, other, set] of [
    ['cursor', 'claude-code', 'cursor'],
    ['claude-code', 'copilot', 'vscode'],
  ] as const) {
    const rig = await createApiRig({
      policy: `tollgate: 1\nname: a\nrules: [{ id: all, allow: "*" }]\n${SETTINGS}`,
    })
    const { uses } = payloadsOf(set)
    for (const [at, use] of uses.entries())
      await Promise.all([send(rig, one, set, use, at), send(rig, other, set, use, at)])
    expect(decisions(rig)).toHaveLength(uses.length)
  }
})
