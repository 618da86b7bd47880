// Claude Code. It takes decisions as `hookSpecificOutput`, and replaces an output only by one of the same shape. Cursor and VS Code also run
// its hooks: they send payloads of their own and read answers in its form.

import { blocked, decisionOn, readClaudeForm } from '../claude-form.ts'
import type { HookClient } from '../event.ts'
import { isCursor, readCursorAs } from './cursor.ts'
import { isVsCode, readVsCode } from './vscode.ts'
import { BUILTIN, type ToolTable } from '../tools.ts'

const FILE = { file_path: 'path' }

/** The tools of Claude Code. */
const CLAUDE_TOOLS: ToolTable = {
  Bash: { tool: BUILTIN.shell },
  // It runs a command, too, and reports each line of its output.
  Monitor: { tool: BUILTIN.shell },
  Read: { tool: BUILTIN.read, args: FILE },
  Write: { tool: BUILTIN.write, args: FILE },
  Edit: { tool: BUILTIN.edit, args: FILE },
  MultiEdit: { tool: BUILTIN.edit, args: FILE },
  NotebookEdit: { tool: BUILTIN.edit, args: { notebook_path: 'path' } },
  Glob: { tool: BUILTIN.search },
  Grep: { tool: BUILTIN.search },
  LS: { tool: BUILTIN.search },
  WebFetch: { tool: BUILTIN.fetch },
  WebSearch: { tool: BUILTIN.webSearch },
  Agent: { tool: BUILTIN.agent },
  Task: { tool: BUILTIN.agent },
  TodoWrite: { tool: BUILTIN.todo },
}

/** The modes in which Claude Code asks its user. In all others a prompt would be skipped or could not be shown. */
const ASKING_MODES: readonly unknown[] = ['default', 'acceptEdits', 'plan']

export const claudeCode: HookClient = {
  name: 'claude-code',
  tools: CLAUDE_TOOLS,
  read(payload, request) {
    if (isCursor(payload)) return readCursorAs(payload, request)
    if (isVsCode(payload)) return readVsCode(payload, request)
    return readClaudeForm(
      {
        name: 'claude-code',
        tools: CLAUDE_TOOLS,
        // Only the terminal program shows prompts. `claude -p` and the SDK name themselves otherwise.
        isAttended: ({ permission_mode }, { entry }) =>
          entry === 'cli' && ASKING_MODES.includes(permission_mode ?? ''),
      },
      payload,
      request,
    )
  },
  write(event, answer) {
    switch (answer.kind) {
      case 'allow':
      case 'ask':
        return decisionOn(event, answer.kind, answer.kind === 'ask' ? answer.text : undefined)
      case 'deny':
        return event.kind === 'call' ? decisionOn(event, 'deny', answer.text) : blocked(answer.text)
      case 'replace':
        return { hookSpecificOutput: { hookEventName: event.name, updatedToolOutput: answer.output } }
      case 'pass':
        return {}
    }
  },
}
