// A gateway with one browser server behind its door, and web sites that count what reaches them.

import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerRequest } from '@tollgate/kernel/admin'
import type { Log } from '../../src/log.ts'
import { openGate, type Gate, type Recorded, type ServerEntry } from '../mcp/gate.ts'
import { connectPeer, type Answer, type AskOptions, type Peer } from '../mcp/peers.ts'

/** A web site. */
export interface Site {
  readonly origin: string
  /** `GET /path` of every request, in order, without the icon that a browser asks for itself. */
  readonly asked: string[]
  /** The pages by path; a path without one is not found. */
  readonly pages: Map<string, string>
  /** Where a path leads to, if it has no page of its own. */
  readonly redirects: Map<string, string>
  /** What happens before a path is answered. */
  readonly before: Map<string, () => Promise<unknown>>
  close(): Promise<void>
}

/** Starts a web site on its own port. */
export async function startSite(pages: Readonly<Record<string, string>>): Promise<Site> {
  const asked: string[] = []
  const known = new Map(Object.entries(pages))
  const redirects = new Map<string, string>()
  const before = new Map<string, () => Promise<unknown>>()
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? '/', 'http://site')
    if (pathname !== '/favicon.ico') asked.push(`${request.method ?? ''} ${request.url ?? ''}`)
    await before.get(pathname)?.()
    const page = known.get(pathname)
    const location = redirects.get(pathname)
    const status = location !== undefined ? 302 : page === undefined ? 404 : 200
    const headers = { 'content-type': 'text/html; charset=utf-8', ...(location && { location }) }
    response.writeHead(status, headers)
    drain(request, () => response.end(page ?? 'not found'))
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  // Sound: a server that listens on TCP has this kind of address.
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    asked,
    pages: known,
    redirects,
    before,
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections()
        server.close(() => closed())
      }),
  }
}

function drain(request: IncomingMessage, done: () => void): void {
  request.resume()
  request.on('end', done)
}

/** An agent with a guarded browser. */
export interface Agent {
  readonly gate: Gate
  /** Calls a tool with a planner reference and returns the answer. */
  call(tool: string, args?: object, meta?: object, options?: AskOptions): Promise<Answer>
  /** Calls a tool that must be allowed and returns its text. */
  do(tool: string, args?: object): Promise<string>
  /** Begins a new session: the risk of earlier calls does not count in it. */
  begin(): void
  /** The name of the session. */
  session(): string
  /** The names of the tools that it is offered. */
  tools(): Promise<readonly string[]>
  /** The newest decision about a tool, with its effect. */
  last(tool: string): Promise<Recorded>
  /** Answers the newest request for approval of a tool. */
  approve(tool: string): Promise<void>
  close(): Promise<void>
}

/** The policy for these hosts. */
export function browserPolicy(
  hosts: readonly string[],
  tools: Readonly<Record<string, string>>,
  more = '',
  gates = '',
): string {
  const list = JSON.stringify(hosts.map((origin) => new URL(origin).host))
  const rows = Object.entries(tools).map(
    ([name, effect]) => `  "web/${name}": { effect: ${effect}, browser: true }`,
  )
  return `
tollgate: 1
name: browser
principals: { "agent:*": { tier: standard } }
tools:
${rows.join('\n')}
rules:
${more}  - { id: all, allow: "*" }
gates:
  browser: { domains: ${list}${gates} }
  egress: { allow: ${list} }
  taint: {}
`
}

/** Opens a gateway with a browser server called `web`, and an agent that is connected to it. */
export async function openAgent(entry: ServerEntry, policy: string, log?: Log): Promise<Agent> {
  const gate = await openGate({ web: entry }, { policy, ...(log && { log }) })
  await gate.meet('web')
  await gate.pin('web')
  const peer: Peer = await connectPeer('v1', gate.place('web'))
  let session = 'first'
  const call: Agent['call'] = (tool, args = {}, meta = PLANNED, options = {}) => {
    const _meta = { 'dev.tollgate/session': session, ...meta }
    return peer.ask('tools/call', { name: tool, arguments: args, _meta }, options)
  }
  return {
    gate,
    call,
    async do(tool, args) {
      const answer = await call(tool, args)
      const text = textOf(answer)
      if (answer.isError === true) throw new Error(`${tool}: ${text}`)
      return text
    },
    begin: () => void (session = `session ${++sessions}`),
    session: () => session,
    async tools() {
      const { tools } = await peer.ask('tools/list')
      return Array.isArray(tools) ? tools.map((tool: { name: string }) => tool.name) : []
    },
    async last(tool) {
      const found = (await gate.record(`web/${tool}`)).at(-1)
      if (!found) throw new Error(`there is no decision about ${tool}`)
      return found
    },
    async approve(tool) {
      const { kernel } = gate.running.gateway
      const [waiting] = kernel.approvals.list(kernel.host.now()).filter((each) => each.tool === `web/${tool}`)
      if (!waiting) throw new Error(`nothing waits about ${tool}`)
      const answer = { tenant: 'default', request: waiting.id, granted: true, groups: [] }
      await answerRequest(kernel, { ...answer, approver: 'user:olga' })
    },
    async close() {
      await peer.close()
      await gate.close()
    },
  }
}

let sessions = 0

const PLANNED = { 'dev.tollgate/planner_ref': 'the plan of the test' }

/** The text of an answer. */
export function textOf({ content }: Answer): string {
  if (!Array.isArray(content)) return ''
  return content.map((part: { text?: string }) => part.text ?? '').join('\n')
}

/** Ends the children of this process whose command contains a word. */
export function endChildren(word: string): void {
  const own = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid))
  for (const pid of own) {
    const stat = readIfThere(`/proc/${pid}/stat`)
    const isChild = stat.split(') ')[1]?.split(' ')[1] === String(process.pid)
    if (isChild && readIfThere(`/proc/${pid}/cmdline`).includes(word)) process.kill(Number(pid), 'SIGKILL')
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
