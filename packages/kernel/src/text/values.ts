// Opaque values in a text: what a model can only copy, not put into words of its own.
//
// Found, where a word begins and ends: e-mail addresses; URLs with a scheme, and bare hosts with or without a path, each
// also as its host alone; IBANs, payment cards, telephone numbers with `+`; wallets; ids; keys. Values inside of a URL
// are found as well.
//
// Look-alike characters are folded first. Not undone: percent-encoding that a URL needs, HTML entities, base64,
// `evil[.]com`. Not found: what is wrapped over two lines (each line is read alone), bare IPv6 addresses, names
// of one label, telephone numbers without `+`, the domain of an e-mail address for itself.

import { hostText } from './address.ts'
import { foldInPlace } from './fold.ts'
import { Scanner, type Value } from './scan.ts'

export type { Value, ValueKind } from './scan.ts'

// Without one of these there is no value. Most short texts have none.
const SUSPECT = /[0-9@:/\u0080-\uffff]|[A-Za-z]\.[A-Za-z]/

/** How many values of a text are listed if nobody says otherwise. */
export const MOST_VALUES: number = 256

/**
 * The opaque values of a text by where they start, every time they occur.
 *
 * A list of `most` values may have been cut short. Takes time linear in the length of the text and never throws.
 */
export function valuesIn(text: string, most: number = MOST_VALUES): readonly Value[] {
  if (!SUSPECT.test(text)) return []
  return new Scanner(foldInPlace(text), most).run()
}

/** A host as a value: for a host that is already known to be one, such as a destination's. */
export function hostValue(host: string): { readonly kind: 'host'; readonly text: string } {
  return { kind: 'host', text: hostText(host) }
}
