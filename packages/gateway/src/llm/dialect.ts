// The interface of a dialect: it reads requests, and finds, judges and replaces the calls in replies.

import type { Json, JsonObject } from '@tollgate/evidence'
import type { SseEvent } from '../sse.ts'
import type { UnnamedCalls } from './unnamed-calls.ts'

/** The form of a call's arguments: JSON with a schema, free text, or a format of the dialect. */
export type Form = 'json' | 'text' | 'built-in'

/** A call that a reply proposes. */
export interface ProposedCall {
  /** The name in the policy; undefined if the reply gives no readable one. */
  readonly tool: string | undefined
  /** The name under which the request must have declared it. */
  readonly declared: string | undefined
  readonly form: Form
  /** JSON text as the model wrote it, or a value. */
  readonly args: string | JsonObject
  /** The id by which the result refers to it; undefined if the dialect has none. */
  readonly ref: string | undefined
}

/** The ruling on a proposal. */
export type Ruling =
  /** `args` is the canonical JSON text of the judged arguments. It replaces what the model wrote. `observed`: by observe mode. */
  | { readonly allowed: true; readonly args: string; readonly receipt?: string; readonly observed?: boolean }
  /** `text` is for the agent: the reason, the next step and the receipt. It holds no value of the arguments. `code` is the reason. */
  | {
      readonly allowed: false
      readonly code: string
      readonly text: string
      readonly receipt: string | undefined
      /** The request that waits for the answer of a person. */
      readonly approval?: string | undefined
    }

export interface Judge {
  /** Judges each proposal separately. The rulings are in the order of the proposals. Never rejects. */
  judge(proposals: readonly ProposedCall[]): Promise<readonly Ruling[]>
  /**
   * Records something that the provider ran, such as a search. False if the request had no allowed tool of this name; then the
   * item must not be forwarded.
   */
  ran(tool: string, item: JsonObject): boolean
  /** Whether the request asked for structured output. Then a denial is the dialect's own refusal: a text would not be JSON. */
  readonly structured?: boolean
  /**
   * Called before a reply ends. @throws Refused if the request forces a call, or the reply has a call of a pure tool, and every call
   * of the reply is denied: a client would take a reply without a call for an empty answer.
   */
  requireForced?(): void
}

/** A tool that a reply may call. */
export interface DeclaredTool {
  readonly form: Form
  /** The JSON Schema of its arguments, from the request. */
  readonly schema: Json | undefined
}

/** The first part of the policy's names for tools that run at the provider. */
type ToolFamily = 'openai' | 'anthropic' | 'gemini'

/** A tool that the provider runs. It is judged before the request is forwarded. */
export interface HostedTool {
  /** For example `openai/web_search`; undefined if the request gives no readable name. */
  readonly tool: string | undefined
  /** Its settings, without secrets. */
  readonly args: JsonObject
  /** False for an unknown kind, which is denied. */
  readonly known: boolean
  /** Where the request has it; undefined if it cannot be removed. Tools of one entry share a place. */
  readonly place?: ToolPlace | undefined
  /** The name under which replies refer to it, if there is one. */
  readonly declares?: string | undefined
}

/** The place of a tool in the body of a request. */
export interface ToolPlace {
  /** Removes the entry from the body. */
  remove(): void
}

/** A tool of an unknown type. Its name in the policy is undefined if the type is not a plain word. */
export function unknownTool(family: ToolFamily, type: Json | undefined): HostedTool {
  const isPlain = typeof type === 'string' && /^[\w.-]{1,64}$/.test(type)
  return { tool: isPlain ? `${family}/${type}` : undefined, args: {}, known: false }
}

/** A text in a request and its channel. */
export interface TurnText {
  readonly kind: 'said'
  readonly channel: 'USER' | 'TOOL_OUTPUT'
  readonly text: string
}

