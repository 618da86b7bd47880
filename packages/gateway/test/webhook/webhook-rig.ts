// A gateway with a real local receiver of its events.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect } from 'vitest'
import { WEBHOOK_EVENTS, type WebhookTarget } from '../../src/config/webhooks.ts'
import { silent } from '../../src/log.ts'
import type { Gateway } from '../../src/open.ts'
import { startWebhooks, type Webhooks } from '../../src/webhook/webhooks.ts'
import { activate, createSite } from '../gateway-rig.ts'

export const SECRET: Buffer = Buffer.from('a secret of at least twenty-four bytes')

const ending: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
})

export interface Got {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

export interface Receiving {
  readonly url: string
  readonly got: readonly Got[]
}

type Answer = number | ((response: ServerResponse) => void)

/** A receiver that answers with these codes in order, then always with the last one. */
export async function receiver(...answers: Answer[]): Promise<Receiving> {
  return receiverAt({}, ...answers)
}

/** The same, with headers in each answer. */
export async function receiverAt(
  headers: Readonly<Record<string, string>>,
  ...answers: Answer[]
): Promise<Receiving> {
  const got: Got[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      got.push({ headers: request.headers, body })
      const answer = answers[Math.min(got.length, answers.length) - 1] ?? 200
      if (typeof answer === 'number') response.writeHead(answer, headers).end()
      else answer(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ending.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/hook`, got }
}

/** An answer that never comes. */
export const hangs = (): void => undefined

export async function openSite(policy?: string): Promise<Gateway> {
  const gateway = await (await createSite()).open()
  ending.push(() => gateway.close())
  await activate(gateway, policy)
  return gateway
}

/** A receiver of all events, unless changed. */
export function hook(url: string, changes: Partial<WebhookTarget> = {}): WebhookTarget {
  return {
    url,
    secretEnv: 'HOOK_SECRET',
    arguments: true,
    events: WEBHOOK_EVENTS,
    format: 'json',
    ...changes,
  }
}

/** Starts to send, with short pauses. */
type Options = Parameters<typeof startWebhooks>[0]

export async function start(
  gateway: Gateway,
  hooks: readonly WebhookTarget[],
  { log = silent, times = {}, ...links }: Partial<Pick<Options, 'log' | 'times' | 'linkTo'>> = {},
): Promise<Webhooks> {
  const { kernel, view, watch } = gateway
  const env = {
    HOOK_SECRET: `whsec_${SECRET.toString('base64')}`,
    SHORT: 'c2hvcnQ=',
    NO_BASE64: '?'.repeat(40),
    FAR: 'http://far.test/secret-path',
  }
  const short = { patience: 20, between: 60, look: 20, ...times }
  const webhooks = await startWebhooks({ kernel, view, watch, hooks, env, log, times: short, ...links })
  ending.push(() => webhooks.stop())
  return webhooks
}

/** Waits until something holds. */
export async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !holds(); i++) await new Promise((resolve) => setTimeout(resolve, 10))
  expect(holds()).toBe(true)
}

/** The ids of all received messages, without repetition. */
export function idsOf(got: readonly Got[]): readonly unknown[] {
  return [...new Set(got.map(({ headers }) => headers['webhook-id']))]
}

/** The data of the received messages of a type. */
export function ofType(got: readonly Got[], type: string): readonly Record<string, unknown>[] {
  // Sound: these are bodies of our own messages.
  const all = got.map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> })
  return all.flatMap((each) => (each.type === type ? [each.data] : []))
}
