// The hook door, for every client: each tool, each verdict, and everything that must end in a denial.

import { canonicalize, sha256Hex, type Decision, type Effect, type Json } from '@tollgate/evidence'
import { describe, expect, test } from 'vitest'
import { HOOK_CLIENTS } from '../../src/hooks/clients.ts'
import { createApiRig, type Answered, type ApiRig } from '../api/rig.ts'
import { PAYLOADS, type ClientPayloads, type Sent, type ToolUse } from './payloads.ts'

const POLICY = `
tollgate: 1
name: hooks
tools:
  "builtin/*": { effect: execute }
  "files/*": { effect: read }
  "claude-code/*": { effect: read }
  "codex/*": { effect: read }
  "cursor/*": { effect: read }
  "copilot/*": { effect: read }
  "opencode/*": { effect: read }
rules:
  - { id: no-rm, deny: "builtin/shell", when: 'args.command.startsWith("rm ")', because: files stay }
  - { id: push, require: "builtin/shell", when: 'args.command.startsWith("git push")' }
  - { id: other, allow: ["builtin/*", "files/*", "claude-code/*", "codex/*", "cursor/*", "copilot/*", "opencode/*"] }
gates:
  egress: { allow: ["*"] }
  taint: { results: { secret: redact } }
`

const SECRET = 'ghp_' + 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'

const CLIENTS = Object.entries(PAYLOADS).filter(([name]) =>
  HOOK_CLIENTS.some((client) => client.name === name),
)

function shellOf({ uses }: ClientPayloads, command: string): ToolUse {
  const [use] = uses.filter(({ canonical }) => canonical === 'builtin/shell')
  if (!use) throw new Error('the client has no shell')
  const { tool, canonical } = use
  return { tool, canonical, args: { command } }
}

function send(rig: ApiRig, client: string, { event, body }: Sent): Promise<Answered> {
  const query = event === undefined ? '' : `?event=${event}`
  return rig.ask('agent', 'POST', `/v1/hooks/${client}${query}`, body as Json)
}

function decisions(rig: ApiRig): readonly Decision[] {
  return rig.receipts().filter((receipt) => receipt.kind === 'decision')
}

function effects(rig: ApiRig): readonly Effect[] {
  return rig.receipts().filter((receipt) => receipt.kind === 'effect')
}

async function freeze(rig: ApiRig): Promise<void> {
  const order = { scope: 'principal', target: 'agent:a', frozen: true }
  expect((await rig.ask('operator', 'POST', '/v1/freeze', order)).status).toBe(200)
}

/** What each client reads as a denial, an allowance, and an answer that changes nothing. */
const FORMS: Readonly<
  Record<string, { readonly allow: object; readonly deny: (text: unknown) => object; readonly pass: object }>
> = {
  'claude-code': {
    allow: { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' } },
    deny: (text) => ({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: text,
      },
    }),
    pass: {},
  },
  codex: {
    allow: {},
    deny: (text) => ({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: text,
      },
    }),
    pass: {},
  },
  cursor: {
    allow: { permission: 'allow' },
    deny: (text) => ({ permission: 'deny', user_message: text, agent_message: text }),
    pass: {},
  },
  copilot: {
    allow: { permissionDecision: 'allow' },
    deny: (text) => ({ permissionDecision: 'deny', permissionDecisionReason: text }),
    pass: {},
  },
  opencode: {
    allow: { decision: 'allow' },
    deny: (text) => ({ decision: 'deny', reason: text }),
    pass: { decision: 'allow' },
  },
}

test('every client has payloads and forms of answers', () => {
  const names = HOOK_CLIENTS.map(({ name }) => name).sort()
  expect(CLIENTS.map(([name]) => name).sort()).toEqual(names)
  expect(Object.keys(FORMS).sort()).toEqual(names)
})

