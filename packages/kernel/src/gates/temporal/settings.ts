// `gates.temporal`: how often, how much, when.

import { parseHours, type Hours } from './hours.ts'
import { glob, type Glob } from '../../policy/glob.ts'
import type { Place, Reader } from '../../policy/reader/read.ts'
import { meaningOf } from '../../policy/reader/meaning.ts'
import { checkName } from '../../policy/reader/names.ts'
import { about, keysOf, mapping, NAME, part, record, TEXT } from '../../policy/reader/schema.ts'
import type { GateSection } from '../../policy/reader/section.ts'

/** For whom a limit is counted: `tool` for each tool of a tenant, whoever calls it. */
type LimitScope = 'principal' | 'session' | 'tool' | 'tenant'

/** So much in a period. */
export interface Limit {
  /** `rate` refills as time goes by, `budget` with each period; `burst` also counts calls that do not pass. */
  readonly kind: 'rate' | 'budget' | 'burst'
  readonly of: 'calls' | 'cost'
  readonly scope: LimitScope
  /** How the policy names it. */
  readonly name: string
  readonly tools: Glob
  /** How much: calls, or thousandths of a unit of cost. */
  readonly calls: number
  /** In milliseconds. */
  readonly period: number
  /** What becomes of a call beyond it. */
  readonly then: 'deny' | 'ask'
}

/** The settings of the temporal rung. */
export interface TemporalSettings {
  /** In the order in which they are looked at: bursts, rates, budgets. */
  readonly limits: readonly Limit[]
  readonly hours: readonly { readonly tools: Glob; readonly name: string; readonly windows: Hours }[]
}

const DAY = 86_400_000
const MOST_ENTRIES = 200
/** Costs are counted in thousandths. */
const THOUSANDTHS = 1000

const PACE = {
  type: 'string',
  pattern: '^[1-9][0-9]{0,8}/([1-9][0-9]{0,3})?(s|second|m|minute|h|hour|d|day)$',
  examples: ['20/h', '3/10m', '500/day'],
} as const

const SCOPES = record<LimitScope>(
  'Limits by scope',
  'For whom each limit is counted.',
  {
    principal: about('For each principal.', PACE),
    session: about('For each session.', PACE),
    tool: about('For each tool of a tenant, whoever calls it.', PACE),
    tenant: about('For all calls of a tenant together.', PACE),
  },
  { minProperties: 1 },
)
/** For whom a limit is counted. */
const LIMIT_SCOPES: readonly LimitScope[] = keysOf(SCOPES)

const BUDGETS = record('Budgets', 'How much is left in each period.', {
  calls: about('Calls.', part('limit')),
  cost: about('Units of `cost` of tools.', part('limit')),
})

const BURSTS = record('Bursts', 'Too many calls at once, whatever becomes of them.', {
  ask: about('From here on a person is asked.', PACE),
  deny: about('From here on calls are denied.', PACE),
})

const SCHEMA = record('How often and when', 'How often, how much, when.', {
  rate: mapping('Rates', 'How often tools may be called, by patterns of their names.', part('limit'), NAME),
  budget: BUDGETS,
  hours: mapping(
    'Hours',
    'When tools may be called, by patterns of their names.',
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
      description: 'So much in a period: for each principal, or for whom a mapping says.',
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

/** Each limit is still there, and none has grown. */
function isStricter(before: TemporalSettings, after: TemporalSettings): boolean {
  const kind = (limit: Limit): string => meaningOf({ ...limit, calls: 0 })
  return before.limits.every((old) =>
    after.limits.some((now) => now.calls <= old.calls && kind(old) === kind(now)),
  )
}

/** Reads `temporal`; what is not said has no limit. */
export function readTemporal(reader: Reader, place: Place): TemporalSettings {
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

/** What is said for each pattern of tools. */
function readEntries(reader: Reader, place: Place | undefined, what: string): ReturnType<Reader['entries']> {
  const entries = place ? reader.entries(place, what) : []
  if (place && entries.length > MOST_ENTRIES) {
    reader.note(place, `${what} has more than ${MOST_ENTRIES} entries; use \`*\` in the names of tools`)
  }
  const first = entries.slice(0, MOST_ENTRIES)
  for (const { name, key } of first) checkName(reader, key, name, 'the name of a tool')
  return first
}

type Scoped = Pick<Limit, 'scope' | 'calls' | 'period'>

/** A plain `20/h` is by principal; a mapping says by whom. */
function readScopes(reader: Reader, place: Place, counted: Counted): readonly Scoped[] {
  if (!isMapping(reader, place)) {
    const pace = readPace(reader, place, counted)
    return pace ? [{ scope: 'principal', ...pace }] : []
  }
  const fields = reader.fields(place, LIMIT_SCOPES)
  const found = LIMIT_SCOPES.filter((scope) => fields?.[scope] !== undefined)
  if (found.length === 0)
    reader.note(place, 'limits nothing; write `20/h`, or for example `{ session: 20/h }`')
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
  // What is left of a bucket is counted in calls × milliseconds.
  const isCountable = pace && (kind === 'budget' || Number.isSafeInteger(pace.calls * pace.period))
  if (pace && isCountable) return of === 'cost' ? { ...pace, calls: pace.calls * THOUSANDTHS } : pace
  reader.note(
    place,
    `a ${kind} is written \`20/h\`, \`3/10m\`, \`500/day\`: how much, then the period, at most 366 days`,
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
