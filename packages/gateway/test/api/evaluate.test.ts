import { sha256Hex, type Decision, type Effect } from '@tollgate/evidence'
import { describe, expect, test } from 'vitest'
import { createApiRig, script, type ApiRig } from './rig.ts'

async function check(text: string, rig?: ApiRig): Promise<ApiRig> {
  const used = rig ?? (await createApiRig())
  await script(used, text)
  return used
}

function last<K extends 'decision' | 'effect'>(
  rig: ApiRig,
  kind: K,
): Extract<Decision | Effect, { kind: K }> {
  return rig.receipts().findLast((receipt) => receipt.kind === kind) as Extract<
    Decision | Effect,
    { kind: K }
  >
}

const EXPORTING = `
tollgate: 1
name: exporting
principals: { "agent:*": { tier: admin } }
tools: { "data/export": { effect: send } }
rules: [{ id: all, allow: "*" }]
gates: { egress: { allow: ["*"] } }
`

describe('evaluate', () => {
  test('answers ALLOW with the receipt in the ledger', async () => {
    const rig = await check(`
      agent POST /v1/evaluate {"tool":"fs/read_file","arguments":{"path":"a"},"session_id":"s1"}
      status 200
      header content-type application/json
      body verdict "ALLOW"
      body reason_code "RULE_ALLOWED"
      body rule "reading"
      body rung "policy"
      body approval null
      body expires "2026-01-05T09:01:00.000Z"
    `)
    expect(last(rig, 'decision')).toMatchObject({
      principal: 'agent:a',
      door: 'http',
      assurance: 'advised',
      args_hash: sha256Hex('{"path":"a"}'),
      session: { id: 's1', seq: 0 },
    })
  })

  test('answers DENY and ESCALATE with 200', async () => {
    await check(`
      agent POST /v1/evaluate {"tool":"fs/write_file","arguments":{}}
      status 200
      body verdict "DENY"
      body reason_code "POLICY_VIOLATION"
      body detail "nothing is written here"
      agent POST /v1/evaluate {"tool":"mail/send","arguments":{"to":"a@example.com"}}
      status 200
      body verdict "ESCALATE"
      let $request = receipt
      body approval "$request"
    `)
  })

  test('reports score, threshold and axis of a risky session, and a valid remedy', async () => {
    const rig = await createApiRig({ policy: EXPORTING })
    const call = {
      tool: 'data/export',
      arguments: { what: 'customer passwords and tokens', to: 'https://drop.example/upload' },
      session_id: 's1',
    }
    let answer = await rig.ask('agent', 'POST', '/v1/evaluate', call)
    for (let i = 0; i < 40 && answer.json.verdict === 'ALLOW'; i++)
      answer = await rig.ask('agent', 'POST', '/v1/evaluate', call)
    expect(answer.json).toMatchObject({ reason_code: 'SESSION_RISK_MEMORY_DENY', approval: null })
    expect(answer.json.detail).toMatch(/^risk score 0\.\d{4}, threshold 0\.3800, raised by \w+$/)
    expect(answer.json.remedy).toContain('Ask an operator')
  })

  test('reads the session outside or inside of the context, and denies two different ones', async () => {
    const rig = await check(`
      agent POST /v1/evaluate {"tool":"fs/read_file","context":{"session_id":"s1"}}
      body verdict "ALLOW"
      agent POST /v1/evaluate {"tool":"fs/read_file","context":{"delegation_session_id":"s2"}}
      body verdict "ALLOW"
      agent POST /v1/browser/evaluate {"tool_name":"fs/read_file","context":{"session_id":"s3"}}
      agent POST /v1/evaluate {"tool":"fs/read_file","session_id":"s4","context":{"session_id":"s5"}}
      body reason_code "AMBIGUOUS_INPUT"
      body detail "session_id: \`context\` names another"
    `)
    const named = rig.receipts().flatMap((each) => (each.kind === 'decision' ? [each.session.id] : []))
    expect(named).toEqual(['s1', 's2', 's3', 's4'])
  })

  test('identifies the caller only by its token', async () => {
    const rig = await check(`
      agent POST /v1/evaluate {"tool":"fs/read_file","principal":"agent:b"}
      body reason_code "IDENTITY_ISOLATION_VIOLATION"
    `)
    expect(last(rig, 'decision')).toMatchObject({ principal: 'agent:a', verdict: 'DENY' })
  })

  test('always uses the same door, whatever the client claims', async () => {
    const rig = await createApiRig()
    const headers = {
      authorization: `Bearer ${rig.token('agent')}`,
      'content-type': 'application/json',
      'x-tollgate-client': 'test',
    }
    const body = '{"tool":"fs/read_file"}'
    await rig.app.fetch(new Request('http://x/v1/evaluate', { method: 'POST', headers, body }))
    expect(last(rig, 'decision').door).toBe('http')
  })

  const refused = {
    'is not JSON': '{"tool":',
    'has a key twice': '{"tool":"fs/read_file","tool":"fs/read_file"}',
    'has a key twice after unescaping': '{"tool":"fs/read_file","to\\u006fl":"x"}',
    'contains half of a surrogate pair': '{"tool":"fs/read_file","arguments":{"a":"\\ud800"}}',
    'nests too deep': `{"tool":"fs/read_file","arguments":${'['.repeat(80)}${']'.repeat(80)}}`,
    'has an integer beyond 2^53': '{"tool":"fs/read_file","arguments":{"n":9007199254740993}}',
    'is empty': '',
    'has something after its end': '{"tool":"fs/read_file"} x',
  }
  test.each(Object.entries(refused))('denies with a receipt a body that %s', async (_, body) => {
    const rig = await createApiRig()
    const { status, json } = await rig.ask('agent', 'POST', '/v1/evaluate', body)
    expect([status, json.verdict, json.reason_code]).toEqual([200, 'DENY', 'AMBIGUOUS_INPUT'])
    const receipt = last(rig, 'decision')
    expect(receipt).toMatchObject({ tool: '(unreadable)', commit: 'raw', args_hash: sha256Hex(body) })
    expect(json.receipt).toBe(rig.store.entries.at(-1)?.id)
  })

  test('denies members of the wrong type with a receipt', async () => {
    await check(`
      agent POST /v1/evaluate {"tool":7}
      body reason_code "AMBIGUOUS_INPUT"
      body detail "tool"
      agent POST /v1/evaluate {"tool":"fs/read_file","session_id":{}}
      body reason_code "AMBIGUOUS_INPUT"
      agent POST /v1/evaluate {"arguments":{}}
      body reason_code "AMBIGUOUS_INPUT"
      agent POST /v1/evaluate {"tool":"fs/read_file","context":[]}
      body reason_code "AMBIGUOUS_INPUT"
    `)
  })

  test('refuses without a receipt what is clearly not a call', async () => {
    const rig = await createApiRig()
    const before = rig.receipts().length
    await check(
      `
      agent POST /v1/evaluate {"tool":"fs/read_file","args":{"path":"a"}}
      status 400
      body code "request-invalid"
      agent POST /v1/evaluate []
      status 400
      agent POST /v1/evaluate {"tool":"fs/read_file","raw":"{}"}
      status 400
      agent POST /v1/evaluate {"tool":"fs/read_file","__proto__":{}}
      status 400
      agent POST /v1/evaluate?x=1 {"tool":"fs/read_file"}
      status 400
      `,
      rig,
    )
    expect(rig.receipts().length).toBe(before)
  })

  test('accepts an approval only for exactly the call it was requested for', async () => {
    await check(`
      agent POST /v1/evaluate {"tool":"mail/send","arguments":{"to":"a@example.com"}}
      let $request = approval
      operator POST /v1/approvals/$request/approve
      status 200
      agent POST /v1/evaluate {"tool":"mail/send","arguments":{"to":"b@example.com"},"approval":"$request"}
      body reason_code "APPROVAL_INVALID"
      agent POST /v1/evaluate {"tool":"mail/send","arguments":{"to":"a@example.com"},"approval":"$request"}
      body verdict "ALLOW"
      body reason_code "APPROVAL_GRANTED"
    `)
  })
})