describe.each(CLIENTS)('%s', (client, payloads) => {
  const form = FORMS[client]
  if (!form) throw new Error(client)

  test('judges every tool under its canonical name, with the canonical arguments', async () => {
    const rig = await createApiRig({ policy: POLICY })
    for (const [at, use] of payloads.uses.entries()) {
      const { status, json } = await send(rig, client, payloads.before(use, `use_${at}`))
      expect({ use: use.tool, status, json }).toEqual({ use: use.tool, status: 200, json: form.allow })
    }
    const found = decisions(rig).map(({ tool, args_hash, door, assurance }) => ({
      ...{ tool, args_hash, door, assurance },
    }))
    expect(found).toEqual(
      payloads.uses.map(({ canonical, args, canonicalArgs }) => ({
        ...{ tool: canonical, door: 'hook', assurance: 'advised' },
        args_hash: sha256Hex(canonicalize(canonicalArgs ?? args)),
      })),
    )
  })

  test('denies with the reason and the receipt', async () => {
    const rig = await createApiRig({ policy: POLICY })
    const { json } = await send(rig, client, payloads.before(shellOf(payloads, 'rm -rf src'), 'use_1'))
    const [decision] = decisions(rig)
    expect(decision).toMatchObject({ verdict: 'DENY', rule: 'no-rm' })
    expect(json).toEqual(form.deny(expect.stringContaining('POLICY_VIOLATION')))
    expect(JSON.stringify(json)).toMatch(/Receipt: [0-9a-f]{64}/)
    expect(JSON.stringify(json)).not.toContain('rm -rf')
  })

  test('denies an escalated call with its request, and allows it again after an approval', async () => {
    const rig = await createApiRig({ policy: POLICY })
    const push = shellOf(payloads, 'git push')
    const first = await send(rig, client, payloads.before(push, 'use_1'))
    expect(first.json).toEqual(form.deny(expect.stringMatching(/Approval: [0-9a-f]{64}/)))
    const [id = ''] = /(?<=Approval: )[0-9a-f]{64}/.exec(first.text) ?? []
    await rig.ask('operator', 'POST', `/v1/approvals/${id}/approve`)
    const second = await send(rig, client, payloads.before(push, 'use_2'))
    expect(second.json).toEqual(form.allow)
    expect(decisions(rig).at(-1)).toMatchObject({ reason_code: 'APPROVAL_GRANTED' })
  })

  test('records the result as the effect, and replaces a secret in it', async () => {
    const rig = await createApiRig({ policy: POLICY })
    const run = shellOf(payloads, 'npm test')
    await send(rig, client, payloads.before(run, 'use_1'))
    const plain = await send(rig, client, payloads.after(run, 'use_1', 'ok'))
    expect(plain.json).toEqual(form.pass)
    await send(rig, client, payloads.before(run, 'use_2'))
    const output = { stdout: `token ${SECRET}`, stderr: '', interrupted: false }
    const { text } = await send(rig, client, payloads.after(run, 'use_2', output))
    expect(text).not.toContain(SECRET)
    expect(text.length).toBeGreaterThan(10)
    expect(effects(rig)).toMatchObject([
      { status: 'COMPLETED', delivery: 'full', reported_by: 'caller' },
      { status: 'COMPLETED', delivery: 'redacted', labels: ['secret'] },
    ])
  })

  test.runIf(payloads.failed)('records a failed call as FAILED', async () => {
    const rig = await createApiRig({ policy: POLICY })
    const run = shellOf(payloads, 'npm test')
    await send(rig, client, payloads.before(run, 'use_1'))
    await send(rig, client, payloads.failed?.(run, 'use_1', 'exit code 1') ?? { body: {} })
    expect(effects(rig)).toMatchObject([{ status: 'FAILED' }])
  })

  test('takes the words of the user as a source of the next call, once', async () => {
    const rig = await createApiRig({
      policy: POLICY.replace('results:', 'provenance: { untrusted: ask }, results:'),
    })
    const { json } = await send(rig, client, payloads.words('fetch https://example.com/a'))
    expect(json).toEqual(client === 'cursor' ? { continue: true } : form.pass)
    const run = shellOf(payloads, 'curl https://example.com/a')
    await send(rig, client, payloads.before(run, 'use_1'))
    const [first] = decisions(rig)
    expect(first?.verdict).toBe('ALLOW')
    expect(first?.provenance_hash).toMatch(/^[0-9a-f]{64}$/)
  })

  test('denies while the agent is frozen, also a repeated question', async () => {
    const rig = await createApiRig({ policy: POLICY })
    const run = shellOf(payloads, 'npm test')
    await send(rig, client, payloads.before(run, 'use_1'))
    await freeze(rig)
    for (const id of ['use_1', 'use_2']) {
      const { json } = await send(rig, client, payloads.before(run, id))
      expect(json).toEqual(form.deny(expect.stringContaining('AGENT_KILLED')))
    }
  })

  test('answers no success when the ledger cannot record', async () => {
    let broken = false
    const rig = await createApiRig({
      policy: POLICY,
      between: (store) => ({
        ...store,
        write: (batch) => (broken ? Promise.reject(new Error('disk full')) : store.write(batch)),
      }),
    })
    broken = true
    const { status } = await send(rig, client, payloads.before(shellOf(payloads, 'npm test'), 'use_1'))
    expect(status).toBe(503)
  })

  test('refuses payloads that it cannot read', async () => {
    const rig = await createApiRig({ policy: POLICY })
    const good = payloads.before(shellOf(payloads, 'npm test'), 'use_1')
    const query = good.event === undefined ? '' : `?event=${good.event}`
    const hostile: readonly string[] = [
      '',
      '[]',
      'null',
      '{',
      '{}',
      '{"a":1,"a":2}',
      JSON.stringify(good.body).replace('npm test', '\\ud800'),
      JSON.stringify(good.body).replace(/"(session_id|conversation_id|sessionId|session)":"[^"]*"/, '"$1":7'),
      JSON.stringify(good.body).replace(/"(tool_name|toolName|tool)":"[^"]*"/, '"$1":["x"]'),
      JSON.stringify(good.body).replace(/"(tool_name|toolName|tool)":"[^"]*"/, '"$1":"a b"'),
      JSON.stringify(good.body).replace(/"(tool_input|toolArgs|args)":\{[^}]*\}/, '"$1":"rm -rf"'),
      JSON.stringify(good.body).replace(/"(cwd|directory)":"[^"]*"/, '"$1":"relative"'),
    ]
    for (const text of hostile) {
      const { status } = await rig.ask('agent', 'POST', `/v1/hooks/${client}${query}`, text)
      expect({ text, status }).toEqual({ text, status: 400 })
    }
    expect(decisions(rig)).toEqual([])
  })

  test('refuses an MCP server that takes the name of the own tools', async () => {
    const rig = await createApiRig({ policy: POLICY })
    const names =
      client === 'cursor'
        ? ['MCP:builtin:shell']
        : ['mcp__builtin__shell', 'mcp__tollgate__builtin__shell', 'mcp__builtin__a__b']
    for (const tool of names) {
      const { status } = await send(rig, client, payloads.before({ tool, args: {}, canonical: '' }, 'use_1'))
      expect({ tool, status }).toEqual({ tool, status: 400 })
    }
  })
})

