// One program on the local socket, from its first line to its end.

import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { clearTimeout, setTimeout } from 'node:timers'
import { madeSession } from '@tollgate/evidence'
import type { Budget, Spender } from '../../budget.ts'
import type { Log } from '../../log.ts'
import type { Tokens } from '../../tokens.ts'
import type { Conversation, Out } from '../conversation.ts'
import { createLineReader, lineWriter, type LineSplitter } from '../lines.ts'
import { formatWelcome, GOODBYE, parseJoin, STDERR, type Join, type JoinAnswer } from './local-join.ts'
import type { Mcp } from '../mcp.ts'
import { CODE, formatError, MAX_MESSAGE, parseMessage, type Request, type RpcError } from '../message.ts'
import { orLate } from '../waiting.ts'

export interface LocalOptions {
  readonly mcp: Mcp
  readonly tokens: Pick<Tokens, 'identify' | 'verify'>
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

/** A connected program that has named its server. */
interface LocalProgram {
  readonly conversation: Conversation
  readonly spender: Spender
  /** Whether its token is still valid. */
  readonly known: () => boolean
}

/** Serves a connected program. */
export class LocalConnection {
  readonly #socket: Socket
  readonly #options: LocalOptions & { readonly budget: Budget }
  readonly #limits: LocalLimits
  readonly #writeLine: (line: string) => boolean
  readonly #reader: LineSplitter
  readonly #deadline: NodeJS.Timeout
  readonly #out: Out = { send: (line) => this.#write(line) }
  #stage: 'new' | 'joining' | 'joined' | 'over' = 'new'
  #program: LocalProgram | undefined
  /** The number of requests that are being answered. */
  #active = 0
  /** Set while reading pauses. */
  #paused: NodeJS.Timeout | undefined
  /** The program sends no more requests. */
  #isLeaving = false
  /** The gateway stops. */
  #isStopping = false
  /** Called when no request is active. */
  #settled = (): void => undefined

