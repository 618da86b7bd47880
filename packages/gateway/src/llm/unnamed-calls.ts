// References of calls without an id. A result then refers to its call by the name of the function.

import { canonicalize, sha256Hex, type Json } from '@tollgate/evidence'

/** The start of a reference by name. The newest call with such a reference counts. */
export const BY_NAME = 'function:'

/**
 * The reference of a call by its name and arguments; undefined if the arguments have no canonical form. The character `#` keeps the
 * hash out of traces, which show only plain ids.
 */
export function referenceTo(name: string, args: Json): string | undefined {
  try {
    return `${BY_NAME}${name}#${sha256Hex(canonicalize(args))}`
  } catch {
    // Invalid Unicode or too deep nesting. Such a call is denied, so it has no result.
    return undefined
  }
}

/** Counts the equal calls of one conversation, so that each has a reference of its own. */
export class UnnamedCalls {
  readonly #counts = new Map<string, number>()

  /** The reference of the next call with this name and these arguments. */
  next(reference: string | undefined): string | undefined {
    if (reference === undefined) return undefined
    const count = (this.#counts.get(reference) ?? 0) + 1
    this.#counts.set(reference, count)
    return `${reference}#${count}`
  }
}
