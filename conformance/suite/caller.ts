// A holder of a token, and what it can ask over HTTP and MCP.

import { at, isFields, textAt, type Fields } from './reading.ts'

export interface Answer {
  readonly status: number
  readonly text: string
  /** The parsed body; empty if it is not a JSON object. */
  readonly body: Fields
}

export interface Call {
  readonly tool: string
  readonly arguments?: unknown
  readonly session_id?: string
  readonly [more: string]: unknown
}

/** What is between the callers and the implementation: its address now, and a record of every answer. */
export interface Line {
  url(): string
  note(route: string, answer: Answer): void
}

export class Caller {
  readonly #line: Line
  readonly #token: string | undefined
  readonly principal: string

  constructor(line: Line, token: string | undefined, principal: string) {
    this.#line = line
    this.#token = token
    this.principal = principal
  }

  get(path: string): Promise<Answer> {
    return this.#ask('GET', path)
  }

  post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.send('POST', path, JSON.stringify(body), headers)
  }

  delete(path: string): Promise<Answer> {
    return this.#ask('DELETE', path)
  }

  /** Sends exactly this text. */
  send(
    method: string,
    path: string,
    text: string | Buffer,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    return this.#ask(method, path, text, { 'content-type': 'application/json', ...headers })
  }

  /** Asks for the verdict on a call. */
  async evaluate(call: Call): Promise<Fields> {
    return (await this.post('/v1/evaluate', call)).body
  }

  async bytes(path: string): Promise<Buffer> {
    const response = await fetch(this.#line.url() + path, { headers: this.#headers() })
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`)
    return Buffer.from(await response.arrayBuffer())
  }

  /** A stream of server-sent events. */
  async stream(path: string, signal: AbortSignal, headers: Fields = {}): Promise<AsyncIterable<Uint8Array>> {
    const more = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    const response = await fetch(this.#line.url() + path, {
      headers: { ...this.#headers(), ...more },
      signal,
    })
    if (!response.body || response.status !== 200) throw new Error(`${path} answered ${response.status}`)
    return response.body
  }

  /** Opens a session of the MCP door and returns how to call a tool in it. */
  async mcp(server: string): Promise<(name: string, args: unknown) => Promise<Fields>> {
    const path = `/mcp/${server}`
    const client = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 's', version: '1' },
    }
    const { headers, message } = await this.#rpc(path, 1, 'initialize', client)
    if (!at(message, 'result')) throw new Error(`the MCP door refused a client: ${JSON.stringify(message)}`)
    const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '' }
    await this.post(path, { jsonrpc: '2.0', method: 'notifications/initialized' }, { ...session, ...BOTH })
    await this.#rpc(path, 2, 'tools/list', {}, session)
    let id = 2
    return async (name, args) =>
      (await this.#rpc(path, ++id, 'tools/call', { name, arguments: args }, session)).message
  }

  async #rpc(
    path: string,
    id: number,
    method: string,
    params: unknown,
    session: Readonly<Record<string, string>> = {},
  ): Promise<{ headers: Headers; message: Fields }> {
    const response = await fetch(this.#line.url() + path, {
      method: 'POST',
      headers: { ...this.#headers(), 'content-type': 'application/json', ...BOTH, ...session },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
    })
    const text = await response.text()
    this.#line.note(`mcp ${method}`, { status: response.status, text, body: {} })
    return { headers: response.headers, message: messageIn(text, id) }
  }

  async #ask(
    method: string,
    path: string,
    body?: string | Buffer,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const response = await fetch(this.#line.url() + path, {
      method,
      headers: { ...this.#headers(), ...headers },
      ...(body !== undefined && { body: Buffer.from(body) }),
    })
    const answer = read(response.status, await response.text())
    this.#line.note(`${method} ${path}`, answer)
    return answer
  }

  #headers(): Readonly<Record<string, string>> {
    return this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }
  }
}

const BOTH = { accept: 'application/json, text/event-stream' }

function read(status: number, text: string): Answer {
  try {
    const body: unknown = JSON.parse(text)
    return { status, text, body: isFields(body) ? body : {} }
  } catch {
    return { status, text, body: {} }
  }
}

/** The answer to a request, in a JSON body or in a stream of events. */
function messageIn(text: string, id: number): Fields {
  const lines = text.startsWith('{') ? [text] : text.split('\n').filter((line) => line.startsWith('data: '))
  for (const line of lines) {
    const message: unknown = JSON.parse(line.replace(/^data: /, ''))
    if (isFields(message) && message.id === id) return message
  }
  return {}
}

/** The text of a result of an MCP tool. */
export function resultText(message: Fields): string {
  return at(message, 'result', 'content', 0, 'text') === undefined
    ? ''
    : textAt(message, 'result', 'content', 0, 'text')
}
