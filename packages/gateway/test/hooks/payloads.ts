// The payloads of each client, as its documentation or a recorded run has them, and what they mean. `where` says how we know.

import type { JsonObject } from '@tollgate/evidence'

/** One use of a tool, before and after. */
export interface ToolUse {
  readonly tool: string
  readonly args: JsonObject
  readonly canonical: string
  readonly canonicalArgs?: JsonObject
}

/** How a client sends the events. */
export interface ClientPayloads {
  readonly where: 'recorded' | 'documented'
  readonly before: (use: ToolUse, id: string) => Sent
  readonly after: (use: ToolUse, id: string, output: unknown) => Sent
  readonly failed?: (use: ToolUse, id: string, error: string) => Sent
  readonly words: (text: string) => Sent
  readonly uses: readonly ToolUse[]
}

/** A payload and the event that the hook names in its address. */
export interface Sent {
  readonly event?: string
  readonly body: Record<string, unknown>
}

const CWD = '/home/dev/project'
const PATCH =
  '*** Begin Patch\n*** Update File: src/a.ts\n@@\n-a\n+b\n*** Add File: src/b.ts\n+c\n*** Delete File: old.ts\n*** End Patch\n'
const PATCHED = { patch: PATCH, paths: ['src/a.ts', 'src/b.ts'], deletes: ['old.ts'] }

