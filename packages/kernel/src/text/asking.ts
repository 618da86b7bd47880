// Decides whether a text asks its reader for an action with consequences. Reading is no such action.

import { ANYWHERE, HEADS, LEADS, NOUNS, VERBS, WITHIN } from './asking-data.ts'

const TOKEN = /[\p{L}\p{M}\p{N}'’_-]+|[^\s\p{L}\p{M}\p{N}]/gu
const WORD = /[\p{L}\p{N}]/u
const NUMBER = /^\d+$/

/** Returns whether a text asks for an action. The time is linear in its length. */
export function asksForAction(text: string): boolean {
  if (WITHIN.test(text)) return true
  const tokens = text.toLowerCase().match(TOKEN) ?? []
  // An English verb is an order at the start of a sentence, a clause or an item, or after certain words.
  let isStart = true
  for (const [i, token] of tokens.entries()) {
    if (!WORD.test(token)) isStart = token !== "'"
    else if (ANYWHERE.has(token) || (isStart && VERBS.has(token) && !isLabel(tokens, i))) return true
    else isStart = LEADS.has(token) || NUMBER.test(token)
  }
  return false
}

/** Returns whether a word names a field and not an action: "Email:", "Order number:", "report_date =". */
function isLabel(tokens: readonly string[], i: number): boolean {
  if (!NOUNS.has(tokens[i] ?? '')) return false
  const next = tokens[i + 1] ?? ''
  return isMark(next) || (HEADS.has(next) && isMark(tokens[i + 2] ?? ''))
}

function isMark(token: string): boolean {
  return token === ':' || token === '=' || token === '|'
}
