// The values of CEL, and what they are called.

/** What conditions compute with. `bigint` is CEL's int and `number` its double. */
export type CelValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly CelValue[]
  | ValueObject
  | Opaque
  | Entries

/** A map with string keys, as JSON has it. Only own keys count, whatever their names. */
export interface ValueObject {
  readonly [key: string]: CelValue
}

/** A map of either kind. */
export type MapValue = ValueObject | Entries

/**
 * A value with an inside that CEL does not see.
 *
 * These are classes so that no JSON object can be taken for one of them, whatever its keys are.
 */
abstract class Opaque {
  abstract readonly type: string
}

/** CEL's uint, from 0 to 2^64-1. */
export class Uint extends Opaque {
  readonly type = 'uint'
  readonly value: bigint

  constructor(value: bigint) {
    super()
    this.value = value
  }
}

/** CEL's bytes. */
export class Bytes extends Opaque {
  readonly type = 'bytes'
  readonly octets: Uint8Array

  constructor(octets: Uint8Array) {
    super()
    this.octets = octets
  }
}

/** A moment, in nanoseconds since 1970. */
export class Timestamp extends Opaque {
  readonly type = 'google.protobuf.Timestamp'
  readonly nanos: bigint

  constructor(nanos: bigint) {
    super()
    this.nanos = nanos
  }
}

/** A span of time, in nanoseconds. */
export class Duration extends Opaque {
  readonly type = 'google.protobuf.Duration'
  readonly nanos: bigint

  constructor(nanos: bigint) {
    super()
    this.nanos = nanos
  }
}

/** A type as a value: what `type(x)` gives. */
export class TypeName extends Opaque {
  readonly type = 'type'
  readonly name: string

  constructor(name: string) {
    super()
    this.name = name
  }
}

/** A map made by a map literal: its keys may also be int, uint or bool. */
export class Entries {
  readonly #entries = new Map<string, readonly [key: CelValue, value: CelValue]>()

  get size(): number {
    return this.#entries.size
  }

  get(key: CelValue): CelValue | undefined {
    const name = nameOfKey(key)
    return name === undefined ? undefined : this.#entries.get(name)?.[1]
  }

  /** Adds an entry; false if there is one with an equal key. */
  add(key: CelValue, value: CelValue): boolean {
    const name = nameOfKey(key)
    if (name === undefined || this.#entries.has(name)) return false
    this.#entries.set(name, [key, value])
    return true
  }

  keys(): CelValue[] {
    // In the order of their names: what a condition sees never depends on how a map was written down.
    return [...this.#entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, [key]]) => key)
  }
}

/** Equal keys have equal names, also across the numeric types. A value that is no key of any map has none. */
function nameOfKey(key: CelValue): string | undefined {
  if (typeof key === 'string') return `"${key}`
  if (typeof key === 'boolean' || typeof key === 'bigint') return String(key)
  if (typeof key === 'number') return Number.isInteger(key) ? String(BigInt(key)) : undefined
  return key instanceof Uint ? String(key.value) : undefined
}

/** Whether a map literal may have this value as a key. */
export function isKey(value: CelValue): boolean {
  return typeof value !== 'number' && nameOfKey(value) !== undefined
}

/** Whether a value is a list. */
export function isList(value: CelValue): value is readonly CelValue[] {
  return Array.isArray(value)
}

/** Whether a value is a map. */
export function isMap(value: CelValue): value is MapValue {
  return typeof value === 'object' && value !== null && !isList(value) && !(value instanceof Opaque)
}

/** What a map has under a key; undefined if it has nothing. */
export function lookUp(map: MapValue, key: CelValue): CelValue | undefined {
  if (map instanceof Entries) return map.get(key)
  return typeof key === 'string' && Object.hasOwn(map, key) ? map[key] : undefined
}

/** How many keys a map has. */
export function sizeOfMap(map: MapValue): number {
  return map instanceof Entries ? map.size : Object.keys(map).length
}

/** The keys of a map, in an order that depends on nothing but them. */
export function keysOfMap(map: MapValue): readonly CelValue[] {
  return map instanceof Entries ? map.keys() : Object.keys(map).sort()
}

/** The name of the type of a value, as `type()` gives it and as messages call it. */
export function typeOf(value: CelValue): string {
  if (value === null) return 'null_type'
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint') return 'int'
  if (typeof value === 'number') return 'double'
  if (value instanceof Opaque) return value.type
  return isList(value) ? 'list' : 'map'
}
