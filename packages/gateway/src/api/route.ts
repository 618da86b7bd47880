// What a route is: a row of data that says who may ask what, and the function that answers.

import { performance } from 'node:perf_hooks'
import type { JsonObject } from '@tollgate/evidence'
import type { Kernel } from '@tollgate/kernel'
import type { Budget } from '../budget.ts'
import type { DoorRequest, Reply } from '../exchange.ts'
import type { Log } from '../log.ts'
import type { Span } from '../trace.ts'
import type { Identity, Role, Tokens } from '../tokens.ts'
import type { LedgerView } from '../view.ts'
import type { Metrics } from './metrics.ts'
import { Problem, type ProblemCode } from './problem.ts'
import { object, type ApiSchema } from './schema.ts'
import type { InTurn } from './turns.ts'

/** What the API is made of. */
export interface ApiOptions {
  /** Undefined where a data directory is only read, beside the gateway that runs on it. */
  readonly kernel: Kernel | undefined
  readonly view: LedgerView
  /** Undefined if nobody comes with a token: then `identity` says who asks. */
  readonly tokens: Tokens | undefined
  /** A signed checkpoint of the newest durable head. */
  checkpoint(): Promise<string>
  /** Calls back after every commit, until the returned function is called. */
  watch(listener: (size: number) => void): () => void
  /** The text of the policy file as it is on disk; undefined if there is none. */
  policyFile(): string | undefined
  readonly version: string
  readonly log: Log
  readonly limits: { readonly body: number }
  /** How much each principal may have the gateway read; the default limits if not given. */
  readonly budget?: Budget
  /** Takes note of how long a decision or a report took; undefined if nobody wants to know. */
  readonly trace?: (span: Span) => void
  /** Who asks, for a caller in the same process. Tokens are then not looked at. */
  readonly identity?: Identity
}

/** What a route knows when it answers. Everything in it has been checked. */
export interface ApiQuestion {
  readonly options: ApiOptions
  readonly metrics: Metrics
  readonly asked: DoorRequest
  readonly identity: Identity
  /** The parts of the path in braces, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, readonly string[]>>
  /** The body as it came; empty if the route takes none. */
  readonly bytes: Uint8Array
  /** The body, which fits the route's schema; empty for routes that read `bytes` themselves. */
  readonly body: JsonObject
  /**
   * Asks for leave to wait, which lasts until the returned function is called or the caller is gone.
   *
   * @throws Problem `too-many-waiting` if the principal waits too often already.
   */
  mayWait(): () => void
  /** Looks something up when it is the caller's turn. The view of `options` does so by itself. */
  readonly inTurn: InTurn
  /** Calls back when the gateway stops or the caller is gone, until the returned function is called. */
  onEnd(listener: () => void): () => void
  /** Charges the caller for a body that could not be read. */
  fine(): void
  /** Whether the caller's token still holds, for answers that take long. */
  stillKnown(): boolean
}

/** Who may use a route: some roles, anybody with a token, or anybody at all. */
export type Admission = readonly Role[] | 'any role' | 'public'

/** What a status means and what comes with it. */
export interface AnswerForm {
  readonly about: string
  /** The media type; JSON if not given. */
  readonly type?: string
  /** Schema of a JSON answer. */
  readonly schema?: ApiSchema
}

/** The one answer of a route that gives an object with these members and no other. */
export function answered(about: string, members: Readonly<Record<string, ApiSchema>>): ApiRoute['answers'] {
  return { 200: { about, schema: object(members) } }
}

/** A route of the API. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** With `{name}` where one part of the path is free. */
  readonly path: string
  /** Name in the OpenAPI document, and label of its metrics. */
  readonly id: string
  readonly about: string
  readonly roles: Admission
  /** Schemas of the free parts of the path. What does not fit is not found. */
  readonly params?: Readonly<Record<string, ApiSchema>>
  readonly query?: Readonly<Record<string, ApiSchema>>
  readonly body?: {
    readonly schema: ApiSchema
    /** It may be left out. */
    readonly optional?: boolean
    /** The route reads the bytes itself: what is no JSON has to be recorded as well. */
    readonly raw?: boolean
  }
  readonly answers: Readonly<Record<number, AnswerForm>>
  /** Problems that are this route's own; those that every route has are added. */
  readonly problems?: readonly ProblemCode[]
  answer(question: ApiQuestion): Reply | Promise<Reply>
}

export type { DoorRequest, Reply }

const JSON_HEADERS = { 'content-type': 'application/json' }

/** A JSON answer of a text that is JSON already. */
export function jsonText(status: number, body: string): Reply {
  return { status, headers: JSON_HEADERS, body }
}

/** A JSON answer. */
export function json(status: number, value: object): Reply {
  return jsonText(status, JSON.stringify(value))
}

/** A plain text. */
export function plain(body: string): Reply {
  return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body }
}

/** The kernel. @throws Problem `gateway-needed` where the ledger is only read. */
export function kernelOf({ kernel }: ApiOptions): Kernel {
  if (kernel) return kernel
  throw new Problem('gateway-needed')
}

/** Takes note of something that began at `start`, by the clock of `performance`, and has just ended. */
export function traceFrom(
  { options, asked }: ApiQuestion,
  start: number,
  name: string,
  attributes: Span['attributes'],
): void {
  const { timeOrigin } = performance
  options.trace?.({
    name,
    start: timeOrigin + start,
    end: timeOrigin + performance.now(),
    parent: asked.header('traceparent'),
    attributes,
  })
}

/** A member of a body that its schema says is text, or nothing. */
export function textIn(body: JsonObject, name: string): string | undefined {
  const value = body[name]
  return typeof value === 'string' ? value : undefined
}

/** A query parameter that its schema says is a whole number, or nothing. */
export function numberIn({ query }: ApiQuestion, name: string): number | undefined {
  const [text] = query[name] ?? []
  return text === undefined ? undefined : Number(text)
}

/** A query parameter, or nothing. */
export function queryIn({ query }: ApiQuestion, name: string): string | undefined {
  return query[name]?.[0]
}
