// Parses a case file. Reports all mistakes at once, each with its line and a remedy.

import { DOORS } from '@tollgate/evidence'
import {
  firstMistakes,
  readYaml,
  type Mistake,
  type Place,
  type Policy,
  type Reader,
} from '@tollgate/kernel/policy'
import { CALL_DEFAULTS, readContext } from './case-call.ts'
import { readFiles } from './case-place.ts'
import {
  CALL_STEP,
  isThere,
  readCallStep,
  readSteps,
  type NamedRule,
  type CaseReading,
} from './case-steps.ts'
import type { Case, CaseFile } from './case.ts'

type ReadCases =
  | { readonly ok: true; readonly file: CaseFile }
  | { readonly ok: false; readonly mistakes: readonly Mistake[] }

/** The maximum length of a case file in characters. */
export const MAX_CASE_FILE: number = 1 << 20

const MAX_CASES = 10_000
const MAX_NAME = 200
/** A Monday morning. */
const START = Date.UTC(2026, 0, 5, 9)

/** Reads a case file. Never throws. */
export function readCaseFile(text: string): ReadCases {
  const reader = readYaml(text)
  const file = reader.mistakes.length === 0 ? readFile(reader) : undefined
  if (file && reader.mistakes.length === 0) return { ok: true, file }
  return { ok: false, mistakes: firstMistakes(reader.mistakes) }
}

function readFile(reader: Reader): CaseFile | undefined {
  const fields = reader.fields(reader.root, ['tollgate', 'policy', 'defaults', 'cases'])
  if (!fields) return undefined
  if (fields.tollgate) reader.number(fields.tollgate, '`tollgate`, the version of the format,', 1, 1)
  else reader.note(reader.root, '`tollgate: 1` is missing; write it in the first line')
  const reading = readDefaults(reader, fields.defaults)
  const cases = fields.cases ? readCases(reading, fields.cases) : []
  if (!fields.cases) reader.note(reader.root, '`cases` is missing; add at least one case')
  return {
    policy: fields.policy && reader.text(fields.policy, '`policy`, the path of the policy,'),
    cases,
    mistakesAbout: (policy) => unknownRules(reader, reading.rules, policy),
  }
}

function unknownRules(reader: Reader, named: readonly NamedRule[], { rules }: Policy): readonly Mistake[] {
  const known = new Set(rules.map(({ id }) => id))
  const before = reader.mistakes.length
  for (const { rule, place } of named) {
    if (known.has(rule)) continue
    reader.note(
      place,
      `the policy has no rule \`${rule.slice(0, 100)}\`; write the \`id\` of an existing rule`,
    )
  }
  return firstMistakes(reader.mistakes.slice(before))
}

function readDefaults(reader: Reader, place: Place | undefined): CaseReading {
  const names = ['principal', 'session', 'door', 'context', 'tenant', 'at', 'files'] as const
  const fields = (place && reader.fields(place, names)) ?? {}
  const { principal, session, door, context, tenant, at, files } = fields
  return {
    reader,
    calls: {
      principal: (principal && reader.text(principal, '`principal`')) ?? CALL_DEFAULTS.principal,
      session: (session && reader.text(session, '`session`')) ?? CALL_DEFAULTS.session,
      door: (door && reader.word(door, '`door`', DOORS)) ?? CALL_DEFAULTS.door,
      context: context && readContext(reader, context),
      files: files && readFiles(reader, files),
    },
    tenant: (tenant && reader.text(tenant, '`tenant`')) ?? 'default',
    at: (at && readMoment(reader, at)) ?? START,
    rules: [],
  }
}

const MOMENT = /^(?<year>\d{4})-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})$/

function readMoment(reader: Reader, place: Place): number | undefined {
  const text = reader.text(place, '`at`') ?? ''
  const time = MOMENT.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(time) && time >= 0) return time
  if (text !== '')
    reader.note(place, '`at` must be a time with its zone; write for example `"2026-01-05T09:00:00Z"`')
  return undefined
}

function readCases(reading: CaseReading, place: Place): readonly Case[] {
  const { reader } = reading
  const items = reader.items(place, '`cases`')
  if (reader.isEmptyList(place)) reader.note(place, '`cases` is an empty list; add at least one case')
  if (items.length > MAX_CASES) reader.note(place, `more than ${MAX_CASES} cases; split the file`)
  const names = new Set<string>()
  return items.slice(0, MAX_CASES).flatMap((item) => readCase(reading, item, names) ?? [])
}

function readCase(reading: CaseReading, place: Place, names: Set<string>): Case | undefined {
  const { reader } = reading
  const fields = reader.fields(place, ['name', 'at', 'steps', ...CALL_STEP])
  if (!fields) return undefined
  const { name, at, steps, ...call } = fields
  const outside = Object.values(call)[0]
  if (steps && outside) reader.note(outside, 'a case has either `steps` or one `call`; put this into a step')
  return {
    name: readName(reader, place, name, names),
    line: reader.line(place),
    at: (at && readMoment(reader, at)) ?? reading.at,
    tenant: reading.tenant,
    steps: steps ? readSteps(reading, steps) : [readCallStep(reading, place, call)].filter(isThere),
  }
}

function readName(reader: Reader, item: Place, place: Place | undefined, names: Set<string>): string {
  if (!place) {
    reader.note(item, 'the case has no `name`; describe in a few words what it shows')
    return ''
  }
  const name = reader.text(place, '`name`') ?? ''
  if (name.length > MAX_NAME) reader.note(place, `\`name\` is longer than ${MAX_NAME} characters; shorten it`)
  if (names.has(name)) reader.note(place, 'another case has the same `name`; give each a unique name')
  names.add(name)
  return name
}
