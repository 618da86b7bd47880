// Items that the provider ran: the tool of each kind, its forwarded members and its stream events.

import { isObject, type JsonObject } from '@tollgate/evidence'
import { entryOf } from '../filter.ts'
import {
  any,
  each,
  either,
  listOf,
  record,
  scalar,
  text,
  type MemberShape,
  type MemberShapes,
  type RecordShape,
} from '../shapes.ts'
import type { ItemEvents } from './calls.ts'
import { plain } from './text.ts'

interface RanKind extends ItemEvents {
  readonly tool: string
  /** The members to forward. */
  readonly item: RecordShape
}

/** Plain members, and others with structure, which are null if they do not fit. */
function members(names: readonly string[], nested: MemberShapes = {}): RecordShape {
  const fitting = Object.entries(nested).map(([name, shape]): [string, MemberShape] => [
    name,
    (value) => shape(value) ?? null,
  ])
  return record({}, { ...each(names, scalar), ...Object.fromEntries(fitting) })
}

const ITEM = ['id', 'type', 'status']
const TEXTS = listOf(text)
const words: MemberShape = (value) => (isObject(value) ? plain(value) : undefined)
const ERROR = either(text, words)

const SEARCH = members(['type', 'query', 'url', 'pattern'], {
  queries: TEXTS,
  sources: listOf(members(['type', 'url', 'name'])),
})
const TOOL_MEMBERS = ['type', 'name', 'description', 'strict', 'defer_loading', 'server_label']
const TOOLS_INSIDE = listOf(members(TOOL_MEMBERS, { parameters: any }))
const TOOLS_FOUND = listOf(members(TOOL_MEMBERS, { parameters: any, tools: TOOLS_INSIDE }))

const RAN: Readonly<Record<string, RanKind>> = {
  web_search_call: {
    tool: 'openai/web_search',
    item: members(ITEM, { action: SEARCH }),
    before: ['response.web_search_call.in_progress', 'response.web_search_call.searching'],
    after: ['response.web_search_call.completed'],
  },
  file_search_call: {
    tool: 'openai/file_search',
    item: members(ITEM, {
      queries: TEXTS,
      results: listOf(members(['file_id', 'filename', 'score', 'text'], { attributes: words })),
    }),
    later: { results: null },
    before: ['response.file_search_call.in_progress', 'response.file_search_call.searching'],
    after: ['response.file_search_call.completed'],
  },
  code_interpreter_call: {
    tool: 'openai/code_interpreter',
    item: members([...ITEM, 'code', 'container_id'], {
      outputs: listOf(members(['type', 'logs', 'url'])),
    }),
    later: { outputs: null },
    streamed: { member: 'code', event: 'response.code_interpreter_call_code' },
    before: ['response.code_interpreter_call.in_progress'],
    after: ['response.code_interpreter_call.interpreting', 'response.code_interpreter_call.completed'],
  },
  image_generation_call: {
    tool: 'openai/image_generation',
    item: members([...ITEM, 'result', 'revised_prompt', 'background', 'output_format', 'quality', 'size']),
    later: { result: null },
    before: ['response.image_generation_call.in_progress', 'response.image_generation_call.generating'],
    after: ['response.image_generation_call.completed'],
  },
  mcp_call: {
    tool: 'openai/mcp',
    item: members([...ITEM, 'server_label', 'name', 'arguments', 'output', 'approval_request_id'], {
      error: ERROR,
    }),
    later: { output: null },
    streamed: { member: 'arguments', event: 'response.mcp_call_arguments' },
    before: ['response.mcp_call.in_progress'],
    after: ['response.mcp_call.completed'],
    failed: 'response.mcp_call.failed',
  },
  mcp_list_tools: {
    tool: 'openai/mcp',
    item: members(['id', 'type', 'server_label'], {
      error: ERROR,
      tools: listOf(members(['name', 'description'], { input_schema: any, annotations: words })),
    }),
    later: { tools: [] },
    before: ['response.mcp_list_tools.in_progress'],
    after: ['response.mcp_list_tools.completed'],
    failed: 'response.mcp_list_tools.failed',
  },
  shell_call: {
    tool: 'openai/shell',
    item: members([...ITEM, 'call_id'], {
      environment: members(['type', 'container_id']),
      action: members(['timeout_ms', 'max_output_length'], { commands: TEXTS }),
    }),
  },
  shell_call_output: {
    tool: 'openai/shell',
    item: members([...ITEM, 'call_id', 'max_output_length'], {
      output: listOf(members(['stdout', 'stderr'], { outcome: words })),
    }),
  },
  tool_search_call: {
    tool: 'openai/tool_search',
    item: members([...ITEM, 'call_id', 'execution'], { arguments: any }),
  },
  tool_search_output: {
    tool: 'openai/tool_search',
    item: members([...ITEM, 'call_id', 'execution'], { tools: TOOLS_FOUND }),
  },
  program: {
    tool: 'openai/programmatic_tool_calling',
    item: members(['id', 'type', 'call_id', 'code', 'fingerprint']),
  },
  program_output: {
    tool: 'openai/programmatic_tool_calling',
    item: members(['id', 'type', 'call_id', 'status', 'result']),
  },
}

/** The kind of an item that the provider ran; undefined for any other item. */
export function ranKind({ type }: JsonObject): RanKind | undefined {
  return entryOf(RAN, type)
}
