// VS Code. It runs the hooks of other clients: those of Claude Code (`.claude/settings.json`) and of Copilot (`.github/hooks`), with payloads
// and answers in the form of Claude Code, but tools of its own.

import type { JsonObject } from '@tollgate/evidence'
import { readClaudeForm } from '../claude-form.ts'
import type { HookEvent, HookRequest } from '../event.ts'
import { BUILTIN, type ToolTable } from '../tools.ts'

const FILE = { filePath: 'path' }

const TOOLS: ToolTable = {
  run_in_terminal: { tool: BUILTIN.shell },
  read_file: { tool: BUILTIN.read, args: FILE },
  create_file: { tool: BUILTIN.write, args: FILE },
  insert_edit_into_file: { tool: BUILTIN.edit, args: FILE },
  replace_string_in_file: { tool: BUILTIN.edit, args: FILE },
  edit_notebook_file: { tool: BUILTIN.edit, args: FILE },
  apply_patch: { tool: BUILTIN.patch, args: { input: 'patch' } },
  grep_search: { tool: BUILTIN.search },
  file_search: { tool: BUILTIN.search },
  semantic_search: { tool: BUILTIN.search },
  list_dir: { tool: BUILTIN.search },
  fetch_webpage: { tool: BUILTIN.fetch },
  runSubagent: { tool: BUILTIN.agent },
  manage_todo_list: { tool: BUILTIN.todo },
}

const NAME = 'vscode'

/** Whether VS Code sent a payload: a time of day as text, and no mode of permissions. */
export function isVsCode(payload: JsonObject): boolean {
  return typeof payload['timestamp'] === 'string' && !('permission_mode' in payload)
}

/** Reads a payload. @throws PayloadFault */
export function readVsCode(payload: JsonObject, request: HookRequest): HookEvent {
  // Its answer `ask` is documented, but no test has shown it.
  const event = readClaudeForm({ name: NAME, tools: TOOLS, isAttended: () => false }, payload, request)
  return { ...event, context: { ...event.context, client: NAME } }
}
