// Makes stories of data that leaves in small parts. Without them an approved sink is never used again, even in 80,000 random calls.

import { SESSIONS } from './model-names.ts'
import type { ModelTool } from './model-policy.ts'
import type { Random } from './model-random.ts'
import type { CallSpec, Event } from './model-world.ts'

const HOUR = 3_600_000
const WEEK = 7 * 24 * HOUR
const SINKS = [[], [], ['ok.test'], ['ok.test', 'ask.test']] as const

/** A tool that reads labelled data and sends data. */
export function drippingTool(random: Random): ModelTool {
  return {
    name: 'mail/send',
    effect: random.pick(['send', 'send', 'write', 'execute', 'delete', 'admin', 'pay', 'read']),
    schema: false,
    offline: false,
    browser: false,
    sinks: [],
    returns: [random.pick(['card', 'card', 'card', 'page'])],
    takes: [],
    cost: undefined,
  }
}

/** Calls send data to the same few sinks until one is escalated. A person usually approves it, and more calls follow. */
export function dripStory(random: Random, some: CallSpec): readonly Event[] {
  const call = (): CallSpec => ({
    ...{ ...some, tool: 'mail/send', sources: [], n: random.int(90) },
    ...{ session_id: random.pick(SESSIONS), hosts: random.pick(SINKS) },
  })
  const sent = (each: CallSpec): Event => ({ do: 'call', call: each, behind: 0 })
  const wait = (...ms: readonly number[]): Event => ({ do: 'wait', ms: random.pick(ms) })
  const { tenant } = some
  const person = { approver: 'user:olga', groups: ['ops'] }
  const asked = call()
  return [
    ...Array.from({ length: 1 + random.int(3) }, () => sent(call())),
    sent(asked),
    { do: 'answer', tenant, request: 0, granted: random.chance(90), ...person },
    sent(asked),
    ...random.maybe(15, (): Event => wait(HOUR, HOUR + 1, WEEK - 1, WEEK, WEEK + 1)),
    sent(call()),
    sent(call()),
    // Waits, because too many requests stop further requests.
    wait(HOUR, 8 * HOUR, 8 * HOUR, WEEK / 2, WEEK),
  ]
}
