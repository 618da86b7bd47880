// Reads the alerts and the dashboard in `deploy/monitoring`, and finds the metrics and labels in their queries.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

const ROOT = new URL('../../../../', import.meta.url)

export const readDocument = (path: string): string => readFileSync(fileURLToPath(new URL(path, ROOT)), 'utf8')

interface Alerts {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string
    readonly targets: readonly { readonly expr: string }[]
  }[]
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] }
}

function alerts(): readonly { readonly alert: string; readonly expr: string }[] {
  // Sound: a file of another form fails in the tests, and `promtool` checks the form.
  const { groups } = parse(readDocument('deploy/monitoring/alerts.yaml')) as Alerts
  return groups.flatMap(({ rules }) => rules)
}

export function alertNames(): readonly string[] {
  return alerts().map(({ alert }) => alert)
}

/** Every query, with the name of its alert or panel. `up` is a metric of Prometheus itself. */
export function monitoringQueries(): (readonly [name: string, query: string])[] {
  // Sound: as above.
  const { panels, templating } = JSON.parse(readDocument('deploy/monitoring/dashboard.json')) as Dashboard
  return [
    ...alerts().map(
      ({ alert, expr }) => [alert, expr.replace(/^up\{[^}]*\}/, 'tollgate_build_info')] as const,
    ),
    ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
    ...templating.list
      .filter(({ query }) => query.startsWith('label_values('))
      .map(({ name, query }) => [name, query.replace(/^label_values\((\w+), \w+\)$/, '$1')] as const),
  ]
}

const METRIC = /\b((?:tollgate|process|nodejs)_\w+)(?:\{([^}]*)\})?/g
const GROUPING = /\b(?:by|on|without|ignoring)\s*\(([^)]*)\)/g
const MATCHER = /(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g

/** The metrics of a query, each with the labels that the query expects it to have, and the value that a matcher compares with. */
export function usedIn(
  query: string,
): ReadonlyMap<string, readonly (readonly [label: string, value: string | undefined])[]> {
  const grouped = [...query.matchAll(GROUPING)].flatMap(([, names = '']) =>
    names.split(',').map((name) => [name.trim(), undefined] as const),
  )
  return new Map(
    [...query.matchAll(METRIC)].map(([, name = '', inner = '']) => {
      const matched = [...inner.matchAll(MATCHER)].map(([, label = '', value]) => [label, value] as const)
      return [name, [...grouped, ...matched]]
    }),
  )
}
