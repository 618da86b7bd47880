// The messages that wait for one receiver: few at a time, repeated with growing pauses, never more than a fixed number.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Json } from '@tollgate/evidence'
import type { WebhookEvent } from '../config/webhooks.ts'
import type { Log } from '../log.ts'
import { post } from './post.ts'
import type { Receiver } from './receiver.ts'
import { slackBody } from './slack.ts'

/** The contents of a message. */
export interface Contents {
  readonly data: Json
  /** The same for people: sentences without argument values. */
  readonly lines: readonly string[]
  /** Where a person can act on it. */
  readonly link?: string
}

/** An event on its way to receivers. */
export interface WebhookMessage {
  /** The same in every attempt and after a restart, so that a receiver can recognise a repeated message. */
  readonly id: string
  readonly type: WebhookEvent
  /** Whether sending it is still of use. */
  readonly isWanted: () => boolean
  /** Called for each attempt, so that a waiting message does not occupy memory. */
  readonly read: (withArguments: boolean) => Contents | Promise<Contents>
}

interface OutboxOptions {
  readonly receiver: Receiver
  readonly log: Log
  readonly now: () => number
  /** Ends all deliveries. */
  readonly stopped: AbortSignal
  /** Milliseconds before the second attempt, doubled for each further one. */
  readonly patience: number
  /** Milliseconds that an attempt may take. */
  readonly answerWithin: number
}

/** The queue of one receiver. */
export interface Outbox {
  /** Accepts a message once, if the receiver wants its type. Returns false if the queue is full. */
  put(message: WebhookMessage): boolean
  /** Waits until no delivery is in progress. */
  idle(): Promise<void>
}

// For each type of event, so that a flood of one type does not displace the others.
const MAX_WAITING = 250
// A receiver that hangs occupies this many connections, not one for each message.
const AT_ONCE = 4
const MAX_PAUSE = 300_000

export function createOutbox(options: OutboxOptions): Outbox {
  const { receiver, log, stopped } = options
  const waiting = new Map<string, { readonly type: WebhookEvent; readonly done: Promise<void> }>()
  const attempts = createAttempts(AT_ONCE)

  async function attempt(message: WebhookMessage): Promise<string | undefined> {
    await attempts.take()
    try {
      if (stopped.aborted || !message.isWanted()) return undefined
      return await send(options, message)
    } finally {
      attempts.give()
    }
  }

  /** Sends a message until it is accepted, it is not wanted any more or the gateway stops. Never throws. */
  async function deliver(message: WebhookMessage): Promise<void> {
    for (let wait = options.patience; ; wait = Math.min(2 * wait, MAX_PAUSE)) {
      const problem = await attempt(message)
      if (problem === undefined) return
      log('warn', 'a webhook delivery failed', {
        host: receiver.host,
        event: message.type,
        id: message.id,
        because: problem,
      })
      await pause(wait, stopped)
    }
  }

  return {
    put(message) {
      const { id, type } = message
      if (!receiver.events.has(type) || waiting.has(id)) return true
      if ([...waiting.values()].filter((each) => each.type === type).length >= MAX_WAITING) return false
      waiting.set(id, { type, done: deliver(message).finally(() => waiting.delete(id)) })
      return true
    },
    async idle() {
      await Promise.all([...waiting.values()].map(({ done }) => done))
    },
  }
}

async function send(options: OutboxOptions, message: WebhookMessage): Promise<string | undefined> {
  const { receiver, now, stopped, answerWithin } = options
  const body = await bodyOf(receiver, message)
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(answerWithin)])
  return post(receiver, { id: message.id, body, now: now(), signal })
}

async function bodyOf(receiver: Receiver, message: WebhookMessage): Promise<string> {
  const isSlack = receiver.format === 'slack'
  const { data, lines, link } = await message.read(receiver.arguments && !isSlack)
  return JSON.stringify(isSlack ? slackBody(lines, link) : { type: message.type, data })
}

interface Attempts {
  take(): Promise<void>
  give(): void
}

/** Lets only so many proceed at once, in the order of asking. */
function createAttempts(most: number): Attempts {
  const queue: (() => void)[] = []
  let free = most
  return {
    async take() {
      if (free > 0) free--
      else await new Promise<void>((resolve) => queue.push(resolve))
    },
    give() {
      const next = queue.shift()
      if (next) next()
      else free++
    },
  }
}

/** Waits. A stop ends the wait at once. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined)
}
