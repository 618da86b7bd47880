import type { Json, JsonObject } from '@tollgate/evidence'
import type { RequestReading, Restored } from '../dialect.ts'
import { checkParameters } from './parameters.ts'
import { readTools, unreadable } from './tools.ts'
import { readTurns } from './turns.ts'

/** Reads a Chat Completions request before it is forwarded. @throws Refused */
export function readChatRequest(
  body: JsonObject,
  further: ReadonlySet<string>,
  restored: Restored = (text) => text,
): RequestReading {
  checkParameters(body, further)
  return { stream: isStream(body['stream']), ...readTools(body), ...readTurns(body, restored) }
}

function isStream(stream: Json | undefined): boolean {
  if (stream === true) return true
  if (stream === undefined || stream === null || stream === false) return false
  throw unreadable('`stream` must be true or false', 'stream')
}
