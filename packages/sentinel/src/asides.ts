// Texts that agents read although they are not content: attributes, comments, data blocks, the title, the address.

import type { Aside } from './pieces.ts'
import type { Place } from './reading.ts'

/** Attributes that hold names, numbers and styles. */
const MACHINE = new Set(
  'class id style type name rel lang dir width height d points viewbox transform fill stroke role tabindex target method enctype charset media sizes integrity nonce crossorigin loading decoding fetchpriority autocomplete inputmode pattern for form list min max step rows cols colspan rowspan scope headers shape coords http-equiv xmlns xmlns:xlink version x y x1 x2 y1 y2 cx cy r rx ry dx dy stroke-width stroke-linecap stroke-linejoin fill-rule clip-rule srcdoc'.split(
    ' ',
  ),
)
/** Addresses: only a long query or fragment can say something. */
const ADDRESSES = new Set(
  'href src srcset action formaction ping cite longdesc data poster background xlink:href'.split(' '),
)

const LEAST = 8
const LEAST_ADDRESS = 48
const MOST = 20_000

/** An attribute of an element. */
export interface Attribute {
  readonly name: string
  readonly value: string
}

/** The asides of a page. */
export interface Asides {
  readonly asides: readonly Aside[]
  /** Adds a text, unless it is short or known. */
  add(text: string, place: () => Place): void
  /** Whether attributes with these names may say something. */
  mayTell(names: readonly string[]): boolean
  /** Adds the attributes of an element that say something. */
  attributes(attributes: ArrayLike<Attribute>, place: () => Place): void
}

/** Collects asides of a page. The same text counts once. */
export function createAsides(units: (count: number) => boolean): Asides {
  const seen = new Set<string>()
  const asides: Aside[] = []
  return {
    asides,
    add,
    mayTell: (names) => names.some((name) => !MACHINE.has(name)),
    attributes(attributes, place) {
      const { length } = attributes
      for (let i = 0; i < length; i++) {
        const attribute = attributes[i]
        if (!attribute) continue
        const { name, value } = attribute
        if (value.length < LEAST || MACHINE.has(name)) continue
        if (ADDRESSES.has(name)) address(value, place)
        else add(value, place)
      }
    },
  }

  function add(text: string, place: () => Place): void {
    if (text.length < LEAST || seen.has(text)) return
    seen.add(text)
    const cut = text.slice(0, MOST)
    if (units(cut.length)) asides.push({ text: cut, place })
  }

  function address(text: string, place: () => Place): void {
    if (text.length < LEAST_ADDRESS || !/[?#%]|^data:/.test(text)) return
    if (/^data:(?:image|font|audio|video)\//i.test(text)) return
    add(wordsOf(text), place)
  }
}

/** An address as text: its query and fragment decoded as far as possible. */
function wordsOf(address: string): string {
  const text = address.replaceAll('+', ' ').replaceAll('&', '\n')
  try {
    return decodeURIComponent(text)
  } catch {
    // The scanner decodes what is left.
    return text
  }
}
