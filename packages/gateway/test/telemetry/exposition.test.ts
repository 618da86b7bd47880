import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { familyText } from '../../src/telemetry/exposition.ts'
import { FAMILIES, type MetricFamily } from '../../src/telemetry/families.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { BOUNDS } from '../../src/telemetry/series.ts'
import { readExposition } from './prometheus.ts'

const VIEW = {
  size: () => Promise.resolve(0),
  checkpoint: () => Promise.resolve(undefined),
  payloads: () => Promise.resolve([]),
}
const MEASURED = { kernel: undefined, view: VIEW, version: '1.2.3' }

test('help and labels are escaped', () => {
  const family: MetricFamily = {
    type: 'gauge',
    help: 'one\\two\nthree "four"',
    labels: { path: { from: 'anywhere' } },
  }
  const value = 'C:\\dir\n"quoted" é'
  const text = familyText('some_metric', family, [{ suffix: '', values: [value], value: 2 }])
  expect(text).toBe(
    '# HELP some_metric one\\\\two\\nthree "four"\n# TYPE some_metric gauge\nsome_metric{path="C:\\\\dir\\n\\"quoted\\" é"} 2\n',
  )
  expect(readExposition(text).get('some_metric')?.samples).toEqual([
    { name: 'some_metric', labels: { path: value }, value: 2 },
  ])
})

test.each([
  ['a metric without its help', '# TYPE a gauge\na 1\n'],
  ['a sample of another metric', '# HELP a x\n# TYPE a gauge\nb 1\n'],
  ['a label without quotes', '# HELP a x\n# TYPE a gauge\na{b=c} 1\n'],
  ['a quote in a label', '# HELP a x\n# TYPE a gauge\na{b="c"d"} 1\n'],
  ['a sample twice', '# HELP a x\n# TYPE a gauge\na 1\na 1\n'],
  ['no last line', '# HELP a x\n# TYPE a gauge\na 1'],
  ['buckets that fall', histogram(2, 1)],
  ['a count that differs from the last bucket', histogram(1, 2).replace('a_count 2', 'a_count 3')],
  ['no last bucket', histogram(1, 2).replace('le="+Inf"', 'le="2"')],
])('the reader of the tests refuses %s', (_, text) => {
  expect(() => readExposition(text)).toThrow()
})

function histogram(first: number, last: number): string {
  return `# HELP a x\n# TYPE a histogram\na_bucket{le="1"} ${first}\na_bucket{le="+Inf"} ${last}\na_sum 3\na_count ${last}\n`
}

test('a histogram counts every duration once, below or above its bounds', async () => {
  const metrics = createMetrics()
  const seconds = [0, ...BOUNDS, 1000]
  for (const each of seconds) metrics.upstream('openai', each * 1000, undefined)
  const family = readExposition(await metrics.text(MEASURED)).get('tollgate_upstream_seconds')
  const values = new Map(
    family?.samples.map(({ name, labels, value }) => [`${name} ${labels.le ?? ''}`, value]),
  )
  expect(values.get('tollgate_upstream_seconds_count ')).toBe(seconds.length)
  expect(values.get('tollgate_upstream_seconds_sum ')).toBeCloseTo(seconds.reduce((a, b) => a + b))
  // A bound belongs to its own bucket.
  expect(BOUNDS.map((bound) => values.get(`tollgate_upstream_seconds_bucket ${bound}`))).toEqual(
    BOUNDS.map((_, i) => i + 2),
  )
})

test('the answer has exactly the metrics of the table, and so has the page', async () => {
  const read = readExposition(await createMetrics().text(MEASURED))
  const page = readFileSync(new URL('../../../../docs/metrics.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `([a-z_]+)` +\| (counter|gauge|histogram) +\| (.*?) +\| (.*?) +\|$/gm)]
  const names = Object.keys(FAMILIES)
  expect([...read.keys()]).toEqual(names)
  expect(rows.map(([, name]) => name)).toEqual(names)
  for (const [name, { type, help, labels }] of Object.entries<MetricFamily>(FAMILIES)) {
    expect(read.get(name)).toMatchObject({ type, help })
    const row = rows.find(([, each]) => each === name)
    expect(row?.slice(2)).toEqual([
      type,
      Object.keys(labels)
        .map((each) => `\`${each}\``)
        .join(', '),
      help,
    ])
  }
})
