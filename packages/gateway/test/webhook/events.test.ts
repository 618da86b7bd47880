import { definitionOf, answerRequest, pinTool, setFreeze } from '@tollgate/kernel/admin'
import { describe, expect, it } from 'vitest'
import { WEBHOOK_EVENTS, type WebhookEvent } from '../../src/config/webhooks.ts'
import type { Gateway } from '../../src/open.ts'
import type { Webhooks } from '../../src/webhook/webhooks.ts'
import { ask } from '../gateway-rig.ts'
import { hangs, hook, idsOf, ofType, openSite, receiver, start, until } from './webhook-rig.ts'

const HOSTILE = '<!channel> <https://evil.test|click> & @here'
const VALUE = 'value-of-an-argument'
const POLICY = `
tollgate: 1
name: hostile
principals: { "agent:*": { tier: standard } }
tools:
  "mail/*": { effect: send, destinations: none }
rules:
  - { id: mail, require: "mail/*", expires: 15m }
`

interface Row {
  /** Makes the event happen once. A text that an agent or a server can choose is `HOSTILE`. */
  readonly cause: (gateway: Gateway, webhooks: Webhooks) => Promise<unknown>
  readonly data: object
}

const escalate = (gateway: Gateway): ReturnType<typeof ask> =>
  ask(gateway, `mail/${HOSTILE}`, { secret: VALUE })

const ROWS: Readonly<Record<WebhookEvent, Row>> = {
  'approval.requested': {
    cause: escalate,
    data: { principal: 'agent:a', tool: `mail/${HOSTILE}`, reason_code: 'APPROVAL_REQUIRED' },
  },
  'approval.answered': {
    async cause(gateway) {
      const request = (await escalate(gateway)).decided.approval ?? ''
      const order = { tenant: 'default', request, granted: true, approver: 'user:olga', because: 'fine' }
      await answerRequest(gateway.kernel, order)
    },
    data: { answer: 'GRANTED', approver: 'user:olga', because: 'fine', tool: `mail/${HOSTILE}` },
  },
  'call.denied': {
    cause: (gateway) => ask(gateway, `notes/${HOSTILE}`, { secret: VALUE }),
    data: { count: 1, others: 0, calls: [{ principal: 'agent:a', tool: `notes/${HOSTILE}`, count: 1 }] },
  },
  'freeze.changed': {
    cause: ({ kernel }) =>
      setFreeze(kernel, {
        scope: 'tool',
        target: HOSTILE,
        tenant: 'default',
        frozen: true,
        by: 'user:olga',
        because: 'odd requests',
      }),
    data: { scope: 'tool', target: HOSTILE, frozen: true, by: 'user:olga', because: 'odd requests' },
  },
  'tools.quarantined': {
    cause: ({ kernel }) =>
      Promise.resolve(kernel.catalogue.offer(`files/${HOSTILE}`, definitionOf({ a: VALUE }))),
    data: { server: 'files', count: 1, changed: 0, tools: [`files/${HOSTILE}`] },
  },
  'hook.silent': {
    cause: (_, webhooks) => {
      webhooks.hookSilent('codex', HOSTILE)
      return Promise.resolve()
    },
    data: { agent: 'codex', because: HOSTILE, repair: 'tollgate setup codex repair' },
  },
}

it('has a row for every event', () => {
  expect(Object.keys(ROWS)).toEqual([...WEBHOOK_EVENTS])
})

describe.each(WEBHOOK_EVENTS)('the event %s', (event) => {
  it('is sent with its facts to those who want it, with one id until it is accepted, without markup to Slack', async () => {
    const [{ url, got }, slack, other] = [await receiver(500, hangs, 200), await receiver(), await receiver()]
    const gateway = await openSite(POLICY)
    const hooks = [
      hook(url, { arguments: false, events: [event] }),
      hook(slack.url, { format: 'slack', events: [event] }),
      hook(other.url, { events: WEBHOOK_EVENTS.filter((each) => each !== event) }),
    ]
    const webhooks = await start(gateway, hooks, { times: { answerWithin: 200 } })
    await ROWS[event].cause(gateway, webhooks)
    await until(() => got.length >= 3 && slack.got.length >= 1)
    expect(ofType(got, event)).toHaveLength(got.length)
    expect(ofType(got, event)[2]).toMatchObject(ROWS[event].data)
    expect(idsOf([...got, ...slack.got])).toHaveLength(1)
    expect([...got, ...slack.got].map(({ body }) => body).join()).not.toContain(VALUE)
    expect(ofType(other.got, event)).toEqual([])
    expectPlainText(slack.got[0]?.body ?? '')
  })
})

