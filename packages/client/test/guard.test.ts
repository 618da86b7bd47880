// A guarded tool: asking, running, reporting, and everything that must prevent a run.

import { afterEach, describe, expect, expectTypeOf, it, vi } from 'vitest'
import { canonicalize, formatTrust, sha256Hex } from '../../evidence/src/index.ts'
import { createLedger, decision, type Draft } from '../../evidence/test/ledger.ts'
import {
  ApprovalRequired,
  ApprovalTimedOut,
  createClient,
  EffectUnreported,
  ToolDenied,
  type Client,
  type ClientOptions,
  type Fetch,
  type GuardOptions,
  type TollgateError,
} from '../src/index.ts'
import type { Fault } from './stand-in-faults.ts'
import {
  AGENT_TOKEN,
  OPERATOR_TOKEN,
  startStandIn,
  type Asked,
  type StandIn,
  type StandInOptions,
} from './stand-in.ts'

type DecisionDraft = Extract<Draft, { kind: 'decision' }>

let standIn: StandIn | undefined

interface World {
  readonly gateway: StandIn
  readonly client: Client
  readonly operator: Client
}

async function start(options: StandInOptions = {}, more: Partial<ClientOptions> = {}): Promise<World> {
  const gateway = await startStandIn(options)
  standIn = gateway
  const { url } = gateway
  const client = createClient({
    url,
    token: AGENT_TOKEN,
    timeout: 2_000,
    retries: 2,
    session: 's-1',
    ...more,
  })
  return { gateway, client, operator: createClient({ url, token: OPERATOR_TOKEN }) }
}

afterEach(async () => {
  await standIn?.close()
  standIn = undefined
})

/** A tool that counts how often it ran. */
function counting<R>(result: R): { runs: unknown[]; tool: (args: unknown) => R } {
  const runs: unknown[] = []
  return {
    runs,
    tool(args) {
      runs.push(args)
      return result
    },
  }
}

/** Faults for the requests to one path, in order; then none. */
function faultsAt(path: string, faults: readonly (Fault | undefined)[]): (asked: Asked) => Fault | undefined {
  const left = [...faults]
  return (asked) => (asked.path === path ? left.shift() : undefined)
}

/** Calls a guarded tool that must not run. Returns the error. */
async function refused(options: StandInOptions, more: Partial<ClientOptions> = {}): Promise<unknown> {
  const { client } = await start(options, more)
  const { runs, tool } = counting('ran')
  const thrown = await client
    .guard(
      'fs/read_file',
      tool,
    )({ path: 'a' })
    .then(
      () => 'nothing was thrown',
      (fault: unknown) => fault,
    )
  expect(runs).toEqual([])
  return thrown
}

