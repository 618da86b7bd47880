// Results of functions in a Gemini request. Everything that is forwarded has been read: the names and texts of the response, and text
// files beside it. Unknown members are removed.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { ambiguous, type Restored, type Result } from '../dialect.ts'
import { readFileData } from '../files.ts'
import { isGiven, word } from '../filter.ts'
import type { Spelling } from './spelling.ts'

const KNOWN: readonly string[] = ['id', 'name', 'response', 'parts', 'scheduling', 'willContinue']

/** Reads a result. `call` is the call that it answers. @throws Refused */
export function readResult(
  given: JsonObject,
  call: { readonly name: string; readonly ref: string | undefined } | undefined,
  spelling: Spelling,
  restored: Restored,
): Result {
  // Sound: the body may be changed.
  const own = given as Record<string, Json>
  takeOut(own, spelling)
  const parts = spelling.list(own, 'parts', 'contents')
  for (const part of parts) checkPart(part, spelling)
  const response = own['response'] ?? {}
  if (!isObject(response)) throw ambiguous('the response of a function must be an object', 'contents')
  const texts: string[] = []
  const noted = (text: string): string => {
    texts.push(text)
    return text
  }
  rewrite(own, noted, restored)
  return {
    kind: 'result',
    ref: call?.ref,
    tool: call?.name ?? word(own['name']),
    failed: isGiven(response['error']),
    content: parts.length > 0 ? { response, parts } : response,
    texts,
    rewrite(others) {
      if (others.length !== texts.length) throw new RangeError('the number of texts must stay the same')
      const next = others.values()
      Object.assign(
        own,
        rewrite(own, () => next.next().value ?? '', restored),
      )
    },
    withhold(note) {
      own['response'] = { output: note }
      Reflect.deleteProperty(own, 'parts')
    },
  }
}

/** Removes unknown members, because a model may read them. */
function takeOut(own: Record<string, Json>, spelling: Spelling): void {
  for (const name of Object.keys(own)) {
    const isPlain = name === 'willContinue' ? typeof own[name] === 'boolean' : isWord(name, own[name])
    if (KNOWN.includes(name) && isPlain) continue
    Reflect.deleteProperty(own, name)
    spelling.changed = true
  }
}

/** Whether a member that is forwarded unread cannot hold a sentence. */
function isWord(name: string, value: Json | undefined): boolean {
  return name === 'response' || name === 'parts' || word(value) !== undefined
}

function checkPart(part: JsonObject, spelling: Spelling): void {
  const file = spelling.object(part['inlineData'], 'contents')
  const [only, ...others] = Object.keys(part)
  if (only !== 'inlineData' || others.length > 0 || !file) {
    const message = 'a result of a function has a part that is no inline data; send the content itself'
    throw ambiguous(message, 'contents')
  }
  const names = Object.keys(file)
  if (!names.every((name) => ['mimeType', 'data', 'displayName'].includes(name))) {
    throw ambiguous('inline data in a result of a function has an unknown member', 'contents')
  }
}

/** The response and the parts with their texts replaced. */
function rewrite(
  { response = {}, parts }: JsonObject,
  by: (text: string) => string,
  restored: Restored,
): Record<string, Json> {
  const others = { response: rephrased(response, by, 0) }
  if (!isList(parts)) return others
  return { ...others, parts: parts.map((part) => (isObject(part) ? filePart(part, by, restored) : part)) }
}

const MAX_DEPTH = 64
// A name that cannot hold a sentence. Longer numbers can be a secret.
const NAME = /^[\w.$:/-]{1,64}$/
const LONG_NUMBER = 1e6
const MEDIA = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/

/** A value with its texts replaced: strings, long numbers, and names that could be a sentence. */
function rephrased(value: Json, by: (text: string) => string, depth: number): Json {
  if (depth > MAX_DEPTH) throw ambiguous('the result of a function is nested too deeply', 'contents')
  if (typeof value === 'string') return by(value)
  if (typeof value === 'number') return Math.abs(value) < LONG_NUMBER ? value : numbered(value, by)
  if (isList(value)) return value.map((item) => rephrased(item, by, depth + 1))
  if (!isObject(value)) return value
  const members = Object.entries(value).map(([name, member]): [string, Json] => {
    return [NAME.test(name) ? name : by(name), rephrased(member, by, depth + 1)]
  })
  return Object.fromEntries(members)
}

function numbered(value: number, by: (text: string) => string): Json {
  const text = String(value)
  const other = by(text)
  return other === text ? value : other
}

/** A part with a file. The text of a text file is replaced. Pictures are not read. */
function filePart(part: JsonObject, by: (text: string) => string, restored: Restored): JsonObject {
  // Sound: the parts have been checked.
  const file = part['inlineData'] as JsonObject
  const { data, mimeType, displayName } = file
  const title = typeof displayName === 'string' ? { displayName: by(displayName) } : {}
  const media = typeof mimeType === 'string' && MEDIA.test(mimeType) ? mimeType : undefined
  if (typeof data !== 'string' || media === undefined) throw unreadable()
  const head = `data:${media};base64,`
  const read = readFileData(head + restored(data))
  if (read.kind === 'unreadable') throw unreadable()
  if (read.kind === 'other') return { inlineData: { mimeType: media, data, ...title } }
  const other = by(read.text)
  const encoded = other === read.text ? data : read.encode(other).slice(head.length)
  return { inlineData: { mimeType: media, data: encoded, ...title } }
}

function unreadable(): Error {
  return ambiguous(
    'inline data in a result of a function cannot be read; send base64 with its type',
    'contents',
  )
}
