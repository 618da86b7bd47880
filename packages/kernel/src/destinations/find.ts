// Room: network destinations. It holds the readers of hosts, URLs and mail addresses, the patterns that name hosts, and the search for
// all of them in arguments. Whether data may go there is for the gates.
//
// Finds every network destination in the arguments of a call.

import type { Json } from '@tollgate/evidence'
import { MOST_TARGETS, unreadable, type Destination, type Target } from './destination.ts'
import { readRecipients } from './mail.ts'
import { scan } from './scan.ts'

export type { Destination } from './destination.ts'

/**
 * Every destination that data of this call could go to, each once per argument; declared ones first.
 *
 * `declared` are paths of arguments that hold destinations: names joined by dots (`to`, `message.recipients`,
 * `items.url`; `items[*].url` is the same). Arrays on the way and at the end are walked over all their items. There
 * every text is read as a destination or a list of them, and what cannot be read, also a number, a boolean or an
 * object, is reported with an empty host. Null, an absent argument and a blank text are nothing.
 *
 * Every other text, keys too, is searched; `scan.ts` says for what. Where parsers differ about a text, every host that
 * one of them could read is reported, or an empty host. Past 1,000 the list ends with an empty host. Never throws, takes time linear in the size of the arguments.
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
  // A declared text is not searched a second time.
  readonly #scanned = new Map<string, readonly Target[]>()
  readonly #path: (string | number)[] = []

  /** Walks down the names that are left, and reads what is at their end. */
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

  /** Searches every text in the value, keys too. */
  search(value: Json): void {
    if (this.found.length > MOST_TARGETS) return
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
      if (this.found.length > MOST_TARGETS) return
      const isLast = this.found.length === MOST_TARGETS
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
