// Collects the blocked requests of a browser and records those of one page load in one receipt. A flood costs a bounded number of
// receipts and bounded memory.

import { MAX_BLOCKED_HOSTS, type Blocked } from '@tollgate/evidence'
import type { Host } from '@tollgate/kernel'
import type { Cause, PageLoad } from './pages.ts'

/** Blocked requests, counted. */
interface BlockedCount {
  readonly requests: number
  /** The first hosts, each once. */
  readonly hosts: readonly string[]
  /** How many of the requests went to other hosts than these. */
  readonly more: number
}

/** A running count. */
export interface BlockedCounter {
  now(): BlockedCount
  /** The count as a sentence; undefined if nothing was blocked. It names hosts, and nothing else that a page could choose. */
  text(): string | undefined
  end(): void
}

/** The contents of a receipt besides its principal and session. */
export type BlockedLoad = Pick<Blocked, 'page_host' | 'pages' | 'hosts' | 'requests' | 'more' | 'types'>

/** The blocked requests of one browser. */
export interface BlockedLog {
  /** Counts a request for a host. */
  take(label: string): void
  /** Counts from now on, without what Chromium sends by itself. */
  count(): BlockedCounter
  /** Records the requests of a page load soon, because the page was left. */
  left(load: PageLoad | undefined): void
  /** Records everything. */
  close(): Promise<void>
}

/** The surroundings of the log. */
interface BlockedLogOptions {
  readonly host: Pick<Host, 'after' | 'now'>
  readonly causesOf: (label: string, most: number) => readonly Cause[]
  /** Writes a receipt. Never rejects. */
  readonly record: (load: BlockedLoad) => Promise<void>
}

/** The browser reports a request through another channel, a little before or after the proxy gets it. */
const REPORTING = 500
/** A page that is not left gets its receipt after this time, and at most one in each such period. */
const PERIOD = 60_000
/** Receipts of one browser in a period. Further page loads share the next one. */
const MAX_RECEIPTS = 6
/** Chromium calls these by itself, whatever its flags. If no page asked for them, they are not worth a receipt. */
const CHROMIUM: ReadonlySet<string> = new Set([
  'accounts.google.com',
  'clients2.google.com',
  'clientservices.googleapis.com',
  'optimizationguide-pa.googleapis.com',
  'safebrowsing.googleapis.com',
  'update.googleapis.com',
])
const MAX_PENDING = 1_000
const MAX_TYPES = 16

/** Starts an empty log. */
export function createBlockedLog({ host, causesOf, record }: BlockedLogOptions): BlockedLog {
  const groups = new Map<PageLoad | undefined, LoadGroup>()
  const counts = new Set<Sum>()
  const writes = new Set<Promise<void>>()
  const timers = new Set<() => void>()
  let pending = new Map<string, number>()
  let written: number[] = []
  /** Page loads above the limit. */
  let rest: LoadGroup | undefined

  return {
    take(label) {
      if (!CHROMIUM.has(label)) for (const sum of counts) sum.add(label, 1)
      if (pending.size >= MAX_PENDING) settle()
      if (pending.size === 0) later(REPORTING, settle)
      pending.set(label, (pending.get(label) ?? 0) + 1)
    },
    count() {
      const sum = new Sum()
      counts.add(sum)
      return {
        now: () => ({ requests: sum.requests, hosts: [...sum.hosts.keys()], more: sum.more }),
        text: () => textOf(sum),
        end: () => void counts.delete(sum),
      }
    },
    left(load) {
      // Requests that it sent while it was left are still reported.
      if (pending.size > 0 || groups.has(load)) later(2 * REPORTING, () => write(load))
    },
    async close() {
      settle()
      for (const load of [...groups.keys()]) write(load)
      writeRest()
      for (const stop of timers) stop()
      await Promise.all(writes)
    },
  }

  function later(milliseconds: number, run: () => void): void {
    const stop = host.after(milliseconds, () => {
      timers.delete(stop)
      run()
    })
    timers.add(stop)
  }

  /** Gives the pending requests to the page loads that sent them. */
  function settle(): void {
    const taken = pending
    pending = new Map()
    for (const [label, requests] of taken) {
      const causes = causesOf(label, requests)
      for (const { load, type } of causes) {
        const group = groupOf(load)
        group.add(label, 1)
        group.addType(type)
      }
      // A connection that the browser opened twice, or opened without a request.
      const more = requests - causes.length
      if (more > 0 && (causes.length > 0 || !CHROMIUM.has(label)))
        groupOf(causes.at(-1)?.load).add(label, more)
    }
  }

  function groupOf(load: PageLoad | undefined): LoadGroup {
    const known = groups.get(load)
    if (known) return known
    const group = new LoadGroup(load?.host, 1)
    groups.set(load, group)
    later(PERIOD, () => write(load))
    return group
  }

  function write(load: PageLoad | undefined): void {
    const group = groups.get(load)
    if (!group) return
    groups.delete(load)
    const now = host.now()
    written = written.filter((time) => time > now - PERIOD && time <= now)
    if (written.length < MAX_RECEIPTS && !rest) {
      written.push(now)
      return send(group)
    }
    if (!rest) later(PERIOD, writeRest)
    rest ??= new LoadGroup(undefined, 0)
    rest.join(group)
  }

  function writeRest(): void {
    const group = rest
    if (!group) return
    rest = undefined
    written.push(host.now())
    send(group)
  }

  function send(group: LoadGroup): void {
    const writing = record(group.load()).finally(() => void writes.delete(writing))
    writes.add(writing)
  }
}

/** A count with the first hosts. */
class Sum {
  readonly hosts = new Map<string, number>()
  requests = 0
  more = 0

  add(label: string, requests: number): void {
    this.requests += requests
    const known = this.hosts.get(label)
    if (known === undefined && this.hosts.size >= MAX_BLOCKED_HOSTS) this.more += requests
    else this.hosts.set(label, (known ?? 0) + requests)
  }
}

const MAX_NAMED = 3

function textOf({ requests, hosts }: Sum): string | undefined {
  if (requests === 0) return undefined
  const names = [...hosts.keys()].map((host) => `\`${host}\``)
  const others = names.length > MAX_NAMED ? ' and others' : ''
  const sent = requests === 1 ? '1 request' : `${requests} requests`
  return `the egress rules blocked ${sent} of the browser to ${names.slice(0, MAX_NAMED).join(', ')}${others}`
}

/** The requests of one page load or of several. */
class LoadGroup extends Sum {
  readonly types = new Set<string>()
  readonly #host: string | undefined
  pages: number

  constructor(host: string | undefined, pages: number) {
    super()
    this.#host = host
    this.pages = pages
  }

  join(other: LoadGroup): void {
    for (const [host, requests] of other.hosts) this.add(host, requests)
    this.requests += other.more
    this.more += other.more
    this.pages += other.pages
    for (const type of other.types) this.addType(type)
  }

  addType(type: string): void {
    if (this.types.size < MAX_TYPES && /^[a-z]{1,24}$/.test(type)) this.types.add(type)
  }

  load(): BlockedLoad {
    return {
      ...(this.#host !== undefined && this.pages === 1 && { page_host: this.#host }),
      pages: this.pages,
      hosts: [...this.hosts.keys()],
      requests: this.requests,
      ...(this.more > 0 && { more: this.more }),
      types: [...this.types],
    }
  }
}
