// Generates times for opening hours and conditions about time.

import type { Policy } from '@tollgate/kernel/policy'
import { waysOf, type Clue } from '@tollgate/kernel/workbench'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** A Monday, 00:00 UTC. Fixed, so that results are reproducible. */
const MONDAY = Date.UTC(2026, 0, 5)
const NOON = MONDAY + 12 * HOUR
const MAX_TIMES = 200

/** Times for these policies. The first is within as many opening hours as possible. */
export function timesOf(policies: readonly Policy[]): readonly number[] {
  const windows = policies.map(({ gates }) => gates.temporal.hours.flatMap((each) => each.windows))
  const edges = windows
    .flat()
    .flatMap(({ from, to }) => [MONDAY + from - 1, MONDAY + from, MONDAY + to - 1, MONDAY + to])
  const spread = edges.length > 0 || usesTime(policies) ? throughTheYear() : []
  const all = [...new Set([NOON, ...edges.map(inWeek), ...namedIn(policies), ...spread])].slice(0, MAX_TIMES)
  const open = (time: number): number =>
    windows.flat().filter(({ from, to }) => from <= weekTime(time) && weekTime(time) < to).length
  const usual = all.reduce((best, time) => (open(time) > open(best) ? time : best), NOON)
  return [...new Set([usual, ...all])]
}

function weekTime(time: number): number {
  return (((time - MONDAY) % (7 * DAY)) + 7 * DAY) % (7 * DAY)
}

function inWeek(time: number): number {
  return MONDAY + weekTime(time)
}

function usesTime(policies: readonly Policy[]): boolean {
  return policies.some(({ rules }) => rules.some(({ when }) => when?.uses.has('time') === true))
}

/** Every hour of a day, every day of a week, every month. */
function throughTheYear(): readonly number[] {
  return [
    ...Array.from({ length: 24 }, (_, hour) => MONDAY + hour * HOUR + 30 * MINUTE),
    ...Array.from({ length: 7 }, (_, day) => NOON + day * DAY),
    ...Array.from({ length: 12 }, (_, month) => Date.UTC(2026, month, 15, 12)),
  ]
}

/** Times in conditions, and their neighbours. */
function namedIn(policies: readonly Policy[]): readonly number[] {
  const sources = policies.flatMap(({ rules }) =>
    rules.flatMap(({ when }) => (when?.uses.has('time') === true ? [when.source] : [])),
  )
  const clues = [...new Set(sources)].slice(0, 100).flatMap((source) => waysOf(source).clues)
  return clues.flatMap(({ path, value }) =>
    path.length === 1 && path[0] === 'time' && typeof value === 'number'
      ? [value - 1000, value, value + 1000]
      : [],
  )
}

const FIELDS: Readonly<Record<string, (date: Date) => number>> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDate: (date) => date.getUTCDate(),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDayOfWeek: (date) => date.getUTCDay(),
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
}

/** Whether a time matches a clue. */
export function suits(clue: Clue, time: number): boolean {
  const [, field] = clue.path
  if (field === undefined) return clue.fits(time)
  return clue.fits(FIELDS[field]?.(new Date(time)) ?? 0)
}
