// Texts of an approved server that belong to no governed call: log messages, progress, descriptions in lists. A model may read them, so
// they are bounded, and what the scanner finds in them is cut out.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { isHard, scanText } from '@tollgate/kernel/detection'
import { LEVELS } from './protocol.ts'
import { textOf } from './message.ts'

const MAX_TEXT = 1024
const MAX_DATA = 8192
// Terminals act on them, and people do not see them.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
const LOGGER = /^[\w.:/@ -]{1,128}$/

/** A text as it may be told: no longer than this, and without what gives orders to a model or is a secret. */
export function toldText(said: string, most: number = MAX_TEXT): string {
  const text = said.slice(0, most).toWellFormed().replace(CONTROL, '')
  // Where one part gives orders, the rest is about them.
  return removalOf(text) ?? text
}

/** The words that replace a text; undefined if nothing is found in it. */
function removalOf(text: string): string | undefined {
  const [found] = [text, spelled(text)].flatMap((each) =>
    scanText(each).filter((finding) => finding.class === 'secret' || isHard(finding)),
  )
  return found && `[removed by Tollgate: ${found.code}]`
}

/** A text with a space between the words of its names: a model reads `ignore_all` and `ignoreAll` as words, the scanner does not. */
function spelled(text: string): string {
  return text.replaceAll(/(?<=[\p{L}\p{N}])[_.\-/+~:]+(?=[\p{L}\p{N}])|(?<=\p{Ll}|\p{N})(?=\p{Lu})/gu, ' ')
}

/** Whether a text can be told as it is. */
export function isTold(said: string, most: number = MAX_TEXT): boolean {
  return said.length <= most && toldText(said, most) === said
}

/** JSON whose texts, names of members too, are as they may be told. Undefined if it is too much. */
export function toldJson(said: Json): Json | undefined {
  if (textOf(said).length > MAX_DATA) return undefined
  const told = rewritten(said)
  // Cut into pieces, an order is in none of them.
  return removalOf(textsIn(told).join(' ')) ?? told
}

function textsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value]
  if (isList(value)) return value.flatMap(textsIn)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, each]) => [name, ...textsIn(each)])
}

function rewritten(value: Json): Json {
  if (typeof value === 'string') return toldText(value, MAX_DATA)
  if (isList(value)) return value.map(rewritten)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [toldText(name), rewritten(each)]))
}

/** The parameters of a log message as they may be told; undefined if it is none, or below the least level. */
export function toldMessage(params: JsonObject, least: string | undefined): JsonObject | undefined {
  const { level, logger, data } = params
  const at = LEVELS.findIndex((each) => each === level)
  if (at < 0 || data === undefined || (least !== undefined && at < LEVELS.indexOf(least))) return undefined
  const named = typeof logger === 'string' && LOGGER.test(logger) && isTold(logger)
  return {
    level: LEVELS[at] ?? '',
    ...(named && { logger }),
    data: toldJson(data) ?? '[removed by Tollgate: TOO_LONG]',
  }
}

/** The parameters of a progress notification as they may be told, without a token. */
export function toldProgress({ progress, total, message }: JsonObject): JsonObject | undefined {
  if (typeof progress !== 'number') return undefined
  return {
    progress,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message: toldText(message) }),
  }
}

/** Lets so much pass in a minute: what a server says by itself costs the scanner, and fills the client. */
export function createFlow(most = 1000): () => boolean {
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
