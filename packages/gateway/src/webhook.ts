// Notifies people of approval requests: a signed POST for each new request, retried until it is accepted or the request has
// expired.
//
// The signature follows Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`), so that receivers can use
// existing libraries. Delivery is at least once: after a restart, waiting requests are sent again with the same id.

import { createHmac } from 'node:crypto'
import { REASONS, type Json } from '@tollgate/evidence'
import type { Kernel } from '@tollgate/kernel'
import {
  inputName,
  inputOf,
  needsReason,
  pageName,
  readPageInput,
  type ApprovalRequest,
} from '@tollgate/kernel/admin'
import { GatewayError } from './error.ts'
import type { Log } from './log.ts'
import type { LedgerView } from './view.ts'

/** A receiver. `secretEnv` names the environment variable with the signing secret. */
export interface WebhookTarget {
  readonly url: string
  readonly secretEnv: string
  /** Whether the message contains the arguments of the call. Default: true. */
  readonly arguments?: boolean
}

interface WebhookOptions {
  readonly kernel: Kernel
  readonly view: LedgerView
  /** Calls the listener after every commit. Returns a function that removes it. */
  readonly watch: (listener: () => void) => () => void
  readonly hooks: readonly WebhookTarget[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log: Log
  /** Sends a request. Default: the global `fetch`. */
  readonly send?: typeof fetch
  /** Milliseconds before the second attempt, doubled for each further one up to five minutes. Default: 1 second. */
  readonly patience?: number
}

export interface Webhooks {
  /** Stops sending. Deliveries in progress are cancelled. */
  stop(): Promise<void>
}

const GATHERED_FOR = 50
const MAX_WAIT = 300_000
const ANSWER_WITHIN = 10_000
const MIN_SECRET = 24

interface Hook {
  readonly url: string
  readonly secret: Buffer
  readonly arguments: boolean
}

/**
 * Starts to send requests: those that wait already, and each new one.
 *
 * @throws GatewayError `CONFIG_INVALID` if a secret is missing or too short.
 */
export function startWebhooks(options: WebhookOptions): Webhooks {
  const { kernel, watch, hooks, env } = options
  const targets = hooks.map((hook) => ({ arguments: true, ...hook, secret: secretOf(hook, env) }))
  const sent = new Set<string>()
  const stopping = new AbortController()
  const sending = new Set<Promise<void>>()

  function notify(): void {
    if (targets.length === 0) return
    const waiting = kernel.approvals.list(kernel.host.now())
    for (const request of waiting) {
      if (sent.has(request.id)) continue
      sent.add(request.id)
      for (const target of targets) track(deliver(options, target, request, stopping.signal))
    }
    // Requests that no longer wait are never sent again and can be forgotten.
    if (sent.size > 2 * waiting.length + 1000) keepOnly(sent, waiting)
  }

  function track(delivery: Promise<void>): void {
    sending.add(delivery)
    void delivery.finally(() => sending.delete(delivery))
  }

  notify()
  // Not after every commit: there can be thousands per second.
  let soon: ReturnType<typeof setTimeout> | undefined
  const end = watch(() => {
    soon ??= setTimeout(() => {
      soon = undefined
      notify()
    }, GATHERED_FOR)
  })
  return {
    async stop() {
      end()
      clearTimeout(soon)
      stopping.abort()
      await Promise.all(sending)
    },
  }
}

function keepOnly(sent: Set<string>, waiting: readonly ApprovalRequest[]): void {
  const ids = new Set(waiting.map(({ id }) => id))
  for (const id of sent) if (!ids.has(id)) sent.delete(id)
}

function secretOf({ url, secretEnv }: WebhookTarget, env: WebhookOptions['env']): Buffer {
  const text = (env[secretEnv] ?? '').replace(/^whsec_/, '')
  const secret = Buffer.from(text, 'base64')
  // Base64, with or without the prefix, as the libraries of receivers expect it.
  if (/^[A-Za-z0-9+/]+=*$/.test(text) && secret.length >= MIN_SECRET) return secret
  throw new GatewayError(
    'CONFIG_INVALID',
    `the webhook \`${new URL(url).host}\` has no usable secret in \`${secretEnv}\``,
    {
      hints: [
        `set ${secretEnv} to the base64 of at least ${MIN_SECRET} random bytes, for example from \`openssl rand -base64 24\``,
      ],
    },
  )
}

/** Sends a message until it is accepted, the request ends or the gateway stops. Never throws. */
async function deliver(
  options: WebhookOptions,
  hook: Hook,
  request: ApprovalRequest,
  stopped: AbortSignal,
): Promise<void> {
  const { kernel, log, patience = 1000 } = options
  const body = JSON.stringify(await messageOf(options, hook, request))
  for (let wait = patience; kernel.host.now() <= request.until; wait = Math.min(2 * wait, MAX_WAIT)) {
    if (stopped.aborted || !isWaiting(kernel, request)) return
    const problem = await attempt(options, hook, request.id, body, stopped)
    if (problem === undefined) return
    log('warn', 'a webhook delivery failed', {
      host: new URL(hook.url).host,
      request: request.id,
      because: problem,
    })
    await pause(wait, stopped)
  }
}

function isWaiting({ approvals }: Kernel, { id }: ApprovalRequest): boolean {
  return approvals.find({ id })?.answer === null
}

/** One attempt. Returns undefined on success, else the reason, without text from the receiver. */
async function attempt(
  { kernel, send = fetch }: WebhookOptions,
  hook: Hook,
  id: string,
  body: string,
  stopped: AbortSignal,
): Promise<string | undefined> {
  const timestamp = String(Math.floor(kernel.host.now() / 1000))
  try {
    const answer = await send(hook.url, {
      method: 'POST',
      // Following a redirect would send the message to any address that the receiver names.
      redirect: 'manual',
      signal: AbortSignal.any([stopped, AbortSignal.timeout(ANSWER_WITHIN)]),
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signatureOf(hook.secret, id, timestamp, body)}`,
      },
      body,
    })
    await answer.body?.cancel()
    return answer.ok ? undefined : `it answered ${answer.status}`
  } catch (cause) {
    return cause instanceof Error ? cause.name : 'it could not be reached'
  }
}

/** The signature of a message: HMAC-SHA256 of `id.timestamp.body` in base64. */
export function signatureOf(secret: Uint8Array, id: string, timestamp: string, body: string): string {
  return createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')
}

async function messageOf(
  { kernel, view }: WebhookOptions,
  hook: Hook,
  request: ApprovalRequest,
): Promise<Json> {
  const { id, principal, session, tool, reason, rung, rule, asks, args, approvers, until } = request
  const { sentence, remedy } = REASONS[reason]
  const record = hook.arguments ? await view.record(inputName(id)).catch(() => undefined) : undefined
  const input = inputOf(request, record)
  const page = await pageOf(view, hook, request)
  return {
    type: 'approval.requested',
    data: {
      id,
      principal,
      session,
      tool,
      reason_code: reason,
      message: sentence,
      remedy,
      rung,
      rule,
      asks,
      args_hash: args,
      // Sound: the stored input is canonical JSON.
      ...(input !== undefined && { arguments: JSON.parse(input) as Json }),
      ...(page && { page }),
      delegation: request.delegation,
      approvers,
      reason_required: needsReason(kernel, request),
      until: new Date(until).toISOString(),
      answer: `tollgate approvals approve ${id}`,
    },
  }
}

/** The page of a browser call. Its address is included only if the receiver also gets the arguments. */
async function pageOf(
  view: LedgerView,
  hook: Hook,
  { id, page }: ApprovalRequest,
): Promise<Json | undefined> {
  if (!page) return undefined
  const record = hook.arguments ? await view.record(pageName(id)).catch(() => undefined) : undefined
  const input = readPageInput(page, record)
  return { ...(input && { url: input.url, destination: input.destination }), ...page }
}

function pause(milliseconds: number, stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    timer.unref()
    stopped.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
