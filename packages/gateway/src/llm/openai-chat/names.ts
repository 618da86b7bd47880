// Names that are nothing but names, and what a call is called that has no id.

import type { Json } from '@tollgate/evidence'
import { word } from '../filter.ts'

/** A name in which no text can hide; undefined for anything else. */
export function plainName(value: Json | undefined): string | undefined {
  const name = word(value)
  return name === '' ? undefined : name
}

/** What a `function_call` and its result have in common; undefined if it has no plain name. */
export function legacyRef(name: Json | undefined): string | undefined {
  const plain = plainName(name)
  return plain === undefined ? undefined : `function:${plain}`
}
