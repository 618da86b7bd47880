// A text in one of its readings: as it stands, cleaned, or decoded; and where each of its units comes from. Also the
// lists of numbers that say where something is in it.

/** How a reading came about. */
type ViewOrigin = 'plain' | 'decoded' | 'spaced'

/** A reading of a text. */
export interface View {
  readonly codes: Uint16Array
  readonly length: number
  /** Where each unit starts in the text as it was given; undefined if nothing has moved. */
  readonly from: Int32Array | undefined
  /** Where each unit ends. */
  readonly to: Int32Array | undefined
  readonly text: string
  readonly origin: ViewOrigin
}

// Memory for more units or numbers than these is given back after a scan.
const KEPT = 1 << 16
const scratch = new Uint16Array(KEPT)

/** The text as it stands, and whether all of it is ASCII. */
export function plainView(text: string, length: number): { readonly view: View; readonly ascii: boolean } {
  const codes = length > KEPT ? new Uint16Array(length) : scratch
  let all = 0
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    codes[i] = code
    all |= code
  }
  return { view: { codes, length, from: undefined, to: undefined, text, origin: 'plain' }, ascii: all < 128 }
}

/** The unit at a place; 0 outside. */
export function codeAt(view: View, index: number): number {
  return index < view.length ? (view.codes[index] ?? 0) : 0
}

/** Where a unit of the reading starts in the text; the place after the last one ends it. */
export function startOf(view: View, index: number): number {
  if (view.from === undefined) return index
  return index < view.length ? (view.from[index] ?? 0) : endOf(view, view.length - 1)
}

/** Where a unit of the reading ends in the text. */
export function endOf(view: View, index: number): number {
  return view.to === undefined ? index + 1 : (view.to[index] ?? 0)
}

/** How many different ASCII units a stretch has. */
export function distinctIn(view: View, start: number, end: number): number {
  const seen = new Uint8Array(128)
  let count = 0
  for (let i = start; i < end; i++) {
    const code = codeAt(view, i)
    if (code < 128 && seen[code] === 0) count += seen[code] = 1
  }
  return count
}

/** A reading being written. */
export interface Writer {
  codes: Uint16Array
  from: Int32Array
  to: Int32Array
  length: number
}

/** An empty reading with room for so many units. */
export function writer(room: number): Writer {
  const size = Math.max(64, room)
  return { codes: new Uint16Array(size), from: new Int32Array(size), to: new Int32Array(size), length: 0 }
}

/** Adds a unit that stands for a stretch of the text. */
export function write(out: Writer, code: number, from: number, to: number): void {
  if (out.length === out.codes.length) enlarge(out)
  out.codes[out.length] = code
  out.from[out.length] = from
  out.to[out.length++] = to
}

function enlarge(out: Writer): void {
  const size = out.codes.length * 2
  const codes = new Uint16Array(size)
  const from = new Int32Array(size)
  const to = new Int32Array(size)
  codes.set(out.codes)
  from.set(out.from)
  to.set(out.to)
  Object.assign(out, { codes, from, to })
}

/** The reading that was written. */
export function written(out: Writer, text: string, origin: ViewOrigin): View {
  return { codes: out.codes, length: out.length, from: out.from, to: out.to, text, origin }
}

/** A list of whole numbers that grows. Kept between scans, so that a short text costs no allocation. */
export interface Ints {
  data: Int32Array
  length: number
}

/** An empty list. */
export function ints(): Ints {
  return { data: new Int32Array(256), length: 0 }
}

/** Adds a number. */
export function push(list: Ints, value: number): void {
  if (list.length === list.data.length) grow(list)
  list.data[list.length++] = value
}

/** Makes room for as much again. */
export function grow(list: Ints): void {
  const larger = new Int32Array(list.data.length * 2)
  larger.set(list.data)
  list.data = larger
}

/** Empties a list, and gives the memory of a very long one back. */
export function clear(list: Ints): void {
  list.length = 0
  if (list.data.length > KEPT) list.data = new Int32Array(256)
}

/** The number at a place that the list has. */
export function at(list: Ints, index: number): number {
  return list.data[index] ?? 0
}
