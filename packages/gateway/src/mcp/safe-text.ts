// Makes texts of an approved server safe that belong to no governed call: log messages, progress, descriptions. A model may
// read them, so their length is limited and findings are removed.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { isHard, scanText } from '@tollgate/kernel/detection'
import { LEVELS } from './protocol.ts'
import { textOf } from './message.ts'

const MAX_TEXT = 1024
const MAX_DATA = 8192
// Terminals interpret them, and people do not see them.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
const LOGGER = /^[\w.:/@ -]{1,128}$/

/** A text of limited length. A text with instructions for a model or a secret is replaced as a whole. */
export function safeText(given: string, most: number = MAX_TEXT): string {
  const text = given.slice(0, most).toWellFormed().replace(CONTROL, '')
  return removalOf(text) ?? text
}

/** The replacement for a text with findings; undefined if there are none. */
function removalOf(text: string): string | undefined {
  const [found] = [text, spelled(text)].flatMap((each) =>
    scanText(each).filter((finding) => finding.class === 'secret' || isHard(finding)),
  )
  return found && `[removed by Tollgate: ${found.code}]`
}

/** Separates the words in names: a model reads `ignore_all` and `ignoreAll` as words, the scanner does not. */
function spelled(text: string): string {
  return text.replaceAll(/(?<=[\p{L}\p{N}])[_.\-/+~:]+(?=[\p{L}\p{N}])|(?<=\p{Ll}|\p{N})(?=\p{Lu})/gu, ' ')
}

/** Whether a text is safe without changes. */
export function isSafeText(text: string, most: number = MAX_TEXT): boolean {
  return text.length <= most && safeText(text, most) === text
}

/** JSON with safe texts and member names. Undefined if it is too large. */
export function safeJson(value: Json): Json | undefined {
  if (textOf(value).length > MAX_DATA) return undefined
  const safe = rewritten(value)
  // Finds instructions that are split over several texts.
  return removalOf(textsIn(safe).join(' ')) ?? safe
}

function textsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value]
  if (isList(value)) return value.flatMap(textsIn)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, each]) => [name, ...textsIn(each)])
}

function rewritten(value: Json): Json {
  if (typeof value === 'string') return safeText(value, MAX_DATA)
  if (isList(value)) return value.map(rewritten)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [safeText(name), rewritten(each)]))
}

/** Safe parameters of a log message; undefined if it is invalid or below the lowest level. */
export function safeMessage(params: JsonObject, least: string | undefined): JsonObject | undefined {
  const { level, logger, data } = params
  const at = LEVELS.findIndex((each) => each === level)
  if (at < 0 || data === undefined || (least !== undefined && at < LEVELS.indexOf(least))) return undefined
  const named = typeof logger === 'string' && LOGGER.test(logger) && isSafeText(logger)
  return {
    level: LEVELS[at] ?? '',
    ...(named && { logger }),
    data: safeJson(data) ?? '[removed by Tollgate: TOO_LONG]',
  }
}

/** Safe parameters of a progress notification, without its token. */
export function safeProgress({ progress, total, message }: JsonObject): JsonObject | undefined {
  if (typeof progress !== 'number') return undefined
  return {
    progress,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message: safeText(message) }),
  }
}

/** Allows `most` calls per minute. Unrequested messages of a server cost scanning time and fill the client. */
export function createRateLimit(most = 1000): () => boolean {
  let began = 0
  let passed = 0
  return () => {
    const now = performance.now()
    if (passed === 0 || now - began >= 60_000) {
      began = now
      passed = 0
    }
    return ++passed <= most
  }
}
