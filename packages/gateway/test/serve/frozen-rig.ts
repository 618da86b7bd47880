// A gateway whose upstreams record everything that reaches them: a model server, an MCP server over HTTP, and one as a
// program.

import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { createConnection, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { setFreeze, type FreezeOrder } from '@tollgate/kernel/admin'
import { createData } from '../../src/cli/setup/create.ts'
import { runGateway, type RunningGateway } from '../../src/cli/setup/run-gateway.ts'
import { readConfig } from '../../src/config/config.ts'
import { silent } from '../../src/log.ts'
import { PROVIDERS } from '../../src/llm/providers.ts'
import { formatJoin } from '../../src/mcp/client/local-join.ts'
import { socketPath } from '../../src/mcp/client/local-path.ts'
import type { Role } from '../../src/tokens.ts'
import { activate, newFolder } from '../gateway-rig.ts'

const SERVER = fileURLToPath(new URL('./frozen-server.mjs', import.meta.url))
const POLICY = `
tollgate: 1
name: frozen
principals: { "agent:*": { tier: standard } }
tools: { "*": { effect: read, destinations: none } }
rules: [{ id: all, allow: "*" }]
`

/** The gateway, and what has reached its upstreams. */
export interface FrozenRig {
  readonly url: string
  readonly running: RunningGateway
  /** Everything that has reached an upstream, one line per request, message and program start. */
  reached(): readonly string[]
  freeze(order: Omit<FreezeOrder, 'by' | 'frozen'>, frozen?: boolean): Promise<void>
  token(role: Role, principal: string): Promise<string>
  /** Sends lines on the local socket as a program with its own server. Returns as many lines of the gateway. */
  local(token: string, messages: readonly object[]): Promise<readonly string[]>
  /** Closes everything, and opens the same data directory again. */
  restart(): Promise<void>
  close(): Promise<void>
}

export async function openFrozenRig(): Promise<FrozenRig> {
  const folder = newFolder()
  const [data, file] = [join(folder, 'data'), join(folder, 'reached')]
  const note = (line: string): void => appendFileSync(file, `${line}\n`)
  const model = await recording(note, 'model')
  const remote = await recording(note, 'mcp')
  await createData(data, { port: 0 }, () => undefined)
  writeFileSync(join(data, 'upstream.key'), 'sk-upstream\n', { mode: 0o600 })
  const llm = PROVIDERS.map((provider) => [provider, { url: `${model.url}/v1`, 'key-file': 'upstream.key' }])
  const servers = { own: { command: [process.execPath, SERVER, file] }, remote: { url: remote.url } }
  const more = { llm: Object.fromEntries(llm) as object, mcp: { servers } }
  for (const [name, value] of Object.entries(more)) {
    appendFileSync(join(data, 'tollgate.yaml'), `\n${name}: ${JSON.stringify(value)}\n`)
  }
  const open = (): Promise<RunningGateway> =>
    runGateway(readConfig(data), silent, { prepare: (gateway) => activate(gateway, POLICY) })
  let running = await open()
  return {
    get url() {
      return running.url
    },
    get running() {
      return running
    },
    reached: () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []),
    async freeze(order, frozen = true) {
      await setFreeze(running.gateway.kernel, { ...order, frozen, by: 'user:olga' })
    },
    token: async (role, principal) =>
      (await running.gateway.tokens.issue({ role, tenant: 'default', principal }, 'test')).token,
    async local(token, messages) {
      const socket = createConnection(socketPath(data))
      await once(socket, 'connect')
      const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
      const args = [SERVER, file]
      const own = { name: 'wrapped', command: process.execPath, args, env: {}, cwd: folder, token }
      const answers: string[] = []
      const ask = async (line: string): Promise<void> => {
        socket.write(`${line}\n`)
        answers.push(String((await lines.next()).value))
      }
      await ask(formatJoin(own))
      for (const each of messages) await ask(JSON.stringify(each))
      socket.destroy()
      return answers
    },
    async restart() {
      await running.close()
      running = await open()
    },
    async close() {
      await running.close()
      for (const { server } of [model, remote]) {
        server.closeAllConnections()
        server.close()
      }
    },
  }
}

const FIRST = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { role: 'assistant', content: 'hello' } }] })}\n\n`

/** A server that records each request and answers like a model. */
async function recording(
  note: (line: string) => void,
  name: string,
): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    note(`${name} ${request.method ?? ''} ${request.url ?? ''}`)
    let body = ''
    request.on('data', (chunk: Buffer) => void (body += chunk.toString()))
    request.on('end', () => {
      // A stream that never ends on its own.
      if (body.includes('"stream":true'))
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(FIRST)
      else answer(response)
    })
  })
  const answer = (response: ServerResponse): void =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data: [] }))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Sound: it listens on a port.
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}
