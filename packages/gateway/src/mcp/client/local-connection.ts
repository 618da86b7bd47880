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

export interface LocalOptions {
  readonly mcp: Mcp
  readonly tokens: Pick<Tokens, 'identify'>
  readonly tenant: string
  readonly log: Log
  readonly limits?: Partial<LocalLimits>
  /** Limits how much the gateway reads for each principal; the default limits if not given. */
  readonly budget?: Budget
}

/** Limits of the local door. Times are in milliseconds. */
export interface LocalLimits {
  readonly connections: number
  /** Active requests of one program. */
  readonly requests: number
  /** Bytes that wait for a reader. */
  readonly unread: number
  /** For the first line. */
  readonly deadline: number
  /** For active requests when the gateway stops. */
  readonly grace: number
}

export interface LocalConnection {
  /** Says goodbye when active requests are answered, or after the grace time. */
  close(): Promise<void>
}

/** Serves a connected program. */
export function createLocalConnection(
  socket: Socket,
  options: LocalOptions & { readonly budget: Budget },
  limits: LocalLimits,
  left: () => void,
): LocalConnection {
  let conversation: Conversation | undefined
  let stage: 'new' | 'joining' | 'joined' | 'over' = 'new'
  let active = 0
  let known = (): boolean => true
  let spender: Spender = { tenant: options.tenant, principal: '' }
  let paused: NodeJS.Timeout | undefined
  let isLeaving = false
  let isStopping = false
  let settled = (): void => undefined
  const deadline = setTimeout(() => drop('sent no first line in time'), limits.deadline)
  const out: Out = { send: write }

  const writeLine = lineWriter(socket)

  function write(line: string): void {
    if (stage === 'over' || !socket.writable) return
    writeLine(line)
    // Unread output fills the memory of the gateway.
    if (socket.writableLength > limits.unread) drop('does not read its input')
  }

  function drop(why: string): void {
    options.log('warn', 'a local connection was dropped', { why })
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
    else if (stage === 'joining') drop('sent a message before it was welcomed')
  }

  async function join(line: Uint8Array): Promise<void> {
    stage = 'joining'
    clearTimeout(deadline)
    const read = parseJoin(line)
    if (typeof read === 'string') {
      refuse(read, 'use the same version of `tollgate` as the gateway')
      return
    }
    const who = identityOf(read, options.tokens)
    if (who === undefined) {
      refuse(
        'the token is unknown or does not belong to an agent',
        'issue one with `tollgate tokens issue --role agent --principal agent:NAME`',
      )
      return
    }
    known = () => identityOf(read, options.tokens)?.principal === who.principal
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

  async function begin({ name, initialize, ...server }: Join, who: LocalIdentity): Promise<JoinAnswer> {
    const { command, args, env, cwd, process = randomBytes(16).toString('hex') } = server
    const address = { transport: 'stdio', command, args, env, cwd } as const
    const onStderr = (text: string): void => write(STDERR + JSON.stringify(text))
    const caller = { tenant: who.tenant ?? options.tenant, principal: who.principal }
    spender = caller
    const session = madeSession(process)
    conversation = options.mcp.converse({ ...caller, session }, { kind: 'own', name, address, onStderr })
    if (!conversation) return { ok: false, message: 'the gateway does not accept this server', hints: [] }
    const error = initialize && (await replayed(conversation, initialize))
    if (!error) return { ok: true }
    return { ok: false, message: 'the server did not resume the earlier connection', hints: [error.message] }
  }

  function take(line: Uint8Array): void {
    if (!conversation) return
    if (!known()) {
      drop('has a revoked token')
      return
    }
    // Empty lines are ignored. Many programs end with one.
    if (line.length === 0) return
    const message = parseMessage(line)
    spend(line.length, message.kind !== 'unreadable')
    if (message.kind !== 'request') {
      conversation.take(message, out).catch(() => undefined)
      return
    }
    if (isStopping || active >= limits.requests) {
      const why = isStopping
        ? 'the gateway is stopping'
        : 'too many requests are in progress; wait for answers'
      write(formatError(message.id, { code: CODE.internal, message: why }))
      return
    }
    conversation.take(message, counted(message)).catch(() => {
      write(formatError(message.id, { code: CODE.internal, message: GATEWAY_FAULT }))
    })
  }

  /** Charges the principal for a line. If it is in debt, reading pauses; nothing is lost. */
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

  /** The output of one request, which counts as active until its end. Listening does not count. */
  function counted({ method }: Request): Out {
    if (method === 'subscriptions/listen') return out
    active++
    let isDone = false
    const done = (): void => {
      if (isDone) return
      isDone = true
      active--
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

  // A function, because the value changes across an `await`.
  const isOver = (): boolean => stage === 'over'

  function leaveIfIdle(): void {
    if (active > 0 || stage === 'joining') return
    settled()
    if (isLeaving) socket.end()
  }

  const reader = createLineReader(MAX_MESSAGE, { onLine, onOverflow: () => drop('sent too long a line') })
  socket.on('data', (chunk: Buffer) => reader.push(chunk))
  // It sends no more requests, but may wait for answers.
  socket.on('end', () => {
    isLeaving = true
    leaveIfIdle()
  })
  // The close event follows.
  socket.on('error', () => undefined)
  socket.on('close', () => {
    clearTimeout(deadline)
    clearTimeout(paused)
    reader.stop()
    stage = 'over'
    settled()
    left()
    conversation?.close().catch(() => options.log('warn', 'an MCP conversation could not be closed'))
  })

  return {
    async close() {
      isStopping = true
      if (active > 0) await within(limits.grace, (resolve) => (settled = resolve))
      write(GOODBYE)
      if (!socket.destroyed) await within(CLOSE_WITHIN, (resolve) => void socket.once('close', resolve).end())
      socket.destroy()
    },
  }
}

const GATEWAY_FAULT = 'internal error of the gateway; see its log'
const CLOSE_WITHIN = 500

/** Waits for `start` to resolve, at most so many milliseconds. */
function within(milliseconds: number, start: (resolve: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    start(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

interface LocalIdentity {
  readonly tenant: string | undefined
  readonly principal: string
}

/** The agent of the token; without a token, `agent:local`. */
function identityOf({ token }: Join, tokens: Pick<Tokens, 'identify'>): LocalIdentity | undefined {
  if (token === undefined) return { tenant: undefined, principal: 'agent:local' }
  const identity = tokens.identify(token)
  return identity?.role === 'agent' ? identity : undefined
}

/** Repeats `initialize` for a client that was already answered. Returns the error, if there is one. */
function replayed(conversation: Conversation, initialize: Request): Promise<RpcError | undefined> {
  return new Promise((resolve) => {
    const lost = { code: CODE.internal, message: GATEWAY_FAULT }
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