describe('an allowed call', () => {
  it('runs once with the judged arguments and is reported with the hash of its result', async () => {
    const { gateway, client } = await start()
    const { runs, tool } = counting({ lines: ['b', 'a'], count: 2 })
    const read = client.guard('fs/read_file', tool)
    expect(await read({ path: 'notes.txt', depth: 1 })).toEqual({ lines: ['b', 'a'], count: 2 })
    expect(runs).toEqual([{ path: 'notes.txt', depth: 1 }])
    const [decision] = gateway.receipts('decision')
    const [effect] = gateway.receipts('effect')
    expect(decision).toMatchObject({
      tool: 'fs/read_file',
      args_hash: sha256Hex('{"depth":1,"path":"notes.txt"}'),
      session: { id: 's-1' },
    })
    expect(effect).toMatchObject({
      status: 'COMPLETED',
      effect_hash: sha256Hex(canonicalize({ lines: ['b', 'a'], count: 2 })),
    })
  })

  it('does not change if the caller changes the arguments', async () => {
    const { gateway, client } = await start({
      fault: faultsAt('/v1/evaluate', [{ kind: 'delay', milliseconds: 50 }]),
    })
    const { runs, tool } = counting(null)
    const args = { to: { path: 'harmless' } }
    const running = client.guard('fs/read_file', tool)(args)
    args.to.path = '/etc/shadow'
    await running
    expect(runs).toEqual([{ to: { path: 'harmless' } }])
    expect(gateway.receipts('decision')[0]?.args_hash).toBe(sha256Hex('{"to":{"path":"harmless"}}'))
  })

  it('is read once, also if a getter returns different values', async () => {
    const { gateway, client } = await start()
    const { runs, tool } = counting(null)
    let looks = 0
    const shifty = {
      get path(): string {
        return looks++ === 0 ? 'harmless' : '/etc/shadow'
      },
    }
    await client.guard('fs/read_file', tool)(shifty)
    expect(looks).toBe(1)
    expect(runs).toEqual([{ path: 'harmless' }])
    expect(gateway.receipts('decision')[0]?.args_hash).toBe(sha256Hex('{"path":"harmless"}'))
  })

  it('gets ordinary objects, and `__proto__` sets no prototype', async () => {
    const { client } = await start()
    const { runs, tool } = counting(null)
    await client.guard('fs/read_file', tool)(JSON.parse('{"__proto__":{"admin":true},"a":[1]}'))
    const [args] = runs as [object]
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype)
    expect(Object.keys(args)).toEqual(['__proto__', 'a'])
    expect('admin' in args).toBe(false)
  })

  it('passes the receipt and the signal to the tool', async () => {
    const { gateway, client } = await start()
    const { signal } = new AbortController()
    const seen = await client.guard('fs/read_file', (_: object, run) => [run.receipt, run.signal === signal])(
      {},
      { signal },
    )
    expect(seen).toEqual([gateway.ledger.entries[2]?.id, true])
  })

  it.each([
    ['bytes', new Uint8Array([1, 2, 3]), new Uint8Array([1, 2, 3])],
    ['a text', 'done', '"done"'],
    ['null', null, 'null'],
    ['nothing', undefined, ''],
    [
      'members that JSON leaves out',
      { at: new Date(0), not: undefined },
      '{"at":"1970-01-01T00:00:00.000Z"}',
    ],
    ['a value that JSON cannot express', { big: 1n }, canonicalize({ bytes: 0, sha256: sha256Hex('') })],
    [
      'more than half a mebibyte',
      'x'.repeat(600_000),
      canonicalize({ bytes: 600_002, sha256: sha256Hex(`"${'x'.repeat(600_000)}"`) }),
    ],
  ])('is reported by its hash if the result is %s', async (_, result, hashed) => {
    const { gateway, client } = await start()
    expect(await client.guard('fs/read_file', () => result)({})).toBe(result)
    expect(gateway.receipts('effect')).toMatchObject([{ effect_hash: sha256Hex(hashed) }])
  })

  it('is reported by a digest if it is too large for the gateway', async () => {
    const { gateway, client } = await start({
      fault: ({ path, body }) =>
        path === '/v1/effects' && JSON.stringify(body).length > 500
          ? { kind: 'status', status: 413 }
          : undefined,
    })
    const result = 'x'.repeat(1000)
    expect(await client.guard('fs/read_file', () => result)({})).toBe(result)
    const digest = canonicalize({ bytes: 1002, sha256: sha256Hex(JSON.stringify(result)) })
    expect(gateway.receipts('effect')).toMatchObject([{ effect_hash: sha256Hex(digest) }])
  })
})

describe('the type of a guarded tool', () => {
  const client = createClient({ url: 'https://a', token: 't' })
  const tool = ({ path }: { path: string }): number => path.length

  it('includes a denial unless denials are thrown', () => {
    const thrown = client.guard('fs/read_file', tool)
    const returned = client.guard('fs/read_file', tool, { onDenied: 'return' })
    const options: GuardOptions = {}
    const either = client.guard('fs/read_file', tool, options)
    expectTypeOf(thrown).parameter(0).toEqualTypeOf<{ path: string }>()
    expectTypeOf(thrown).returns.resolves.toEqualTypeOf<number>()
    expectTypeOf(returned).returns.resolves.toEqualTypeOf<number | ToolDenied>()
    expectTypeOf(either).returns.resolves.toEqualTypeOf<number | ToolDenied>()
    expect(thrown).toBeTypeOf('function')
  })
})

