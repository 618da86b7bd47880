// Reads `gates.temporal`: rates, bursts, budgets and hours.

import { parseHours, type Hours } from './hours.ts'
import { glob, type Glob } from '../../policy/glob.ts'
import type { Place, Reader } from '../../policy/reader/read.ts'
import { meaningOf } from '../../policy/reader/meaning.ts'
import { checkName } from '../../policy/reader/names.ts'
import { about, keysOf, mapping, NAME, part, record, TEXT } from '../../policy/reader/schema.ts'
import type { GateSection } from '../../policy/reader/section.ts'

/** The scope in which a limit counts. `tool` counts each tool of a tenant, for all callers together. */
type LimitScope = 'principal' | 'session' | 'tool' | 'tenant'

/** An amount per period. */
export interface Limit {
  /** `rate` refills continuously, `budget` resets each period, `burst` also counts calls that are not allowed. */
  readonly kind: 'rate' | 'budget' | 'burst'
  readonly of: 'calls' | 'cost'
  readonly scope: LimitScope
  /** The name in the policy. */
  readonly name: string
  readonly tools: Glob
  /** The amount: calls, or thousandths of a unit of cost. */
  readonly calls: number
  /** In milliseconds. */
  readonly period: number
  /** The action on a call over the limit. */
  readonly then: 'deny' | 'ask'
}

/** The settings of the temporal gate. */
export interface TemporalSettings {
  /** In the order in which they are checked: bursts, rates, budgets. */
  readonly limits: readonly Limit[]
  readonly hours: readonly { readonly tools: Glob; readonly name: string; readonly windows: Hours }[]
}

const DAY = 86_400_000
const MAX_ENTRIES = 200
/** Costs are counted in thousandths. */
const THOUSANDTHS = 1000

const PACE = {
  type: 'string',
  pattern: '^[1-9][0-9]{0,8}/([1-9][0-9]{0,3})?(s|second|m|minute|h|hour|d|day)$',
  examples: ['20/h', '3/10m', '500/day'],
} as const

const SCOPES = record<LimitScope>(
  'Limits by scope',
  'The scopes of a limit. Each has its own count.',
  {
    principal: about('For each principal.', PACE),
    session: about('For each session.', PACE),
    tool: about('For each tool of a tenant, all callers together.', PACE),
    tenant: about('For all calls of a tenant together.', PACE),
  },
  { minProperties: 1 },
)
const LIMIT_SCOPES: readonly LimitScope[] = keysOf(SCOPES)

const BUDGETS = record('Budgets', 'The amount available in each period.', {
  calls: about('Calls.', part('limit')),
  cost: about('Units of `cost` of tools.', part('limit')),
})

const BURSTS = record('Bursts', 'Limits on calls in a short time, including calls that are not allowed.', {
  ask: about('Above this rate, calls are escalated.', PACE),
  deny: about('Above this rate, calls are denied.', PACE),
})

const SCHEMA = record('How often and when', 'Limits on how often, how much and when tools may be called.', {
  rate: mapping('Rates', 'How often tools may be called, by patterns of tool names.', part('limit'), NAME),
  budget: BUDGETS,
  hours: mapping(
    'Hours',
    'When tools may be called, by patterns of tool names.',
    { ...TEXT, examples: ['mon-fri 08:00-18:00 +01:00'] },
    NAME,
  ),
  burst: BURSTS,
})

/** `gates.temporal`. */
export const temporalSettings: GateSection<TemporalSettings> = {
  name: 'temporal',
  read: (reader, place) => (place ? readTemporal(reader, place) : { limits: [], hours: [] }),
  schema: SCHEMA,
  parts: {
    limit: {
      description: 'An amount per period. A mapping sets it by scope; without one it is for each principal.',
      anyOf: [PACE, SCOPES],
    },
  },
  quoted: { keys: ['rate', 'hours'], texts: ['hours.*'] },
  calls: { of: ({ hours, limits }) => [hours, limits.filter(isCost)] },
  history: { of: ({ limits }) => limits.filter((limit) => !isCost(limit)), isStricter },
  sharesTenant: ({ limits }) => limits.some(({ scope }) => scope === 'tool' || scope === 'tenant'),
}

function isCost({ of }: Limit): boolean {
  return of === 'cost'
}

/** Whether every limit still exists and none has grown. */
function isStricter(before: TemporalSettings, after: TemporalSettings): boolean {
  const kind = (limit: Limit): string => meaningOf({ ...limit, calls: 0 })
  return before.limits.every((old) =>
    after.limits.some((now) => now.calls <= old.calls && kind(old) === kind(now)),
  )
}

/** Reads `temporal`. Missing members set no limit. */
function readTemporal(reader: Reader, place: Place): TemporalSettings {
  const fields = reader.fields(place, keysOf(SCHEMA))
  return {
    limits: [
      ...readBurst(reader, fields?.burst),
      ...readRates(reader, fields?.rate),
      ...readBudget(reader, fields?.budget),
    ],
    hours: readHours(reader, fields?.hours),
  }
}

