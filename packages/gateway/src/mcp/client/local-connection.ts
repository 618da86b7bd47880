// One program on the local socket, from its first line to its end.

import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { clearTimeout, setTimeout } from 'node:timers'
import { madeSession } from '@tollgate/evidence'
import type { Budget, Spender } from '../../budget.ts'
import type { Log } from '../../log.ts'
import type { Tokens } from '../../tokens.ts'
import type { Conversation, Out } from '../conversation.ts'
import { createLineReader, lineWriter } from '../lines.ts'
import { formatWelcome, GOODBYE, parseJoin, STDERR, type Join, type JoinAnswer } from './local-join.ts'
import type { Mcp } from '../mcp.ts'
import { CODE, formatError, MAX_MESSAGE, parseMessage, type Request, type RpcError } from '../message.ts'

/** What the local door is made of. */
export interface LocalOptions {
  readonly mcp: Mcp
  readonly tokens: Pick<Tokens, 'identify'>
  readonly tenant: string
  readonly log: Log
  readonly limits?: Partial<LocalLimits>
  /** How much each principal may have the gateway read; the default limits if not given. */
  readonly budget?: Budget
}

/** How much of what. Times are in milliseconds. */
export interface LocalLimits {
  readonly connections: number
  /** Requests of one program that are under way. */
  readonly requests: number
  /** Bytes that wait for a reader. */
  readonly unread: number
  /** For the first line. */
  readonly deadline: number
  /** For requests under way when the gateway stops. */
  readonly grace: number
}

/** A program that has come. */
export interface LocalConnection {
  /** Says goodbye when what is under way is answered, or it has taken too long. */
  close(): Promise<void>
}