describe('nothing runs', () => {
  it('on DENY, and the denial has a reason and a remedy', async () => {
    const { gateway, client } = await start()
    const { runs, tool } = counting(null)
    const thrown = await client
      .guard(
        'fs/delete',
        tool,
      )({ path: 'a' })
      .catch((fault: unknown) => fault)
    expect(thrown).toBeInstanceOf(ToolDenied)
    expect(thrown).toMatchObject({
      code: 'tool-denied',
      tool: 'fs/delete',
      reason_code: 'NO_RULE_MATCHED',
      message: 'No rule of the policy matches this call.',
      receipt: gateway.ledger.entries.at(-1)?.id,
    })
    expect((thrown as ToolDenied).remedy).toContain('add a rule')
    expect(runs).toEqual([])
    expect(gateway.receipts('effect')).toEqual([])
  })

  it('on DENY that is returned as a value', async () => {
    const { client } = await start()
    const { runs, tool } = counting('ran')
    const given = await client.guard('fs/delete', tool, { onDenied: 'return' })({})
    expect(given).toBeInstanceOf(ToolDenied)
    expect(JSON.parse(JSON.stringify(given))).toMatchObject({ denied: true, reason_code: 'NO_RULE_MATCHED' })
    expect(runs).toEqual([])
  })

  it.each([
    ['a class', { at: new Date() }],
    ['undefined', { a: undefined }],
    ['a function', { run: () => 1 }],
    ['a number that JSON cannot express', { a: Infinity }],
    ['half a surrogate pair', { a: '\ud800' }],
  ])('if the arguments contain %s, and the gateway is not asked', async (_, args) => {
    const { gateway, client } = await start()
    const { runs, tool } = counting(null)
    await expect(client.guard('fs/read_file', tool)(args)).rejects.toMatchObject({
      code: 'arguments-invalid',
    })
    expect(runs).toEqual([])
    expect(gateway.asked).toEqual([])
  })

  it('if the gateway cannot be reached', async () => {
    const { gateway, client } = await start({}, { retries: 0 })
    await gateway.close()
    const { runs, tool } = counting(null)
    await expect(client.guard('fs/read_file', tool)({})).rejects.toMatchObject({
      code: 'gateway-unreachable',
    })
    expect(runs).toEqual([])
  })

  it('if the gateway does not answer in time', async () => {
    const fault = (): Fault => ({ kind: 'hang' })
    expect(await refused({ fault }, { timeout: 50, retries: 0 })).toMatchObject({ code: 'gateway-timeout' })
  })

  it('if `fetch` never returns and ignores its signal', async () => {
    const fetch = (): Promise<Response> => new Promise(() => undefined)
    expect(await refused({}, { timeout: 50, retries: 0, fetch })).toMatchObject({ code: 'gateway-timeout' })
  })

  it('if the answer is an ALLOW with status 201', async () => {
    const fetch: Fetch = async (url, init) => {
      const response = await globalThis.fetch(url, init)
      return new Response(response.body, { status: 201, headers: response.headers })
    }
    expect(await refused({}, { fetch })).toMatchObject({ code: 'answer-invalid' })
  })

  it('if the answer never ends', async () => {
    const fetch: Fetch = () => {
      const body = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1 << 20)) })
      return Promise.resolve(new Response(body, { headers: { 'content-type': 'application/json' } }))
    }
    expect(await refused({}, { fetch, retries: 0 })).toMatchObject({ code: 'answer-invalid' })
  })

  it('if an ALLOW arrives when its 60 seconds are nearly over', async () => {
    let time = 0
    const fetch: Fetch = async (url, init) => {
      const response = await globalThis.fetch(url, init)
      if (url.endsWith('/v1/evaluate')) time += 55_000
      return response
    }
    const now = (): number => time
    expect(await refused({}, { fetch, now })).toMatchObject({ code: 'decision-expired' })
  })

  it('if the machine slept for more than 60 seconds while the monotonic clock stopped', async () => {
    let day = Date.now()
    const fetch: Fetch = async (url, init) => {
      const response = await globalThis.fetch(url, init)
      if (url.endsWith('/v1/evaluate')) day += 3_600_000
      return response
    }
    expect(await refused({}, { fetch, time: () => day })).toMatchObject({ code: 'decision-expired' })
  })

  it('if the same ALLOW comes again for another call', async () => {
    const { gateway, client } = await start({}, { fetch: replaying() })
    const { runs, tool } = counting(null)
    const read = client.guard('fs/read_file', tool)
    await read({ path: 'a' })
    await expect(read({ path: 'b' })).rejects.toMatchObject({ code: 'decision-spent' })
    expect(runs).toEqual([{ path: 'a' }])
    expect(gateway.receipts('effect')).toHaveLength(1)
  })

  it('if the caller aborted before', async () => {
    const { gateway, client } = await start()
    const { runs, tool } = counting(null)
    const reason = new Error('enough')
    await expect(client.guard('fs/read_file', tool)({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    )
    expect(runs).toEqual([])
    expect(gateway.asked).toEqual([])
  })

  it('if the caller aborts while the gateway answers; the ALLOW expires', async () => {
    const { gateway, client } = await start({
      fault: faultsAt('/v1/evaluate', [{ kind: 'delay', milliseconds: 300 }]),
    })
    const { runs, tool } = counting(null)
    const controller = new AbortController()
    const running = client.guard('fs/read_file', tool)({}, { signal: controller.signal })
    const ended = running.catch((fault: unknown) => fault)
    await vi.waitFor(() => expect(gateway.receipts('decision')).toMatchObject([{ verdict: 'ALLOW' }]))
    controller.abort(new Error('enough'))
    expect(await ended).toMatchObject({ message: 'enough' })
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(runs).toEqual([])
    expect(gateway.receipts('effect')).toEqual([])
  })

  it('if the caller aborts at the moment the ALLOW arrives', async () => {
    const { gateway } = await start()
    const controller = new AbortController()
    // The timer of a request is stopped after its answer is read.
    const after = (milliseconds: number, run: () => void): (() => void) => {
      const timer = setTimeout(run, milliseconds)
      return () => {
        clearTimeout(timer)
        controller.abort(new Error('enough'))
      }
    }
    const client = createClient({ url: gateway.url, token: AGENT_TOKEN, after })
    const { runs, tool } = counting(null)
    await expect(client.guard('fs/read_file', tool)({}, { signal: controller.signal })).rejects.toThrow(
      'enough',
    )
    expect(runs).toEqual([])
    expect(gateway.receipts('decision')).toMatchObject([{ verdict: 'ALLOW' }])
  })

  it('if the token is unknown', async () => {
    expect(await refused({}, { token: 'tg_agent_nobody' })).toMatchObject({
      code: 'token-unknown',
      status: 401,
      remedy: 'Try.',
    })
  })
})

