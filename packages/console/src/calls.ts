// The decisions that the live page shows: those that arrive, and those that were there before, a page at a time.

import { signal, type Signal } from '@preact/signals'
import type { Decision, Effect, Receipt } from '@tollgate/evidence'
import { ask } from './api.ts'
import { follow } from './events.ts'
import { keepRates, noteDecision, noteEffect } from './rates.ts'
import type { Entry } from './model.ts'

/** A decision, and the effect that followed it, if it is known. */
export interface Call {
  readonly index: number
  readonly id: string
  readonly decision: Decision
  effect?: Effect['status']
}

/** Selects calls. An empty text selects everything. */
export interface CallFilter {
  readonly verdict: string
  readonly door: string
  readonly principal: string
  readonly tool: string
  readonly session: string
  readonly reason: string
  /** Occurs anywhere in a name or a reason. */
  readonly text: string
}

// The oldest calls leave the page first; the ledger has them.
const MOST = 20_000
const DRAW_MS = 200
const PAGE = 200

/** The calls of the live page. */
export class Calls {
  /** Changes when there is something to draw. */
  readonly version: Signal<number> = signal(0)
  /** Calls that have arrived while the page is paused. */
  readonly held: Signal<number> = signal(0)
  readonly paused: Signal<boolean> = signal(false)
  readonly state: Signal<'loading' | 'open' | 'lost' | 'failed'> = signal('loading')
  /** Oldest first. */
  fitting: Call[] = []
  #all: Call[] = []
  #arrived: Call[] = []
  readonly #open = new Map<string, Call>()
  #filter: CallFilter
  #older: number | null = null
  #loading = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #next = 0
  #stop: (() => void) | undefined

  constructor(filter: CallFilter) {
    this.#filter = filter
  }

  /** Loads the newest calls, then follows. */
  async start(): Promise<void> {
    try {
      const { size } = await ask<{ readonly size: number }>('/v1/status')
      this.#next = size
      await this.#load(size - 1)
      this.state.value = 'open'
    } catch {
      this.state.value = 'failed'
      return
    }
    keepRates()
    this.#stop = follow('/v1/receipts/stream', {
      query: { from: this.#next },
      last: () => String(this.#next - 1),
      onEvent: ({ data }) => this.#take(data),
      onState: (state) => (this.state.value = state),
    })
  }

  stop(): void {
    this.#stop?.()
    clearTimeout(this.#timer)
  }

  /** Selects other calls. Loads older ones if few are known. */
  select(filter: CallFilter): void {
    this.#filter = filter
    this.fitting = this.#all.filter((call) => fits(call, filter))
    this.version.value++
    if (this.fitting.length < 50) void this.more(true)
  }

  /** Whether there are older calls. */
  get hasMore(): boolean {
    return this.#older !== null
  }

  /** Loads older calls. `again` searches from the newest entry, for another filter. */
  async more(again = false): Promise<void> {
    if (this.#loading || (!again && this.#older === null)) return
    try {
      await this.#load(again ? this.#next - 1 : (this.#older ?? 0))
    } catch {
      this.state.value = 'lost'
    }
  }

  /** Stops drawing what arrives, or draws all of it. */
  pause(paused: boolean): void {
    this.paused.value = paused
    if (!paused) this.#draw()
  }

  async #load(from: number): Promise<void> {
    this.#loading = true
    try {
      const { verdict, principal, tool, session } = this.#filter
      const given = Object.entries({ verdict, principal, tool, session }).filter(([, text]) => text !== '')
      const query = { ...Object.fromEntries(given), kind: 'decision', from: Math.max(0, from), limit: PAGE }
      const page = await ask<{ readonly receipts: readonly Entry[]; readonly next: number | null }>(
        '/v1/receipts',
        {
          query,
        },
      )
      this.#older = page.next
      const known = new Set(this.#all.map(({ id }) => id))
      const found = page.receipts.flatMap((entry) => (known.has(entry.id) ? [] : (callOf(entry) ?? [])))
      this.#all = [...this.#all, ...found].sort((a, b) => a.index - b.index)
      this.fitting = this.#all.filter((call) => fits(call, this.#filter))
      this.version.value++
    } finally {
      this.#loading = false
    }
  }

  #take(data: string): void {
    // Sound: the gateway of the same build wrote it.
    const entry = JSON.parse(data) as Entry
    if (entry.index < this.#next) return
    this.#next = entry.index + 1
    const { receipt } = entry
    if (receipt.kind === 'effect') this.#takeEffect(receipt)
    const call = callOf(entry)
    if (!call) return
    noteDecision(call.decision)
    if (call.decision.verdict === 'ALLOW') this.#open.set(call.id, call)
    this.#arrived.push(call)
    if (this.#arrived.length > MOST) this.#arrived.shift()
    if (this.paused.value) this.held.value++
    else this.#timer ??= setTimeout(() => this.#draw(), DRAW_MS)
  }

  #takeEffect({ decision, status, time }: Extract<Receipt, { kind: 'effect' }>): void {
    const call = this.#open.get(decision)
    if (!call) return
    this.#open.delete(decision)
    call.effect = status
    noteEffect(Date.parse(time) - Date.parse(call.decision.time))
    if (!this.paused.value) this.#timer ??= setTimeout(() => this.#draw(), DRAW_MS)
  }

  #draw(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const arrived = this.#arrived.splice(0)
    this.held.value = 0
    for (const call of arrived) {
      this.#all.push(call)
      if (fits(call, this.#filter)) this.fitting.push(call)
    }
    if (this.#all.length > MOST) this.#forget()
    this.version.value++
  }

  /** Forgets a quarter at once, so that this is rare. */
  #forget(): void {
    this.#all = this.#all.slice(-Math.floor(MOST * 0.75))
    const oldest = this.#all[0]?.index ?? 0
    this.fitting = this.fitting.filter(({ index }) => index >= oldest)
    this.#older = oldest - 1
    for (const [id, { index }] of this.#open) if (index < oldest) this.#open.delete(id)
  }
}

function callOf({ index, id, receipt }: Entry): Call | undefined {
  return receipt.kind === 'decision' ? { index, id, decision: receipt } : undefined
}

function fits({ decision }: Call, filter: CallFilter): boolean {
  const { verdict, door, principal, tool, session, reason_code: reason, rule = '' } = decision
  const exact =
    matches(filter.verdict, verdict) &&
    matches(filter.door, door) &&
    matches(filter.principal, principal) &&
    matches(filter.tool, tool) &&
    matches(filter.session, session.id) &&
    matches(filter.reason, reason)
  if (!exact || filter.text === '') return exact
  const text = [principal, tool, session.id, reason, rule].join('\n').toLowerCase()
  return text.includes(filter.text.toLowerCase())
}

function matches(wanted: string, value: string): boolean {
  return wanted === '' || wanted === value
}
