// The known content blocks: their members, their role (text, a call for the client, or something the provider ran) and their
// deltas. An unknown block may be a call and is treated as one.

import type { JsonObject } from '@tollgate/evidence'
import { entryOf } from '../filter.ts'
import {
  count,
  either,
  flag,
  listOf,
  object,
  oneOf,
  orNull,
  record,
  text,
  word,
  type MemberShapes,
  type MemberShape,
  type RecordShape,
} from '../shapes.ts'

/** The known deltas of a block, by type. */
export type Deltas = Readonly<Record<string, RecordShape>>

/** A known type of block. */
export type BlockKind =
  /** Text, never a call. Forwarded as it arrives, with deltas of these types. */
  | { readonly role: 'words'; readonly shape: RecordShape; readonly deltas: Deltas }
  /** A call that the client would run. */
  | { readonly role: 'call'; readonly shape: RecordShape }
  /** Something that the provider ran, or its result. `tool` is the name in the policy; undefined if there is none. */
  | {
      readonly role: 'ran'
      readonly shape: RecordShape
      readonly tool: (block: JsonObject) => string | undefined
      /** Whether its input comes in deltas. */
      readonly input: boolean
    }

const CALLER = record({ type: word }, { tool_id: word })

const CITED = { cited_text: text }
const IN_DOCUMENT = { document_title: orNull(text), file_id: orNull(text), document_index: count }
const CITATION = oneOf({
  char_location: record(CITED, { ...IN_DOCUMENT, start_char_index: count, end_char_index: count }),
  page_location: record(CITED, { ...IN_DOCUMENT, start_page_number: count, end_page_number: count }),
  content_block_location: record(CITED, { ...IN_DOCUMENT, start_block_index: count, end_block_index: count }),
  web_search_result_location: record(CITED, { url: text, title: orNull(text), encrypted_index: text }),
  search_result_location: record(CITED, {
    source: text,
    title: orNull(text),
    search_result_index: count,
    start_block_index: count,
    end_block_index: count,
  }),
})

const REFERENCE = { name: text, server_name: text }
const DEFINITION = record(
  {},
  {
    type: orNull(word),
    name: text,
    description: text,
    input_schema: object,
    mcp_server_name: text,
    configs: orNull(object),
    default_config: object,
    allowed_callers: listOf(word),
    allowed_domains: orNull(listOf(text)),
    blocked_domains: orNull(listOf(text)),
    cache_control: orNull(record({ type: word }, { ttl: word })),
    citations: orNull(record({}, { enabled: flag })),
    defer_loading: flag,
    strict: flag,
    eager_input_streaming: orNull(flag),
    enable_zoom: flag,
    use_cache: flag,
    display_height_px: count,
    display_width_px: count,
    display_number: count,
    max_characters: count,
    max_content_tokens: count,
    max_tokens: count,
    max_uses: count,
    model: word,
    response_inclusion: word,
  },
)
const TOOL_CHANGE = record({
  tool: oneOf({
    tool_reference: record({}, REFERENCE),
    mcp_tool_reference: record({}, REFERENCE),
    mcp_toolset_reference: record({}, REFERENCE),
    tool_definition: record({ definition: DEFINITION }),
  }),
})
const TOOL_CHANGES = listOf(oneOf({ tool_addition: TOOL_CHANGE, tool_removal: TOOL_CHANGE }))

const TEXT_BLOCK = record({ text }, { citations: orNull(listOf(CITATION)) })
const MODEL = record({ model: text })

const ERROR = record({ error_code: word }, { error_message: orNull(text) })
const SOURCE = record({ data: text }, { media_type: word })
const DOCUMENT = oneOf({
  document: record(
    { source: oneOf({ base64: SOURCE, text: SOURCE }) },
    { title: orNull(text), citations: orNull(record({}, { enabled: flag })) },
  ),
})
const OUTPUT_FILE = record({ file_id: text })
const FILES = {
  content: listOf(oneOf({ code_execution_output: OUTPUT_FILE, bash_code_execution_output: OUTPUT_FILE })),
}
const RUN = { stderr: text, return_code: count }
const LINES = { num_lines: count, start_line: count, total_lines: count }
const REPLACED = { new_lines: count, new_start: count, old_lines: count, old_start: count }

/** The name in the policy of each provider tool, by the name in its block. */
const SERVER_TOOLS: Readonly<Record<string, string>> = {
  web_search: 'anthropic/web_search',
  web_fetch: 'anthropic/web_fetch',
  code_execution: 'anthropic/code_execution',
  bash_code_execution: 'anthropic/code_execution',
  text_editor_code_execution: 'anthropic/code_execution',
  tool_search_tool_regex: 'anthropic/tool_search',
  tool_search_tool_bm25: 'anthropic/tool_search',
  advisor: 'anthropic/advisor',
}

