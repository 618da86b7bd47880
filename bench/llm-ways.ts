// The paths to a model that the LLM benchmark compares, and the requests. The client is minimal, so that mainly the server
// side is measured.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** The protocol of the model server. */
export type Dialect = 'chat' | 'responses' | 'messages'

/** A path to the model server. */
export interface Way {
  /** Asks a model and reads its whole reply. Calls `onEvents` with the number of events so far. */
  ask(asking: Asking, onEvents?: (count: number) => void): Promise<Told>
  close(): Promise<void>
}

export interface Asking {
  readonly dialect: Dialect
  /** Selects the reply, see llm-upstream.mjs. */
  readonly model: string
  /** The id of a call of the previous turn, whose result is in this request. Only for chat. */
  readonly resultOf?: string
  /** A number opens a new session, alternating between agents. Without one, the default session of the first agent. */
  readonly session?: number
}

export interface Told {
  /** Milliseconds until the first word; NaN if there was none. */
  readonly first: number
  /** Milliseconds until the end. */
  readonly total: number
  /** Events without comments. */
  readonly events: number
  /** The beginning of the reply. */
  readonly text: string
}

// The used part of undici, in the version of the gateway.
interface Handler {
  onRequestStart(): void
  onResponseStart(controller: unknown, status: number): void
  onResponseData(controller: unknown, chunk: Buffer): void
  onResponseEnd(): void
  onResponseError(controller: unknown, fault: Error): void
}
interface Undici {
  readonly Pool: new (
    origin: string,
    options: { connections: number; pipelining: number },
  ) => { dispatch(options: object, handler: Handler): boolean; destroy(): Promise<void> }
}
// Sound: undici has these members.
const { Pool } = createRequire(new URL('../packages/gateway/package.json', import.meta.url))(
  'undici',
) as Undici

const PATHS: Readonly<Record<Dialect, readonly [provider: string, path: string]>> = {
  chat: ['/openai', '/v1/chat/completions'],
  responses: ['/openai', '/v1/responses'],
  messages: ['/anthropic', '/v1/messages'],
}
const FIRST_WORD = 'First'
const KEPT = 8192

/** The path to a server; to a gateway if tokens of its agents are given. */
export function wayTo({ url, tokens }: Pick<Child, 'url' | 'tokens'>): Way {
  const pool = new Pool(url, { connections: 128, pipelining: 1 })
  const agents = (tokens ?? ['sk-bench']).map((token) => ({
    'content-type': 'application/json',
    authorization: `Bearer ${token}`,
    'anthropic-version': '2023-06-01',
  }))
  return {
    ask: (asking, onEvents) =>
      new Promise((resolve, reject) => {
        const [provider, rest] = PATHS[asking.dialect]
        const path = tokens === undefined ? rest : provider + rest
        const body = bodyOf(asking)
        const headers = {
          ...agents[(asking.session ?? 0) % agents.length],
          ...(asking.session !== undefined && { 'tollgate-session': `session-${asking.session}` }),
        }
        const count = createCounter()
        let [status, first, events, text] = [0, NaN, 0, '']
        const began = performance.now()
        pool.dispatch(
          { method: 'POST', path, headers, body },
          {
            onRequestStart: () => undefined,
            onResponseStart: (_, code) => void (status = code),
            onResponseData(_, chunk) {
              if (Number.isNaN(first) && chunk.includes(FIRST_WORD)) first = performance.now() - began
              const more = count(chunk)
              events += more
              if (text.length < KEPT) text += chunk.toString('latin1')
              onEvents?.(more)
            },
            onResponseEnd() {
              const total = performance.now() - began
              if (status === 200) resolve({ first, total, events, text })
              else reject(new Error(`unexpected status ${status}: ${text.slice(0, 400)}`))
            },
            onResponseError: (_, fault) => reject(fault),
          },
        )
      }),
    close: () => pool.destroy(),
  }
}

const LF = 0x0a
const COLON = 0x3a

