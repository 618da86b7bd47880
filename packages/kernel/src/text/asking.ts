// Whether a stretch of text asks its reader to do something that has consequences. To look at something is none.

import { ANYWHERE, HEADS, LEADS, NOUNS, VERBS, WITHIN } from './asking-data.ts'

const TOKEN = /[\p{L}\p{M}\p{N}'’_-]+|[^\s\p{L}\p{M}\p{N}]/gu
const WORD = /[\p{L}\p{N}]/u
const NUMBER = /^\d+$/

/** Whether a stretch of text asks for an action. Linear in its length. */
export function asksForAction(text: string): boolean {
  if (WITHIN.test(text)) return true
  const tokens = text.toLowerCase().match(TOKEN) ?? []
  // An English verb is an order where a sentence, a clause or an item begins, or behind certain words.
  let isFresh = true
  for (const [i, token] of tokens.entries()) {
    if (!WORD.test(token)) isFresh = token !== "'"
    else if (ANYWHERE.has(token) || (isFresh && VERBS.has(token) && !isLabel(tokens, i))) return true
    else isFresh = LEADS.has(token) || NUMBER.test(token)
  }
  return false
}

/** Whether a word names a field rather than a deed: "Email:", "Order number:", "report_date =". */
function isLabel(tokens: readonly string[], i: number): boolean {
  if (!NOUNS.has(tokens[i] ?? '')) return false
  const next = tokens[i + 1] ?? ''
  return isMark(next) || (HEADS.has(next) && isMark(tokens[i + 2] ?? ''))
}

function isMark(token: string): boolean {
  return token === ':' || token === '=' || token === '|'
}
