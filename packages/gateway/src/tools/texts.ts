// Yields all texts of a definition, including member names, with their positions.

import type { Json, JsonObject } from '@tollgate/evidence'
import { isList, isObject } from './offer.ts'

export interface Placed {
  /** A JSON pointer into the server's part of the definition. */
  readonly at: string
  readonly text: string
  /** Whether it is the name of a member, not a value. */
  readonly isName: boolean
}

/** All texts. Member names come before their values. */
export function* textsIn(value: Json, at = ''): Generator<Placed> {
  if (typeof value === 'string') yield { at, text: value, isName: false }
  else if (isList(value)) {
    for (const [i, item] of value.entries()) yield* textsIn(item, `${at}/${i}`)
  } else if (isObject(value)) yield* textsOfMembers(value, at)
}

function* textsOfMembers(value: JsonObject, at: string): Generator<Placed> {
  for (const [name, member] of Object.entries(value)) {
    const place = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    yield { at: place, text: name, isName: true }
    yield* textsIn(member, place)
  }
}
