// Reads a Gemini request: its tools, texts with their channels, and results of functions.

import { isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { ambiguous, type RequestReading, type Restored } from '../dialect.ts'
import { isGiven } from '../filter.ts'
import { takeMembers, type RequestMembers } from '../request-members.ts'
import { CONTENT_MEMBERS, COUNT_MEMBERS } from './request-members.ts'
import { Spelling } from './spelling.ts'
import { OfferedTools } from './tools.ts'
import { readTurns } from './turns.ts'

const asItIs: Restored = (text) => text

/** Reads a request for content. Whether the reply is streamed is a part of the path. @throws Refused */
export function readContentRequest(
  stream: boolean,
  body: JsonObject,
  further: ReadonlySet<string>,
  restored: Restored = asItIs,
): RequestReading {
  const spelling = new Spelling()
  return { ...readContent(spelling, body, further, restored), stream, changed: spelling.changed }
}

/** Reads a request whose tokens are counted: a conversation, or a whole request for content. @throws Refused */
export function readCountRequest(body: JsonObject, further: ReadonlySet<string>): RequestReading {
  const spelling = new Spelling()
  takeSpelled(spelling, body, COUNT_MEMBERS, further)
  const inner = spelling.object(body['generateContentRequest'], 'generateContentRequest')
  if (inner && isGiven(body['contents'])) {
    throw ambiguous('send `contents` or `generateContentRequest`, not both', 'generateContentRequest')
  }
  const reading = readContent(spelling, inner ?? body, inner ? further : COUNTED, asItIs)
  return { ...reading, stream: false, changed: spelling.changed }
}

/** A conversation without tools has been checked already. */
const COUNTED: ReadonlySet<string> = new Set(['generateContentRequest'])

function readContent(
  spelling: Spelling,
  body: JsonObject,
  further: ReadonlySet<string>,
  restored: Restored,
): Omit<RequestReading, 'stream'> {
  takeSpelled(spelling, body, CONTENT_MEMBERS, further)
  const list = new OfferedTools(spelling)
  list.takeAll(body)
  const { turns, unnamed } = readTurns(body, spelling, restored)
  return {
    structured: isStructured(spelling.object(body['generationConfig'], 'generationConfig')),
    forced: isForced(body, spelling),
    tools: list.tools,
    hosted: list.hosted,
    turns,
    unnamed,
  }
}

function takeSpelled(
  spelling: Spelling,
  body: JsonObject,
  members: RequestMembers,
  further: ReadonlySet<string>,
): void {
  spelling.object(body, 'the request')
  if (takeMembers(body, members, further)) spelling.changed = true
}

const FORMATS: readonly string[] = [
  'responseSchema',
  'responseJsonSchema',
  '_responseJsonSchema',
  'responseFormat',
]

function isStructured(config: JsonObject = {}): boolean {
  const { responseMimeType: type } = config
  if (isGiven(type) && type !== 'text/plain') return true
  return FORMATS.some((name) => isGiven(config[name]))
}

const FREE: ReadonlySet<Json | undefined> = new Set(['AUTO', 'NONE', 'VALIDATED', 'MODE_UNSPECIFIED'])

/** Whether the reply must have a call: with every mode but a free one. Arguments in pieces are switched off. */
function isForced(body: JsonObject, spelling: Spelling): boolean {
  const config = spelling.object(body['toolConfig'], 'toolConfig')
  const calling = spelling.object(config?.['functionCallingConfig'], 'toolConfig')
  if (!isObject(calling)) return false
  // A call in pieces could not be judged before its end, and would gain nothing.
  if (Reflect.has(calling, 'streamFunctionCallArguments')) {
    Reflect.deleteProperty(calling, 'streamFunctionCallArguments')
    spelling.changed = true
  }
  const { mode } = calling
  return isGiven(mode) && !FREE.has(mode)
}
