// A view is one form of a text (plain, cleaned or decoded) that maps each unit to its position in the original text. Also
// defines the growing number lists of the scanner.

/** The way a view was made. */
type ViewOrigin = 'plain' | 'decoded' | 'spaced'

/** One form of a text. */
export interface View {
  readonly codes: Uint16Array
  readonly length: number
  /** The start of each unit in the original text; undefined if no unit has moved. */
  readonly from: Int32Array | undefined
  /** The end of each unit in the original text. */
  readonly to: Int32Array | undefined
  readonly text: string
  readonly origin: ViewOrigin
}

// Larger buffers are released after a scan.
const MAX_KEPT = 1 << 16
const scratch = new Uint16Array(MAX_KEPT)

/** Returns the unchanged text as a view, and whether all of it is ASCII. */
export function plainView(text: string, length: number): { readonly view: View; readonly ascii: boolean } {
  const codes = length > MAX_KEPT ? new Uint16Array(length) : scratch
  let all = 0
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    codes[i] = code
    all |= code
  }
  return { view: { codes, length, from: undefined, to: undefined, text, origin: 'plain' }, ascii: all < 128 }
}

/** Returns the unit at an index; 0 outside of the view. */
export function codeAt(view: View, index: number): number {
  return index < view.length ? (view.codes[index] ?? 0) : 0
}

/** Returns the start of a unit in the original text. An index after the last unit returns the end of the last unit. */
export function startOf(view: View, index: number): number {
  if (view.from === undefined) return index
  return index < view.length ? (view.from[index] ?? 0) : endOf(view, view.length - 1)
}

/** Returns the end of a unit in the original text. */
export function endOf(view: View, index: number): number {
  return view.to === undefined ? index + 1 : (view.to[index] ?? 0)
}

/** Counts the different ASCII units of a range. */
export function distinctIn(view: View, start: number, end: number): number {
  const seen = new Uint8Array(128)
  let count = 0
  for (let i = start; i < end; i++) {
    const code = codeAt(view, i)
    if (code < 128 && seen[code] === 0) count += seen[code] = 1
  }
  return count
}

/** A view in the making. */
export interface Writer {
  codes: Uint16Array
  from: Int32Array
  to: Int32Array
  length: number
}

/** Returns an empty writer with this initial capacity. */
export function writer(capacity: number): Writer {
  const size = Math.max(64, capacity)
  return { codes: new Uint16Array(size), from: new Int32Array(size), to: new Int32Array(size), length: 0 }
}

/** Appends a unit that represents a range of the original text. */
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

/** Returns the written view. */
export function written(out: Writer, text: string, origin: ViewOrigin): View {
  return { codes: out.codes, length: out.length, from: out.from, to: out.to, text, origin }
}

/** A growing list of integers. It is reused between scans, so that a short text costs no allocation. */
export interface Ints {
  data: Int32Array
  length: number
}

/** Returns an empty list. */
export function ints(): Ints {
  return { data: new Int32Array(256), length: 0 }
}

/** Appends a number. */
export function push(list: Ints, value: number): void {
  if (list.length === list.data.length) grow(list)
  list.data[list.length++] = value
}

/** Doubles the capacity of a list. */
export function grow(list: Ints): void {
  const larger = new Int32Array(list.data.length * 2)
  larger.set(list.data)
  list.data = larger
}

/** Empties a list and releases the memory of a very long one. */
export function clear(list: Ints): void {
  list.length = 0
  if (list.data.length > MAX_KEPT) list.data = new Int32Array(256)
}

/** Returns the number at a valid index. */
export function at(list: Ints, index: number): number {
  return list.data[index] ?? 0
}