/** Expects a body for Slack in which the hostile text is only text. */
function expectPlainText(body: string): void {
  // Sound: this is the body of our own message.
  const { text, blocks, ...how } = JSON.parse(body) as { text: string; blocks: { text: object }[] }
  expect(how).toMatchObject({ mrkdwn: false, parse: 'none', link_names: false })
  expect(blocks.map((block) => block.text)).toEqual([{ type: 'plain_text', text, emoji: false }])
  expect(text).toContain('&lt;!channel&gt; &lt;https[:]//evil.test|click&gt; &amp; @here')
  expect(text).not.toMatch(/[<>]|:\/\/|&(?!amp;|lt;|gt;)/)
}

describe('events', () => {
  it('name a changed tool, and nothing that a person has approved or left unapproved', async () => {
    const { url, got } = await receiver(200)
    const gateway = await openSite()
    const { kernel } = gateway
    for (const name of ['files/read', 'files/write']) {
      const definition = definitionOf({ name })
      kernel.catalogue.offer(name, definition)
      await pinTool(kernel, name, definition.hash, 'user:olga')
    }
    await start(gateway, [hook(url)])
    kernel.catalogue.offer('other:prompts/get', definitionOf({ name: 'an ability' }))
    kernel.catalogue.offer('files/read', definitionOf({ name: 'other' }))
    await until(() => got.length === 1)
    expect(ofType(got, 'tools.quarantined')).toMatchObject([{ changed: 1, tools: ['files/read'] }])
  })

  it('have the same id after a restart', async () => {
    const { url, got } = await receiver(200)
    const gateway = await openSite()
    gateway.kernel.catalogue.offer('files/read', definitionOf({}))
    await ask(gateway, 'mail/send')
    for (let i = 1; i <= 2; i++) {
      const webhooks = await start(gateway, [hook(url)])
      await until(() => got.length === 2 * i)
      await webhooks.stop()
    }
    expect(idsOf(got)).toHaveLength(2)
  })

  it('wait in a queue with an end while the receiver hangs, and the receiver gets few at a time', async () => {
    const { url, got } = await receiver(hangs)
    const gateway = await openSite()
    const said: string[] = []
    const webhooks = await start(gateway, [hook(url, { events: ['freeze.changed'] })], {
      log: (_, message) => said.push(message),
    })
    const order = { scope: 'tool', tenant: 'default', frozen: true, by: 'user:olga' } as const
    const all = Array.from({ length: 260 }, (_, i) =>
      setFreeze(gateway.kernel, { ...order, target: `t${i}` }),
    )
    await Promise.all(all)
    await until(() => said.length === 10)
    expect(new Set(said)).toEqual(new Set(['a webhook queue is full; a message is dropped']))
    expect(got.length).toBeLessThanOrEqual(4)
    await webhooks.stop()
  })

  it('reach a slow receiver once', async () => {
    const { url, got } = await receiver((response) => setTimeout(() => response.writeHead(204).end(), 80))
    const gateway = await openSite()
    const webhooks = await start(gateway, [hook(url)])
    await setFreeze(gateway.kernel, { scope: 'all', frozen: true, by: 'user:olga' })
    await until(() => got.length === 1)
    await setFreeze(gateway.kernel, { scope: 'all', frozen: false, by: 'user:olga' })
    await until(() => got.length === 2)
    expect(ofType(got, 'freeze.changed')).toMatchObject([{ frozen: true }, { frozen: false }])
    await webhooks.stop()
  })
})
