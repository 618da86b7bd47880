// Counts of the last minutes, a bucket a second: how many decisions of each verdict, and how long tools took.

import { signal, type Signal } from '@preact/signals'
import type { Decision } from '@tollgate/evidence'

const SECONDS = 120

interface Bucket {
  readonly second: number
  allow: number
  deny: number
  escalate: number
  readonly times: number[]
}

/** One value a second for each line of a chart; null where there is none. */
interface Rates {
  readonly seconds: readonly number[]
  readonly allow: readonly number[]
  readonly deny: readonly number[]
  readonly escalate: readonly number[]
  /** The median and the 95th percentile of the time from a decision to its effect, in milliseconds. */
  readonly median: readonly (number | null)[]
  readonly slow: readonly (number | null)[]
}

const buckets = new Map<number, Bucket>()
let clock: ReturnType<typeof setInterval> | undefined

/** The counts, made again every second. */
export const rates: Signal<Rates> = signal(read())

/** Starts to count. */
export function keepRates(): void {
  clock ??= setInterval(() => {
    if (!document.hidden) rates.value = read()
  }, 1000)
}

/** Counts a decision, at the time it arrives. */
export function noteDecision({ verdict }: Decision): void {
  const bucket = now()
  if (verdict === 'ALLOW') bucket.allow++
  else if (verdict === 'DENY') bucket.deny++
  else bucket.escalate++
}

/** Counts the milliseconds between a decision and its effect. */
export function noteEffect(milliseconds: number): void {
  const { times } = now()
  if (times.length < 1000) times.push(Math.max(0, milliseconds))
}

function now(): Bucket {
  const second = Math.floor(Date.now() / 1000)
  const known = buckets.get(second)
  if (known) return known
  const bucket = { second, allow: 0, deny: 0, escalate: 0, times: [] }
  buckets.set(second, bucket)
  for (const each of buckets.keys()) if (each < second - SECONDS) buckets.delete(each)
  return bucket
}

function read(): Rates {
  // The current second is not over.
  const end = Math.floor(Date.now() / 1000) - 1
  const seconds = Array.from({ length: SECONDS }, (_, i) => end - SECONDS + 1 + i)
  const found = seconds.map((second) => buckets.get(second))
  const times = found.map((bucket) => [...(bucket?.times ?? [])].sort((a, b) => a - b))
  return {
    seconds,
    allow: found.map((bucket) => bucket?.allow ?? 0),
    deny: found.map((bucket) => bucket?.deny ?? 0),
    escalate: found.map((bucket) => bucket?.escalate ?? 0),
    median: times.map((each) => each[Math.floor(each.length / 2)] ?? null),
    slow: times.map((each) => each[Math.floor(each.length * 0.95)] ?? null),
  }
}
