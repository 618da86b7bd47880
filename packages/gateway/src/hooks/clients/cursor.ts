// Cursor. One hook sees every tool of its agent; it must print an answer, because an empty one denies under `failClosed`.

import { isList, type Json, type JsonObject } from '@tollgate/evidence'
import {
  PayloadFault,
  type HookCall,
  type HookClient,
  type HookEvent,
  type HookContext,
  type HookRequest,
} from '../event.ts'
import { argsIn, directoryIn, idIn, optionalId, outputIn, textIn } from '../payload.ts'
import { BUILTIN, canonicalCall, serverCall, type ToolTable } from '../tools.ts'

const FILE = { file_path: 'path' }

const TOOLS: ToolTable = {
  Shell: { tool: BUILTIN.shell, args: { working_directory: 'cwd' } },
  Read: { tool: BUILTIN.read, args: FILE },
  Write: { tool: BUILTIN.write, args: FILE },
  StrReplace: { tool: BUILTIN.edit, args: FILE },
  Edit: { tool: BUILTIN.edit, args: FILE },
  TabRead: { tool: BUILTIN.read, args: FILE },
  TabWrite: { tool: BUILTIN.write, args: FILE },
  Delete: { tool: BUILTIN.delete, args: FILE },
  Grep: { tool: BUILTIN.search },
  Glob: { tool: BUILTIN.search },
  WebFetch: { tool: BUILTIN.fetch },
  WebSearch: { tool: BUILTIN.webSearch },
  Task: { tool: BUILTIN.agent },
  TodoWrite: { tool: BUILTIN.todo },
}

/** Whether Cursor sent a payload, perhaps to a hook of Claude Code. */
export function isCursor(payload: JsonObject): boolean {
  return 'cursor_version' in payload
}

/** Reads a payload that Cursor sent to a hook of Claude Code. The event keeps the name that the hook has there. @throws PayloadFault */
export function readCursorAs(payload: JsonObject, { event: name }: HookRequest): HookEvent {
  const sent = idIn(payload, 'hook_event_name')
  const own = Object.hasOwn(CLAUDE_NAMES, sent) ? (CLAUDE_NAMES[sent] ?? sent) : sent
  const event = read({ ...payload, hook_event_name: own })
  const [asked = sent] = Object.entries(CLAUDE_NAMES).find(([, each]) => each === own) ?? []
  if (name !== undefined && name !== asked)
    throw new PayloadFault('the payload names another event than the hook')
  return { ...event, name: asked, context: { ...event.context, client: 'cursor' } }
}

/** The events of Claude Code whose hooks Cursor runs, and its own names of them. */
const CLAUDE_NAMES: Readonly<Record<string, string>> = {
  PreToolUse: 'preToolUse',
  PostToolUse: 'postToolUse',
  PostToolUseFailure: 'postToolUseFailure',
  UserPromptSubmit: 'beforeSubmitPrompt',
  SessionStart: 'sessionStart',
  SessionEnd: 'sessionEnd',
  SubagentStart: 'subagentStart',
  SubagentStop: 'subagentStop',
}

function read(payload: JsonObject): HookEvent {
  const name = idIn(payload, 'hook_event_name')
  const context = contextOf(payload)
  switch (name) {
    case 'preToolUse':
      return { kind: 'call', name, context, call: callIn(payload) }
    case 'postToolUse':
      return {
        kind: 'result',
        name,
        context,
        call: callIn(payload),
        failed: false,
        ...outputOf(payload, 'tool_output'),
      }
    case 'postToolUseFailure':
      return {
        kind: 'result',
        name,
        context,
        call: callIn(payload),
        failed: true,
        ...outputOf(payload, 'error_message'),
      }
    case 'beforeSubmitPrompt':
      return { kind: 'words', name, context, text: textIn(payload, 'prompt') }
    case 'sessionEnd':
      return { kind: 'end', name, context }
    case 'sessionStart':
    case 'subagentStart':
    case 'subagentStop':
      return { kind: 'other', name, context }
    default:
      throw new PayloadFault('the event is unknown')
  }
}

function contextOf(payload: JsonObject): HookContext {
  const { workspace_roots: roots } = payload
  const root = isList(roots) ? roots[0] : undefined
  const cwd = directoryIn(payload['cwd']) ?? directoryIn(root)
  const subagent = optionalId(payload, 'subagent_id')
  return {
    session: optionalId(payload, 'conversation_id') ?? idIn(payload, 'session_id'),
    ...(subagent !== undefined && { subagent }),
    ...(cwd !== undefined && { cwd }),
    // Its answer `ask` is documented, but no test has shown that every mode of Cursor obeys it.
    isAttended: false,
  }
}

/** Cursor writes tools of MCP servers as `MCP:TOOL` or `MCP:SERVER:TOOL`. */
const MCP = /^MCP:(?:([^:]+):)?(.+)$/

function callIn(payload: JsonObject): HookCall {
  const name = idIn(payload, 'tool_name')
  const [, server, tool] = MCP.exec(name) ?? []
  const args = argsIn(payload['tool_input'])
  const id = optionalId(payload, 'tool_use_id')
  const own = { client: 'cursor', tools: TOOLS }
  const call = server === undefined ? canonicalCall(own, name, args) : serverCall(`${server}/${tool}`, args)
  return { ...call, ...(id !== undefined && { id }) }
}

function outputOf(payload: JsonObject, member: string): { readonly output: Json } {
  return { output: outputIn(payload[member]) }
}

export const cursor: HookClient = {
  name: 'cursor',
  tools: TOOLS,
  read,
  write(event, answer) {
    const isMcp = event.kind === 'result' && !event.call.tool.startsWith('builtin/')
    switch (answer.kind) {
      case 'deny':
      case 'ask':
        if (event.kind === 'words') return { continue: false, user_message: answer.text }
        return { permission: 'deny', user_message: answer.text, agent_message: answer.text }
      case 'replace':
        return isMcp ? { updated_mcp_tool_output: answer.output } : { additional_context: answer.text }
      case 'allow':
      case 'pass':
        return event.kind === 'words'
          ? { continue: true }
          : event.kind === 'call'
            ? { permission: 'allow' }
            : {}
    }
  },
}