describe('uses of tools', () => {
  const [claude, codex] = [PAYLOADS['claude-code'], PAYLOADS.codex]
  if (!claude || !codex) throw new Error('no payloads')
  const run = shellOf(claude, 'npm test')

  test('one use that two hooks report is one decision and one effect', async () => {
    const rig = await createApiRig({ policy: POLICY })
    const sent = claude.before(run, 'use_1')
    const [one, two] = await Promise.all([send(rig, 'claude-code', sent), send(rig, 'claude-code', sent)])
    const other = await send(rig, 'codex', codex.before(run, 'use_1'))
    expect([one.status, two.status, other.status]).toEqual([200, 200, 200])
    const after = claude.after(run, 'use_1', { stdout: SECRET })
    const [first, second] = await Promise.all([
      send(rig, 'claude-code', after),
      send(rig, 'claude-code', after),
    ])
    expect(first.text).toBe(second.text)
    expect(decisions(rig)).toHaveLength(1)
    expect(effects(rig)).toHaveLength(1)
  })

  test('one id with other arguments is another decision', async () => {
    const rig = await createApiRig({ policy: POLICY })
    await send(rig, 'claude-code', claude.before(run, 'use_1'))
    await send(rig, 'claude-code', claude.before(shellOf(claude, 'rm -rf /'), 'use_1'))
    expect(decisions(rig).map(({ verdict }) => verdict)).toEqual(['ALLOW', 'DENY'])
  })

  test('another principal never gets a decision of this one', async () => {
    const rig = await createApiRig({ policy: POLICY })
    const sent = claude.before(run, 'use_1')
    await send(rig, 'claude-code', sent)
    await rig.ask('other', 'POST', '/v1/hooks/claude-code', sent.body as Json)
    expect(decisions(rig).map(({ principal }) => principal)).toEqual(['agent:a', 'agent:b'])
  })

  test('clients, sessions and subagents have sessions of their own', async () => {
    const rig = await createApiRig({ policy: POLICY })
    const { body } = claude.before(run, 'use_1')
    await send(rig, 'claude-code', { body: { ...body, tool_use_id: 'a' } })
    await send(rig, 'claude-code', {
      body: { ...body, tool_use_id: 'b', agent_id: 'sub1', agent_type: 'Explore' },
    })
    await send(rig, 'claude-code', { body: { ...body, tool_use_id: 'c', session_id: 'other' } })
    await send(rig, 'codex', codex.before(run, 'd'))
    expect(decisions(rig).map(({ session }) => session.id)).toEqual([
      'claude-code:4e1c',
      'claude-code:4e1c/sub1',
      'claude-code:other',
      'codex:4e1c',
    ])
  })

  test('the result of a call that was denied is inspected, recorded nowhere, and logged', async () => {
    const rig = await createApiRig({ policy: POLICY })
    const remove = shellOf(claude, 'rm -rf src')
    await send(rig, 'claude-code', claude.before(remove, 'use_1'))
    const { text } = await send(rig, 'claude-code', claude.after(remove, 'use_1', { stdout: SECRET }))
    expect(text).not.toContain(SECRET)
    expect(effects(rig)).toEqual([])
    expect(rig.log.map(({ message }) => message)).toContain(
      'a client reported the result of a call that was not allowed',
    )
  })

  test('a withheld output keeps its shape, with the note as its first text', async () => {
    const rig = await createApiRig({ policy: POLICY.replace('secret: redact', 'secret: withhold') })
    await send(rig, 'claude-code', claude.before(run, 'use_1'))
    const output = { stdout: `a ${SECRET}`, stderr: 'b', interrupted: false, isImage: false }
    const { json } = await send(rig, 'claude-code', claude.after(run, 'use_1', output))
    expect(json).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PostToolUse',
        updatedToolOutput: {
          stdout: expect.stringContaining('withholds the result') as string,
          stderr: '',
          interrupted: false,
          isImage: false,
        },
      },
    })
  })

  test('without a report the effect becomes UNKNOWN, and a late report is late', async () => {
    const rig = await createApiRig({ policy: POLICY })
    await send(rig, 'claude-code', claude.before(run, 'use_1'))
    rig.host.time += 61_000
    await send(rig, 'claude-code', claude.before(run, 'use_2'))
    await send(rig, 'claude-code', claude.after(run, 'use_1', 'ok'))
    expect(effects(rig)).toMatchObject([{ status: 'UNKNOWN' }, { status: 'COMPLETED', late: true }])
  })
})