type Counted = Pick<Limit, 'kind' | 'of'>

const BURST = { kind: 'burst', of: 'calls' } as const
const RATE = { kind: 'rate', of: 'calls' } as const

function readBurst(reader: Reader, place: Place | undefined): readonly Limit[] {
  const fields = place && reader.fields(place, keysOf(BURSTS))
  return (['deny', 'ask'] as const).flatMap((then) => {
    const at = fields?.[then]
    const pace = at && readPace(reader, at, BURST)
    return pace ? [{ ...BURST, ...pace, scope: 'principal', name: 'burst', tools: glob('*'), then }] : []
  })
}

function readRates(reader: Reader, place: Place | undefined): readonly Limit[] {
  return readEntries(reader, place, '`rate`').flatMap(({ name, value }) => {
    const named = { ...RATE, name, tools: glob(name), then: 'deny' } as const
    return readScopes(reader, value, RATE).map((each) => ({ ...named, ...each }))
  })
}

function readBudget(reader: Reader, place: Place | undefined): readonly Limit[] {
  const fields = place && reader.fields(place, keysOf(BUDGETS))
  return keysOf(BUDGETS).flatMap((of) => {
    const at = fields?.[of]
    const named = { kind: 'budget', of, name: of, tools: glob('*'), then: 'deny' } as const
    return at ? readScopes(reader, at, named).map((each) => ({ ...named, ...each })) : []
  })
}

function readHours(reader: Reader, place: Place | undefined): TemporalSettings['hours'] {
  return readEntries(reader, place, '`hours`').flatMap(({ name, value }) => {
    const text = reader.text(value, 'hours')
    const windows = text === undefined ? undefined : parseHours(text)
    if (typeof windows === 'string') reader.note(value, windows)
    return typeof windows === 'object' ? [{ tools: glob(name), name, windows }] : []
  })
}

function readEntries(reader: Reader, place: Place | undefined, what: string): ReturnType<Reader['entries']> {
  const entries = place ? reader.entries(place, what) : []
  if (place && entries.length > MAX_ENTRIES) {
    reader.note(place, `${what} has more than ${MAX_ENTRIES} entries; use \`*\` in the tool names`)
  }
  const first = entries.slice(0, MAX_ENTRIES)
  for (const { name, key } of first) checkName(reader, key, name, 'the name of a tool')
  return first
}

type Scoped = Pick<Limit, 'scope' | 'calls' | 'period'>

/** A plain `20/h` is per principal. A mapping states the scope. */
function readScopes(reader: Reader, place: Place, counted: Counted): readonly Scoped[] {
  if (!isMapping(reader, place)) {
    const pace = readPace(reader, place, counted)
    return pace ? [{ scope: 'principal', ...pace }] : []
  }
  const fields = reader.fields(place, LIMIT_SCOPES)
  const found = LIMIT_SCOPES.filter((scope) => fields?.[scope] !== undefined)
  if (found.length === 0)
    reader.note(place, 'the mapping sets no limit; write `20/h`, or for example `{ session: 20/h }`')
  return found.flatMap((scope) => {
    const at = fields?.[scope]
    const pace = at && readPace(reader, at, counted)
    return pace ? [{ scope, ...pace }] : []
  })
}

function isMapping(reader: Reader, place: Place): boolean {
  const value = reader.plain(place)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type LimitPace = Pick<Limit, 'calls' | 'period'>

function readPace(reader: Reader, place: Place, { kind, of }: Counted): LimitPace | undefined {
  const text = reader.text(place, `a ${kind}`)
  if (text === undefined) return undefined
  const pace = parsePace(text)
  // Buckets are counted in calls × milliseconds.
  const isCountable = pace && (kind === 'budget' || Number.isSafeInteger(pace.calls * pace.period))
  if (pace && isCountable) return of === 'cost' ? { ...pace, calls: pace.calls * THOUSANDTHS } : pace
  reader.note(
    place,
    `a ${kind} is written \`20/h\`, \`3/10m\`, \`500/day\`: an amount, then a period of at most 366 days`,
  )
  return undefined
}

const PERIODS: ReadonlyMap<string, number> = new Map([
  ['s', 1000],
  ['second', 1000],
  ['m', 60_000],
  ['minute', 60_000],
  ['h', 3_600_000],
  ['hour', 3_600_000],
  ['d', DAY],
  ['day', DAY],
])

function parsePace(text: string): LimitPace | undefined {
  const [, calls, times, unit] = /^([1-9][0-9]{0,8})\/([1-9][0-9]{0,3})?([a-z]{1,6})$/.exec(text) ?? []
  const period = (PERIODS.get(unit ?? '') ?? Infinity) * Number(times ?? 1)
  return period <= 366 * DAY ? { calls: Number(calls), period } : undefined
}
