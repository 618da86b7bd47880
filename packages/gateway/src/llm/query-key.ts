// Takes the key out of a query. Some clients send it there, and a token of an agent must never reach a model server.

import { ambiguous } from './dialect.ts'

interface TakenKey {
  /** The query without the key. */
  readonly search: string
  readonly key: string | undefined
}

/** Takes the value of a parameter out of a query. @throws Refused if it is there twice or cannot be read. */
export function takeKey(search: string, parameter: string | undefined): TakenKey {
  if (parameter === undefined || search === '') return { search, key: undefined }
  const pairs = search.split('&')
  const isKey = (pair: string): boolean => decoded(pair.split('=', 1)[0] ?? '') === parameter
  const [found, ...others] = pairs.filter(isKey)
  if (found === undefined) return { search, key: undefined }
  if (others.length > 0) throw ambiguous(`the query has \`${parameter}\` twice; send it once`)
  const key = decoded(found.slice(found.indexOf('=') + 1))
  return { search: pairs.filter((pair) => !isKey(pair)).join('&'), key }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw ambiguous('the query is not valid: a `%` must be followed by two hexadecimal digits of UTF-8')
  }
}