  /** `left` is called when the connection has ended. */
  constructor(
    socket: Socket,
    options: LocalOptions & { readonly budget: Budget },
    limits: LocalLimits,
    left: () => void,
  ) {
    this.#socket = socket
    this.#options = options
    this.#limits = limits
    this.#writeLine = lineWriter(socket)
    this.#deadline = setTimeout(() => this.#drop('sent no first line in time'), limits.deadline)
    this.#reader = createLineReader(MAX_MESSAGE, {
      onLine: (line) => this.#onLine(line),
      onOverflow: () => this.#drop('sent too long a line'),
    })
    socket.on('data', (chunk: Buffer) => this.#reader.push(chunk))
    // It may still wait for answers, but not for those of people.
    socket.on('end', () => {
      this.#isLeaving = true
      this.#program?.conversation.lose()
      this.#leaveIfIdle()
    })
    // The close event follows.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#end()
      left()
    })
  }

  /** Says goodbye when active requests are answered, or after the grace time. */
  async close(): Promise<void> {
    const socket = this.#socket
    this.#isStopping = true
    const settled = new Promise<void>((resolve) => (this.#settled = resolve))
    if (this.#active > 0) await orLate(settled, this.#limits.grace)
    this.#write(GOODBYE)
    if (!socket.destroyed) {
      const closed = new Promise((resolve) => socket.once('close', resolve))
      socket.end()
      await orLate(closed, CLOSE_WITHIN)
    }
    socket.destroy()
  }

  #end(): void {
    clearTimeout(this.#deadline)
    clearTimeout(this.#paused)
    this.#reader.stop()
    this.#stage = 'over'
    this.#settled()
    const closing = this.#program?.conversation.close()
    closing?.catch(() => this.#options.log('warn', 'an MCP conversation could not be closed'))
  }

  #write(line: string): void {
    if (this.#stage === 'over' || !this.#socket.writable) return
    this.#writeLine(line)
    // Unread output fills the memory of the gateway.
    if (this.#socket.writableLength > this.#limits.unread) this.#drop('does not read its input')
  }

  #drop(why: string): void {
    this.#options.log('warn', 'a local connection was dropped', { why })
    this.#socket.destroy()
  }

  #refuse(message: string, hints: readonly string[]): void {
    this.#write(formatWelcome({ ok: false, message, hints }))
    this.#stage = 'over'
    this.#socket.destroySoon()
  }

  #onLine(line: Uint8Array): void {
    if (this.#stage === 'new') void this.#join(line)
    else if (this.#stage === 'joined') this.#take(line)
    else if (this.#stage === 'joining') this.#drop('sent a message before it was welcomed')
  }

  async #join(line: Uint8Array): Promise<void> {
    this.#stage = 'joining'
    clearTimeout(this.#deadline)
    const welcome = await this.#welcome(parseJoin(line))
    if (this.#isOver()) return
    if (!welcome.ok) {
      this.#refuse(welcome.message, welcome.hints)
      return
    }
    this.#stage = 'joined'
    this.#write(formatWelcome(welcome))
    this.#program?.conversation.attach(this.#out)
    this.#leaveIfIdle()
  }

  // A method, because the value changes across an `await`.
  #isOver(): boolean {
    return this.#stage === 'over'
  }

  /** Begins the conversation of a program. Repeats its `initialize`, if it was answered on an earlier connection. */
  async #welcome(join: Join | string): Promise<JoinAnswer> {
    if (typeof join === 'string') {
      return refusal(join, 'use the same version of `tollgate` as the gateway')
    }
    const { tokens } = this.#options
    if (join.token !== undefined) await tokens.verify(join.token)
    // The program may have left meanwhile. Then there is no conversation to close.
    if (this.#isOver()) return refusal('the connection has ended')
    const who = identityOf(join, tokens)
    if (!who) {
      return refusal(
        'the token is unknown or does not belong to an agent',
        'issue one with `tollgate tokens issue --role agent --principal agent:NAME`',
      )
    }
    const conversation = this.#begin(join, who)
    if (!conversation) return refusal('the gateway does not accept this server')
    const error = join.initialize && (await replayed(conversation, join.initialize))
    return error ? refusal('the server did not resume the earlier connection', error.message) : { ok: true }
  }

  #begin(join: Join, identity: LocalIdentity): Conversation | undefined {
    const { tenant = this.#options.tenant, principal, person } = identity
    const { mcp, tokens } = this.#options
    const { name, command, args, env, cwd, browser, process = randomBytes(16).toString('hex') } = join
    const address = { transport: 'stdio', command, args, env, cwd, ...(browser && { browser }) } as const
    const onStderr = (text: string): void => this.#write(STDERR + JSON.stringify(text))
    const spender = { tenant, principal }
    const known = (): boolean => identityOf(join, tokens)?.principal === principal
    const behind = person === undefined ? {} : { person }
    const caller = { ...spender, ...behind, session: madeSession(process), known }
    const conversation = mcp.converse(caller, { kind: 'own', name, address, onStderr })
    this.#program = conversation && { conversation, spender, known }
    return conversation
  }

  #take(line: Uint8Array): void {
    if (!this.#program) return
    const { conversation, spender, known } = this.#program
    if (!known()) {
      this.#drop('has a revoked token')
      return
    }
    // Empty lines are ignored. Many programs end with one.
    if (line.length === 0) return
    const message = parseMessage(line)
    this.#spend(spender, line.length, message.kind !== 'unreadable')
    if (message.kind === 'request') this.#takeRequest(conversation, message)
    else conversation.take(message, this.#out).catch(() => undefined)
  }

  #takeRequest(conversation: Conversation, request: Request): void {
    const refuse = (message: string): void =>
      this.#write(formatError(request.id, { code: CODE.internal, message }))
    if (this.#isStopping) refuse('the gateway is stopping')
    else if (this.#active >= this.#limits.requests)
      refuse('too many requests are in progress; wait for answers')
    else conversation.take(request, this.#counted(request)).catch(() => refuse(GATEWAY_FAULT))
  }

  /** Charges the principal for a line. If it is in debt, reading pauses; nothing is lost. */
  #spend(spender: Spender, bytes: number, readable: boolean): void {
    const { budget } = this.#options
    if (!readable) budget.fine(spender)
    const seconds = budget.charge(spender, bytes)
    if (seconds === 0 || this.#paused) return
    this.#socket.pause()
    this.#paused = setTimeout(() => {
      this.#paused = undefined
      this.#socket.resume()
    }, 1000 * seconds)
  }

  /** The output of one request, which counts as active until its end. Listening does not count. */
  #counted({ method }: Request): Out {
    if (method === 'subscriptions/listen') return this.#out
    this.#active++
    let isDone = false
    const done = (): void => {
      if (isDone) return
      isDone = true
      this.#active--
      this.#leaveIfIdle()
    }
    return {
      send: (text, last) => {
        this.#write(text)
        if (last) done()
      },
      end: done,
    }
  }

  #leaveIfIdle(): void {
    if (this.#active > 0 || this.#stage === 'joining') return
    this.#settled()
    if (this.#isLeaving) this.#socket.end()
  }
}

function refusal(message: string, ...hints: readonly string[]): JoinAnswer {
  return { ok: false, message, hints }
}

const GATEWAY_FAULT = 'internal error of the gateway; see its log'
const CLOSE_WITHIN = 500

interface LocalIdentity {
  readonly tenant: string | undefined
  readonly principal: string
  readonly person?: string
}

/** The agent of the token; without a token, `agent:local`. */
function identityOf({ token }: Join, tokens: Pick<Tokens, 'identify' | 'verify'>): LocalIdentity | undefined {
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
