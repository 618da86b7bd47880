// Copilot CLI. Its payloads do not name their event, so each hook names it. A result has no id of its call.

import { isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { PayloadFault, type HookCall, type HookClient, type HookEvent, type HookContext } from '../event.ts'
import { claudeCode } from './claude-code.ts'
import { isVsCode, readVsCode } from './vscode.ts'
import { argsIn, directoryIn, idIn, textIn } from '../payload.ts'
import { BUILTIN, canonicalCall, type ToolTable } from '../tools.ts'

const TOOLS: ToolTable = {
  bash: { tool: BUILTIN.shell },
  powershell: { tool: BUILTIN.shell },
  view: { tool: BUILTIN.read },
  create: { tool: BUILTIN.write, args: { file_text: 'content' } },
  edit: { tool: BUILTIN.edit },
  str_replace_editor: { tool: BUILTIN.edit },
  apply_patch: { tool: BUILTIN.patch, args: { input: 'patch' } },
  grep: { tool: BUILTIN.search },
  rg: { tool: BUILTIN.search },
  glob: { tool: BUILTIN.search },
  web_fetch: { tool: BUILTIN.fetch },
  web_search: { tool: BUILTIN.webSearch },
  task: { tool: BUILTIN.agent },
  update_todo: { tool: BUILTIN.todo },
}

function read(payload: JsonObject, name: string): HookEvent {
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
        output: payload['toolResult'] ?? null,
      }
    case 'postToolUseFailure':
      return {
        kind: 'result',
        name,
        context,
        call: callIn(payload),
        failed: true,
        output: payload['error'] ?? null,
      }
    case 'userPromptSubmitted':
      return { kind: 'words', name, context, text: textIn(payload, 'prompt') }
    case 'sessionEnd':
      return { kind: 'end', name, context }
    case 'sessionStart':
      return { kind: 'other', name, context }
    default:
      throw new PayloadFault('the event is unknown; the hook must name it as `?event=preToolUse`')
  }
}

function contextOf(payload: JsonObject): HookContext {
  const cwd = directoryIn(payload['cwd'])
  // Nothing in the payload tells whether a person sees its prompts.
  return { session: idIn(payload, 'sessionId'), ...(cwd !== undefined && { cwd }), isAttended: false }
}

function callIn(payload: JsonObject): HookCall {
  const { toolArgs } = payload
  const name = idIn(payload, 'toolName')
  // A patch is one text, not an object.
  const isPatch = name === 'apply_patch' && typeof toolArgs === 'string'
  const args = isPatch ? { patch: toolArgs } : argsIn(toolArgs)
  return canonicalCall({ client: 'copilot', tools: TOOLS }, name, args)
}

/** The text of a replaced result, which is an object with this text. */
function modified(output: Json, text: string): JsonObject {
  return isObject(output) ? output : { resultType: 'success', textResultForLlm: text }
}

export const copilot: HookClient = {
  name: 'copilot',
  tools: TOOLS,
  read: (payload, request) =>
    isVsCode(payload) ? readVsCode(payload, request) : read(payload, request.event ?? ''),
  write(event, answer) {
    if (event.context.client !== undefined) return claudeCode.write(event, answer)
    switch (answer.kind) {
      case 'deny':
      case 'ask':
        return event.kind === 'call'
          ? { permissionDecision: 'deny', permissionDecisionReason: answer.text }
          : {}
      case 'allow':
        return { permissionDecision: 'allow' }
      case 'replace':
        return { modifiedResult: modified(answer.output, answer.text) }
      case 'pass':
        return {}
    }
  },
}
