import { createHmac } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerRequest } from '@tollgate/kernel/admin'
import { afterEach, describe, expect, it } from 'vitest'
import { silent, type Log } from '../../src/log.ts'
import type { Gateway } from '../../src/open.ts'
import { signatureOf, startWebhooks, type Webhooks, type WebhookTarget } from '../../src/webhook.ts'
import { activate, ask, createSite } from '../gateway-rig.ts'

const SECRET = Buffer.from('a secret of at least twenty-four bytes')
const ending: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
})

interface Got {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** A receiver that answers with these codes in order, then always with the last one. */
async function receiver(...codes: number[]): Promise<{ url: string; got: Got[] }> {
  return pointing('http://elsewhere.test/', ...codes)
}

/** The same, with redirects to this address. */
async function pointing(location: string, ...codes: number[]): Promise<{ url: string; got: Got[] }> {
  const got: Got[] = []
  const server: Server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      got.push({ headers: request.headers, body })
      response
        .writeHead(codes[Math.min(got.length, codes.length) - 1] ?? 200, {
          location,
        })
        .end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ending.push(() => new Promise((resolve) => server.close(resolve)))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/hook`, got }
}

async function openSite(): Promise<Gateway> {
  const site = await createSite()
  const gateway = await site.open()
  ending.push(() => gateway.close())
  await activate(gateway)
  return gateway
}

function start(gateway: Gateway, hooks: readonly WebhookTarget[], log: Log = silent): Webhooks {
  const { kernel, view, watch } = gateway
  const env = {
    HOOK_SECRET: `whsec_${SECRET.toString('base64')}`,
    SHORT: 'c2hvcnQ=',
    NO_BASE64: '?'.repeat(40),
  }
  const webhooks = startWebhooks({ kernel, view, watch, hooks, env, log, patience: 20 })
  ending.push(() => webhooks.stop())
  return webhooks
}

const until = async (holds: () => boolean): Promise<void> => {
  for (let i = 0; i < 300 && !holds(); i++) await new Promise((resolve) => setTimeout(resolve, 10))
  expect(holds()).toBe(true)
}

describe('a webhook', () => {
  it('is signed like the published example of Standard Webhooks', () => {
    const secret = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')
    const body = '{"test": 2432232314}'
    expect(signatureOf(secret, 'msg_p5jXN8AQM9LWM0D4loKWxJek', '1614265330', body)).toBe(
      'g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    )
  })

  it('sends a request with everything needed to decide, signed', async () => {
    const gateway = await openSite()
    const { url, got } = await receiver(200)
    start(gateway, [{ url, secretEnv: 'HOOK_SECRET' }])
    const { decided } = await ask(gateway, 'mail/send', { to: 'bo@example.com' })
    await until(() => got.length === 1)
    const [{ headers, body }] = got as [Got]
    expect(JSON.parse(body)).toMatchObject({
      type: 'approval.requested',
      data: {
        id: decided.approval,
        principal: 'agent:a',
        session: 's1',
        tool: 'mail/send',
        reason_code: 'APPROVAL_REQUIRED',
        rung: 'policy',
        rule: 'mail',
        arguments: { to: 'bo@example.com' },
        answer: `tollgate approvals approve ${decided.approval ?? ''}`,
      },
    })
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
    expect(headers['webhook-id']).toBe(decided.approval)
    expect(headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', SECRET).update(signed).digest('base64')}`,
    )
  })

  it('omits the arguments if configured', async () => {
    const gateway = await openSite()
    const { url, got } = await receiver(200)
    start(gateway, [{ url, secretEnv: 'HOOK_SECRET', arguments: false }])
    await ask(gateway, 'mail/send', { to: 'bo@example.com' })
    await until(() => got.length === 1)
    expect(got[0]?.body).not.toContain('bo@example.com')
  })

  it('is retried with the same id until it is accepted, and follows no redirect', async () => {
    const gateway = await openSite()
    const { url, got } = await receiver(500, 302, 503, 204)
    const said: string[] = []
    start(gateway, [{ url, secretEnv: 'HOOK_SECRET' }], (_, message, fields) =>
      said.push(`${message} ${JSON.stringify(fields)}`),
    )
    await ask(gateway, 'mail/send', { to: 'bo@example.com' })
    await until(() => got.length === 4)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(got).toHaveLength(4)
    expect(new Set(got.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(said).toHaveLength(3)
    expect(said.join()).not.toContain('bo@example.com')
  })

  it.each([301, 302, 303, 307, 308])('does not follow a %i', async (code) => {
    const gateway = await openSite()
    const elsewhere = await receiver(204)
    const { url, got } = await pointing(elsewhere.url, code)
    start(gateway, [{ url, secretEnv: 'HOOK_SECRET' }])
    await ask(gateway, 'mail/send')
    // The second attempt shows the result of the first.
    await until(() => got.length === 2)
    expect(elsewhere.got).toEqual([])
  })

  it('is not retried after an answer', async () => {
    const gateway = await openSite()
    const { url, got } = await receiver(500)
    start(gateway, [{ url, secretEnv: 'HOOK_SECRET' }])
    const { decided } = await ask(gateway, 'mail/send')
    await until(() => got.length >= 2)
    const order = { tenant: 'default', request: decided.approval ?? '', granted: true, approver: 'user:olga' }
    await answerRequest(gateway.kernel, order)
    await new Promise((resolve) => setTimeout(resolve, 100))
    const tries = got.length
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(got.length).toBeLessThanOrEqual(tries + 1)
  })

  it('sends each request once, including those that wait at the start', async () => {
    const gateway = await openSite()
    await ask(gateway, 'mail/send', { n: '1' })
    const { url, got } = await receiver(200)
    start(gateway, [{ url, secretEnv: 'HOOK_SECRET' }])
    await ask(gateway, 'mail/send', { n: '1' })
    await ask(gateway, 'mail/send', { n: '2' })
    await ask(gateway, 'notes/read')
    await until(() => got.length === 2)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(got).toHaveLength(2)
  })

  it('does not slow down calls, even if the receiver does not respond', async () => {
    const gateway = await openSite()
    const webhooks = start(gateway, [{ url: 'http://127.0.0.1:9/nobody', secretEnv: 'HOOK_SECRET' }])
    expect((await ask(gateway, 'mail/send')).decided.verdict).toBe('ESCALATE')
    expect((await ask(gateway, 'notes/read')).decided.verdict).toBe('ALLOW')
    await webhooks.stop()
  })

  it.each(['SHORT', 'MISSING', 'NO_BASE64'])('does not start without a secret: %s', async (secretEnv) => {
    const gateway = await openSite()
    expect(() => start(gateway, [{ url: 'http://127.0.0.1:9/', secretEnv }])).toThrow(/no usable secret/)
  })
})
