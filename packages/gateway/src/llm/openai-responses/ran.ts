// Items that the provider ran: the tool of each kind, its forwarded members and its stream events.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { only } from '../filter.ts'
import { plain } from './text.ts'
import type { Streamed } from './calls.ts'

interface RanKind {
  readonly tool: string
  /** Members that are strings or numbers. */
  readonly plain: readonly string[]
  /** Members with structure. */
  readonly nested: Readonly<Record<string, (value: Json) => Json>>
  /** Members that a stream sends only with the finished item, with their earlier values. */
  readonly later: JsonObject
  readonly streamed?: Streamed
  /** Progress events, before and after the streamed member. */
  readonly before: readonly string[]
  readonly after: readonly string[]
  /** The event that replaces those in `after` if the item failed. */
  readonly failed?: string
}

const NOTHING = { plain: [], nested: {}, later: {}, before: [], after: [] } as const

const texts = (value: Json): Json => (isList(value) ? value.filter((item) => typeof item === 'string') : null)
const words = (value: Json): Json => (isObject(value) ? plain(value) : null)
const either = (value: Json): Json => (typeof value === 'string' ? value : words(value))
const asIs = (value: Json): Json => value

function each(names: readonly string[], nested: RanKind['nested'] = {}): (value: Json) => Json {
  return (value) =>
    isList(value) ? value.filter(isObject).map((item) => members(item, names, nested)) : null
}

function members(item: JsonObject, names: readonly string[], nested: RanKind['nested']): JsonObject {
  const kept: Record<string, Json> = only(plain(item), names)
  for (const [name, build] of Object.entries(nested)) {
    const value = item[name]
    if (value !== undefined) kept[name] = value === null ? null : build(value)
  }
  return kept
}

const searchAction = (value: Json): Json =>
  isObject(value)
    ? members(value, ['type', 'query', 'url', 'pattern'], {
        queries: texts,
        sources: each(['type', 'url', 'name']),
      })
    : null

const TOOL_MEMBERS = ['type', 'name', 'description', 'strict', 'defer_loading', 'server_label']
const toolsFound = each(TOOL_MEMBERS, { parameters: asIs, tools: each(TOOL_MEMBERS, { parameters: asIs }) })

const RAN: Readonly<Record<string, RanKind>> = {
  web_search_call: {
    ...NOTHING,
    tool: 'openai/web_search',
    plain: ['id', 'type', 'status'],
    nested: { action: searchAction },
    before: ['response.web_search_call.in_progress', 'response.web_search_call.searching'],
    after: ['response.web_search_call.completed'],
  },
  file_search_call: {
    ...NOTHING,
    tool: 'openai/file_search',
    plain: ['id', 'type', 'status'],
    nested: {
      queries: texts,
      results: each(['file_id', 'filename', 'score', 'text'], { attributes: words }),
    },
    later: { results: null },
    before: ['response.file_search_call.in_progress', 'response.file_search_call.searching'],
    after: ['response.file_search_call.completed'],
  },
  code_interpreter_call: {
    ...NOTHING,
    tool: 'openai/code_interpreter',
    plain: ['id', 'type', 'status', 'code', 'container_id'],
    nested: { outputs: each(['type', 'logs', 'url']) },
    later: { outputs: null },
    streamed: { member: 'code', event: 'response.code_interpreter_call_code' },
    before: ['response.code_interpreter_call.in_progress'],
    after: ['response.code_interpreter_call.interpreting', 'response.code_interpreter_call.completed'],
  },
  image_generation_call: {
    ...NOTHING,
    tool: 'openai/image_generation',
    plain: [
      'id',
      'type',
      'status',
      'result',
      'revised_prompt',
      'background',
      'output_format',
      'quality',
      'size',
    ],
    later: { result: null },
    before: ['response.image_generation_call.in_progress', 'response.image_generation_call.generating'],
    after: ['response.image_generation_call.completed'],
  },
  mcp_call: {
    ...NOTHING,
    tool: 'openai/mcp',
    plain: ['id', 'type', 'status', 'server_label', 'name', 'arguments', 'output', 'approval_request_id'],
    nested: { error: either },
    later: { output: null },
    streamed: { member: 'arguments', event: 'response.mcp_call_arguments' },
    before: ['response.mcp_call.in_progress'],
    after: ['response.mcp_call.completed'],
    failed: 'response.mcp_call.failed',
  },
  mcp_list_tools: {
    ...NOTHING,
    tool: 'openai/mcp',
    plain: ['id', 'type', 'server_label'],
    nested: {
      error: either,
      tools: each(['name', 'description'], { input_schema: asIs, annotations: words }),
    },
    later: { tools: [] },
    before: ['response.mcp_list_tools.in_progress'],
    after: ['response.mcp_list_tools.completed'],
    failed: 'response.mcp_list_tools.failed',
  },
  shell_call: {
    ...NOTHING,
    tool: 'openai/shell',
    plain: ['id', 'type', 'status', 'call_id'],
    nested: {
      environment: (value) => (isObject(value) ? only(plain(value), ['type', 'container_id']) : null),
      action: (value) =>
        isObject(value) ? members(value, ['timeout_ms', 'max_output_length'], { commands: texts }) : null,
    },
  },
  shell_call_output: {
    ...NOTHING,
    tool: 'openai/shell',
    plain: ['id', 'type', 'status', 'call_id', 'max_output_length'],
    nested: { output: each(['stdout', 'stderr'], { outcome: words }) },
  },
  tool_search_call: {
    ...NOTHING,
    tool: 'openai/tool_search',
    plain: ['id', 'type', 'status', 'call_id', 'execution'],
    nested: { arguments: asIs },
  },
  tool_search_output: {
    ...NOTHING,
    tool: 'openai/tool_search',
    plain: ['id', 'type', 'status', 'call_id', 'execution'],
    nested: { tools: toolsFound },
  },
  program: {
    ...NOTHING,
    tool: 'openai/programmatic_tool_calling',
    plain: ['id', 'type', 'call_id', 'code', 'fingerprint'],
  },
  program_output: {
    ...NOTHING,
    tool: 'openai/programmatic_tool_calling',
    plain: ['id', 'type', 'call_id', 'status', 'result'],
  },
}

/** The kind of an item that the provider ran; undefined for any other item. */
export function ranKind(item: JsonObject): RanKind | undefined {
  const type = item['type']
  if (typeof type !== 'string' || !Object.hasOwn(RAN, type)) return undefined
  return RAN[type]
}

/** The item to forward. */
export function ranItem(kind: RanKind, item: JsonObject): JsonObject {
  return members(item, kind.plain, kind.nested)
}