/** A tool result, as a request passes it to the model. */
export interface Result {
  readonly kind: 'result'
  /** The call it answers. */
  readonly ref: string | undefined
  /** The name in the policy, if the request names the tool. */
  readonly tool: string | undefined
  readonly failed: boolean
  /** The whole content, as received. */
  readonly content: Json
  /** The texts that a model would read, in order. Images are not read. */
  readonly texts: readonly string[]
  /** Replaces the texts in the forwarded body. The number of texts must be the same. */
  rewrite(texts: readonly string[]): void
  /** Replaces the whole result in the forwarded body with a note. */
  withhold(note: string): void
}

/** A result, and whether unknown members were removed from it. */
export interface ReadResult {
  readonly result: Result
  readonly changed: boolean
}

/** A parsed request. */
export interface RequestReading {
  readonly stream: boolean
  /** Whether the reply must be JSON. */
  readonly structured: boolean
  /** Whether the reply must have a call. */
  readonly forced: boolean
  /** By the name under which a reply calls them. */
  readonly tools: ReadonlyMap<string, DeclaredTool>
  readonly hosted: readonly HostedTool[]
  /** Texts and results in their order. */
  readonly turns: readonly (TurnText | Result)[]
  /** Items that the request refers to by id. They must have been issued by this door. */
  readonly references?: readonly string[]
  /** Issued items that may be used once, such as the approval of a call. */
  readonly spends?: readonly string[]
  /** Whether reading changed the body. */
  readonly changed?: boolean
  /** The calls of the conversation, where calls have no ids. The calls of the reply are counted after them. */
  readonly unnamed?: UnnamedCalls | undefined
}

/** Rewrites the events of one reply. */
export interface Rewriter {
  /** The text of whole events to forward; empty while something is held. @throws Garbled */
  take(event: SseEvent): string | Promise<string>
  /** Whether the reply is complete and everything in it is judged. */
  readonly ended: boolean
  /** Whether the upstream reported a failure. */
  readonly failed: boolean
}

/** One wire format. */
export interface Dialect {
  /**
   * Reads a request. The body may be changed: results are rewritten in place. Unknown parameters are refused unless `further`
   * has them. @throws Refused
   */
  readRequest(body: JsonObject, further: ReadonlySet<string>, restored?: Restored): RequestReading
  /** Judges a whole reply and returns the reply to forward. @throws Garbled */
  governReply(reply: Json, judge: Judge, onItem?: OnItem): Promise<JsonObject>
  openStream(judge: Judge, onItem?: OnItem): Rewriter
}

/** Returns the original of a text. In the body, long base64 is only a mark. */
export type Restored = (text: string) => string

/** Gets the id of each item that a reply issues. */
export type OnItem = (id: string) => void

/** A refused request. The message is for the sender and holds no value of the request. */
export class Refused extends Error {
  readonly status: number
  /** `ROUTE_NOT_GOVERNED`, or a reason code. */
  readonly code: string
  /** The member of the request that it is about. */
  readonly param: string | undefined
  /** Details that clients of the dialect evaluate. */
  readonly details: JsonObject | undefined

  constructor(status: number, code: string, message: string, param?: string, details?: JsonObject) {
    super(message)
    this.name = 'Refused'
    this.status = status
    this.code = code
    this.param = param
    this.details = details
  }
}

/** A refusal of a request that two readers could understand differently. */
export function ambiguous(message: string, param?: string): Refused {
  return new Refused(400, 'AMBIGUOUS_INPUT', message, param)
}

/** A refusal of a request that could bring calls or results past the gateway. */
export function notGoverned(message: string, param?: string): Refused {
  return new Refused(400, 'ROUTE_NOT_GOVERNED', message, param)
}

/** A refusal of a request with too many parts. */
export function tooLarge(message: string, param: string): Refused {
  return new Refused(400, 'REQUEST_TOO_LARGE', message, param)
}

/** A request of a caller that has already sent too much. */
export class TooMuch extends Refused {
  /** Seconds until the next attempt. */
  readonly after: number

  constructor(after: number) {
    const message = `you sent too much data: wait ${after} s, and send less`
    super(429, 'TOO_MUCH_SENT', message)
    this.name = 'TooMuch'
    this.after = after
  }
}

/** A reply that does not follow the dialect. The message describes the problem and holds no content. */
export class Garbled extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'Garbled'
  }
}
