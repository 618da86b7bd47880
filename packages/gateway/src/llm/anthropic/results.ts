// The content of tool results: what of it a model would read, piece by piece, and how other texts are put in their places. A part
// that is not known here is left out, and what could hide a text from us is refused.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { dataOf, isBase64, kindOf, textIn } from './sources.ts'
import { Refused, type Restored } from '../dialect.ts'

/** What is done with the parts of a result. */
export interface Passage {
  /** Gives what goes in place of a text. */
  readonly by: (text: string) => string
  /** Is told that a part was left out. */
  readonly leftOut: () => void
  /** Is told of each block. */
  readonly counted: () => void
  readonly restored: Restored
}

/** Gives a part as it goes on; undefined if it does not. */
type PartFilter = (value: Json, passage: Passage) => Json | undefined
type Parts = Readonly<Record<string, PartFilter>>

/** The content of a result with its texts replaced, as a new value. @throws Refused */
export function rephrase(content: Json, passage: Passage): Json {
  return RESULT_CONTENT(content, passage)
}

/** The members of a result itself. Its content is as it was. */
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
/** A plain word. A long one is a mark, which looks like a plain word. */
const word: PartFilter = (value, { restored }) =>
  typeof value === 'string' && PLAIN.test(restored(value)) ? value : undefined
/** The same, where nothing goes without it. */
const name: PartFilter = (value, passage) => {
  if (word(value, passage) === undefined) throw refused('a name in a tool result is not a plain word')
  return value
}
const said: PartFilter = (value, { by }) => {
  if (typeof value !== 'string') throw strange()
  return by(value)
}
const settings =
  (parts: Parts): PartFilter =>
  (value, passage) =>
    isObject(value) ? rebuild(value, parts, passage) : undefined
const listOf =
  (parts: Parts): PartFilter =>
  (value, passage) => {
    if (!isList(value) || !value.every(isObject)) throw strange()
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
type Blocks = ReadonlyMap<string, BlockFilter>

// Citations repeat the words of others, and mean nothing in a result.
const TEXT = blockOf(['text'], { text: said, citations: (value) => (value === null ? null : undefined) })
const IMAGE = blockOf(['source'], {
  source: pictureSource,
  transformations: orNull(settings({ oversized_image: word })),
})
const TEXTS: Blocks = new Map([['text', TEXT]])
const TEXTS_AND_PICTURES: Blocks = new Map([...TEXTS, ['image', IMAGE]])
const RESULT_BLOCKS: Blocks = new Map([
  ...TEXTS_AND_PICTURES,
  ['tool_reference', blockOf(['tool_name'], { tool_name: name })],
  [
    'document',
    blockOf(['source'], {
      title: orNull(said),
      context: orNull(said),
      citations: CITATIONS,
      source: documentSource,
    }),
  ],
  [
    'search_result',
    blockOf(['content'], {
      title: orNull(said),
      source: orNull(said),
      citations: CITATIONS,
      content: contentOf(TEXTS),
    }),
  ],
  [
    'browser_state',
    blockOf(['tabs'], {
      tabs: listOf({ tab_id: name, title: orNull(said), url: orNull(said), active: flag }),
      state_changes: orNull(
        listOf({
          type: name,
          tab_id: name,
          download_id: name,
          url: orNull(said),
          path: orNull(said),
          error: orNull(said),
          size_bytes: orNull(figure),
        }),
      ),
    }),
  ],
])
const RESULT_CONTENT = contentOf(RESULT_BLOCKS)

function blockOf(required: readonly string[], parts: Parts): BlockFilter {
  const known = { ...EVERY, ...parts }
  return (block, passage) => {
    passage.counted()
    if (!required.every((each) => Object.hasOwn(block, each))) throw strange()
    return rebuild(block, known, passage)
  }
}

function contentOf(blocks: Blocks): (content: Json, passage: Passage) => Json {
  return (content, passage) => {
    if (typeof content === 'string') return passage.by(content)
    if (!isList(content)) throw strange()
    return content.map((block) => {
      const type = isObject(block) ? block['type'] : undefined
      const known = typeof type === 'string' ? blocks.get(type) : undefined
      if (!isObject(block) || !known) throw strange()
      return known(block, passage)
    })
  }
}

function rebuild(object: JsonObject, parts: Parts, passage: Passage): JsonObject {
  const built: Record<string, Json> = {}
  for (const [each, value] of Object.entries(object)) {
    const part = Object.hasOwn(parts, each) ? parts[each]?.(value, passage) : undefined
    if (part === undefined) passage.leftOut()
    else built[each] = part
  }
  return built
}

function pictureSource(source: Json, passage: Passage): JsonObject {
  if (!isObject(source)) throw strange()
  switch (typeof source['type'] === 'string' ? source['type'] : '') {
    case 'base64': {
      const kind = kindOf(source)
      if (!kind?.media.startsWith('image/')) throw refused('an image in a tool result is said to be none')
      return encoded(source, kind.text, passage)
    }
    case 'url':
      if (typeof source['url'] !== 'string') throw strange()
      if (/^\s*data:/i.test(passage.restored(source['url']))) throw notHere('image')
      return rebuild(source, { type: asItIs, url: said }, passage)
    case 'file':
      throw notHere('image')
    default:
      throw strange()
  }
}

function documentSource(source: Json, passage: Passage): JsonObject {
  if (!isObject(source)) throw strange()
  switch (typeof source['type'] === 'string' ? source['type'] : '') {
    case 'base64': {
      const kind = kindOf(source)
      if (!kind?.text && kind?.media !== 'application/pdf') {
        throw refused('a document in a tool result is neither a text nor a PDF')
      }
      return encoded(source, kind.text, passage)
    }
    case 'text':
      if (typeof source['data'] !== 'string') throw strange()
      return rebuild(source, { type: asItIs, media_type: word, data: said }, passage)
    case 'content':
      if (!Object.hasOwn(source, 'content')) throw strange()
      return rebuild(source, { type: asItIs, content: contentOf(TEXTS_AND_PICTURES) }, passage)
    case 'url':
    case 'file':
      throw notHere('document')
    default:
      throw strange()
  }
}

/** What comes as base64. If it is a text, it is read like any other. */
function encoded(source: JsonObject, isText: boolean, passage: Passage): JsonObject {
  const data: PartFilter = (value) => {
    if (typeof value !== 'string' || !(isText || isBase64(value))) throw strange()
    if (!isText) return value
    const text = textIn(passage.restored(value))
    const other = passage.by(text)
    return other === text ? value : dataOf(other)
  }
  if (!Object.hasOwn(source, 'data')) throw strange()
  return rebuild(source, { type: asItIs, media_type: asItIs, data }, passage)
}

function strange(): Refused {
  return refused(
    'a tool result holds content of a kind that is not known here; send texts, images, documents or search results',
  )
}

function notHere(what: string): Refused {
  return refused(
    `the provider would get the ${what} of a tool result from elsewhere, where nobody here has read it; send the content itself`,
  )
}

function refused(message: string): Refused {
  return new Refused(400, 'AMBIGUOUS_INPUT', message, 'messages')
}
