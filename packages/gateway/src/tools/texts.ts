// All the texts of a definition, names of members too, each with its place.

import type { Json, JsonObject } from '@tollgate/evidence'
import { isList, isObject } from './offer.ts'

/** A text in a definition. */
export interface Placed {
  /** A JSON pointer into what the server said. */
  readonly at: string
  readonly text: string
  /** It is the name of a member, and not the value of one. */
  readonly isName: boolean
}

/** Every text, the names of members before their values. */
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
