// Counters and histograms in memory, by the values of their labels.

/** One line of a metric: what follows its name, the values of its labels and a number. */
export interface MetricSample {
  readonly suffix: '' | '_bucket' | '_sum' | '_count'
  /** In the order of the labels of the family. */
  readonly values: readonly string[]
  /** The upper bound of a bucket. */
  readonly le?: string
  readonly value: number
}

/** Upper bounds in seconds: decisions take less than a millisecond, models minutes. */
export const BOUNDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
  120,
] as const

interface Counted {
  readonly values: readonly string[]
  count: number
}

const SEPARATOR = '\n'

export class Counter {
  readonly #counts = new Map<string, Counted>()

  add(...values: readonly string[]): void {
    this.addMany(1, ...values)
  }

  addMany(more: number, ...values: readonly string[]): void {
    const name = values.join(SEPARATOR)
    const known = this.#counts.get(name)
    if (known) known.count += more
    else this.#counts.set(name, { values, count: more })
  }

  /** The samples, sorted. A counter without labels has a sample from the start. */
  samples(labels: number): readonly MetricSample[] {
    if (labels === 0 && this.#counts.size === 0) return [{ suffix: '', values: [], value: 0 }]
    return [...this.#counts]
      .sort(byName)
      .map(([, { values, count }]) => ({ suffix: '', values, value: count }))
  }
}

interface Timed {
  readonly values: readonly string[]
  readonly buckets: number[]
  sum: number
}

export class Histogram {
  readonly #timed = new Map<string, Timed>()

  add(seconds: number, ...values: readonly string[]): void {
    const name = values.join(SEPARATOR)
    let timed = this.#timed.get(name)
    if (!timed) {
      timed = { values, buckets: new Array<number>(BOUNDS.length + 1).fill(0), sum: 0 }
      this.#timed.set(name, timed)
    }
    const at = BOUNDS.findIndex((bound) => seconds <= bound)
    const bucket = at < 0 ? BOUNDS.length : at
    timed.buckets[bucket] = (timed.buckets[bucket] ?? 0) + 1
    timed.sum += seconds
  }

  /** The samples, sorted. Buckets count everything up to their bound. */
  samples(): readonly MetricSample[] {
    return [...this.#timed].sort(byName).flatMap(([, { values, buckets, sum }]): MetricSample[] => {
      let count = 0
      const cumulative = buckets.map((each, i): MetricSample => {
        count += each
        return { suffix: '_bucket', values, le: String(BOUNDS[i] ?? '+Inf'), value: count }
      })
      return [
        ...cumulative,
        { suffix: '_sum', values, value: sum },
        { suffix: '_count', values, value: count },
      ]
    })
  }
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}