describe('waiting', () => {
  const claude = PAYLOADS['claude-code']
  if (!claude) throw new Error('no payloads')
  const push = shellOf(claude, 'git push')

  function ask(rig: ApiRig, wait: string): Promise<Response> {
    return rig.app.fetch(
      new Request('http://gateway.test/v1/hooks/claude-code', {
        method: 'POST',
        headers: {
          authorization: `Bearer ${rig.token('agent')}`,
          'content-type': 'application/json',
          'tollgate-wait': wait,
        },
        body: JSON.stringify(claude?.before(push, 'use_1').body),
      }),
    )
  }

  async function openRequest(rig: ApiRig): Promise<string> {
    return new Promise((resolve) => {
      const look = (): void => {
        const [request] = rig.kernel.approvals.list(rig.host.now())
        if (request) resolve(request.id)
      }
      rig.options.watch(look)
      look()
    })
  }

  test('a call waits for its approval and then runs', async () => {
    const rig = await createApiRig({ policy: POLICY })
    const answer = ask(rig, '60s')
    await rig.ask('operator', 'POST', `/v1/approvals/${await openRequest(rig)}/approve`)
    expect(await (await answer).text()).toContain('"allow"')
  })

  test('a denial ends the wait with a denial', async () => {
    const rig = await createApiRig({ policy: POLICY })
    const answer = ask(rig, '60s')
    await rig.ask('operator', 'POST', `/v1/approvals/${await openRequest(rig)}/deny`)
    expect(await (await answer).text()).toContain('APPROVAL_REFUSED')
  })

  test('a freeze ends the wait with a denial', async () => {
    const rig = await createApiRig({ policy: POLICY })
    const answer = ask(rig, '60s')
    await openRequest(rig)
    await freeze(rig)
    expect(await (await answer).text()).toContain('AGENT_KILLED')
  })

  test('the stop of the gateway ends the wait with a denial', async () => {
    const rig = await createApiRig({ policy: POLICY })
    const answer = ask(rig, '60s')
    await openRequest(rig)
    rig.app.end()
    expect(await (await answer).text()).toContain('APPROVAL_REQUIRED')
  })

  test('an unreadable time is no allowance', async () => {
    const rig = await createApiRig({ policy: POLICY })
    expect((await ask(rig, 'soon')).status).toBe(400)
  })
})

