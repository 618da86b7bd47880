// A server that the gateway governs, as the rest of the door sees it: whichever transport it is reached by, and whichever era
// of the protocol it speaks.

import type { JsonObject } from '@tollgate/evidence'
import type { RpcError } from '../message.ts'
import type { SentMethod } from '../methods.ts'

/** How a server is reached. */
export type ServerAddress =
  | {
      readonly transport: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      /** All of the environment it gets. */
      readonly env: Readonly<Record<string, string>>
      readonly cwd?: string
    }
  | {
      readonly transport: 'http'
      readonly url: string
      /** Credentials and the like; never shown to anybody. */
      readonly headers: Readonly<Record<string, string>>
    }

/** A server that can be reached. */
export interface Server {
  readonly name: string
  readonly address: ServerAddress
  /** Gets what it writes to its standard error; nobody reads that otherwise. */
  readonly onStderr?: (text: string) => void
}

/** Who a server says it is. */
export interface ServerHello {
  readonly era: 'modern' | 'legacy'
  /** The revision of the protocol that is spoken with it. */
  readonly version: string
  readonly capabilities: JsonObject
  readonly info: JsonObject
  readonly instructions: string | undefined
}

/** Whom the server is to believe it speaks with. */
export interface ClientHello {
  /** What the client can do: `sampling`, `elicitation`, `roots`. */
  readonly capabilities: JsonObject
  readonly info: JsonObject
}

/** What a server answered: our own text of it has been read strictly. */
export type UpstreamAnswer =
  | { readonly ok: true; readonly result: JsonObject }
  | { readonly ok: false; readonly error: RpcError }

/** What happens while a request is under way. */
export interface Exchange {
  /** The client no longer wants it. The server is told; the request then rejects. */
  readonly signal?: AbortSignal
  /** `notifications/progress` of this request, without its token. */
  onProgress?(params: JsonObject): void
  /** `notifications/message`, where it can be told that it belongs to this request. */
  onMessage?(params: JsonObject): void
  /**
   * The server wants something from the client before it goes on: `sampling/createMessage`, `elicitation/create` or `roots/list`.
   * A legacy server asks with a request of its own, a modern one with an interim result; here both look the same.
   *
   * @throws RpcFault, which the server is told.
   */
  onAsk?(method: string, params: JsonObject): Promise<JsonObject>
  /** Who would be asked. A question that cannot be told to belong to one of several requests with different askers goes nowhere. */
  readonly asker?: string
  /** Least level of log messages, for a modern server. */
  readonly logLevel?: string
  /** Only on the connection that was this one (see `incarnation`): else UNREACHABLE, and nothing is started or sent. */
  readonly only?: number
}

/** What a server does that belongs to no request. */
export interface UpstreamEvents {
  /**
   * `notifications/tools/list_changed` and its kin, `notifications/resources/updated`, `notifications/message`, and of a legacy
   * server `notifications/elicitation/complete`.
   */
  onNotification(method: string, params: JsonObject): void
  /**
   * What was known of it need no longer hold. It has ended or cannot be reached, and the next request starts or reaches it
   * anew; or it no longer tells of changes.
   */
  onDown(): void
  /**
   * Whether the server that is there now is the one that a person approved. It is asked before this server gets resources to
   * watch that an earlier connection was allowed to watch.
   */
  isApproved(): Promise<boolean>
}

/** For a connection that is asked what it offers and closed. */
export const NO_EVENTS: UpstreamEvents = {
  onNotification: () => undefined,
  onDown: () => undefined,
  isApproved: () => Promise.resolve(false),
}

/** One connection to a server, for one client. */
export interface Upstream {
  /**
   * How often a connection has been made; 0 before the first. It grows with every new process, session or channel, and when a
   * modern server by HTTP stops telling of changes: it may be another one from then on.
   */
  readonly incarnation: number
  /** Starts or reaches the server if that has not been done. @throws UpstreamFault. */
  hello(): Promise<ServerHello>
  /**
   * Sends a request of the table in `methods.ts`, once. `params` holds no `_meta` but what the server may see of the client's; what the era needs is added.
   *
   * @throws UpstreamFault if it is not known whether the server got it, or what came of it. Nothing is ever sent again.
   */
  request(method: SentMethod, params: JsonObject, exchange?: Exchange): Promise<UpstreamAnswer>
  /** Tells the server something. What cannot be told is lost. */
  notify(method: 'notifications/roots/list_changed', params: JsonObject): void
  /** Says what the client wants to be told of (see `subscriptions/listen`); replaces what was said before. */
  listen(wanted: WantedChanges): void
  close(): Promise<void>
}

/** What a client wants to be told of. */
export interface WantedChanges {
  readonly tools: boolean
  readonly prompts: boolean
  readonly resources: boolean
  /** URIs of resources. */
  readonly uris: readonly string[]
}

/** Why a server did not answer. */
export type UpstreamFaultCode =
  /** It could not be started or reached; nothing was sent. */
  | 'UNREACHABLE'
  /** It ended, or the connection did, while the request was under way. */
  | 'LOST'
  /** It answered, but not with something that can be read: not strict JSON, too large, not the protocol. */
  | 'GARBLED'
  /** The client cancelled. */
  | 'CANCELLED'
  /** It did not answer in time. */
  | 'SILENT'

/** A server that did not answer. The message names the server, and never what it said. */
export class UpstreamFault extends Error {
  readonly code: UpstreamFaultCode
  /** A result that could not be read: to be hashed, and shown to nobody. Where there is none, nobody knows what was done. */
  readonly bytes: Uint8Array | undefined
  /** Why, of what the message says: for a message that names the server already. */
  readonly because: string | undefined

  constructor(
    code: UpstreamFaultCode,
    message: string,
    options: { cause?: unknown; bytes?: Uint8Array; because?: string } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'UpstreamFault'
    this.code = code
    this.bytes = options.bytes
    this.because = options.because
  }
}

/** Makes the connection to a server for one client. Nothing is started before it is needed. */
export type Connect = (server: Server, client: ClientHello, events: UpstreamEvents) => Upstream
