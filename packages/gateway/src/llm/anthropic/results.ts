// The content of tool results: collects the texts that a model would read, and replaces them. Unknown parts are removed.
// Content that could hide text is refused.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { dataOf, isBase64, kindOf, textIn } from './sources.ts'
import { ambiguous, type Refused, type Restored } from '../dialect.ts'
import { entryOf } from '../filter.ts'

export interface Passage {
  /** Returns the replacement of a text. */
  readonly by: (text: string) => string
  /** Called when a part is removed. */
  readonly leftOut: () => void
  /** Called for each block. */
  readonly counted: () => void
  readonly restored: Restored
}

/** Returns the part to forward; undefined to remove it. */
type PartFilter = (value: Json, passage: Passage) => Json | undefined
type Parts = Readonly<Record<string, PartFilter>>

/** A copy of a result's content with its texts replaced. @throws Refused */
export function rephrase(content: Json, passage: Passage): Json {
  return RESULT_CONTENT(content, passage)
}

/** The members of the result itself, with unchanged content. */
export function settingsOf(result: JsonObject, passage: Passage): JsonObject {
  return rebuild(result, RESULT, passage)
}

const PLAIN = /^[\w.:/-]{1,128}$/

const asItIs: PartFilter = (value) => value
const orNull =
  (part: PartFilter): PartFilter =>
  (value, passage) =>
    value === null ? null : part(value, passage)
const flag: PartFilter = (value) => (typeof value === 'boolean' ? value : undefined)
const figure: PartFilter = (value) => (typeof value === 'number' ? value : undefined)
/** A plain word. A mark also looks like one, so the original is tested. */
const word: PartFilter = (value, { restored }) =>
  typeof value === 'string' && PLAIN.test(restored(value)) ? value : undefined
/** A required plain word. */
const name: PartFilter = (value, passage) => {
  if (word(value, passage) === undefined)
    throw ambiguous('a name in a tool result must be a plain word', 'messages')
  return value
}
const text: PartFilter = (value, { by }) => {
  if (typeof value !== 'string') throw unknownContent()
  return by(value)
}
const settings =
  (parts: Parts): PartFilter =>
  (value, passage) =>
    isObject(value) ? rebuild(value, parts, passage) : undefined
const listOf =
  (parts: Parts): PartFilter =>
  (value, passage) => {
    if (!isList(value) || !value.every(isObject)) throw unknownContent()
    return value.map((item) => {
      passage.counted()
      return rebuild(item, parts, passage)
    })
  }

const EVERY: Parts = { type: asItIs, cache_control: orNull(settings({ type: word, ttl: word })) }
const CITATIONS = orNull(settings({ enabled: flag }))

const RESULT: Parts = {
  ...EVERY,
  tool_use_id: asItIs,
  is_error: orNull(flag),
  toolset_name: orNull(word),
  content: asItIs,
}

type BlockFilter = (block: JsonObject, passage: Passage) => JsonObject
type Blocks = Readonly<Record<string, BlockFilter>>

const TEXTS: Blocks = {
  // Citations repeat other texts and have no meaning in a result.
  text: blockOf(['text'], { text: text, citations: (value) => (value === null ? null : undefined) }),
}
const TEXTS_AND_PICTURES: Blocks = {
  ...TEXTS,
  image: blockOf(['source'], {
    source: pictureSource,
    transformations: orNull(settings({ oversized_image: word })),
  }),
}
const RESULT_CONTENT = contentOf({
  ...TEXTS_AND_PICTURES,
  tool_reference: blockOf(['tool_name'], { tool_name: name }),
  document: blockOf(['source'], {
    title: orNull(text),
    context: orNull(text),
    citations: CITATIONS,
    source: documentSource,
  }),
  search_result: blockOf(['content'], {
    title: orNull(text),
    source: orNull(text),
    citations: CITATIONS,
    content: contentOf(TEXTS),
  }),
  browser_state: blockOf(['tabs'], {
    tabs: listOf({ tab_id: name, title: orNull(text), url: orNull(text), active: flag }),
    state_changes: orNull(
      listOf({
        type: name,
        tab_id: name,
        download_id: name,
        url: orNull(text),
        path: orNull(text),
        error: orNull(text),
        size_bytes: orNull(figure),
      }),
    ),
  }),
})