/** Every known type of block. */
const BLOCKS: Readonly<Record<string, BlockKind>> = {
  text: words(TEXT_BLOCK, { text_delta: delta({ text }), citations_delta: delta({ citation: CITATION }) }),
  thinking: words(record({ thinking: text }, { signature: text }), {
    thinking_delta: delta({ thinking: text }, { estimated_tokens: count }),
    signature_delta: delta({ signature: text }),
  }),
  redacted_thinking: words(record({ data: text })),
  compaction: words(
    record(
      {},
      {
        content: orNull(text),
        encrypted_content: orNull(text),
        signature: orNull(text),
        tool_changes: orNull(TOOL_CHANGES),
      },
    ),
    { compaction_delta: delta({}, { content: orNull(text), encrypted_content: orNull(text) }) },
  ),
  fallback: words(
    record({ from: MODEL, to: MODEL }, { trigger: record({ type: word }, { category: orNull(word) }) }),
  ),

  tool_use: { role: 'call', shape: record({ id: text, name: text }, { caller: CALLER, toolset_name: word }) },

  server_tool_use: {
    role: 'ran',
    shape: record({ id: text, name: text, input: object }, { caller: CALLER }),
    tool: ({ name }) => entryOf(SERVER_TOOLS, name),
    input: true,
  },
  mcp_tool_use: ran('mcp', { id: text, name: text, server_name: text, input: object }, true),
  mcp_tool_result: ran('mcp', {
    tool_use_id: text,
    content: either(text, listOf(oneOf({ text: TEXT_BLOCK }))),
    is_error: flag,
  }),
  mcp_tool_listing: ran('mcp', {
    mcp_server_name: text,
    tools: listOf(record({ name: text, input_schema: object }, { description: text })),
  }),
  web_search_tool_result: result(
    'web_search',
    either(
      listOf(
        oneOf({
          web_search_result: record(
            { url: text, title: text, encrypted_content: text },
            { page_age: orNull(text) },
          ),
        }),
      ),
      oneOf({ web_search_tool_result_error: ERROR }),
    ),
  ),
  web_fetch_tool_result: result(
    'web_fetch',
    oneOf({
      web_fetch_result: record({ url: text, content: DOCUMENT }, { retrieved_at: orNull(text) }),
      web_fetch_tool_result_error: ERROR,
    }),
  ),
  code_execution_tool_result: result(
    'code_execution',
    oneOf({
      code_execution_result: record({ stdout: text, ...RUN }, FILES),
      encrypted_code_execution_result: record({ encrypted_stdout: text, ...RUN }, FILES),
      code_execution_tool_result_error: ERROR,
    }),
  ),
  bash_code_execution_tool_result: result(
    'code_execution',
    oneOf({
      bash_code_execution_result: record({ stdout: text, ...RUN }, FILES),
      bash_code_execution_tool_result_error: ERROR,
    }),
  ),
  text_editor_code_execution_tool_result: result(
    'code_execution',
    oneOf({
      text_editor_code_execution_view_result: record({ content: text }, { file_type: word, ...LINES }),
      text_editor_code_execution_create_result: record({ is_file_update: flag }),
      text_editor_code_execution_str_replace_result: record({}, { lines: orNull(listOf(text)), ...REPLACED }),
      text_editor_code_execution_tool_result_error: ERROR,
    }),
  ),
  tool_search_tool_result: result(
    'tool_search',
    oneOf({
      tool_search_tool_search_result: record({
        tool_references: listOf(oneOf({ tool_reference: record({ tool_name: text }) })),
      }),
      tool_search_tool_result_error: ERROR,
    }),
  ),
  advisor_tool_result: result(
    'advisor',
    oneOf({
      advisor_result: record({ text }, { stop_reason: orNull(word) }),
      advisor_redacted_result: record({ encrypted_content: text }, { stop_reason: orNull(word) }),
      advisor_tool_result_error: ERROR,
    }),
  ),
  container_upload: ran('code_execution', { file_id: text }),
}

/** The kind of a block; undefined for an unknown type. */
export function blockKind({ type }: JsonObject): BlockKind | undefined {
  return entryOf(BLOCKS, type)
}

/** The shape of a known delta. */
function delta(required: MemberShapes, further: MemberShapes = {}): RecordShape {
  return record({ type: text, ...required }, further)
}

function words(shape: RecordShape, deltas: Deltas = {}): BlockKind {
  return { role: 'words', shape, deltas }
}

function ran(tool: string, required: MemberShapes, input = false): BlockKind {
  return { role: 'ran', shape: record(required, { caller: CALLER }), tool: () => `anthropic/${tool}`, input }
}

function result(tool: string, content: MemberShape): BlockKind {
  return ran(tool, { tool_use_id: text, content })
}