/** Answers the second request with the first answer. */
function replaying(): Fetch {
  let kept: string | undefined
  return async (url, init) => {
    const response = await globalThis.fetch(url, init)
    if (!url.endsWith('/v1/evaluate')) return response
    kept ??= await response.clone().text()
    return new Response(kept, { headers: { 'content-type': 'application/json' } })
  }
}

describe('with a trust file', () => {
  it('runs on an ALLOW that the ledger proves', async () => {
    const { gateway, client } = await start()
    const { runs, tool } = counting('ran')
    const { trust } = gateway
    expect(await client.guard('fs/read_file', tool, { trust })({ path: 'a' })).toBe('ran')
    expect(runs).toEqual([{ path: 'a' }])
  })

  /** A gateway that answers every call with the ALLOW for another one. */
  async function mixedUp(other: { tool: string; args: object }): Promise<World> {
    const real = await start()
    const kept = await real.client.evaluate({ tool: other.tool, arguments: other.args })
    const fetch: Fetch = (url, init) =>
      url.endsWith('/v1/evaluate')
        ? Promise.resolve(
            new Response(JSON.stringify(kept), { headers: { 'content-type': 'application/json' } }),
          )
        : globalThis.fetch(url, init)
    return { ...real, client: createClient({ url: real.gateway.url, token: AGENT_TOKEN, fetch }) }
  }

  it.each([
    ['other arguments', { tool: 'fs/read_file', args: { path: 'b' } }],
    ['another tool', { tool: 'fs/list', args: { path: 'a' } }],
  ])('nothing runs on an ALLOW for %s', async (_, other) => {
    const { gateway, client } = await mixedUp(other)
    const { runs, tool } = counting('ran')
    const { trust } = gateway
    const read = client.guard('fs/read_file', tool, { trust })
    await expect(read({ path: 'a' })).rejects.toMatchObject({ code: 'receipt-unproven' })
    expect(runs).toEqual([])
  })

  it('and a pinned principal, session and tenant, runs on an ALLOW for exactly these', async () => {
    const { gateway, client } = await start()
    const { runs, tool } = counting('ran')
    const context = { tenant: 'default' }
    const options = { trust: gateway.trust, principal: 'agent:ci', session_id: 's-9', context, skew: 5_000 }
    expect(await client.guard('fs/read_file', tool, options)({})).toBe('ran')
    expect(runs).toHaveLength(1)
  })

  /** The outcome of a call whose answer is replaced by another ALLOW of the ledger. */
  async function handed(fields: Partial<DecisionDraft>, age: number, more: GuardOptions): Promise<unknown[]> {
    const { gateway } = await start()
    const expires = new Date(Date.now() + 60_000).toISOString()
    const draft = { door: 'http', assurance: 'advised', args_hash: sha256Hex('{}'), expires } as const
    const time = new Date(Date.now() - age).toISOString()
    const { id } = await gateway.append(decision(sha256Hex('policy'), { time, ...draft, ...fields }))
    const between: Fetch = async (url, init) => {
      const response = await globalThis.fetch(url, init)
      if (!url.endsWith('/v1/evaluate')) return response
      // Sound: the stand-in answers with an object.
      const changed = { ...((await response.json()) as object), receipt: id, expires }
      return new Response(JSON.stringify(changed), { headers: { 'content-type': 'application/json' } })
    }
    const client = createClient({ url: gateway.url, token: AGENT_TOKEN, fetch: between })
    const { runs, tool } = counting('ran')
    const unreported = { onUnreported: 'return' } as const
    const options = { trust: gateway.trust, principal: 'agent:ci', ...unreported, ...more }
    const run = client.guard('fs/read_file', tool, options)({})
    const thrown = await run.then(
      () => undefined,
      (fault: unknown) => (fault as TollgateError).code,
    )
    return [thrown, runs.length]
  }

  const SESSION = { session_id: 's-1' }

  it('accepts an ALLOW of the same call that is younger than the skew: this is not proven', async () => {
    expect(await handed({}, 10_000, SESSION)).toEqual([undefined, 1])
  })

  it.each<[string, Partial<DecisionDraft>, number, GuardOptions]>([
    ['a year ago', {}, 365 * 86_400_000, SESSION],
    ['well before the request', {}, 45_000, SESSION],
    ['just before, where clocks must agree', {}, 9_000, { ...SESSION, skew: 5_000 }],
    ['in the future', {}, -90_000, SESSION],
    ['for another principal', { principal: 'agent:evil' }, 0, SESSION],
    ['for another tenant', { tenant: 'far' }, 0, { ...SESSION, context: { tenant: 'default' } }],
    ['for another session', { session: { id: 's-2', seq: 0 } }, 0, SESSION],
    ['for another delegation', {}, 0, { delegation_session_id: 'd-1' }],
    ['by another door', { door: 'hook' }, 0, SESSION],
  ])('nothing runs on an ALLOW that the ledger holds, but was given %s', async (_, fields, age, more) => {
    expect(await handed(fields, age, more)).toEqual(['receipt-unproven', 0])
  })

  it('nothing runs on an ALLOW of a gateway without the pinned key', async () => {
    const { gateway, client } = await start()
    const { runs, tool } = counting('ran')
    const { origin } = gateway.ledger
    const impostor = await createLedger({ origin, salt: 'impostor' })
    const trust = formatTrust({ ledger: origin, keys: [impostor.noteKey()], witnesses: [], quorum: 0 })
    const read = client.guard('fs/read_file', tool, { trust })
    await expect(read({ path: 'a' })).rejects.toMatchObject({ code: 'receipt-unproven' })
    expect(runs).toEqual([])
  })

  it('nothing runs on a DENY that is presented as an ALLOW', async () => {
    const { gateway, client } = await start({
      fault: faultsAt('/v1/evaluate', [
        {
          kind: 'members',
          members: { verdict: 'ALLOW', reason_code: 'RULE_ALLOWED', expires: '2099-01-01T00:00:00.000Z' },
        },
      ]),
    })
    const { runs, tool } = counting('ran')
    const { trust } = gateway
    await expect(client.guard('fs/delete', tool, { trust })({})).rejects.toMatchObject({
      code: 'receipt-unproven',
    })
    expect(runs).toEqual([])
  })
})