function blockOf(required: readonly string[], parts: Parts): BlockFilter {
  const known = { ...EVERY, ...parts }
  return (block, passage) => {
    passage.counted()
    if (!required.every((each) => Object.hasOwn(block, each))) throw unknownContent()
    return rebuild(block, known, passage)
  }
}

function contentOf(blocks: Blocks): (content: Json, passage: Passage) => Json {
  return (content, passage) => {
    if (typeof content === 'string') return passage.by(content)
    if (!isList(content)) throw unknownContent()
    return content.map((block) => {
      const known = isObject(block) ? entryOf(blocks, block['type']) : undefined
      if (!isObject(block) || !known) throw unknownContent()
      return known(block, passage)
    })
  }
}

function rebuild(object: JsonObject, parts: Parts, passage: Passage): JsonObject {
  const built: Record<string, Json> = {}
  for (const [each, value] of Object.entries(object)) {
    const part = entryOf(parts, each)?.(value, passage)
    if (part === undefined) passage.leftOut()
    else built[each] = part
  }
  return built
}

function pictureSource(source: Json, passage: Passage): JsonObject {
  if (!isObject(source)) throw unknownContent()
  switch (typeof source['type'] === 'string' ? source['type'] : '') {
    case 'base64': {
      const kind = kindOf(source)
      if (!kind?.media.startsWith('image/'))
        throw ambiguous('an image in a tool result has a media type that is no image', 'messages')
      return encoded(source, kind.text, passage)
    }
    case 'url':
      if (typeof source['url'] !== 'string') throw unknownContent()
      if (/^\s*data:/i.test(passage.restored(source['url']))) throw notInline('image')
      return rebuild(source, { type: asItIs, url: text }, passage)
    case 'file':
      throw notInline('image')
    default:
      throw unknownContent()
  }
}

function documentSource(source: Json, passage: Passage): JsonObject {
  if (!isObject(source)) throw unknownContent()
  switch (typeof source['type'] === 'string' ? source['type'] : '') {
    case 'base64': {
      const kind = kindOf(source)
      if (!kind?.text && kind?.media !== 'application/pdf') {
        throw ambiguous('a document in a tool result must be text or PDF', 'messages')
      }
      return encoded(source, kind.text, passage)
    }
    case 'text':
      if (typeof source['data'] !== 'string') throw unknownContent()
      return rebuild(source, { type: asItIs, media_type: word, data: text }, passage)
    case 'content':
      if (!Object.hasOwn(source, 'content')) throw unknownContent()
      return rebuild(source, { type: asItIs, content: contentOf(TEXTS_AND_PICTURES) }, passage)
    case 'url':
    case 'file':
      throw notInline('document')
    default:
      throw unknownContent()
  }
}

/** A base64 source. If it is text, it is read like any other. */
function encoded(source: JsonObject, isText: boolean, passage: Passage): JsonObject {
  const data: PartFilter = (value) => {
    if (typeof value !== 'string' || !(isText || isBase64(value))) throw unknownContent()
    if (!isText) return value
    const text = textIn(passage.restored(value))
    const other = passage.by(text)
    return other === text ? value : dataOf(other)
  }
  if (!Object.hasOwn(source, 'data')) throw unknownContent()
  return rebuild(source, { type: asItIs, media_type: asItIs, data }, passage)
}

function unknownContent(): Refused {
  return ambiguous(
    'a tool result holds content of an unknown type; send texts, images, documents or search results',
    'messages',
  )
}

function notInline(what: string): Refused {
  return ambiguous(
    `a tool result refers to a ${what} at another place, which the gateway cannot inspect; send the content itself`,
    'messages',
  )
}
