// A complete gateway in front of a model server, for tests: real configuration, door and ledger.

import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseReceipt, type Decision, type Effect, type Receipt } from '@tollgate/evidence'
import { createData } from '../../src/cli/setup/create.ts'
import { runGateway, type RunningGateway } from '../../src/cli/setup/run-gateway.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLlmDoor } from '../../src/llm/door.ts'
import { PROVIDERS, TRAITS, type Provider } from '../../src/llm/providers.ts'
import type { UpstreamAddress } from '../../src/llm/upstream.ts'
import { silent, type Log } from '../../src/log.ts'
import { serve, type Served } from '../../src/serve.ts'
import { activate, newFolder } from '../gateway-rig.ts'

/** Allows reading notes, denies mail, and escalates a payment. */
export const POLICY = `
tollgate: 1
name: models
principals: { "agent:*": { tier: standard } }
tools:
  "read_note": { effect: read, destinations: none }
  "send_mail": { effect: send, destinations: none }
  "pay": { effect: write, destinations: none }
  "openai/web_search": { effect: read, destinations: none }
  "anthropic/web_search": { effect: read, destinations: none }
  "openai/code_interpreter": { effect: execute, destinations: none }
rules:
  - { id: notes, allow: "read_note" }
  - { id: search, allow: "*/web_search" }
  - { id: pay, require: "pay", expires: 15m }
  - { id: mail, deny: "send_mail", because: mail stays here }
`

/** The gateway's key for the model server. */
export const UPSTREAM_KEY = 'sk-upstream-0123456789abcdef'

export interface LlmGateOptions {
  /** The base URL of the model server, without a path. */
  readonly upstream: string
  readonly policy?: string
  readonly log?: Log
  /** Further settings of each model server. */
  readonly model?: Readonly<Record<string, unknown>>
  /** Further settings of the door. */
  readonly llm?: Readonly<Record<string, unknown>>
  /** The data directory of an earlier gateway. */
  readonly data?: string
}

export interface LlmGate {
  readonly url: string
  readonly data: string
  /** The token of `agent:peer`. */
  readonly token: string
  readonly running: RunningGateway
  /** The same gateway for another agent without receipts. */
  as(principal: string): Promise<LlmGate>
  /** Sends a request, with the token as the key of an OpenAI client. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>
  receipts(): Promise<readonly Receipt[]>
  decisions(): Promise<readonly Decision[]>
  effects(): Promise<readonly Effect[]>
  close(): Promise<void>
}

/** Opens a gateway. */
export async function openLlmGate(options: LlmGateOptions): Promise<LlmGate> {
  const { upstream, policy = POLICY, log = silent, model = {}, llm = {} } = options
  const data = options.data ?? join(newFolder(), 'data')
  if (options.data === undefined) {
    await createData(data, { port: 0 }, () => undefined)
    writeFileSync(join(data, 'upstream.key'), `${UPSTREAM_KEY}\n`, { mode: 0o600 })
    const key = 'key' in model ? {} : { 'key-file': 'upstream.key' }
    const each = PROVIDERS.map((provider): [Provider, object] => [
      provider,
      { url: addressOf(upstream, provider), ...key, ...model },
    ])
    const section = { ...Object.fromEntries(each), ...llm }
    appendFileSync(join(data, 'tollgate.yaml'), `\nllm: ${JSON.stringify(section)}\n`)
    writeFileSync(join(data, 'policy.yaml'), policy)
  }
  const running = await runGateway(readConfig(data), log, { prepare: (gateway) => activate(gateway, policy) })
  return gateFor(running, data, 'agent:peer')
}

async function gateFor(running: RunningGateway, data: string, principal: string): Promise<LlmGate> {
  const { gateway, url } = running
  const { token } = await gateway.tokens.issue({ role: 'agent', tenant: 'default', principal }, 'test')
  const receipts = async (): Promise<readonly Receipt[]> => {
    const { entries } = await gateway.view.page({ direction: 'on', limit: 1000, filter: {} })
    return entries.map(({ envelope }) => parseReceipt(envelope).receipt)
  }
  const mine = async (): Promise<ReadonlyMap<string, Decision>> => {
    const { entries } = await gateway.view.page({
      direction: 'on',
      limit: 1000,
      filter: { kind: 'decision', principal },
    })
    return new Map(entries.map(({ id, envelope }) => [id, parseReceipt(envelope).receipt as Decision]))
  }
  return {
    url,
    data,
    token,
    running,
    as: (other) => gateFor(running, data, other),
    post(path, body, headers = {}) {
      const [route, text] = inForm(path, body)
      return fetch(`${url}${route}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
        body: text,
      })
    },
    receipts,
    decisions: async () => [...(await mine()).values()],
    effects: async () => {
      const own = await mine()
      return (await receipts()).filter(
        (receipt) => receipt.kind === 'effect' && own.has(receipt.decision),
      ) as Effect[]
    },
    close: () => running.close(),
  }
}

/** The route and the text of a request. In the Gemini API, the route says whether the reply is streamed. */
export function inForm(path: string, body: unknown): readonly [route: string, text: string] {
  if (typeof body === 'string') return [path, body]
  const isGemini = path.endsWith(':generateContent')
  if (!isGemini || typeof body !== 'object' || body === null || !('stream' in body)) {
    return [path, JSON.stringify(body)]
  }
  const { stream, ...others } = body
  const route = stream === true ? path.replace(':generate', ':streamGenerate') + '?alt=sse' : path
  return [route, JSON.stringify(others)]
}

/** The address of a provider at a scripted upstream. */
export function addressOf(upstream: string, provider: Provider): string {
  return upstream + new URL(TRAITS[provider].url.example).pathname
}

/** Another model server and agent on the same gateway. */
export async function openDoorTo(
  { running: { gateway } }: LlmGate,
  upstream: string,
  principal: string,
  settings: { readonly wait?: number; readonly quiet?: number } = {},
): Promise<Served & { readonly token: string }> {
  const { kernel, view, tokens, size, watch } = gateway
  const { token } = await tokens.issue({ role: 'agent', tenant: 'default', principal }, 'test')
  const address = (provider: Provider): UpstreamAddress => ({
    url: addressOf(upstream, provider),
    key: UPSTREAM_KEY,
    parameters: new Set<string>(),
    patience: 60_000,
  })
  const door = createLlmDoor({
    ...{ kernel, tokens, log: silent, body: 32 << 20, size, watch, ...settings },
    upstreams: new Map(PROVIDERS.map((provider) => [provider, address(provider)])),
  })
  const api = {
    ...{ kernel, view, tokens, version: 'test', log: silent, limits: { body: 1 << 20 } },
    checkpoint: () => gateway.checkpoint(),
    watch: (listener: (now: number) => void) => gateway.watch(listener),
    policyFile: () => undefined,
  }
  const served = await serve(api, { host: '127.0.0.1', port: 0, grace: 500 }, [door])
  return {
    url: served.url,
    token,
    close: () => served.close(),
  }
}
