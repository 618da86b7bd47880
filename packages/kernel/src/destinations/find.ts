// Room: network destinations. It reads hosts, URLs and mail addresses, matches host patterns, and finds destinations in
// arguments. The gates decide whether data may go there.
//
// Finds every network destination in the arguments of a call.

import type { Json } from '@tollgate/evidence'
import { MAX_TARGETS, unreadable, type Destination, type Target } from './destination.ts'
import { readRecipients } from './mail.ts'
import { scan } from './scan.ts'

export type { Destination } from './destination.ts'

/**
 * Returns every destination that data of this call could go to, once per argument; declared ones first.
 *
 * `declared` are the paths of destination arguments: names joined by dots (`to`, `message.recipients`, `items.url`;
 * `items[*].url` is the same). All items of arrays are visited. Every text there is read as a destination or a list of them.
 * Unreadable texts, numbers, booleans and objects have an empty host. Null, a missing argument and a blank text have no
 * destination.
 *
 * Every other text, including keys, is searched; see `scan.ts`. If parsers differ about a text, every host that one of them
 * could read is returned, or an empty host. After 1,000 the list ends with an empty host. Never throws. The time is linear in
 * the size of the arguments.
 */
export function destinationsIn(args: Json, declared: readonly string[]): readonly Destination[] {
  const finder = new Finder()
  for (const path of declared) finder.follow(args, path.replaceAll('[*]', '').split('.'))
  finder.search(args)
  return finder.found
}

class Finder {
  readonly found: Destination[] = []
  readonly #seen = new Set<string>()
  // Results of declared texts, so that they are not searched again.
  readonly #scanned = new Map<string, readonly Target[]>()
  readonly #path: (string | number)[] = []

  /** Follows the remaining names, and reads the value at their end. */
  follow(value: Json, names: readonly string[]): void {
    if (isArray(value)) {
      value.forEach((item, index) => this.#below(index, () => this.follow(item, names)))
      return
    }
    const [name, ...rest] = names
    if (name === undefined) {
      this.#declared(value)
    } else if (typeof value === 'object' && value !== null && Object.hasOwn(value, name)) {
      const child = value[name] ?? null
      this.#below(name, () => this.follow(child, rest))
    }
  }

  /** Searches every text in the value, including keys. */
  search(value: Json): void {
    if (this.found.length > MAX_TARGETS) return
    if (typeof value === 'string') this.#add(this.#scanned.get(value) ?? scan(value), 'found')
    if (typeof value !== 'object' || value === null) return
    if (isArray(value)) {
      for (let index = 0; index < value.length; index++) {
        this.#path.push(index)
        this.search(value[index] ?? null)
        this.#path.pop()
      }
      return
    }
    for (const key of Object.keys(value)) {
      this.#path.push(key)
      this.#add(scan(key), 'found')
      this.search(value[key] ?? null)
      this.#path.pop()
    }
  }

  #declared(value: Json): void {
    if (value === null) return
    if (typeof value !== 'string') {
      this.#add([unreadable('')], 'declared')
      return
    }
    const found = scan(value)
    this.#scanned.set(value, found)
    this.#add(readRecipients(value), 'declared')
    this.#add(found, 'declared')
  }

  #below(key: string | number, walk: () => void): void {
    this.#path.push(key)
    walk()
    this.#path.pop()
  }

  #add(targets: readonly Target[], from: Destination['from']): void {
    if (targets.length === 0) return
    const at = this.#path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
    for (const { scheme, host, port } of targets) {
      if (this.found.length > MAX_TARGETS) return
      const isLast = this.found.length === MAX_TARGETS
      const destination = { ...(isLast ? unreadable('') : { scheme, host, port }), at, from }
      const key = `${destination.scheme} ${destination.host} ${destination.port} ${at}`
      if (this.#seen.has(key)) continue
      this.#seen.add(key)
      this.found.push(destination)
    }
  }
}

/** `Array.isArray` does not narrow a readonly array. */
function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
