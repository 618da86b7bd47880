// Finds opaque values in a text: values that a model can only copy, not rephrase.
//
// Found at word boundaries: e-mail addresses; URLs with a scheme, and bare hosts with or without a path, each also as a host;
// IBANs, payment cards, telephone numbers with `+`; wallets; ids; keys. Values inside a URL are found too.
//
// Look-alike characters are folded first. Not decoded: percent-encoding that a URL needs, HTML entities, base64, `evil[.]com`.
// Not found: values that are wrapped over two lines, bare IPv6 addresses, names of one label, telephone numbers without `+`, and
// the domain of an e-mail address as a separate value.

import { hostText } from './address.ts'
import { foldInPlace } from './fold.ts'
import { Scanner, type Value } from './scan.ts'

export type { Value, ValueKind } from './scan.ts'

// A text without these has no values. This rules out most short texts.
const SUSPECT = /[0-9@:/\u0080-\uffff]|[A-Za-z]\.[A-Za-z]/

/** The default maximum number of values per text. */
export const MOST_VALUES: number = 256

/**
 * Returns the opaque values of a text, sorted by start, with every occurrence. A list of `limit` values may be incomplete. The
 * time is linear in the length. Never throws.
 */
export function valuesIn(text: string, limit: number = MOST_VALUES): readonly Value[] {
  if (!SUSPECT.test(text)) return []
  return new Scanner(foldInPlace(text), limit).run()
}

/** Returns the value of a known host, such as the host of a destination. */
export function hostValue(host: string): { readonly kind: 'host'; readonly text: string } {
  return { kind: 'host', text: hostText(host) }
}
