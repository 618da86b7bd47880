// Writes metrics in the Prometheus text format, version 0.0.4.

import type { MetricFamily } from './families.ts'
import type { MetricSample } from './series.ts'

/** The media type of the text. */
export const EXPOSITION = 'text/plain; version=0.0.4; charset=utf-8'

/** A family with its samples as text. A family without samples has only its head. */
export function familyText(
  name: string,
  { type, help, labels }: MetricFamily,
  samples: readonly MetricSample[],
): string {
  const names = Object.keys(labels)
  const head = [`# HELP ${name} ${escapedHelp(help)}`, `# TYPE ${name} ${type}`]
  const lines = samples.map(
    (sample) => `${name}${sample.suffix}${labelText(names, sample)} ${numberText(sample.value)}`,
  )
  return [...head, ...lines, ''].join('\n')
}

function labelText(names: readonly string[], { values, le }: MetricSample): string {
  const pairs = names.map((name, i) => [name, values[i] ?? ''] as const)
  const all = le === undefined ? pairs : [...pairs, ['le', le] as const]
  if (all.length === 0) return ''
  return `{${all.map(([name, value]) => `${name}="${escapedLabel(value)}"`).join(',')}}`
}

function escapedHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function escapedLabel(text: string): string {
  return escapedHelp(text).replaceAll('"', '\\"')
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value)
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}
