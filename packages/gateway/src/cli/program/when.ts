// Parses the times that options such as `--since` take.

import { UsageError } from './terminal.ts'

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const DATE = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/
const MOMENT = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,12}(?:Z|[+-][0-9]{2}:[0-9]{2})?$/

/**
 * Parses a time, a date, or a period before `now`, such as `4h`. Returns milliseconds. Times without a zone are in UTC, as all
 * output is. @throws UsageError that names the option.
 */
export function parseWhen(option: string, text: string, now: number = Date.now()): number {
  const [, digits, unit = ''] = /^([1-9][0-9]{0,5})([smhd])$/.exec(text) ?? []
  if (digits !== undefined) return now - Number(digits) * (UNITS[unit] ?? 0)
  const time = DATE.test(text) || MOMENT.test(text) ? Date.parse(inUtc(text)) : NaN
  if (Number.isFinite(time)) return time
  throw new UsageError(
    `\`${option}\` must be a time, a date or a period`,
    `for example \`${option} 4h\`, \`${option} 2026-01-05\` or \`${option} 2026-01-05T09:00:00Z\``,
  )
}

/** Limits of time in milliseconds: `since` is inside, `until` is outside. */
export interface Period {
  readonly since?: number
  readonly until?: number
}

/** Parses `--since` and `--until`. A date in `--until` includes that day. @throws UsageError also if the period is empty. */
export function parsePeriod(since: string | undefined, until: string | undefined): Period {
  const now = Date.now()
  const from = since === undefined ? undefined : parseWhen('--since', since, now)
  const day = until !== undefined && DATE.test(until) ? (UNITS['d'] ?? 0) : 0
  const to = until === undefined ? undefined : parseWhen('--until', until, now) + day
  if (from !== undefined && to !== undefined && from >= to) {
    throw new UsageError('`--since` is not before `--until`', 'give an earlier `--since`')
  }
  return { ...(from !== undefined && { since: from }), ...(to !== undefined && { until: to }) }
}

function inUtc(text: string): string {
  return DATE.test(text) || /(?:Z|[+-][0-9]{2}:[0-9]{2})$/.test(text) ? text : `${text}Z`
}
