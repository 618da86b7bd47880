// A strict reader of the Prometheus text format 0.0.4, written from its description: every metric has its help and type first and its
// samples together, labels are quoted and escaped, and histograms are complete and consistent.

export interface ReadSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface ReadFamily {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly samples: readonly ReadSample[]
}

const HEAD = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/y
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
}

/** Reads a whole answer. @throws Error at the first mistake. */
export function readExposition(text: string): ReadonlyMap<string, ReadFamily> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const families = new Map<string, ReadFamily & { samples: ReadSample[] }>()
  let current: (ReadFamily & { samples: ReadSample[] }) | undefined
  let help: { readonly name: string; readonly text: string } | undefined
  for (const line of text.slice(0, -1).split('\n')) {
    const [, word, name = '', rest = ''] = HEAD.exec(line) ?? []
    if (word === 'HELP') {
      if (families.has(name)) throw new Error(`a second help: ${line}`)
      if (/\\[^\\n]/.test(rest.replaceAll('\\\\', ''))) throw new Error(`a wrong escape: ${line}`)
      help = { name, text: rest }
    } else if (word === 'TYPE') {
      if (help?.name !== name || !(rest in SUFFIXES)) throw new Error(`a type without help: ${line}`)
      current = { name, help: help.text, type: rest, samples: [] }
      families.set(name, current)
    } else {
      if (!current) throw new Error(`not a head: ${line}`)
      current.samples.push(readSample(line, current))
    }
  }
  for (const family of families.values()) {
    checkSamples(family)
    if (family.type === 'histogram') checkHistogram(family)
  }
  return families
}

function readSample(line: string, { name, type }: ReadFamily): ReadSample {
  const [, own = '', inner, number = ''] = SAMPLE.exec(line) ?? []
  const suffix = own.slice(name.length)
  if (!own.startsWith(name) || !SUFFIXES[type]?.includes(suffix)) throw new Error(`not of ${name}: ${line}`)
  const value = number === '+Inf' ? Infinity : number === '-Inf' ? -Infinity : Number(number)
  if (Number.isNaN(value)) throw new Error(`not a number: ${line}`)
  if (type !== 'gauge' && value < 0) throw new Error(`a counter below zero: ${line}`)
  return { name: own, labels: inner === undefined ? {} : readLabels(inner), value }
}

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < text.length) {
    const found = LABEL.exec(text)
    if (!found || Object.hasOwn(labels, found[1] ?? '')) throw new Error(`wrong labels: ${text}`)
    const [, name = '', value = ''] = found
    labels[name] = value.replaceAll(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char))
  }
  return labels
}

function checkSamples({ samples }: ReadFamily): void {
  const seen = samples.map(({ name, labels }) => `${name} ${JSON.stringify(Object.entries(labels).sort())}`)
  if (new Set(seen).size < seen.length) throw new Error(`a sample twice: ${seen.join('\n')}`)
}

/** Every series has ascending buckets up to `+Inf`, whose count is `_count`, and a sum. */
function checkHistogram({ name, samples }: ReadFamily): void {
  const series = new Map<string, ReadSample[]>()
  for (const sample of samples) {
    const { le: _, ...others } = sample.labels
    const key = JSON.stringify(others)
    series.set(key, [...(series.get(key) ?? []), sample])
  }
  for (const [key, own] of series) {
    const buckets = own.filter((sample) => sample.name === `${name}_bucket`)
    const bounds = buckets.map(({ labels }) => (labels.le === '+Inf' ? Infinity : Number(labels.le)))
    const counts = buckets.map(({ value }) => value)
    const ascends = (numbers: readonly number[], least: number): boolean =>
      numbers.every((each, i) => i === 0 || each - (numbers[i - 1] ?? 0) >= least)
    const count = own.find((sample) => sample.name === `${name}_count`)?.value
    const sum = own.find((sample) => sample.name === `${name}_sum`)?.value
    const isWhole = bounds.at(-1) === Infinity && counts.at(-1) === count && sum !== undefined
    if (!isWhole || !ascends(bounds, Number.MIN_VALUE) || !ascends(counts, 0))
      throw new Error(`a wrong histogram: ${name} ${key}`)
  }
}