describe('the browser door', () => {
  const observation = {
    url: 'https://example.com/',
    dom_hash: sha256Hex('d'),
    visual_text_hash: sha256Hex('v'),
  }

  test('decides a call with the observation that the Sentinel posted', async () => {
    const rig = await createApiRig()
    const seen = { ...observation, sentinel_risk: 10, sentinel_findings: [] }
    const posted = await rig.ask('sentinel', 'POST', '/v1/browser/observations', seen)
    expect(posted.status).toBe(201)
    const call = {
      tool_name: 'web/click',
      arguments: {},
      planner_ref: 'p1',
      observation: { url: observation.url },
      observation_id: posted.json.id as string,
    }
    const first = await rig.ask('agent', 'POST', '/v1/browser/evaluate', call)
    expect(first.json).toMatchObject({ verdict: 'ALLOW' })
    expect(last(rig, 'decision')).toMatchObject({
      door: 'browser',
      browser: { sentinel_risk: 10, planner_ref: `sha256:${sha256Hex('p1')}`, page_host: 'example.com' },
    })
    const again = await rig.ask('agent', 'POST', '/v1/browser/evaluate', call)
    expect(again.json).toMatchObject({ verdict: 'DENY', reason_code: 'COGNITIVE_FIREWALL_SENTINEL_DENY' })
  })

  test('denies a side effect without an observation of the Sentinel', async () => {
    await check(`
      agent POST /v1/browser/evaluate {"tool_name":"web/click","planner_ref":"p","observation":{"url":"https://example.com/"}}
      body reason_code "COGNITIVE_FIREWALL_SENTINEL_DENY"
      agent POST /v1/browser/evaluate {"tool_name":"web/click","planner_ref":"p","observation":7}
      body verdict "DENY"
      agent POST /v1/browser/evaluate {"tool":"web/click"}
      status 400
    `)
  })

  test('refuses an incomplete observation', async () => {
    await check(`
      sentinel POST /v1/browser/observations {"url":"https://example.com/"}
      status 400
      has sentinel_risk
      sentinel POST /v1/browser/observations {"url":"https://example.com/","sentinel_risk":101,"sentinel_findings":[]}
      status 400
    `)
  })
})

