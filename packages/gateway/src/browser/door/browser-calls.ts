// The interface between the MCP door and a guarded browser, for each call of its server.

import type { JsonObject } from '@tollgate/evidence'
import type { ToolAnswer, ToolCall } from '@tollgate/kernel'

/** A call that is not yet judged. */
export interface BrowserUse {
  /** The name of the tool at its server. */
  readonly tool: string
  readonly args: JsonObject
  readonly session: string
  /** The planner reference that came with the call. */
  readonly plannerRef: unknown
}

/** An answer of a server. */
export interface Performed<Answer> {
  readonly answer: Answer
  /** Why the gateway stopped an action, if it did: then the answer of the server is wrong. */
  readonly stopped?: string
  /** The requests of the browser that the egress rules blocked meanwhile, as a sentence. */
  readonly blocked?: string
}

/** A call of a guarded browser, from before its decision until after its result. */
export interface GuardedCall {
  /** The members that the kernel judges in addition to the call. */
  readonly known: Pick<ToolCall, 'browser' | 'guarded' | 'demanded'>
  /** Runs the allowed call. Only meanwhile the server can act, and only on the page and the element that were judged. */
  during<Answer>(dispatch: () => Promise<Answer>): Promise<Performed<Answer>>
  /** Observes the page again, and learns from the result what the agent now sees. Never rejects. */
  after(result: JsonObject | undefined): Promise<ToolAnswer['page']>
  /** Lets the next call begin. */
  end(): void
}

/** Guards the calls of one server process in its browser. */
export interface BrowserCalls {
  /** Observes the page that a call acts on. Other calls of this browser wait until `end`. Never rejects. */
  before(use: BrowserUse): Promise<GuardedCall>
}
