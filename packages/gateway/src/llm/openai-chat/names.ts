// Plain names, and references for calls without an id.

import type { Json } from '@tollgate/evidence'
import { word } from '../filter.ts'

/** A name that cannot hold a sentence; undefined for anything else. */
export function plainName(value: Json | undefined): string | undefined {
  const name = word(value)
  return name === '' ? undefined : name
}

/** The reference that a `function_call` and its result share; undefined without a plain name. */
export function legacyRef(name: Json | undefined): string | undefined {
  const plain = plainName(name)
  return plain === undefined ? undefined : `function:${plain}`
}
