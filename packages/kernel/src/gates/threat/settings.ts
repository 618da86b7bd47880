// The settings of the threat gate: `gates.threat` in a policy file.

import { SEVERITIES, type Severity } from './finding.ts'
import type { JsonObject } from '@tollgate/evidence/core'
import type { Place, Reader } from '../../policy/reader/read.ts'
import { about, keysOf, part, record, words } from '../../policy/reader/schema.ts'
import type { GateSection } from '../../policy/reader/section.ts'

/** The action on findings in a call, or in texts that come with it. */
export type CallAnswer = 'label' | 'ask' | 'deny'

/** The action on findings in a result. */
type ResultAnswer = 'label' | 'redact' | 'withhold'

/** The settings of the threat gate. */
export interface ThreatSettings {
  /** Findings in the arguments of a call. */
  readonly arguments: Readonly<Record<Severity, CallAnswer>>
  /** Findings in the result of a tool. */
  readonly results: Readonly<Record<Severity, ResultAnswer>>
  /** Findings in texts that come with a call. */
  readonly sources: Readonly<Record<Severity, CallAnswer>>
}

/** The defaults of a policy that has `threat` without further settings. */
export const DEFAULT_THREAT: ThreatSettings = {
  arguments: { high: 'deny', medium: 'ask', low: 'label' },
  results: { high: 'redact', medium: 'label', low: 'label' },
  sources: { high: 'ask', medium: 'label', low: 'label' },
}

const CALL_ANSWERS = ['label', 'ask', 'deny'] as const
const RESULT_ANSWERS = ['label', 'redact', 'withhold'] as const

function severities(description: string, answers: readonly string[]): JsonObject {
  return record('By severity', description, {
    high: about('Unmistakable.', words(answers)),
    medium: about('Likely.', words(answers)),
    low: about('A hint.', words(answers)),
  })
}

const SCHEMA = record('Hostile text', 'The action on orders to the agent, attacks and disguised text.', {
  arguments: about('Findings in the arguments of a call.', part('call-answers')),
  results: about('Findings in the result of a tool.', part('result-answers')),
  sources: about('Findings in texts that come with a call.', part('call-answers')),
})

/** `gates.threat`. */
export const threatSettings: GateSection<ThreatSettings | undefined> = {
  name: 'threat',
  read: (reader, place) => place && readThreat(reader, place),
  schema: SCHEMA,
  parts: {
    'call-answers': severities('The action on findings in a call, by severity.', CALL_ANSWERS),
    'result-answers': severities('The action on results that contain findings, by severity.', RESULT_ANSWERS),
  },
  calls: { of: (threat) => ({ ...threat, results: 0 }), rungs: ['threat', 'policy'] },
  history: { of: ({ results }) => results },
  remembersData: true,
}

/** Reads `threat`. A missing setting gets its default. */
function readThreat(reader: Reader, place: Place): ThreatSettings {
  const fields = reader.fields(place, keysOf(SCHEMA))
  return {
    arguments: reader.words(fields?.arguments, CALL_ANSWERS, DEFAULT_THREAT.arguments, SEVERITIES),
    results: reader.words(fields?.results, RESULT_ANSWERS, DEFAULT_THREAT.results, SEVERITIES),
    sources: reader.words(fields?.sources, CALL_ANSWERS, DEFAULT_THREAT.sources, SEVERITIES),
  }
}
