// The payloads of each client, as its documentation or a recorded run has them. `fixtures/` has the tools of each client, what they mean,
// and how we know.

import { readFileSync } from 'node:fs'
import type { JsonObject } from '@tollgate/evidence'

/** One use of a tool, before and after. */
export interface ToolUse {
  readonly tool: string
  readonly args: JsonObject
  readonly canonical: string
  readonly canonicalArgs?: JsonObject
}

/** A file in `fixtures/`. */
export interface Fixtures {
  /** `documented` means fixtures only: the client was never run for real. */
  readonly where: 'recorded' | 'documented'
  readonly source: string
  /** Tools that the model knows by another name than the hook. */
  readonly renamed?: Readonly<Record<string, string>>
  /** Tools of the model that reach no hook. */
  readonly unasked?: readonly string[]
  readonly uses: readonly ToolUse[]
}

/** How a client sends the events. */
export interface ClientPayloads extends Fixtures {
  readonly before: (use: ToolUse, id: string) => Sent
  readonly after: (use: ToolUse, id: string, output: unknown) => Sent
  readonly failed?: (use: ToolUse, id: string, error: string) => Sent
  readonly words: (text: string) => Sent
}

type Forms = Omit<ClientPayloads, keyof Fixtures>

/** A payload and the event that the hook names in its address. */
export interface Sent {
  readonly event?: string
  readonly body: Record<string, unknown>
}

const CWD = '/home/dev/project'

function claudeForm(more: Record<string, unknown>, failures: boolean): Forms {
  const base = { session_id: '4e1c', transcript_path: null, cwd: CWD, permission_mode: 'default', ...more }
  const use = ({ tool, args }: ToolUse, id: string): object => ({
    tool_name: tool,
    tool_input: args,
    tool_use_id: id,
  })
  return {
    before: (each, id) => ({ body: { ...base, hook_event_name: 'PreToolUse', ...use(each, id) } }),
    after: (each, id, output) => ({
      body: { ...base, hook_event_name: 'PostToolUse', ...use(each, id), tool_response: output },
    }),
    ...(failures && {
      failed: (each: ToolUse, id: string, error: string) => ({
        body: { ...base, hook_event_name: 'PostToolUseFailure', ...use(each, id), error },
      }),
    }),
    words: (prompt) => ({ body: { ...base, hook_event_name: 'UserPromptSubmit', prompt } }),
  }
}

const CURSOR_BASE = {
  conversation_id: 'conv-1',
  generation_id: 'gen-1',
  model: 'm',
  cursor_version: '2.4.0',
  workspace_roots: [CWD],
  user_email: null,
}

const FORMS: Readonly<Record<string, Forms>> = {
  'claude-code': {
    ...claudeForm({ prompt_id: 'p1', effort: { level: 'medium' } }, true),
  },
  codex: {
    ...claudeForm({ turn_id: 't1', model: 'gpt-5' }, false),
  },
  cursor: {
    before: ({ tool, args }, id) => ({
      body: {
        ...{ ...CURSOR_BASE, hook_event_name: 'preToolUse', cwd: CWD },
        ...{ tool_name: tool, tool_input: args, tool_use_id: id },
      },
    }),
    after: ({ tool, args }, id, output) => ({
      body: {
        ...{ ...CURSOR_BASE, hook_event_name: 'postToolUse', cwd: CWD, duration: 5 },
        ...{ tool_name: tool, tool_input: args, tool_use_id: id, tool_output: JSON.stringify(output) },
      },
    }),
    failed: ({ tool, args }, id, error) => ({
      body: {
        ...{ ...CURSOR_BASE, hook_event_name: 'postToolUseFailure', cwd: CWD, failure_type: 'error' },
        ...{ tool_name: tool, tool_input: args, tool_use_id: id, error_message: error },
      },
    }),
    words: (prompt) => ({
      body: { ...CURSOR_BASE, hook_event_name: 'beforeSubmitPrompt', prompt, attachments: [] },
    }),
  },
  copilot: {
    before: ({ tool, args }) => ({
      event: 'preToolUse',
      body: { sessionId: 's-1', timestamp: 1, cwd: CWD, toolName: tool, toolArgs: args },
    }),
    after: ({ tool, args }, _id, output) => ({
      event: 'postToolUse',
      body: {
        ...{ sessionId: 's-1', timestamp: 2, cwd: CWD, toolName: tool, toolArgs: args },
        toolResult: { resultType: 'success', textResultForLlm: JSON.stringify(output) },
      },
    }),
    failed: ({ tool, args }, _id, error) => ({
      event: 'postToolUseFailure',
      body: { sessionId: 's-1', timestamp: 2, cwd: CWD, toolName: tool, toolArgs: args, error },
    }),
    words: (prompt) => ({
      event: 'userPromptSubmitted',
      body: { sessionId: 's-1', timestamp: 1, cwd: CWD, prompt },
    }),
  },
  vscode: {
    ...claudeForm({ timestamp: '2026-02-09T10:30:00.000Z', permission_mode: undefined }, false),
  },
  opencode: {
    before: ({ tool, args }, id) => ({
      body: { event: 'tool.execute.before', session: 'ses_1', call: id, directory: CWD, tool, args },
    }),
    after: ({ tool, args }, id, output) => ({
      body: { event: 'tool.execute.after', session: 'ses_1', call: id, directory: CWD, tool, args, output },
    }),
    words: (text) => ({ body: { event: 'chat.message', session: 'ses_1', directory: CWD, text } }),
  },
}

/** All sets of fixtures, by their names. */
export const PAYLOADS: Readonly<Record<string, ClientPayloads>> = Object.fromEntries(
  Object.entries(FORMS).map(([name, forms]) => [name, { ...forms, ...readFixtures(name) }]),
)

function readFixtures(name: string): Fixtures {
  // Sound: the table test reads every member of these files.
  return JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8')) as Fixtures
}

/** The sets of fixtures that each route of the door understands: clients also run the hooks of others. */
export const ROUTES: readonly (readonly [route: string, set: string])[] = [
  ...['claude-code', 'codex', 'cursor', 'copilot', 'opencode'].map((name) => [name, name] as const),
  ['claude-code', 'cursor'],
  ['claude-code', 'vscode'],
  ['copilot', 'vscode'],
]
