// Generates docs/metrics.md from the table of metrics.

import { FAMILIES, type MetricFamily, type LabelValues } from './families.ts'

/** The reference of all metrics in Markdown. */
export function metricsReference(
  notice: string,
  table: (head: readonly string[], rows: readonly (readonly string[])[]) => string,
): string {
  const families = Object.entries<MetricFamily>(FAMILIES)
  const rows = families.map(([name, { type, labels, help }]) => {
    const names = Object.keys(labels).map((label) => `\`${label}\``)
    return [`\`${name}\``, type, names.join(', '), help]
  })
  const labels = new Map<string, LabelValues>()
  for (const [name, each] of families.flatMap(([, family]) => Object.entries(family.labels)))
    labels.set(name, joined(labels.get(name), each))
  const values = [...labels].map(([name, each]) => [`\`${name}\``, describe(each)])
  return [
    '# Metrics',
    notice,
    INTRODUCTION,
    table(['metric', 'type', 'labels', 'meaning'], rows),
    '## Labels',
    LABELS,
    `${table(['label', 'values'], values)}\n`,
  ].join('\n\n')
}

/** The values of a label that several metrics have. */
function joined(known: LabelValues | undefined, own: LabelValues): LabelValues {
  return known === undefined || 'from' in known || 'from' in own ? own : [...new Set([...known, ...own])]
}

const MAX_LISTED = 20

function describe(values: LabelValues): string {
  if ('from' in values) return values.from
  return values.length <= MAX_LISTED
    ? values.map((value) => `\`${value}\``).join(', ')
    : 'see [reasons.md](reasons.md)'
}

const INTRODUCTION = `\`GET /metrics\` answers with these metrics in the Prometheus text format, version 0.0.4. A token of the role \`metrics\` can read
this route and nothing else, see [operating.md](operating.md#metrics). The counters begin at 0 when the gateway starts. Commands that
read a ledger without its gateway have no metrics.`

const LABELS = `Every label has a closed set of values, or values that only the operator chooses. No label contains the name of a tool, of a
session or of a principal. So agents cannot create new time series.`
