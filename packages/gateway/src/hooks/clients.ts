// The table of all coding agents with hooks.

import { claudeCode } from './clients/claude-code.ts'
import { codex } from './clients/codex.ts'
import { copilot } from './clients/copilot.ts'
import { cursor } from './clients/cursor.ts'
import { opencode } from './clients/opencode.ts'
import type { HookClient } from './event.ts'

/** All clients. */
export const HOOK_CLIENTS: readonly HookClient[] = [claudeCode, codex, cursor, copilot, opencode]

/** The client with a name; undefined if there is none. */
export function hookClient(name: string): HookClient | undefined {
  return HOOK_CLIENTS.find((client) => client.name === name)
}
