// The types of routes: data that describes a route, and the function that answers.

import type { JsonObject } from '@tollgate/evidence'
import type { Kernel } from '@tollgate/kernel'
import type { Budget } from '../budget.ts'
import type { DoorRequest, Reply } from '../exchange.ts'
import type { Log } from '../log.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { FailedStart } from '../tools/listing.ts'
import type { Identity, Role, Tokens } from '../tokens.ts'
import type { LedgerView } from '../view.ts'
import { Problem, type ProblemCode } from './problem.ts'
import { object, type ApiSchema } from './schema.ts'
import type { InTurn } from './turns.ts'

export interface ApiOptions {
  /** Undefined if the data directory is only read, next to the running gateway. */
  readonly kernel: Kernel | undefined
  readonly view: LedgerView
  /** Undefined if callers do not use tokens. `identity` is then the caller. */
  readonly tokens: Tokens | undefined
  /** Accepts access tokens of an issuer; undefined if only tokens of the gateway are accepted. */
  readonly signIn?: SignIn
  /** A signed checkpoint of the newest durable head. */
  checkpoint(): Promise<string>
  /** Calls the listener after every commit. Returns a function that removes it. */
  watch(listener: (size: number) => void): () => void
  /** The text of the policy file on disk; undefined if there is none. */
  policyFile(): string | undefined
  /** The MCP servers of the gateway whose newest start failed. */
  failedStarts?(): readonly FailedStart[]
  readonly version: string
  readonly log: Log
  readonly limits: { readonly body: number }
  /** The budgets for request bodies. Default: the default limits. */
  readonly budget?: Budget
  /** The links to the console in messages; undefined if there are none. */
  readonly links?: { readonly idIn: (search: string) => string | undefined }
  /** The counters of the gateway. Default: new ones. */
  readonly metrics?: Metrics
  /** The fixed identity of a caller in the same process. Tokens are then ignored. */
  readonly identity?: Identity
}

/** A validated request, as a route receives it. */
export interface ApiQuestion {
  readonly options: ApiOptions
  readonly metrics: Metrics
  readonly asked: DoorRequest
  readonly identity: Identity
  /** The parts of the path in braces, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, readonly string[]>>
  /** The body as received; empty if the route takes none. */
  readonly bytes: Uint8Array
  /** The parsed body, valid against the schema; empty for routes that parse `bytes` themselves. */
  readonly body: JsonObject
  /**
   * Reserves a place for a request that waits, until the returned function is called or the caller disconnects.
   *
   * @throws Problem `too-many-waiting` if the principal has too many waiting requests.
   */
  mayWait(): () => void
  /** Runs a lookup when it is the caller's turn. The view in `options` does this already. */
  readonly inTurn: InTurn
  /** Calls the listener when the gateway stops or the caller disconnects. Returns a function that removes it. */
  onEnd(listener: () => void): () => void
  /** Charges the caller for a body that could not be parsed. */
  fine(): void
  /** Whether the caller's token is still valid, for answers that take long. */
  stillKnown(): boolean
}

/** The callers of a route: some roles, any role except `metrics`, or everyone. */
export type Admission = readonly Role[] | 'any role' | 'public'

/** The answer for one status. */
export interface AnswerForm {
  readonly about: string
  /** The media type. Default: JSON. */
  readonly type?: string
  /** Schema of a JSON answer. */
  readonly schema?: ApiSchema
}

/** The answers of a route whose only success is 200 with an object of exactly these members. */
export function answered(about: string, members: Readonly<Record<string, ApiSchema>>): ApiRoute['answers'] {
  return { 200: { about, schema: object(members) } }
}

export interface ApiRoute {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** `{name}` marks a parameter. */
  readonly path: string
  /** The operation id in the OpenAPI document, and the label in metrics. */
  readonly id: string
  readonly about: string
  readonly roles: Admission
  /** Schemas of the path parameters. A path that does not match is not found. */
  readonly params?: Readonly<Record<string, ApiSchema>>
  readonly query?: Readonly<Record<string, ApiSchema>>
  readonly body?: {
    readonly schema: ApiSchema
    /** Whether the body may be left out. */
    readonly optional?: boolean
    /** Whether the route parses the bytes itself, because invalid JSON must be recorded too. */
    readonly raw?: boolean
  }
  readonly answers: Readonly<Record<number, AnswerForm>>
  /** The specific problems of this route. Those of every route are added. */
  readonly problems?: readonly ProblemCode[]
  answer(question: ApiQuestion): Reply | Promise<Reply>
}

export type { DoorRequest, Reply }

const JSON_HEADERS = { 'content-type': 'application/json' }

/** A JSON answer from JSON text. */
export function jsonText(status: number, body: string): Reply {
  return { status, headers: JSON_HEADERS, body }
}

/** A JSON answer. */
export function json(status: number, value: object): Reply {
  return jsonText(status, JSON.stringify(value))
}

/** A plain text answer. */
export function plain(body: string): Reply {
  return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body }
}

/** The kernel. @throws Problem `gateway-needed` if the ledger is only read. */
export function kernelOf({ kernel }: ApiOptions): Kernel {
  if (kernel) return kernel
  throw new Problem('gateway-needed')
}

/** A text member of a body, or undefined. */
export function textIn(body: JsonObject, name: string): string | undefined {
  const value = body[name]
  return typeof value === 'string' ? value : undefined
}

/** An integer query parameter, or undefined. */
export function numberIn({ query }: ApiQuestion, name: string): number | undefined {
  const [text] = query[name] ?? []
  return text === undefined ? undefined : Number(text)
}

/** A query parameter, or undefined. */
export function queryIn({ query }: ApiQuestion, name: string): string | undefined {
  return query[name]?.[0]
}