describe('asking again', () => {
  it('happens after a lost answer, and the tool runs once, on the received decision', async () => {
    const fault = faultsAt('/v1/evaluate', [{ kind: 'drop-after' }, { kind: 'cut' }])
    const { gateway, client } = await start({ fault })
    const seen: string[] = []
    await client.guard('fs/read_file', (_: object, { receipt }) => void seen.push(receipt))({})
    expect(gateway.receipts('decision')).toHaveLength(3)
    expect(seen).toEqual([gateway.ledger.entries[4]?.id])
    expect(gateway.receipts('effect')).toMatchObject([{ decision: seen[0] }])
  })

  it('happens after status 429 with `Retry-After`, and not earlier', async () => {
    const { client } = await start({
      fault: faultsAt('/v1/evaluate', [{ kind: 'status', status: 429, retryAfter: '1' }]),
    })
    const begun = performance.now()
    expect(await client.guard('fs/read_file', () => 'ran')({})).toBe('ran')
    expect(performance.now() - begun).toBeGreaterThan(999)
  })
})

describe('reporting', () => {
  it('that fails throws with the result, and the tool does not run again', async () => {
    const fault = ({ path }: Asked): Fault | undefined =>
      path === '/v1/effects' ? { kind: 'drop-before' } : undefined
    const { gateway, client } = await start({ fault })
    const { runs, tool } = counting({ sent: 1 })
    const thrown = await client
      .guard(
        'fs/read_file',
        tool,
      )({})
      .catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(EffectUnreported)
    expect(thrown).toMatchObject({
      code: 'effect-unreported',
      outcome: 'COMPLETED',
      result: { sent: 1 },
      decision: gateway.ledger.entries[2]?.id,
      cause: { code: 'gateway-unreachable' },
    })
    expect(runs).toHaveLength(1)
  })

  it('that is refused at once does not count as delivered', async () => {
    const { gateway, client } = await start()
    const { receipt } = await client.evaluate({ tool: 'fs/read_file' })
    expect(await client.report(receipt ?? '', { status: 'COMPLETED' })).toEqual({
      receipt: gateway.ledger.entries.at(-1)?.id,
      delivery: 'full',
      labels: [],
      findings: [],
    })
    await expect(client.report(receipt ?? '', { status: 'COMPLETED' })).rejects.toMatchObject({
      code: 'effect-refused',
      status: 409,
    })
  })

  it('that is delayed and then refused does not count as delivered', async () => {
    const { client } = await start({
      fault: faultsAt('/v1/effects', [{ kind: 'status', status: 429, retryAfter: '0' }]),
    })
    await expect(client.report('0'.repeat(64), { status: 'COMPLETED' })).rejects.toMatchObject({
      code: 'effect-refused',
    })
  })

  it('happens also if the caller aborted while the tool ran', async () => {
    const { gateway, client } = await start()
    const controller = new AbortController()
    const read = client.guard('fs/read_file', () => {
      controller.abort()
      return 'ran'
    })
    expect(await read({}, { signal: controller.signal })).toBe('ran')
    expect(gateway.receipts('effect')).toHaveLength(1)
  })
})

