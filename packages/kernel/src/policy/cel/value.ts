// The values of CEL and their type names.

/** The values of conditions. `bigint` is CEL's int and `number` its double. */
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

/** A map with string keys, as in JSON. Only own keys count. */
export interface ValueObject {
  readonly [key: string]: CelValue
}

/** A map of either kind. */
export type MapValue = ValueObject | Entries

/** A value whose contents CEL does not see. Subclasses are classes, so that no JSON object can be mistaken for one. */
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

/** A timestamp, in nanoseconds since 1970. */
export class Timestamp extends Opaque {
  readonly type = 'google.protobuf.Timestamp'
  readonly nanos: bigint

  constructor(nanos: bigint) {
    super()
    this.nanos = nanos
  }
}

/** A duration, in nanoseconds. */
export class Duration extends Opaque {
  readonly type = 'google.protobuf.Duration'
  readonly nanos: bigint

  constructor(nanos: bigint) {
    super()
    this.nanos = nanos
  }
}

/** A type as a value: the result of `type(x)`. */
export class TypeName extends Opaque {
  readonly type = 'type'
  readonly name: string

  constructor(name: string) {
    super()
    this.name = name
  }
}

/** A map from a map literal. Its keys may also be int, uint or bool. */
export class Entries {
  readonly #entries = new Map<string, readonly [key: CelValue, value: CelValue]>()

  get size(): number {
    return this.#entries.size
  }

  get(key: CelValue): CelValue | undefined {
    const name = nameOfKey(key)
    return name === undefined ? undefined : this.#entries.get(name)?.[1]
  }

  /** Adds an entry; returns false if an equal key exists. */
  add(key: CelValue, value: CelValue): boolean {
    const name = nameOfKey(key)
    if (name === undefined || this.#entries.has(name)) return false
    this.#entries.set(name, [key, value])
    return true
  }

  keys(): CelValue[] {
    // Sorted by name, so that the order never depends on how a map was written.
    return [...this.#entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, [key]]) => key)
  }
}

/** Returns the name of a key. Equal keys have equal names, across numeric types. Undefined if the value cannot be a key. */
function nameOfKey(key: CelValue): string | undefined {
  if (typeof key === 'string') return `"${key}`
  if (typeof key === 'boolean' || typeof key === 'bigint') return String(key)
  if (typeof key === 'number') return Number.isInteger(key) ? String(BigInt(key)) : undefined
  return key instanceof Uint ? String(key.value) : undefined
}

/** Returns whether a map literal may have this value as a key. */
export function isKey(value: CelValue): boolean {
  return typeof value !== 'number' && nameOfKey(value) !== undefined
}

/** Returns whether a value is a list. */
export function isList(value: CelValue): value is readonly CelValue[] {
  return Array.isArray(value)
}

/** Returns whether a value is a map. */
export function isMap(value: CelValue): value is MapValue {
  return typeof value === 'object' && value !== null && !isList(value) && !(value instanceof Opaque)
}

/** Returns the value of a map for a key, or undefined. */
export function lookUp(map: MapValue, key: CelValue): CelValue | undefined {
  if (map instanceof Entries) return map.get(key)
  return typeof key === 'string' && Object.hasOwn(map, key) ? map[key] : undefined
}

/** Returns the number of keys of a map. */
export function sizeOfMap(map: MapValue): number {
  return map instanceof Entries ? map.size : Object.keys(map).length
}

/** Returns the keys of a map in a fixed order. */
export function keysOfMap(map: MapValue): readonly CelValue[] {
  return map instanceof Entries ? map.keys() : Object.keys(map).sort()
}

/** Returns the type name of a value, as `type()` and messages use it. */
export function typeOf(value: CelValue): string {
  if (value === null) return 'null_type'
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint') return 'int'
  if (typeof value === 'number') return 'double'
  if (value instanceof Opaque) return value.type
  return isList(value) ? 'list' : 'map'
}
