// A list of whole numbers that grows. Kept between scans, so that a short text costs no allocation.

/** A list of whole numbers. */
export interface Ints {
  data: Int32Array
  length: number
}

const KEPT = 1 << 16

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
