import { createHmac } from 'node:crypto'
import { answerRequest } from '@tollgate/kernel/admin'
import { describe, expect, it } from 'vitest'
import { signatureOf } from '../../src/webhook/post.ts'
import { ask } from '../gateway-rig.ts'
import {
  hangs,
  hook,
  idsOf,
  ofType,
  openSite,
  receiver,
  receiverAt,
  SECRET,
  start,
  until,
  type Got,
} from './webhook-rig.ts'

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
    await start(gateway, [hook(url)])
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

  it('has a link to the console if the gateway knows its own address', async () => {
    const gateway = await openSite()
    const { url, got } = await receiver(200, 200)
    const linkTo = (id: string, end: number): string => `https://gate.test/console/open?id=${id}&until=${end}`
    await start(gateway, [hook(url), hook(url, { format: 'slack' })], { linkTo })
    const { decided } = await ask(gateway, 'mail/send', { to: 'bo@example.com' })
    await until(() => got.length === 2)
    const [slack, json] = got
      .map(({ body }) => body)
      .sort((a, b) => a.indexOf('"data"') - b.indexOf('"data"'))
    const link = `https://gate.test/console/open?id=${decided.approval ?? ''}&until=`
    expect(JSON.parse(json ?? '')).toMatchObject({ data: { link: expect.stringContaining(link) as unknown } })
    expect(slack).toContain(`"type":"mrkdwn","text":"<${link}`)
  })

  it('omits the arguments if configured', async () => {
    const gateway = await openSite()
    const { url, got } = await receiver(200)
    await start(gateway, [hook(url, { arguments: false })])
    await ask(gateway, 'mail/send', { to: 'bo@example.com' })
    await until(() => got.length === 1)
    expect(got[0]?.body).not.toContain('bo@example.com')
  })

  it('is retried with the same id until it is accepted, and follows no redirect', async () => {
    const gateway = await openSite()
    const { url, got } = await receiver(500, 302, 503, 204)
    const said: string[] = []
    await start(gateway, [hook(url)], {
      log: (_, message, fields) => said.push(`${message} ${JSON.stringify(fields)}`),
    })
    await ask(gateway, 'mail/send', { to: 'bo@example.com' })
    await until(() => got.length === 4)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(got).toHaveLength(4)
    expect(idsOf(got)).toHaveLength(1)
    expect(said).toHaveLength(3)
    expect(said.join()).not.toContain('bo@example.com')
  })

  it('follows no redirect', async () => {
    const gateway = await openSite()
    const elsewhere = await receiver(204)
    const location = { location: elsewhere.url }
    const all = await Promise.all([301, 302, 303, 307, 308].map((code) => receiverAt(location, code)))
    await start(
      gateway,
      all.map(({ url }) => hook(url)),
    )
    await ask(gateway, 'mail/send')
    // The second attempt shows the result of the first.
    await until(() => all.every(({ got }) => got.length >= 2))
    expect(elsewhere.got).toEqual([])
  })

  it('is not retried after an answer', async () => {
    const gateway = await openSite()
    const { url, got } = await receiver(500)
    await start(gateway, [hook(url)])
    const { decided } = await ask(gateway, 'mail/send')
    await until(() => got.length >= 2)
    const order = { tenant: 'default', request: decided.approval ?? '', granted: true, approver: 'user:olga' }
    const requests = (): number => ofType(got, 'approval.requested').length
    await answerRequest(gateway.kernel, order)
    const tries = requests()
    // The pauses of the later message are as long as those of the request.
    await until(() => ofType(got, 'approval.answered').length >= 5)
    expect(requests()).toBeLessThanOrEqual(tries + 1)
  })

  it('sends each request once, including those that wait at the start', async () => {
    const gateway = await openSite()
    await ask(gateway, 'mail/send', { n: '1' })
    const { url, got } = await receiver(200)
    await start(gateway, [hook(url)])
    await ask(gateway, 'mail/send', { n: '1' })
    await ask(gateway, 'mail/send', { n: '2' })
    await ask(gateway, 'notes/read')
    await until(() => got.length === 2)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(got).toHaveLength(2)
  })

  it('does not slow down calls, even if the receiver does not respond', async () => {
    const gateway = await openSite()
    const { url } = await receiver(hangs)
    const webhooks = await start(gateway, [hook('http://127.0.0.1:9/nobody'), hook(url)])
    expect((await ask(gateway, 'mail/send')).decided.verdict).toBe('ESCALATE')
    expect((await ask(gateway, 'notes/read')).decided.verdict).toBe('ALLOW')
    await webhooks.stop()
  })
})
