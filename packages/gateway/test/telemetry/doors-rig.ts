// A real gateway with every door, a model server, an MCP server, a trace collector and a token of the role `metrics`.

import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pinTool } from '@tollgate/kernel/admin'
import { createData } from '../../src/cli/setup/create.ts'
import { runGateway, type RunningGateway } from '../../src/cli/setup/run-gateway.ts'
import { readConfig } from '../../src/config/config.ts'
import { silent } from '../../src/log.ts'
import type { Role } from '../../src/tokens.ts'
import { activate, newFolder } from '../gateway-rig.ts'
import { startUpstream, type Upstream } from '../llm/upstream.ts'
import { connectPeer, type Peer } from '../mcp/peers.ts'
import { startCollector, type Collector } from './collector.ts'
import { readExposition, type ReadFamily } from './prometheus.ts'

const SERVER = fileURLToPath(new URL('../mcp/crm-server.mjs', import.meta.url))

/** Allows reading, asks for payments and denies mail. */
const POLICY = `
tollgate: 1
name: doors
principals: { "agent:*": { tier: standard } }
tools:
  "read_note": { effect: read, destinations: none }
  "pay": { effect: write, destinations: none }
  "send_mail": { effect: send, destinations: none }
  "web/look": { effect: read, browser: true }
  "crm/*": { effect: read, destinations: none }
rules:
  - { id: notes, allow: "read_note" }
  - { id: look, allow: "web/look" }
  - { id: crm, allow: "crm/lookup" }
  - { id: pay, require: "pay", expires: 15m }
  - { id: mail, deny: "send_mail", because: mail stays here }
gates:
  egress: { allow: [example.com] }
  browser: { domains: [example.com], max-sentinel-risk: 50, observation: any }
`

export interface DoorsRig {
  readonly running: RunningGateway
  readonly model: Upstream
  readonly collector: Collector
  /** The token of `agent:a`. */
  readonly token: string
  issue(role: Role, principal: string): Promise<string>
  post(path: string, body: object, headers?: Readonly<Record<string, string>>): Promise<Response>
  /** The MCP server `crm`, with its tools pinned. */
  crm(): Promise<Peer>
  /** The metrics, read strictly. */
  scrape(): Promise<ReadonlyMap<string, ReadFamily>>
  /** The text of the decision log. */
  decisions(): string
  /** Stops the gateway, which sends the last spans. */
  stop(): Promise<void>
  close(): Promise<void>
}

export async function openDoorsRig(): Promise<DoorsRig> {
  const data = join(newFolder(), 'data')
  const [model, collector] = [await startUpstream(), await startCollector()]
  await createData(data, { port: 0 }, () => undefined)
  writeFileSync(join(data, 'upstream.key'), 'sk-upstream\n', { mode: 0o600 })
  const upstream = { url: `${model.url}/v1`, 'key-file': 'upstream.key' }
  const sections = {
    llm: { openai: upstream, anthropic: upstream },
    mcp: { servers: { crm: { command: [process.execPath, SERVER] } } },
    telemetry: { endpoint: `${collector.url}/base/` },
    'decision-log': '../decisions.jsonl',
  }
  for (const [name, value] of Object.entries(sections))
    appendFileSync(join(data, 'tollgate.yaml'), `\n${name}: ${JSON.stringify(value)}\n`)
  const prepare = (gateway: Parameters<typeof activate>[0]): Promise<void> => activate(gateway, POLICY)
  const running = await runGateway(readConfig(data), silent, { prepare })
  const { gateway, url } = running
  const issue = async (role: Role, principal: string): Promise<string> =>
    (await gateway.tokens.issue({ role, tenant: 'default', principal }, 'test')).token
  const token = await issue('agent', 'agent:a')
  const reader = await issue('metrics', 'monitor:test')
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => (stopping ??= running.close())
  return {
    ...{ running, model, collector, token, issue, stop },
    post: (path, body, headers = {}) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    async crm() {
      const peer = await connectPeer('v1', {
        url: `${url}/mcp/crm`,
        headers: { authorization: `Bearer ${token}` },
      })
      await peer.ask('tools/list')
      const { kernel } = gateway
      for (const tool of kernel.catalogue.names()) {
        const offered = kernel.catalogue.offered(tool)
        if (offered && kernel.catalogue.pinned(tool) !== offered.hash)
          await pinTool(kernel, tool, offered.hash, 'user:test')
      }
      return peer
    },
    async scrape() {
      const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${reader}` } })
      if (answer.status !== 200) throw new Error(await answer.text())
      return readExposition(await answer.text())
    },
    decisions: () => readFileSync(join(data, '../decisions.jsonl'), 'utf8'),
    stop,
    async close() {
      await stop()
      await model.close()
      await collector.close()
    },
  }
}