describe('prompts of clients', () => {
  const claude = PAYLOADS['claude-code']
  if (!claude) throw new Error('no payloads')
  const push = shellOf(claude, 'git push')
  const CLIENT = POLICY.replace('"git push")\' }', '"git push")\', answer: client }')

  async function ask(
    rig: ApiRig,
    client: string,
    { entry, ...changes }: Record<string, string>,
  ): Promise<Record<string, unknown>> {
    const payloads = PAYLOADS[client]
    if (!payloads) throw new Error(client)
    const { body } = payloads.before(shellOf(payloads, 'git push'), 'use_1')
    const headers = { authorization: `Bearer ${rig.token('agent')}`, 'content-type': 'application/json' }
    const response = await rig.app.fetch(
      new Request(
        `http://gateway.test/v1/hooks/${client}${client === 'copilot' ? '?event=preToolUse' : ''}`,
        {
          method: 'POST',
          headers: { ...headers, ...(entry !== undefined && { 'tollgate-entry': entry }) },
          body: JSON.stringify({ ...body, ...changes }),
        },
      ),
    )
    // Safe cast: every answer of the door is an object.
    return (await response.json()) as Record<string, unknown>
  }

  test('an attended client asks its user, and the result closes the decision', async () => {
    const rig = await createApiRig({ policy: CLIENT })
    const answer = await ask(rig, 'claude-code', { entry: 'cli' })
    const text = expect.stringMatching(
      /^\[Tollgate\] The rule `push` leaves this call to you\. Receipt: [0-9a-f]{64}$/,
    ) as string
    expect(answer).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'ask',
        permissionDecisionReason: text,
      },
    })
    const [decision] = decisions(rig)
    expect(decision).toMatchObject({
      ...{ verdict: 'ALLOW', reason_code: 'ASKED_IN_CLIENT', assurance: 'advised', rule: 'push' },
    })
    expect(decision?.approval).toBeUndefined()
    // A person may take longer than the other calls have.
    rig.host.time += 600_000
    await send(rig, 'claude-code', claude.after(push, 'use_1', 'pushed'))
    expect(effects(rig)).toMatchObject([{ status: 'COMPLETED', decision: expect.any(String) as string }])
    expect(effects(rig)[0]).not.toHaveProperty('late')
  })

  test('silence after the prompt is UNKNOWN', async () => {
    const rig = await createApiRig({ policy: CLIENT })
    await ask(rig, 'claude-code', { entry: 'cli' })
    rig.host.time += 901_000
    await send(rig, 'claude-code', claude.before(shellOf(claude, 'npm test'), 'use_2'))
    expect(effects(rig)).toMatchObject([{ status: 'UNKNOWN', cause: 'lost' }])
  })

  test('a client that shows no prompts needs an approval', async () => {
    const rows: readonly (readonly [string, Record<string, string>])[] = [
      ['claude-code', {}],
      ['claude-code', { entry: 'sdk-cli' }],
      ['claude-code', { entry: 'sdk-ts' }],
      ['claude-code', { entry: 'cli', permission_mode: 'bypassPermissions' }],
      ['claude-code', { entry: 'cli', permission_mode: 'dontAsk' }],
      ['claude-code', { entry: 'cli', permission_mode: 'auto' }],
      ['claude-code', { entry: 'cli', permission_mode: 'a mode of tomorrow' }],
      ['claude-code', { entry: 'CLI' }],
      ...['codex', 'cursor', 'copilot', 'opencode'].map((client) => [client, { entry: 'cli' }] as const),
    ]
    for (const [client, changes] of rows) {
      const rig = await createApiRig({ policy: CLIENT })
      const answer = JSON.stringify(await ask(rig, client, changes))
      const found = decisions(rig).map(({ reason_code }) => reason_code)
      expect({ client, changes, found }).toEqual({ client, changes, found: ['APPROVAL_REQUIRED'] })
      expect(answer).toContain('deny')
      expect(answer).toMatch(/Approval: [0-9a-f]{64}/)
    }
  })
})

