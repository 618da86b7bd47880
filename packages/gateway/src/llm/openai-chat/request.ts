// Reads a Chat Completions request before it is forwarded.

import type { JsonObject } from '@tollgate/evidence'
import type { RequestReading, Restored } from '../dialect.ts'
import { isForced, isStructured, streamOf } from '../parameters.ts'
import { takeMembers } from '../request-members.ts'
import { CHAT_MEMBERS } from './request-members.ts'
import { readTools } from './tools.ts'
import { readTurns } from './turns.ts'

/** Reads a Chat Completions request. @throws Refused */
export function readChatRequest(
  body: JsonObject,
  further: ReadonlySet<string>,
  restored: Restored = (text) => text,
): RequestReading {
  const dropped = takeMembers(body, CHAT_MEMBERS, further)
  const turns = readTurns(body, restored)
  const structured = isStructured(body['response_format'])
  const forced = isForced(body['tool_choice']) || isForced(body['function_call'])
  return {
    stream: streamOf(body),
    structured,
    forced,
    ...readTools(body),
    ...turns,
    changed: dropped || turns.changed,
  }
}
