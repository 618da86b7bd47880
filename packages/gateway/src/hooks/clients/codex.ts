// Codex. Only a denial with a reason has an effect: Codex runs a call after any answer that it does not know.

import { blocked, decisionOn, readClaudeForm } from '../claude-form.ts'
import type { HookClient } from '../event.ts'
import { BUILTIN, type ToolTable } from '../tools.ts'

const TOOLS: ToolTable = {
  Bash: { tool: BUILTIN.shell },
  apply_patch: { tool: BUILTIN.patch, args: { command: 'patch', input: 'patch' } },
  view_image: { tool: BUILTIN.read },
  update_plan: { tool: BUILTIN.todo },
  web_search: { tool: BUILTIN.webSearch },
}

export const codex: HookClient = {
  name: 'codex',
  tools: TOOLS,
  // It has no prompt that a hook could open.
  read: (payload, request) =>
    readClaudeForm({ name: 'codex', tools: TOOLS, isAttended: () => false }, payload, request),
  write(event, answer) {
    switch (answer.kind) {
      case 'deny':
      case 'ask':
        return event.kind === 'call' ? decisionOn(event, 'deny', answer.text) : blocked(answer.text)
      case 'replace':
        return blocked(answer.text)
      case 'allow':
      case 'pass':
        return {}
    }
  },
}