/** Takes a program in. */
export function createLocalConnection(
  socket: Socket,
  options: LocalOptions & { readonly budget: Budget },
  limits: LocalLimits,
  left: () => void,
): LocalConnection {
  let conversation: Conversation | undefined
  let stage: 'new' | 'joining' | 'joined' | 'over' = 'new'
  let underway = 0
  let known = (): boolean => true
  let spender: Spender = { tenant: options.tenant, principal: '' }
  let paused: NodeJS.Timeout | undefined
  let isLeaving = false
  let isStopping = false
  let settled = (): void => undefined
  const deadline = setTimeout(() => drop('says nothing'), limits.deadline)
  const out: Out = { send: write }

  const writeLine = lineWriter(socket)

  function write(line: string): void {
    if (stage === 'over' || !socket.writable) return
    writeLine(line)
    // What it does not read piles up here, for all others to feel.
    if (socket.writableLength > limits.unread) drop('does not read')
  }

  function drop(why: string): void {
    options.log('warn', 'a local program was dropped', { why })
    socket.destroy()
  }

  function refuse(message: string, ...hints: readonly string[]): void {
    write(formatWelcome({ ok: false, message, hints }))
    stage = 'over'
    socket.destroySoon()
  }

  function onLine(line: Uint8Array): void {
    if (stage === 'new') void join(line)
    else if (stage === 'joined') take(line)
    else if (stage === 'joining') drop('does not wait for the answer')
  }

  async function join(line: Uint8Array): Promise<void> {
    stage = 'joining'
    clearTimeout(deadline)
    const read = parseJoin(line)
    if (typeof read === 'string') {
      refuse(read, 'use the `tollgate` of the gateway’s own version')
      return
    }
    const who = whoIs(read, options.tokens)
    if (who === undefined) {
      refuse(
        'the token is unknown, or not one of an agent',
        'issue one with `tollgate tokens issue --role agent --principal agent:NAME`',
      )
      return
    }
    known = () => whoIs(read, options.tokens)?.principal === who.principal
    const welcome = await begin(read, who)
    if (isOver()) return
    if (!welcome.ok) {
      refuse(welcome.message, ...welcome.hints)
      return
    }
    stage = 'joined'
    write(formatWelcome(welcome))
    conversation?.attach(out)
    leaveIfIdle()
  }

  async function begin({ name, initialize, ...server }: Join, who: Who): Promise<JoinAnswer> {
    const { command, args, env, cwd, process = randomBytes(16).toString('hex') } = server
    const address = { transport: 'stdio', command, args, env, cwd } as const
    const onStderr = (text: string): void => write(STDERR + JSON.stringify(text))
    const caller = { tenant: who.tenant ?? options.tenant, principal: who.principal }
    spender = caller
    const session = madeSession(process)
    conversation = options.mcp.converse({ ...caller, session }, { kind: 'own', name, address, onStderr })
    if (!conversation) return { ok: false, message: 'the gateway does not take this server', hints: [] }
    const error = initialize && (await replayed(conversation, initialize))
    if (!error) return { ok: true }
    return { ok: false, message: 'the server did not take up where it was', hints: [error.message] }
  }

  function take(line: Uint8Array): void {
    if (!conversation) return
    if (!known()) {
      drop('has a token that is no longer in force')
      return
    }
    // An empty line is nothing, and many programs end with one.
    if (line.length === 0) return
    const message = parseMessage(line)
    spend(line.length, message.kind !== 'unreadable')
    if (message.kind !== 'request') {
      conversation.take(message, out).catch(() => undefined)
      return
    }
    if (isStopping || underway >= limits.requests) {
      const why = isStopping ? 'the gateway stops' : 'there are as many requests under way as there may be'
      write(formatError(message.id, { code: CODE.internal, message: why }))
      return
    }
    conversation.take(message, counted(message)).catch(() => {
      write(formatError(message.id, { code: CODE.internal, message: 'the gateway could not answer' }))
    })
  }

  /** Charges for a line. Nothing more is read of a program whose principal is in debt: it waits, and loses nothing. */
  function spend(bytes: number, readable: boolean): void {
    if (!readable) options.budget.fine(spender)
    const seconds = options.budget.charge(spender, bytes)
    if (seconds === 0 || paused) return
    socket.pause()
    paused = setTimeout(() => {
      paused = undefined
      socket.resume()
    }, 1000 * seconds)
  }

  /** The way back of one request, which is under way until its end. Listening has none. */
  function counted({ method }: Request): Out {
    if (method === 'subscriptions/listen') return out
    underway++
    let isDone = false
    const done = (): void => {
      if (isDone) return
      isDone = true
      underway--
      leaveIfIdle()
    }
    return {
      send(text, last) {
        write(text)
        if (last) done()
      },
      end: done,
    }
  }

  // Read anew each time: it changes while something is awaited.
  const isOver = (): boolean => stage === 'over'

  function leaveIfIdle(): void {
    if (underway > 0 || stage === 'joining') return
    settled()
    if (isLeaving) socket.end()
  }

  const reader = createLineReader(MAX_MESSAGE, { onLine, onOverflow: () => drop('sends too long a line') })
  socket.on('data', (chunk: Buffer) => reader.push(chunk))
  // It has nothing more to ask, and may still wait for answers.
  socket.on('end', () => {
    isLeaving = true
    leaveIfIdle()
  })
  // The close follows.
  socket.on('error', () => undefined)
  socket.on('close', () => {
    clearTimeout(deadline)
    clearTimeout(paused)
    reader.stop()
    stage = 'over'
    settled()
    left()
    conversation?.close().catch(() => options.log('warn', 'an MCP conversation ended badly'))
  })

  return {
    async close() {
      isStopping = true
      if (underway > 0) await within(limits.grace, (resolve) => (settled = resolve))
      write(GOODBYE)
      if (!socket.destroyed) await within(LAST_WORDS, (resolve) => void socket.once('close', resolve).end())
      socket.destroy()
    },
  }
}

const LAST_WORDS = 500

/** Waits for something, but not longer than that. */
function within(milliseconds: number, start: (resolve: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    start(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

interface Who {
  readonly tenant: string | undefined
  readonly principal: string
}

/** Whom it is for: the agent of the token, or the one that every program of this user is. */
function whoIs({ token }: Join, tokens: Pick<Tokens, 'identify'>): Who | undefined {
  if (token === undefined) return { tenant: undefined, principal: 'agent:local' }
  const identity = tokens.identify(token)
  return identity?.role === 'agent' ? identity : undefined
}

/** Initializes once more, for a client that has been told already; answers with what went wrong. */
function replayed(conversation: Conversation, initialize: Request): Promise<RpcError | undefined> {
  return new Promise((resolve) => {
    const lost = { code: CODE.internal, message: 'the gateway could not answer' }
    const out: Out = {
      send(_, last, error) {
        if (last) resolve(error)
      },
      end: () => resolve(lost),
    }
    conversation
      .take(initialize, out)
      .then(() =>
        conversation.take({ kind: 'notification', method: 'notifications/initialized', params: {} }, out),
      )
      .catch(() => resolve(lost))
  })
}