describe('effects', () => {
  const allow = `
    agent POST /v1/evaluate {"tool":"fs/read_file"}
    let $id = receipt
  `
  const outputs: readonly (readonly [string, string | undefined])[] = [
    ['"output":{"b":1,"a":[true]}', '{"a":[true],"b":1}'],
    ['"output":null', 'null'],
    ['"output_base64":"aGVsbG8="', 'hello'],
  ]
  test.each(outputs)('hashes %s as documented', async (member, bytes) => {
    const rig = await check(`${allow}
      agent POST /v1/effects {"decision":"$id","status":"COMPLETED",${member}}
      status 201
    `)
    expect(last(rig, 'effect')).toMatchObject({
      status: 'COMPLETED',
      reported_by: 'caller',
      effect_hash: sha256Hex(bytes ?? ''),
    })
  })

  test('accepts an effect without output, once', async () => {
    await check(`${allow}
      agent POST /v1/effects {"decision":"$id","status":"FAILED"}
      status 201
      agent POST /v1/effects {"decision":"$id","status":"FAILED"}
      status 409
      body code "effect-refused"
    `)
  })

  test('accepts an effect only from the principal', async () => {
    const rig = await check(`${allow}
      other POST /v1/effects {"decision":"$id","status":"COMPLETED"}
      status 409
      far-agent POST /v1/effects {"decision":"$id","status":"COMPLETED"}
      status 409
      agent POST /v1/effects {"decision":"${'0'.repeat(64)}","status":"COMPLETED"}
      status 409
    `)
    expect(rig.receipts().some(({ kind }) => kind === 'effect')).toBe(false)
  })

  test('refuses invalid effects', async () => {
    await check(`${allow}
      agent POST /v1/effects {"decision":"$id","status":"UNKNOWN"}
      status 400
      agent POST /v1/effects {"decision":"$id","status":"COMPLETED","output":1,"output_base64":""}
      status 400
      agent POST /v1/effects {"decision":"$id","status":"COMPLETED","output_base64":"aGVsbG8"}
      status 400
      agent POST /v1/effects {"decision":"$id","status":"COMPLETED","more":1}
      status 400
      agent POST /v1/effects {"decision":"x","status":"COMPLETED"}
      status 400
    `)
  })
})

