// A place for a gateway to run in while its calls are followed: its files, and a model server that always proposes one call.

import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

/** The value in the arguments of every call that is followed. No other text of it has this. */
export const MARKER = 'note-7f3a91c4'

const CONFIG = `
tollgate: 1
ledger: tollgate.test/ways
head-guard: off
`
const POLICY = `
tollgate: 1
name: ways
principals: { "agent:*": { tier: standard } }
tools:
  "*": { effect: read, destinations: none }
rules:
  - { id: notes, allow: "*", when: 'args.name != ""' }
`

/** Writes the files of a data directory; \`tollgate up\` makes the rest. */
export function writeSite(data: string, upstream: string): void {
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const llm = { openai: { url: `${upstream}/v1`, 'key-file': 'upstream.key' } }
  writeFileSync(join(data, 'tollgate.yaml'), `${CONFIG}llm: ${JSON.stringify(llm)}\n`, { mode: 0o600 })
  writeFileSync(join(data, 'policy.yaml'), POLICY, { mode: 0o600 })
  writeFileSync(join(data, 'upstream.key'), 'sk-upstream-0123456789abcdef\n', { mode: 0o600 })
}

/** Starts a model server. Each of its replies has one call, with the arguments that the last message says. */
export async function startModel(): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(replyTo(Buffer.concat(chunks).toString())))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Sound: a server that listens on a port has an address with one.
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, server }
}

let replies = 0

function replyTo(body: string): object {
  const { model, messages } = JSON.parse(body) as { model: string; messages: { content: string }[] }
  const called = { name: 'read_note', arguments: JSON.stringify({ name: messages.at(-1)?.content }) }
  const tool_calls = [{ id: `call_${++replies}`, type: 'function', function: called }]
  const message = { role: 'assistant', content: null, tool_calls }
  return {
    ...{ id: `chatcmpl-${replies}`, object: 'chat.completion', created: 1_760_000_000, model },
    choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }
}
