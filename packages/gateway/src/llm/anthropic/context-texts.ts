// Finds the texts in documents, search results and provider output of a request.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { kindOf, textIn } from './sources.ts'
import { ambiguous, type Restored } from '../dialect.ts'

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
const MAX_DEPTH = 32

/** The texts in a document, a search result or provider output of any type. @throws Refused */
export function wordsIn(block: Json, restored: Restored): readonly string[] {
  const texts: string[] = []
  gather(block, restored, texts, 0)
  return texts
}

function gather(value: Json, restored: Restored, texts: string[], depth: number): void {
  if (depth > MAX_DEPTH) throw ambiguous('a message is nested too deeply; send a flatter one', 'messages')
  if (isList(value)) {
    for (const item of value) gather(item, restored, texts, depth + 1)
  } else if (isObject(value)) gatherMembers(value, restored, texts, depth)
}

function gatherMembers(object: JsonObject, restored: Restored, texts: string[], depth: number): void {
  for (const [name, value] of Object.entries(object)) {
    if (typeof value === 'string') {
      if (READABLE.has(name)) texts.push(value)
      else if (name === 'data') texts.push(...sourceText(object, value, restored))
    } else if (READABLE.has(name) && isList(value)) {
      for (const item of value) {
        if (typeof item === 'string') texts.push(item)
        else gather(item, restored, texts, depth + 1)
      }
    } else gather(value, restored, texts, depth + 1)
  }
}

function sourceText(source: JsonObject, data: string, restored: Restored): readonly string[] {
  if (source['type'] === 'text') return [data]
  return source['type'] === 'base64' && kindOf(source)?.text === true ? [textIn(restored(data))] : []
}
