// What a dialect is to the rest of the LLM door: how its requests are read, and how the calls in its replies are found, judged
// and put back.

import type { Json, JsonObject } from '@tollgate/evidence'
import type { SseEvent } from '../sse.ts'

/** Whose wire format it is. */
export type Provider = 'openai' | 'anthropic'

/** How a call carries its arguments: JSON by a schema, a free text, or in the dialect's own way. */
export type Form = 'json' | 'text' | 'built-in'

/** A call that a reply proposes. */
export interface ProposedCall {
  /** The name that the policy knows the tool by; undefined if the reply gives none that can be read. */
  readonly tool: string | undefined
  /** The name under which the request must have declared it. */
  readonly declared: string | undefined
  readonly form: Form
  /** JSON text as the model wrote it, or a value. */
  readonly args: string | JsonObject
  /** How the result will refer to it; undefined if the dialect has no such thing. */
  readonly ref: string | undefined
}

/** What becomes of a proposal. */
export type Ruling =
  /** `args` is the canonical JSON text of the arguments: what was judged, and what goes on in place of what the model wrote. */
  | { readonly allowed: true; readonly args: string; readonly receipt?: string }
  /** `text` is for the agent: why, what to do, and the receipt. Never any value of the arguments. */
  | { readonly allowed: false; readonly text: string; readonly receipt: string | undefined }

/** Judges what a reply holds. */
export interface Judge {
  /** Judges each proposal on its own, and answers in their order. Never rejects. */
  judge(proposals: readonly ProposedCall[]): Promise<readonly Ruling[]>
  /**
   * Takes note of what the provider has run by itself, such as a search; false if no tool of this name was allowed with the
   * request, so that the item must not be handed on.
   */
  ran(tool: string, item: JsonObject): boolean
}

/** A tool that a reply may call. */
export interface DeclaredTool {
  readonly form: Form
  /** The JSON Schema of its arguments, as the request has it. */
  readonly schema: Json | undefined
}

/** A tool that the provider would run by itself, judged before the request goes on. */
export interface HostedTool {
  /** Such as `openai/web_search`; undefined if the request gives no name that can be read. */
  readonly tool: string | undefined
  /** How it is set up, without secrets. */
  readonly args: JsonObject
  /** False for a kind that nobody here knows: it is denied. */
  readonly known: boolean
}

/** Words that a request holds, and who is said to have said them. */
export interface SaidWords {
  readonly kind: 'said'
  readonly channel: 'USER' | 'TOOL_OUTPUT'
  readonly text: string
}

/** What a tool has answered, as a request hands it to the model. */
export interface Result {
  readonly kind: 'result'
  /** The call it answers. */
  readonly ref: string | undefined
  /** The name that the policy knows the tool by, where the request says which it was. */
  readonly tool: string | undefined
  readonly failed: boolean
  /** All of it, as it came. */
  readonly content: Json
  /** What a model would read of it, piece by piece. Pictures are not read. */
  readonly texts: readonly string[]
  /** Puts other texts in place of the same number of texts, in the body that goes on. */
  rewrite(texts: readonly string[]): void
  /** Puts a note in place of all of it, in the body that goes on. */
  withhold(note: string): void
}

/** A result that was read, and whether something that is not known was taken out of it. */
export interface ReadResult {
  readonly result: Result
  readonly changed: boolean
}

/** A request as it was read. */
export interface RequestReading {
  readonly stream: boolean
  /** By the name under which a reply calls it. */
  readonly tools: ReadonlyMap<string, DeclaredTool>
  readonly hosted: readonly HostedTool[]
  /** What was said, by whom, in its order. */
  readonly turns: readonly (SaidWords | Result)[]
  /** Items that the request names instead of bringing them along: only those that the door has handed out may be. */
  readonly references?: readonly string[]
  /** What was handed out and may be used once, such as the approval of a call. */
  readonly spends?: readonly string[]
  /** Whether something in the body was changed while it was read. */
  readonly changed?: boolean
}

/** Takes the events of one reply and gives what goes on. */
export interface Rewriter {
  /** Gives the text of whole events, or an empty text while something is held. @throws Garbled */
  take(event: SseEvent): string | Promise<string>
  /** Whether the reply has come to its end, as the dialect has it, and all of it has been ruled on. */
  readonly ended: boolean
  /** Whether the upstream has said that it failed. */
  readonly failed: boolean
}

/** One wire format. */
export interface Dialect {
  readonly provider: Provider
  /**
   * Reads a request. The body is ours, and results in it may be rewritten in place. Parameters that are not known here are refused
   * unless they are among `further`.
   *
   * @throws Refused
   */
  readRequest(body: JsonObject, further: ReadonlySet<string>, restored?: Restored): RequestReading
  /** Judges a whole reply, and gives what goes on in its place. @throws Garbled */
  governReply(reply: Json, judge: Judge, onItem?: OnItem): Promise<JsonObject>
  openStream(judge: Judge, onItem?: OnItem): Rewriter
}

/** A text of a body as it came: in the body itself, a long run of base64 is only a mark. */
export type Restored = (text: string) => string

/** Is told the id of each item that a reply hands out. */
export type OnItem = (id: string) => void

/** A request that does not go on. The message is for whoever sent it, and holds no value of theirs. */
export class Refused extends Error {
  readonly status: number
  /** `ROUTE_NOT_GOVERNED`, or a reason of the ladder. */
  readonly code: string
  /** The member of the request that it is about. */
  readonly param: string | undefined
  /** What a client of the dialect looks for by itself, to go on in another way. */
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

/** A request of a caller that has sent too much already. */
export class TooMuch extends Refused {
  /** Seconds until it may try again. */
  readonly after: number

  constructor(after: number) {
    const message = `you have sent more than the gateway reads for you at a time; wait ${after} s, and send less`
    super(429, 'TOO_MUCH_SENT', message)
    this.name = 'TooMuch'
    this.after = after
  }
}

/** A reply that is not what the dialect has. The message says what, without any of it. */
export class Garbled extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'Garbled'
  }
}
