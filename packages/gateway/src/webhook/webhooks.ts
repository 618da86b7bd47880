// Sends events to receivers: a signed POST for each, repeated until it is accepted or no longer of use.
//
// Delivery is at least once while the gateway runs. After a restart, waiting approval requests and tools in quarantine are sent
// again with the same id.

import type { Receipt } from '@tollgate/evidence'
import type { Kernel } from '@tollgate/kernel'
import type { WebhookEvent, WebhookTarget } from '../config/webhooks.ts'
import type { Log } from '../log.ts'
import type { EntryFilter, LedgerView } from '../view.ts'
import { createDenials, type Denials } from './denials.ts'
import { followLedger, type Watch } from './follow.ts'
import { silentMessage } from './hook-silent.ts'
import { answerMessage, freezeMessage } from './ledger-messages.ts'
import { createOutbox, type WebhookMessage } from './outbox.ts'
import { createQuarantineWatch } from './quarantine.ts'
import { receiverOf, type Receiver } from './receiver.ts'
import { requestsTo, type LinkTo, type Requests } from './request.ts'

interface WebhookOptions {
  readonly kernel: Kernel
  readonly view: LedgerView
  readonly watch: Watch
  readonly hooks: readonly WebhookTarget[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log: Log
  readonly times?: Partial<WebhookTimes>
  /** Makes links to the console; without it messages have none. */
  readonly linkTo?: LinkTo
}

/** Times in milliseconds. */
interface WebhookTimes {
  /** Before the second attempt, doubled for each further one up to five minutes. */
  readonly patience: number
  readonly answerWithin: number
  /** Between two messages about denials, and between two about the tools of one server. */
  readonly between: number
  /** Between two looks at the tools that servers offer. */
  readonly look: number
}

const TIMES: WebhookTimes = { patience: 1000, answerWithin: 10_000, between: 60_000, look: 1000 }

/** Running webhooks. */
export interface Webhooks {
  /** Reports that the hook of a coding agent lets calls run. */
  hookSilent(agent: string, why: string): void
  /** Stops sending. Deliveries in progress are cancelled. */
  stop(): Promise<void>
}

/**
 * Starts to send events to receivers, and the requests that wait already.
 *
 * @throws GatewayError `CONFIG_INVALID` if an address or a secret is missing or unusable.
 */
export async function startWebhooks(options: WebhookOptions): Promise<Webhooks> {
  const receivers = options.hooks.map((hook) => receiverOf(hook, options.env))
  return receivers.length === 0
    ? { hookSilent: () => undefined, stop: () => Promise.resolve() }
    : run(options, receivers)
}

async function run(options: WebhookOptions, receivers: readonly Receiver[]): Promise<Webhooks> {
  const { kernel, view, log } = options
  const times = { ...TIMES, ...options.times }
  const stopping = new AbortController()
  const now = (): number => kernel.host.now()
  const outboxes = receivers.map((receiver) =>
    createOutbox({ receiver, log, now, stopped: stopping.signal, ...times }),
  )
  const put = (message: WebhookMessage): void => {
    const refused = outboxes.filter((outbox) => !outbox.put(message)).length
    if (refused > 0) log('warn', 'a webhook queue is full; a message is dropped', { event: message.type })
  }
  const denials = createDenials({ kernel, between: times.between, put })
  const requests: Requests[] = []
  const endFollowing = await followLedger({
    ...options,
    filters: filtersFor(receivers),
    onReceipt: (id, receipt) => take({ kernel, put, denials, requests }, id, receipt),
    onFault: () => log('warn', 'webhooks could not read the ledger'),
  })
  // After the first look at the ledger, so that no request is missed.
  requests.push(...outboxes.map((outbox) => requestsTo(outbox, kernel, view, options.linkTo)))
  const newInQuarantine = createQuarantineWatch(kernel, times.between)
  const looking = setInterval(() => {
    for (const each of requests) each.retry()
    for (const message of newInQuarantine()) put(message)
  }, times.look).unref()
  return {
    hookSilent: (agent, why) => put(silentMessage(kernel, agent, why)),
    async stop() {
      stopping.abort()
      clearInterval(looking)
      denials.stop()
      await endFollowing()
      await Promise.all(outboxes.map((outbox) => outbox.idle()))
    },
  }
}

/** The receipts that are events. */
const RECEIPTS: readonly (readonly [event: WebhookEvent, filter: EntryFilter])[] = [
  ['approval.requested', { kind: 'decision', verdict: 'ESCALATE' }],
  ['approval.answered', { kind: 'approval' }],
  ['call.denied', { kind: 'decision', verdict: 'DENY' }],
  ['freeze.changed', { kind: 'freeze' }],
]

function filtersFor(receivers: readonly Receiver[]): readonly EntryFilter[] {
  return RECEIPTS.flatMap(([event, filter]) =>
    receivers.some(({ events }) => events.has(event)) ? [filter] : [],
  )
}

interface Takers {
  readonly kernel: Kernel
  readonly put: (message: WebhookMessage) => void
  readonly denials: Denials
  readonly requests: readonly Requests[]
}

function take({ kernel, put, denials, requests }: Takers, id: string, receipt: Receipt): void {
  if (receipt.kind === 'approval') put(answerMessage(kernel, id, receipt))
  else if (receipt.kind === 'freeze') put(freezeMessage(kernel, id, receipt))
  else if (receipt.kind !== 'decision') return
  else if (receipt.verdict === 'DENY') denials.add(id, receipt)
  else for (const each of requests) each.add(id)
}