function claudeForm(
  more: Record<string, unknown>,
  failures: boolean,
): Omit<ClientPayloads, 'uses' | 'where'> {
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

export const PAYLOADS: Readonly<Record<string, ClientPayloads>> = {
  'claude-code': {
    where: 'recorded',
    ...claudeForm({ prompt_id: 'p1', effort: { level: 'medium' } }, true),
    uses: [
      { tool: 'Bash', args: { command: 'npm test', description: 'd' }, canonical: 'builtin/shell' },
      {
        tool: 'Write',
        args: { file_path: '/a', content: 'x' },
        canonical: 'builtin/write',
        canonicalArgs: { path: '/a', content: 'x' },
      },
      { tool: 'Read', args: { file_path: '/a' }, canonical: 'builtin/read', canonicalArgs: { path: '/a' } },
      {
        tool: 'Edit',
        args: { file_path: '/a', old_string: 'a', new_string: 'b', replace_all: false },
        canonical: 'builtin/edit',
        canonicalArgs: { path: '/a', old_string: 'a', new_string: 'b', replace_all: false },
      },
      {
        tool: 'NotebookEdit',
        args: { notebook_path: '/a.ipynb', new_source: '' },
        canonical: 'builtin/edit',
        canonicalArgs: { path: '/a.ipynb', new_source: '' },
      },
      { tool: 'Glob', args: { pattern: '*.ts' }, canonical: 'builtin/search' },
      { tool: 'Grep', args: { pattern: 'a', path: '/b' }, canonical: 'builtin/search' },
      { tool: 'WebFetch', args: { url: 'https://e.com', prompt: 'p' }, canonical: 'builtin/fetch' },
      { tool: 'WebSearch', args: { query: 'q' }, canonical: 'builtin/web_search' },
      {
        tool: 'Agent',
        args: { description: 'd', prompt: 'p', subagent_type: 'Explore' },
        canonical: 'builtin/agent',
      },
      { tool: 'TodoWrite', args: { todos: [] }, canonical: 'builtin/todo' },
      { tool: 'ExitPlanMode', args: { plan: 'p' }, canonical: 'claude-code/ExitPlanMode' },
      { tool: 'mcp__files__read_file', args: { path: 'a' }, canonical: 'files/read_file' },
    ],
  },
  codex: {
    where: 'recorded',
    ...claudeForm({ turn_id: 't1', model: 'gpt-5' }, false),
    uses: [
      { tool: 'Bash', args: { command: 'npm test' }, canonical: 'builtin/shell' },
      {
        tool: 'apply_patch',
        args: { command: PATCH },
        canonical: 'builtin/patch',
        canonicalArgs: PATCHED,
      },
      { tool: 'view_image', args: { path: '/a.png' }, canonical: 'builtin/read' },
      { tool: 'update_plan', args: { plan: [] }, canonical: 'builtin/todo' },
      { tool: 'spawn_agent', args: { message: 'm' }, canonical: 'codex/spawn_agent' },
      { tool: 'mcp__files__read_file', args: { path: 'a' }, canonical: 'files/read_file' },
    ],
  },
  cursor: {
    where: 'documented',
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
    uses: [
      {
        tool: 'Shell',
        args: { command: 'npm test', working_directory: '/w' },
        canonical: 'builtin/shell',
        canonicalArgs: { command: 'npm test', cwd: '/w' },
      },
      { tool: 'Read', args: { file_path: '/a' }, canonical: 'builtin/read', canonicalArgs: { path: '/a' } },
      {
        tool: 'Write',
        args: { file_path: '/a', content: 'x' },
        canonical: 'builtin/write',
        canonicalArgs: { path: '/a', content: 'x' },
      },
      { tool: 'Delete', args: { path: '/a' }, canonical: 'builtin/delete' },
      { tool: 'Grep', args: { pattern: 'a' }, canonical: 'builtin/search' },
      { tool: 'Task', args: { prompt: 'p' }, canonical: 'builtin/agent' },
      { tool: 'MCP:files:read_file', args: { path: 'a' }, canonical: 'files/read_file' },
      { tool: 'MCP:read_file', args: { path: 'a' }, canonical: 'cursor/MCP:read_file' },
    ],
  },
  copilot: {
    where: 'recorded',
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
    uses: [
      { tool: 'bash', args: { command: 'npm test', description: 'd' }, canonical: 'builtin/shell' },
      { tool: 'view', args: { path: '/a' }, canonical: 'builtin/read' },
      {
        tool: 'create',
        args: { path: '/a', file_text: 'x' },
        canonical: 'builtin/write',
        canonicalArgs: { path: '/a', content: 'x' },
      },
      { tool: 'edit', args: { path: '/a', old_str: 'a', new_str: 'b' }, canonical: 'builtin/edit' },
      {
        tool: 'apply_patch',
        args: { input: PATCH },
        canonical: 'builtin/patch',
        canonicalArgs: PATCHED,
      },
      { tool: 'grep', args: { pattern: 'a' }, canonical: 'builtin/search' },
      { tool: 'glob', args: { pattern: 'a' }, canonical: 'builtin/search' },
      { tool: 'web_fetch', args: { url: 'https://e.com' }, canonical: 'builtin/fetch' },
      { tool: 'task', args: { prompt: 'p' }, canonical: 'builtin/agent' },
      { tool: 'report_intent', args: { intent: 'i' }, canonical: 'copilot/report_intent' },
    ],
  },
  opencode: {
    where: 'recorded',
    before: ({ tool, args }, id) => ({
      body: { event: 'tool.execute.before', session: 'ses_1', call: id, directory: CWD, tool, args },
    }),
    after: ({ tool, args }, id, output) => ({
      body: { event: 'tool.execute.after', session: 'ses_1', call: id, directory: CWD, tool, args, output },
    }),
    words: (text) => ({ body: { event: 'chat.message', session: 'ses_1', directory: CWD, text } }),
    uses: [
      { tool: 'bash', args: { command: 'npm test', description: 'd' }, canonical: 'builtin/shell' },
      { tool: 'read', args: { filePath: '/a' }, canonical: 'builtin/read', canonicalArgs: { path: '/a' } },
      {
        tool: 'write',
        args: { filePath: '/a', content: 'x' },
        canonical: 'builtin/write',
        canonicalArgs: { path: '/a', content: 'x' },
      },
      {
        tool: 'edit',
        args: { filePath: '/a', oldString: 'a', newString: 'b' },
        canonical: 'builtin/edit',
        canonicalArgs: { path: '/a', oldString: 'a', newString: 'b' },
      },
      {
        tool: 'apply_patch',
        args: { patchText: PATCH },
        canonical: 'builtin/patch',
        canonicalArgs: PATCHED,
      },
      { tool: 'grep', args: { pattern: 'a' }, canonical: 'builtin/search' },
      { tool: 'list', args: { path: '/a' }, canonical: 'builtin/search' },
      { tool: 'webfetch', args: { url: 'https://e.com' }, canonical: 'builtin/fetch' },
      { tool: 'task', args: { prompt: 'p' }, canonical: 'builtin/agent' },
      { tool: 'skill', args: { name: 'n' }, canonical: 'opencode/skill' },
    ],
  },
}