describe('an escalated call', () => {
  it('waits for a person, asks again with the approval, and runs', async () => {
    const approvals: unknown[] = []
    const fault = ({ path, body }: Asked): undefined =>
      path === '/v1/evaluate' ? void approvals.push(body.approval) : undefined
    const { gateway, client, operator } = await start({ fault })
    const waiting: string[] = []
    const send = client.guard('mail/send', ({ to }: { to: string }) => `sent to ${to}`, {
      approval: {
        onWaiting(request) {
          waiting.push(request.id)
          expect(request).toMatchObject({ tool: 'mail/send', status: 'waiting' })
          void operator.approvals.approve(request.id)
        },
      },
    })
    expect(await send({ to: 'a@example.com' })).toBe('sent to a@example.com')
    const decisions = gateway.receipts('decision')
    expect(decisions.map(({ verdict }) => verdict)).toEqual(['ESCALATE', 'ALLOW'])
    expect(decisions[1]).toMatchObject({ reason_code: 'APPROVAL_GRANTED' })
    expect(waiting).toEqual([gateway.ledger.entries[2]?.id])
    expect(approvals).toEqual([undefined, ...waiting])
  })

  it('is denied if the person denies it, and the denial has a receipt', async () => {
    const { gateway, client, operator } = await start()
    const { runs, tool } = counting(null)
    const onWaiting = ({ id }: { id: string }): void => void operator.approvals.deny(id)
    const thrown = await client
      .guard('mail/send', tool, { approval: { onWaiting } })({})
      .catch((fault: unknown) => fault)
    expect(thrown).toMatchObject({ code: 'tool-denied', reason_code: 'APPROVAL_REFUSED' })
    expect((thrown as ToolDenied).receipt).toBe(gateway.ledger.entries.at(-1)?.id)
    expect(runs).toEqual([])
  })

  it('does not run without an answer in time', async () => {
    const { client } = await start()
    const { runs, tool } = counting(null)
    const send = client.guard('mail/send', tool, { approval: { wait: 150 } })
    const thrown = await send({}).catch((fault: unknown) => fault)
    expect(thrown).toBeInstanceOf(ApprovalTimedOut)
    expect(runs).toEqual([])
  })

  it('does not wait with `wait: false`, and can be made again with the approval', async () => {
    const { client, operator } = await start()
    const { runs, tool } = counting('ran')
    const send = client.guard('mail/send', tool, { approval: { wait: false } })
    const thrown = await send({}).catch((fault: unknown) => fault)
    expect(thrown).toBeInstanceOf(ApprovalRequired)
    const { approval } = thrown as ApprovalRequired
    await operator.approvals.approve(approval ?? '')
    expect(runs).toEqual([])
    expect(await send({}, { approval: approval ?? '' })).toBe('ran')
    await expect(send({}, { approval: approval ?? '' })).rejects.toMatchObject({
      reason_code: 'APPROVAL_INVALID',
    })
  })

  it('does not run if the caller aborts while it waits', async () => {
    const { client } = await start()
    const { runs, tool } = counting(null)
    const controller = new AbortController()
    const onWaiting = (): void => void setTimeout(() => controller.abort(new Error('enough')), 20)
    const send = client.guard('mail/send', tool, { approval: { onWaiting } })
    await expect(send({}, { signal: controller.signal })).rejects.toThrow('enough')
    expect(runs).toEqual([])
  })

  it('does not run if `onWaiting` throws', async () => {
    const { client } = await start()
    const { runs, tool } = counting(null)
    const onWaiting = (): void => {
      throw new Error('no screen')
    }
    await expect(client.guard('mail/send', tool, { approval: { onWaiting } })({})).rejects.toThrow(
      'no screen',
    )
    expect(runs).toEqual([])
  })

  it('runs with the approved arguments, even if the caller changes them', async () => {
    const { client, operator } = await start()
    const { runs, tool } = counting(null)
    const args = { to: 'a@example.com' }
    const onWaiting = ({ id }: { id: string }): void => {
      args.to = 'evil@example.net'
      void operator.approvals.approve(id)
    }
    await client.guard('mail/send', tool, { approval: { onWaiting } })(args)
    expect(runs).toEqual([{ to: 'a@example.com' }])
  })

  it('stops asking if the gateway contradicts itself', async () => {
    const fault = ({ path, method }: Asked): Fault | undefined =>
      method === 'GET' && path.startsWith('/v1/approvals/')
        ? { kind: 'members', members: { status: 'granted' } }
        : undefined
    const fetch: Fetch = (url, init) => globalThis.fetch(url.split('?')[0] ?? '', init)
    const { gateway, client } = await start({ fault }, { fetch })
    const { runs, tool } = counting(null)
    let told = 0
    const send = client.guard('mail/send', tool, { approval: { onWaiting: () => ++told } })
    await expect(send({})).rejects.toMatchObject({ code: 'answer-invalid' })
    expect(runs).toEqual([])
    expect(told).toBe(1)
    expect(gateway.receipts('decision')).toHaveLength(4)
  })
})
