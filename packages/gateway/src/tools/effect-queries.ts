// Tells queries that only read from those that may write.

import { READING_LANGUAGES, setOf } from './effect-verbs.ts'
import { claimsReading, MAX_READ, wordsOf } from './effect-words.ts'

/** Whether it runs queries that cannot write: they are said to be read-only, or their language only reads, such as PromQL. */
export function isReadingQuery(tool: string, description: string): boolean {
  const [first = ''] = description.slice(0, MAX_READ).toLowerCase().split('.')
  const words = wordsOf(first)
  const isReading = claimsReading(words) || words.some((each) => READING_LANGUAGES.has(each))
  return isReading && QUERIES.has(wordsOf(tool.slice(0, MAX_NAME)).at(-1) ?? '')
}

const QUERIES = setOf('query sql')

const MAX_NAME = 256

/** Whether a description mentions SQL that may also write. */
export function isOpenSql(description: string): boolean {
  const words = wordsOf(description.slice(0, MAX_READ))
  return words.includes('sql') && !claimsReading(words)
}