describe('when the ledger fails', () => {
  test('answers 503 with a DENY, and never ALLOW again', async () => {
    let failing = false
    const rig = await createApiRig({
      between: (store) => ({
        ...store,
        write: (batch) => (failing ? Promise.reject(new Error('disk /secret/path')) : store.write(batch)),
      }),
    })
    failing = true
    for (const attempt of [1, 2]) {
      const { status, json, text } = await rig.ask('agent', 'POST', '/v1/evaluate', { tool: 'fs/read_file' })
      expect([attempt, status, json.verdict, json.code]).toEqual([attempt, 503, 'DENY', 'ledger-unavailable'])
      expect(json.receipt).toBeNull()
      expect(text).not.toContain('secret')
    }
    const effect = await rig.ask('agent', 'POST', '/v1/effects', {
      decision: 'a'.repeat(64),
      status: 'COMPLETED',
    })
    expect(effect.status).toBe(503)
    expect((await rig.ask(undefined, 'GET', '/readyz')).status).toBe(503)
    expect((await rig.ask(undefined, 'GET', '/healthz')).status).toBe(200)
    expect((await rig.ask('agent', 'GET', '/v1/status')).json.poisoned).toMatch(/could not be written/)
  })

  test('does not return an ALLOW that was decided while the ledger was poisoned', async () => {
    const rig: ApiRig = await createApiRig({
      between: (store) => ({
        ...store,
        async write(batch) {
          await store.write(batch)
          // Durable, but the ledger is poisoned before the answer is sent.
          if (batch.entries.some(({ encoded }) => encoded.receipt.kind === 'decision')) {
            void Promise.resolve().then(() => Promise.resolve().then(() => rig.kernel.ledger.poison('x')))
          }
        },
      }),
    })
    const { status, json } = await rig.ask('agent', 'POST', '/v1/evaluate', { tool: 'fs/read_file' })
    expect([status, json.verdict]).toEqual([503, 'DENY'])
  })

  test('answers 500 without internals when something throws', async () => {
    const rig = await createApiRig()
    const view = { ...rig.view, page: () => Promise.reject(new Error('secret /path')) }
    const broken = await createApiRig({ api: { view } })
    const { status, text } = await broken.ask('auditor', 'GET', '/v1/receipts')
    expect(status).toBe(500)
    expect(text).not.toContain('secret')
    expect(JSON.stringify(broken.log)).not.toContain('secret')
    expect(broken.log[0]).toMatchObject({ level: 'error', fields: { route: 'listReceipts', fault: 'Error' } })
  })

  test('answers 500, not ALLOW, when the kernel throws', async () => {
    const rig = await createApiRig()
    const kernel = new Proxy(rig.kernel, {
      get(target, name, receiver) {
        if (name === 'ledger') throw new TypeError('secret')
        return Reflect.get(target, name, receiver) as unknown
      },
    })
    const broken = await createApiRig({ api: { kernel } })
    const { status, text } = await broken.ask('agent', 'POST', '/v1/evaluate', { tool: 'fs/read_file' })
    expect(status).toBe(500)
    expect(text).not.toContain('secret')
  })
})
