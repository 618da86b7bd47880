// The interface to an upstream server, independent of its transport and protocol.

import type { JsonObject } from '@tollgate/evidence'
import type { AdapterName } from '../../browser/servers/adapters.ts'
import type { BrowserCalls } from '../../browser/door/browser-calls.ts'
import type { RpcError } from '../message.ts'
import type { SentMethod } from '../methods.ts'

/** The address of a server. */
export type ServerAddress =
  | {
      readonly transport: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      /** The complete environment of the process. */
      readonly env: Readonly<Record<string, string>>
      readonly cwd?: string
      /** The published browser server that it is. The gateway then starts its browser. */
      readonly browser?: AdapterName
      readonly own?: OwnValues
    }
  | {
      readonly transport: 'http'
      readonly url: string
      /** Credentials, for example. Never shown. */
      readonly headers: Readonly<Record<string, string>>
      readonly own?: OwnValues
    }

/** Variables or headers for single principals. Never shown. */
type OwnValues = ReadonlyMap<string, Readonly<Record<string, string>>>

/** The address of a server with the credentials of a principal, if it has its own. */
export function addressFor(address: ServerAddress, principal: string): ServerAddress {
  const own = address.own?.get(principal)
  if (!own) return address
  return address.transport === 'http'
    ? { ...address, headers: { ...address.headers, ...own } }
    : { ...address, env: { ...address.env, ...own } }
}

export interface Server {
  readonly name: string
  readonly address: ServerAddress
  /** Receives its standard error. Without it, the output is dropped. */
  readonly onStderr?: (text: string) => void
  /** Called after each start, with the fault of a failed one. All of its standard error has been received then. */
  readonly onStart?: (fault: UpstreamFault | undefined) => void
}

/** The identity that a server states. */
export interface ServerHello {
  readonly protocol: 'modern' | 'legacy'
  /** The negotiated revision. */
  readonly version: string
  readonly capabilities: JsonObject
  readonly info: JsonObject
  readonly instructions: string | undefined
}

/** The identity that the server sees as its client. */
export interface ClientHello {
  /** Capabilities of the client: `sampling`, `elicitation`, `roots`. */
  readonly capabilities: JsonObject
  readonly info: JsonObject
}

/** The answer of a server, read strictly. */
export type UpstreamAnswer =
  | { readonly ok: true; readonly result: JsonObject }
  | { readonly ok: false; readonly error: RpcError }

/** Callbacks and limits of one request. */
export interface Exchange {
  /** Cancels the request and tells the server. The request then rejects. */
  readonly signal?: AbortSignal
  /** `notifications/progress` of this request, without its token. */
  onProgress?(params: JsonObject): void
  /** `notifications/message`, if it surely belongs to this request. */
  onMessage?(params: JsonObject): void
  /**
   * Answers a question of the server: `sampling/createMessage`, `elicitation/create` or `roots/list`. A legacy server asks with
   * a request, a modern one with an interim result; both look the same here.
   * @throws RpcFault, which is sent to the server.
   */
  readonly onAsk?: (method: string, params: JsonObject) => Promise<JsonObject>
  /** Identifies the client to ask. A question that may belong to requests of different askers is refused. */
  readonly asker?: string
  /** Lowest level of log messages, for a modern server. */
  readonly logLevel?: string
  /** Use only this connection (see `incarnation`): else UNREACHABLE, and nothing is started or sent. */
  readonly only?: number
}

/** Events of a server that belong to no request. */
export interface UpstreamEvents {
  /**
   * `notifications/tools/list_changed` and the like, `notifications/resources/updated`, `notifications/message`, and for a
   * legacy server `notifications/elicitation/complete`.
   */
  onNotification(method: string, params: JsonObject): void
  /**
   * Everything known about the server may be outdated: it ended, is unreachable, or no longer reports changes. The next request
   * connects again.
   */
  onDown(): void
  /**
   * Whether the connected server is the approved one. Asked before it learns the resources that an earlier connection
   * subscribed to.
   */
  isApproved(): Promise<boolean>
  /**
   * Answers `roots/list` that a legacy server sends outside of a call. Without it, such a question is refused. `signal` is aborted
   * when the server no longer waits.
   * @throws RpcFault, which is sent to the server.
   */
  readonly onAsk?: (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>
}

/** For a connection that only asks for the offer. */
export const NO_EVENTS: UpstreamEvents = {
  onNotification: () => undefined,
  onDown: () => undefined,
  isApproved: () => Promise.resolve(false),
}

/** One connection to a server, for one client. */
export interface Upstream {
  /** The guard of its browser, while the server is connected; undefined for a server without one. */
  readonly browser?: BrowserCalls | undefined
  /**
   * The number of connections so far; 0 before the first. It grows with every new process, session or channel, and when a
   * modern HTTP server stops reporting changes, because another server may answer then.
   */
  readonly incarnation: number
  /** Starts or connects the server if needed. @throws UpstreamFault. */
  hello(): Promise<ServerHello>
  /**
   * Sends a request of the table in `methods.ts`, once. `params` holds only the `_meta` that the server may see; members of the
   * protocol are added.
   * @throws UpstreamFault if it is unknown whether the server received it, or what the outcome is. It is never sent again.
   */
  request(method: SentMethod, params: JsonObject, exchange?: Exchange): Promise<UpstreamAnswer>
  /** Sends a notification. A failure is ignored. */
  notify(method: 'notifications/roots/list_changed', params: JsonObject): void
  /** Sets the changes that the client wants to hear of (see `subscriptions/listen`). Replaces the earlier setting. */
  listen(wanted: WantedChanges): void
  /**
   * Ends the process of a browser server and its browser, because it may still perform a call whose caller has left. The next request
   * starts it again. Does nothing if `browser` is no longer that of the connected server.
   */
  abandon?(browser: BrowserCalls): Promise<void>
  close(): Promise<void>
}

export interface WantedChanges {
  readonly tools: boolean
  readonly prompts: boolean
  readonly resources: boolean
  /** URIs of resources. */
  readonly uris: readonly string[]
}

export type UpstreamFaultCode =
  /** Not started or not reached; nothing was sent. */
  | 'UNREACHABLE'
  /** The server or the connection ended during the request. */
  | 'LOST'
  /** The answer is unreadable: not strict JSON, too large, or against the protocol. */
  | 'GARBLED'
  /** The client cancelled. */
  | 'CANCELLED'
  /** No answer in time. */
  | 'SILENT'

/** A server that did not answer. The message names the server and never quotes it. */
export class UpstreamFault extends Error {
  readonly code: UpstreamFaultCode
  /** An unreadable result. It is hashed and never shown. Without it, the outcome of the call is unknown. */
  readonly bytes: Uint8Array | undefined
  /** The reason without the name of the server, for a message that already names it. */
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

/** Creates the connection to a server for one client. Starts nothing before it is needed. */
export type Connect = (
  server: Server,
  client: ClientHello,
  events: UpstreamEvents,
  /** Whose calls it will get. Without it, the server gets no calls, and a browser server no browser. */
  caller?: BrowserOwner,
) => Upstream

/** The caller that a browser belongs to. */
export interface BrowserOwner {
  readonly tenant: string
  readonly principal: string
  readonly session: string
}
