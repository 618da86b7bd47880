// The settings of the rungs: `gates` in a policy file.

import { parseHostPattern, type HostPattern } from '../destinations/pattern.ts'
import { DEFAULT_RISK, ONE, type RiskSettings } from '../risk.ts'
import { glob, type Glob } from './glob.ts'
import { checkName } from './names.ts'
import type { Place, Reader } from './read.ts'

/** A rate: so many calls of these tools in a period, for each principal. */
export interface Rate {
  /** How the policy names it. */
  readonly name: string
  readonly tools: Glob
  readonly calls: number
  /** In milliseconds. */
  readonly period: number
}

/** The settings of the rungs. */
export interface GateSettings {
  readonly egress: {
    readonly allow: readonly HostPattern[]
    readonly ask: readonly HostPattern[]
    readonly deny: readonly HostPattern[]
  }
  readonly sessionRisk: RiskSettings
  readonly browser: {
    readonly domains: readonly HostPattern[]
    readonly maxSentinelRisk: number
    /** `sentinel`: only observations that the Sentinel posted itself count. */
    readonly observation: 'any' | 'sentinel'
  }
  readonly rates: readonly Rate[]
}

const DAY = 86_400_000
const BUILT_GATES = ['egress', 'session-risk', 'browser', 'temporal'] as const
const LATER_GATES = ['taint', 'threat', 'delegation', 'trust', 'privilege', 'scope', 'compliance'] as const

/** Reads `gates`; what is not said has its default. */
export function readGates(reader: Reader, place: Place | undefined): GateSettings {
  const fields = place && reader.fields(place, [...BUILT_GATES, ...LATER_GATES])
  for (const name of LATER_GATES) {
    const later = fields?.[name]
    if (later) reader.note(later, `the rung \`${name}\` is not configurable yet; remove it`)
  }
  return {
    egress: readEgress(reader, fields?.egress),
    sessionRisk: readSessionRisk(reader, fields?.['session-risk']),
    browser: readBrowser(reader, fields?.browser),
    rates: readTemporal(reader, fields?.temporal),
  }
}

function readHosts(reader: Reader, place: Place | undefined, what: string): readonly HostPattern[] {
  if (!place) return []
  return reader.texts(place, what).flatMap(({ text, place: at }) => {
    const pattern = parseHostPattern(text)
    if (typeof pattern !== 'string') return [pattern]
    reader.note(at, pattern)
    return []
  })
}

function readEgress(reader: Reader, place: Place | undefined): GateSettings['egress'] {
  const fields = place && reader.fields(place, ['allow', 'ask', 'deny'])
  return {
    allow: readHosts(reader, fields?.allow, 'a host'),
    ask: readHosts(reader, fields?.ask, 'a host'),
    deny: readHosts(reader, fields?.deny, 'a host'),
  }
}

function readSessionRisk(reader: Reader, place: Place | undefined): RiskSettings {
  const names = ['threshold', 'window', 'baseline', 'half-life', 'carry'] as const
  const fields = place && reader.fields(place, names)
  if (!fields) return DEFAULT_RISK
  const fraction = (at: Place | undefined, what: string, least: number, otherwise: number): number => {
    const value = at && reader.number(at, what, least, 1)
    return value === undefined ? otherwise : Math.round(value * ONE)
  }
  const window = fields.window && reader.number(fields.window, '`window`', 2, 1000)
  if (fields.window && window !== undefined && !Number.isInteger(window)) {
    reader.note(fields.window, '`window` must be a whole number of turns')
  }
  const halfLife = fields['half-life'] && reader.duration(fields['half-life'], '`half-life`', 30 * DAY)
  return {
    threshold: fraction(fields.threshold, '`threshold`', 0.1, DEFAULT_RISK.threshold),
    window: window ?? DEFAULT_RISK.window,
    baseline: fraction(fields.baseline, '`baseline`', 0, DEFAULT_RISK.baseline),
    halfLife: halfLife ?? DEFAULT_RISK.halfLife,
    carry: fraction(fields.carry, '`carry`', 0, DEFAULT_RISK.carry),
  }
}

function readBrowser(reader: Reader, place: Place | undefined): GateSettings['browser'] {
  const fields = place && reader.fields(place, ['domains', 'max-sentinel-risk', 'observation'])
  const risk = fields?.['max-sentinel-risk']
  const observation = fields?.observation
  return {
    domains: readHosts(reader, fields?.domains, 'a domain'),
    maxSentinelRisk: (risk && reader.number(risk, '`max-sentinel-risk`', 0, 100)) ?? 70,
    observation: (observation && reader.word(observation, '`observation`', ['any', 'sentinel'])) ?? 'any',
  }
}

const PERIODS: Readonly<Record<string, number>> = {
  s: 1000,
  second: 1000,
  m: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: DAY,
  day: DAY,
}

function readTemporal(reader: Reader, place: Place | undefined): readonly Rate[] {
  const fields = place && reader.fields(place, ['rate', 'budget', 'hours'])
  for (const later of [fields?.budget, fields?.hours]) {
    if (later) reader.note(later, 'of `temporal` only `rate` is configurable yet; remove this')
  }
  if (!fields?.rate) return []
  return reader.entries(fields.rate, '`rate`').flatMap(({ name, key, value }) => {
    checkName(reader, key, name, 'the name of a tool')
    const rate = parseRate(reader.text(value, 'a rate') ?? '')
    if (!rate) reader.note(value, 'a rate is written `20/h`, `3/10m`, `500/day`: calls, then the period')
    return rate ? [{ name, tools: glob(name), ...rate }] : []
  })
}

function parseRate(text: string): { calls: number; period: number } | undefined {
  const [, calls, times, unit] = /^([1-9][0-9]{0,5})\/([1-9][0-9]{0,3})?([a-z]{1,6})$/.exec(text) ?? []
  const length = unit !== undefined && Object.hasOwn(PERIODS, unit) ? PERIODS[unit] : undefined
  if (calls === undefined || length === undefined) return undefined
  const period = length * Number(times ?? 1)
  // What is left of a rate is counted in calls × milliseconds.
  const countable = Number.isSafeInteger(Number(calls) * period)
  return period <= 366 * DAY && countable ? { calls: Number(calls), period } : undefined
}
