// Braces: `{a,b}` and `{1..5}` become several words.

const MAX_WORDS = 64

/** Returns the texts that a brace expression becomes; undefined if it contains anything but plain text. */
export function bracesOf(text: string): readonly string[] | undefined {
  if (!/^\{[\w./@%:=+,{} -]*\}$/.test(text) || text.includes('\\')) return undefined
  const inner = text.slice(1, -1)
  const items = splitAtTop(inner)
  if (items.length > 1) return limited(items.flatMap((item) => within(item) ?? [UNREADABLE]))
  return rangeOf(inner)
}

const UNREADABLE = '{'

/** The texts of one item, which can contain braces. */
function within(item: string): readonly string[] | undefined {
  const open = item.indexOf('{')
  if (open < 0) return [item]
  const close = closing(item, open)
  if (close === undefined) return undefined
  const [middle, rest] = [bracesOf(item.slice(open, close + 1)), within(item.slice(close + 1))]
  if (!middle || !rest || middle.length * rest.length > MAX_WORDS) return undefined
  return middle.flatMap((part) => rest.map((end) => item.slice(0, open) + part + end))
}

function closing(text: string, open: number): number | undefined {
  let depth = 0
  for (let at = open; at < text.length; at++) {
    if (text[at] === '{') depth++
    else if (text[at] === '}' && --depth === 0) return at
  }
  return undefined
}

function splitAtTop(text: string): readonly string[] {
  let [depth, start] = [0, 0]
  const items: string[] = []
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '{') depth++
    else if (text[at] === '}') depth--
    else if (text[at] === ',' && depth === 0) {
      items.push(text.slice(start, at))
      start = at + 1
    }
  }
  return [...items, text.slice(start)]
}

function rangeOf(text: string): readonly string[] | undefined {
  const [, from, to] = /^(-?\d{1,6})\.\.(-?\d{1,6})$/.exec(text) ?? []
  if (from === undefined || to === undefined) return letters(text)
  const [a, b] = [Number(from), Number(to)]
  const count = Math.abs(b - a) + 1
  if (count > MAX_WORDS || /^-?0\d/.test(from) || /^-?0\d/.test(to)) return undefined
  return Array.from({ length: count }, (_, i) => String(a < b ? a + i : a - i))
}

function letters(text: string): readonly string[] | undefined {
  const [, from, to] = /^([a-z])\.\.([a-z])$/.exec(text) ?? []
  if (from === undefined || to === undefined) return undefined
  const [a, b] = [from.charCodeAt(0), to.charCodeAt(0)]
  return Array.from({ length: Math.abs(b - a) + 1 }, (_, i) => String.fromCharCode(a < b ? a + i : a - i))
}

function limited(texts: readonly string[]): readonly string[] | undefined {
  return texts.length > MAX_WORDS || texts.includes(UNREADABLE) ? undefined : texts
}