/** Counts the events that end in each chunk, without comments. */
function createCounter(): (chunk: Buffer) => number {
  let begins = true
  let isComment = false
  let afterLine = false
  return (chunk) => {
    let count = 0
    let from = 0
    if (afterLine && chunk[0] === LF) {
      if (!isComment) count++
      begins = true
      from = 1
    }
    afterLine = false
    while (from < chunk.length) {
      if (begins) isComment = chunk[from] === COLON
      const end = chunk.indexOf('\n\n', from, 'latin1')
      begins = end >= 0
      if (!begins) {
        afterLine = chunk[chunk.length - 1] === LF
        break
      }
      if (!isComment) count++
      from = end + 2
    }
    return count
  }
}

const SYSTEM =
  'You look after the notes of a small office. Say briefly what you find, and never guess. '.repeat(12)
const TOOLS = [
  ['read_note', 'Reads a note.', { name: { type: 'string' }, days: { type: 'integer' } }, ['name']],
  ['send_mail', 'Sends a note by mail.', { name: { type: 'string' }, days: { type: 'integer' } }, ['name']],
] as const
const RESULT =
  'On Monday the roof is looked at, on Tuesday the budget is discussed with the committee. '.repeat(12)

let asked = 0

/** The body of a request. No two are equal, as with a real agent. */
function bodyOf({ dialect, model, resultOf }: Asking): string {
  const question = {
    role: 'user',
    content: `What is there to do this week? I ask for the ${++asked}th time.`,
  }
  const tools = TOOLS.map(([name, description, properties, required]) => ({
    name,
    description,
    schema: { type: 'object', properties, required },
  }))
  switch (dialect) {
    case 'chat': {
      const messages = [{ role: 'system', content: SYSTEM }, question, ...turnOf(resultOf)]
      return JSON.stringify({
        model,
        stream: true,
        messages,
        tools: tools.map(({ schema, ...tool }) => ({
          type: 'function',
          function: { ...tool, parameters: schema },
        })),
      })
    }
    case 'responses':
      return JSON.stringify({
        model,
        stream: true,
        store: false,
        instructions: SYSTEM,
        input: [question],
        tools: tools.map(({ schema, ...tool }) => ({ type: 'function', ...tool, parameters: schema })),
      })
    case 'messages':
      return JSON.stringify({
        model,
        stream: true,
        max_tokens: 1000,
        system: SYSTEM,
        messages: [question],
        tools: tools.map(({ schema, ...tool }) => ({ ...tool, input_schema: schema })),
      })
  }
}

function turnOf(id: string | undefined): readonly object[] {
  if (id === undefined) return []
  const call = { name: 'read_note', arguments: '{"days":7,"name":"plan of the week"}' }
  return [
    { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: call }] },
    { role: 'tool', tool_call_id: id, content: RESULT },
  ]
}

/** A process of the benchmark, see llm-ipc.mjs. */
export interface Child {
  readonly url: string
  /** Tokens of the agents that a gateway knows. */
  readonly tokens?: readonly string[]
  /** Processor time in microseconds. */
  cpu(): Promise<number>
  /** Memory in bytes. */
  memory(): Promise<Memory>
  /** Starts a CPU profile. The returned function writes it to a file. */
  profile(): Promise<(path: string) => Promise<void>>
  end(): Promise<void>
}

/** The memory of a process in bytes: total, and of objects and buffers. */
export interface Memory {
  readonly rss: number
  readonly held: number
}

export async function startChild(file: string, ...args: readonly string[]): Promise<Child> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: withoutProxies(process.env),
  })
  const ended = once(child, 'exit')
  const next = async (): Promise<unknown> => {
    const gone = ended.then(() => Promise.reject(new Error(`the child \`${file}\` exited`)))
    const [said] = (await Promise.race([once(child, 'message'), gone])) as [unknown]
    return said
  }
  const ask = (what: string, of?: string): Promise<unknown> => {
    child.send({ ask: what, of })
    return next()
  }
  // Sound, here and below: the child is ours.
  const said = (await next()) as Pick<Child, 'url' | 'tokens'>
  return {
    ...said,
    cpu: async () => ((await ask('cpu')) as { micros: number }).micros,
    memory: async () => (await ask('memory')) as Memory,
    async profile() {
      await ask('profile')
      return async (path) => {
        await ask('profiled', path)
      }
    },
    async end() {
      if (child.connected) child.disconnect()
      await ended
    },
  }
}

/** Everything runs on this machine, so proxies are removed. */
function withoutProxies(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^https?_proxy$/i.test(name)))
}
