// OpenCode. Our plugin sends the payloads, so this form is our own; the plugin throws on `deny`.

import type { JsonObject } from '@tollgate/evidence'
import { PayloadFault, type HookCall, type HookClient, type HookEvent, type HookContext } from '../event.ts'
import { argsIn, directoryIn, idIn, optionalId, textIn } from '../payload.ts'
import { BUILTIN, canonicalCall, type ToolTable } from '../tools.ts'

const FILE = { filePath: 'path' }

const TOOLS: ToolTable = {
  bash: { tool: BUILTIN.shell, args: { workdir: 'cwd' } },
  read: { tool: BUILTIN.read, args: FILE },
  write: { tool: BUILTIN.write, args: FILE },
  edit: { tool: BUILTIN.edit, args: FILE },
  multiedit: { tool: BUILTIN.edit, args: FILE },
  patch: { tool: BUILTIN.patch, args: { patchText: 'patch' } },
  apply_patch: { tool: BUILTIN.patch, args: { patchText: 'patch' } },
  grep: { tool: BUILTIN.search },
  glob: { tool: BUILTIN.search },
  list: { tool: BUILTIN.search },
  webfetch: { tool: BUILTIN.fetch },
  websearch: { tool: BUILTIN.webSearch },
  task: { tool: BUILTIN.agent },
  todowrite: { tool: BUILTIN.todo },
  todoread: { tool: BUILTIN.todo },
}

function read(payload: JsonObject): HookEvent {
  const name = idIn(payload, 'event')
  const context = contextOf(payload)
  switch (name) {
    case 'tool.execute.before':
      return { kind: 'call', name, context, call: callIn(payload) }
    case 'tool.execute.after':
      return {
        kind: 'result',
        name,
        context,
        call: callIn(payload),
        failed: false,
        output: payload['output'] ?? null,
      }
    case 'chat.message':
      return { kind: 'words', name, context, text: textIn(payload, 'text') }
    default:
      throw new PayloadFault('the event is unknown')
  }
}

function contextOf(payload: JsonObject): HookContext {
  const cwd = directoryIn(payload['directory'])
  // A subagent has a session of its own, and a hook of OpenCode cannot open a prompt.
  return { session: idIn(payload, 'session'), ...(cwd !== undefined && { cwd }), isAttended: false }
}

function callIn(payload: JsonObject): HookCall {
  const id = optionalId(payload, 'call')
  const call = canonicalCall(
    { client: 'opencode', tools: TOOLS },
    idIn(payload, 'tool'),
    argsIn(payload['args']),
  )
  return { ...call, ...(id !== undefined && { id }) }
}

export const opencode: HookClient = {
  name: 'opencode',
  tools: TOOLS,
  read,
  write(_event, answer) {
    switch (answer.kind) {
      case 'deny':
      case 'ask':
        return { decision: 'deny', reason: answer.text }
      case 'replace':
        return { decision: 'replace', output: answer.text }
      case 'allow':
      case 'pass':
        return { decision: 'allow' }
    }
  },
}