describe('a question that is repeated', () => {
  const { 'claude-code': claude } = PAYLOADS
  if (!claude) throw new Error('no payloads')
  const run = shellOf(claude, 'npm test')
  const push = shellOf(claude, 'git push')

  test('is decided again once its ALLOW has expired', async () => {
    const rig = await createApiRig({ policy: POLICY })
    const sent = claude.before(run, 'use_1')
    await send(rig, 'claude-code', sent)
    rig.host.time += 60_000
    await send(rig, 'claude-code', sent)
    expect(decisions(rig)).toHaveLength(1)
    rig.host.time += 1
    await Promise.all([send(rig, 'claude-code', sent), send(rig, 'claude-code', sent)])
    expect(decisions(rig)).toHaveLength(2)
  })

  test('gets the same request while it waits, and the answer of a person afterwards', async () => {
    for (const [verb, expected] of [
      ['approve', 'APPROVAL_GRANTED'],
      ['deny', 'APPROVAL_REFUSED'],
    ] as const) {
      const rig = await createApiRig({ policy: POLICY })
      const sent = claude.before(push, 'use_1')
      const first = await send(rig, 'claude-code', sent)
      expect((await send(rig, 'claude-code', sent)).text).toBe(first.text)
      const [id = ''] = /(?<=Approval: )[0-9a-f]{64}/.exec(first.text) ?? []
      await rig.ask('operator', 'POST', `/v1/approvals/${id}/${verb}`)
      await send(rig, 'claude-code', sent)
      expect(decisions(rig).map(({ reason_code }) => reason_code)).toEqual(['APPROVAL_REQUIRED', expected])
    }
  })

  test('after its result is a new call', async () => {
    const rig = await createApiRig({ policy: POLICY })
    for (let i = 0; i < 2; i++) {
      await send(rig, 'claude-code', claude.before(run, 'use_1'))
      await send(rig, 'claude-code', claude.after(run, 'use_1', `ok ${i}`))
    }
    expect(decisions(rig)).toHaveLength(2)
    expect(effects(rig).map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED'])
  })
})

describe('results', () => {
  const { 'claude-code': claude } = PAYLOADS
  if (!claude) throw new Error('no payloads')
  const run = shellOf(claude, 'npm test')

  test('of a call that was never asked about are inspected and close nothing', async () => {
    const rig = await createApiRig({ policy: POLICY })
    const { text } = await send(rig, 'claude-code', claude.after(run, 'use_1', { stdout: SECRET }))
    expect(text).not.toContain(SECRET)
    expect(rig.receipts().filter(({ kind }) => kind === 'decision' || kind === 'effect')).toEqual([])
  })

  test('of another principal close no decision of this one', async () => {
    const rig = await createApiRig({ policy: POLICY })
    await send(rig, 'claude-code', claude.before(run, 'use_1'))
    await rig.ask('other', 'POST', '/v1/hooks/claude-code', claude.after(run, 'use_1', 'forged').body as Json)
    expect(effects(rig)).toEqual([])
    await send(rig, 'claude-code', claude.after(run, 'use_1', 'ok'))
    expect(effects(rig)).toMatchObject([{ status: 'COMPLETED' }])
  })

  test('with the id of another call close nothing', async () => {
    const rig = await createApiRig({ policy: POLICY })
    await send(rig, 'claude-code', claude.before(run, 'use_1'))
    await send(rig, 'claude-code', claude.after(run, 'use_2', 'ok'))
    expect(effects(rig)).toEqual([])
  })

  test('after a freeze are recorded: the call was allowed before', async () => {
    const rig = await createApiRig({ policy: POLICY })
    await send(rig, 'claude-code', claude.before(run, 'use_1'))
    await freeze(rig)
    const { status, text } = await send(rig, 'claude-code', claude.after(run, 'use_1', { stdout: SECRET }))
    expect(status).toBe(200)
    expect(text).not.toContain(SECRET)
    expect(effects(rig)).toMatchObject([{ status: 'COMPLETED', delivery: 'redacted' }])
  })

  test('that contradict each other close one decision', async () => {
    const rig = await createApiRig({ policy: POLICY })
    await send(rig, 'claude-code', claude.before(run, 'use_1'))
    await Promise.all([
      send(rig, 'claude-code', claude.after(run, 'use_1', 'ok')),
      send(rig, 'claude-code', claude.failed?.(run, 'use_1', 'exit 1') ?? { body: {} }),
    ])
    expect(effects(rig)).toHaveLength(1)
  })
})

test('a payload of more than the limit is refused, and an argument of any size below it is decided', async () => {
  const { 'claude-code': claude } = PAYLOADS
  if (!claude) throw new Error('no payloads')
  const rig = await createApiRig({ policy: POLICY })
  const writing = (size: number): Sent =>
    claude.before(
      { tool: 'Write', args: { file_path: '/a', content: 'x'.repeat(size) }, canonical: '' },
      `u${size}`,
    )
  expect((await send(rig, 'claude-code', writing(60_000))).status).toBe(200)
  expect((await send(rig, 'claude-code', writing(70_000))).status).toBe(413)
  expect(decisions(rig)).toHaveLength(1)
})

test('an odd name of a session is refused, and a name that every object has is no special one', async () => {
  const { 'claude-code': claude } = PAYLOADS
  if (!claude) throw new Error('no payloads')
  const rig = await createApiRig({ policy: POLICY })
  const { body } = claude.before(shellOf(claude, 'npm test'), 'use_1')
  for (const odd of ['', 'a b', 'a\nb', 'ä', 'x'.repeat(121), 7, null, {}, ['s']]) {
    const { status } = await send(rig, 'claude-code', { body: { ...body, session_id: odd } })
    expect({ odd, status }).toEqual({ odd, status: 400 })
  }
  for (const name of ['__proto__', 'constructor', 'toString']) {
    const named = { tool_name: name, tool_use_id: name, session_id: name }
    const { status } = await send(rig, 'claude-code', { body: { ...body, ...named } })
    expect(status).toBe(200)
    expect(decisions(rig).at(-1)).toMatchObject({ tool: `claude-code/${name}` })
  }
})
