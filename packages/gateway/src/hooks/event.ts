// Room: the hook door. Coding agents ask it before and after each call of their own tools. A client in `clients/` reads the payloads of
// one coding agent into events and writes answers in its form; `door.ts` decides, the same for every client.

import type { Json, JsonObject } from '@tollgate/evidence'
import type { ToolTable } from './tools.ts'

/** Where an event happened. */
export interface HookContext {
  /** The client that sent it, if it runs hooks that were written for another one. */
  readonly client?: string
  /** The session of the client, as the client names it. */
  readonly session: string
  /** The subagent inside of the session, if it is one. */
  readonly subagent?: string
  /** The working directory of the client. */
  readonly cwd?: string
  /** Whether the client shows its own prompts to a person now. */
  readonly isAttended: boolean
}

/** A call of a tool, under its canonical name and with canonical names of arguments. */
export interface HookCall {
  /** The client's id of this use of the tool; undefined if the client has none. */
  readonly id?: string
  readonly tool: string
  readonly args: JsonObject
}

/** A report of a client. */
export type HookEvent =
  | { readonly kind: 'call'; readonly name: string; readonly context: HookContext; readonly call: HookCall }
  | {
      readonly kind: 'result'
      readonly name: string
      readonly context: HookContext
      readonly call: HookCall
      readonly failed: boolean
      readonly output: Json
    }
  /** A text that the user wrote. */
  | { readonly kind: 'words'; readonly name: string; readonly context: HookContext; readonly text: string }
  /** The session is over. */
  | { readonly kind: 'end'; readonly name: string; readonly context: HookContext }
  /** An event that changes nothing, such as the start of a session. */
  | { readonly kind: 'other'; readonly name: string; readonly context: HookContext }

/** The action that the client must take. */
export type HookAnswer =
  /** The client runs the call without asking. */
  | { readonly kind: 'allow' }
  /** The client acts as it would without this hook. */
  | { readonly kind: 'pass' }
  /** The client asks its user with its own prompt. */
  | { readonly kind: 'ask'; readonly text: string }
  | { readonly kind: 'deny'; readonly text: string }
  /** The agent gets another output. `text` says the same in one text, for clients that take only a text. */
  | { readonly kind: 'replace'; readonly output: Json; readonly text: string }

/** The extra knowledge of a request besides its payload. */
export interface HookRequest {
  /** The event that the hook is for, as its address says; undefined if only the payload names it. */
  readonly event: string | undefined
  /** How the client was started, as its hook script reports it. */
  readonly entry: string | undefined
}

/** One coding agent. */
export interface HookClient {
  /** Its name in routes, sessions and commands. */
  readonly name: string
  /** Its own tools that have a canonical name. */
  readonly tools: ToolTable
  /** @throws PayloadFault for a payload that this client does not send. */
  read(payload: JsonObject, request: HookRequest): HookEvent
  /** The answer in the form of the client. */
  write(event: HookEvent, answer: HookAnswer): JsonObject
}

/** A payload that is not understood. Its message never contains values. */
export class PayloadFault extends Error {}
