// The texts in what a request holds besides the words of its user: tool results, documents, and what the provider found.

import type { Json, JsonObject } from '@tollgate/evidence'
import { Refused } from '../dialect.ts'
import { isList, isObject } from '../filter.ts'

/** Gives what goes in place of a text. */
export type Rephrase = (text: string) => string

/**
 * The content of a tool result with its texts replaced, as a new value. What could hide a text from us is refused.
 *
 * @throws Refused
 */
export function rephrase(content: Json, by: Rephrase): Json {
  if (typeof content === 'string') return by(content)
  if (!isList(content)) throw strange()
  return content.map((block) => rephraseBlock(block, by, RESULT_BLOCKS))
}

type Blocks = ReadonlyMap<string, (block: JsonObject, by: Rephrase) => JsonObject>

const asItIs = (block: JsonObject): JsonObject => block
const rephraseText = (block: JsonObject, by: Rephrase): JsonObject => {
  if (typeof block['text'] !== 'string') throw strange()
  const { citations, ...rest } = block
  // Citations repeat the words of others, and mean nothing in a result.
  return { ...rest, ...(citations === null && { citations }), text: by(block['text']) }
}

const TEXTS: Blocks = new Map([['text', rephraseText]])
const TEXTS_AND_PICTURES: Blocks = new Map([...TEXTS, ['image', asItIs]])
const RESULT_BLOCKS: Blocks = new Map([
  ...TEXTS_AND_PICTURES,
  ['tool_reference', asItIs],
  ['document', rephraseDocument],
  ['search_result', rephraseSearchResult],
  ['browser_state', rephraseBrowserState],
])

function rephraseBlock(block: Json, by: Rephrase, blocks: Blocks): Json {
  const type = isObject(block) ? block['type'] : undefined
  const known = typeof type === 'string' ? blocks.get(type) : undefined
  if (!isObject(block) || !known) throw strange()
  return known(block, by)
}

function rephraseDocument(block: JsonObject, by: Rephrase): JsonObject {
  const { source } = block
  if (!isObject(source)) throw strange()
  return { ...rephraseMembers(block, ['title', 'context'], by), source: rephraseSource(source, by) }
}

function rephraseSource(source: JsonObject, by: Rephrase): JsonObject {
  switch (typeof source['type'] === 'string' ? source['type'] : '') {
    case 'base64':
    case 'url':
    case 'file':
      return source
    case 'text':
      if (typeof source['data'] !== 'string') throw strange()
      return { ...source, data: by(source['data']) }
    case 'content':
      return { ...source, content: rephraseList(source['content'], by, TEXTS_AND_PICTURES) }
    default:
      throw strange()
  }
}

function rephraseSearchResult(block: JsonObject, by: Rephrase): JsonObject {
  const named = rephraseMembers(block, ['title', 'source'], by)
  return { ...named, content: rephraseList(block['content'], by, TEXTS) }
}

function rephraseBrowserState(block: JsonObject, by: Rephrase): JsonObject {
  const { tabs, state_changes: changes } = block
  const all = (list: Json | undefined, names: readonly string[]): Json => {
    if (!isList(list) || !list.every(isObject)) throw strange()
    return list.map((item) => rephraseMembers(item, names, by))
  }
  return {
    ...block,
    tabs: all(tabs, ['title', 'url']),
    ...(changes !== undefined && {
      state_changes: changes === null ? null : all(changes, ['url', 'path', 'error']),
    }),
  }
}

function rephraseList(content: Json | undefined, by: Rephrase, blocks: Blocks): Json {
  if (typeof content === 'string') return by(content)
  if (!isList(content)) throw strange()
  return content.map((block) => rephraseBlock(block, by, blocks))
}

function rephraseMembers(object: JsonObject, names: readonly string[], by: Rephrase): Record<string, Json> {
  const changed: Record<string, Json> = { ...object }
  for (const name of names) {
    const value = object[name]
    if (typeof value === 'string') changed[name] = by(value)
    else if (value !== undefined && value !== null) throw strange()
  }
  return changed
}

function strange(): Refused {
  return new Refused(
    400,
    'AMBIGUOUS_INPUT',
    'a tool result holds content of a kind that is not known here; send texts, images, documents or search results',
    'messages',
  )
}

const READABLE: ReadonlySet<string> = new Set([
  'text',
  'title',
  'context',
  'source',
  'url',
  'content',
  'stdout',
  'stderr',
  'lines',
  'description',
  'error_message',
])
const MOST_DEPTH = 32

/** The texts in a document, a search result or what the provider has run, whatever it is exactly. @throws Refused */
export function wordsIn(block: Json, depth = 0): readonly string[] {
  if (depth > MOST_DEPTH)
    throw new Refused(400, 'AMBIGUOUS_INPUT', 'a message is nested too deeply', 'messages')
  if (isList(block)) return block.flatMap((item) => wordsIn(item, depth + 1))
  if (!isObject(block)) return []
  return Object.entries(block).flatMap(([name, value]) => {
    const readable = READABLE.has(name) || (name === 'data' && block['type'] === 'text')
    if (typeof value === 'string') return readable ? [value] : []
    if (readable && isList(value)) return value.flatMap((item) => textOrWords(item, depth + 1))
    return wordsIn(value, depth + 1)
  })
}

function textOrWords(item: Json, depth: number): readonly string[] {
  return typeof item === 'string' ? [item] : wordsIn(item, depth)
}
