// The settings of the threat rung: `gates.threat` in a policy file.

import { SEVERITIES, type Severity } from '../../threat/finding.ts'
import type { Place, Reader } from '../read.ts'

/** What is done about findings in a call, or in texts that it brings along. */
export type CallAnswer = 'label' | 'ask' | 'deny'

/** What is done about findings in a result. */
export type ResultAnswer = 'label' | 'redact' | 'withhold'

/** The settings of the threat rung. */
export interface ThreatSettings {
  /** Findings in the arguments of a call. */
  readonly arguments: Readonly<Record<Severity, CallAnswer>>
  /** Findings in what a tool returns. */
  readonly results: Readonly<Record<Severity, ResultAnswer>>
  /** Findings in texts that a call brings along. */
  readonly sources: Readonly<Record<Severity, CallAnswer>>
}

/** What a policy that mentions the rung and says nothing else gets. */
export const DEFAULT_THREAT: ThreatSettings = {
  arguments: { high: 'deny', medium: 'ask', low: 'label' },
  results: { high: 'redact', medium: 'label', low: 'label' },
  sources: { high: 'ask', medium: 'label', low: 'label' },
}

const CALL_ANSWERS = ['label', 'ask', 'deny'] as const
const RESULT_ANSWERS = ['label', 'redact', 'withhold'] as const

/** Reads `threat`; what is not said has its default. */
export function readThreat(reader: Reader, place: Place): ThreatSettings {
  const fields = reader.fields(place, ['arguments', 'results', 'sources'])
  const read = <Answer extends string>(
    at: Place | undefined,
    answers: readonly Answer[],
    otherwise: Readonly<Record<Severity, Answer>>,
  ): Readonly<Record<Severity, Answer>> => (at ? readAnswers(reader, at, answers, otherwise) : otherwise)
  return {
    arguments: read(fields?.arguments, CALL_ANSWERS, DEFAULT_THREAT.arguments),
    results: read(fields?.results, RESULT_ANSWERS, DEFAULT_THREAT.results),
    sources: read(fields?.sources, CALL_ANSWERS, DEFAULT_THREAT.sources),
  }
}

function readAnswers<Answer extends string>(
  reader: Reader,
  place: Place,
  answers: readonly Answer[],
  otherwise: Readonly<Record<Severity, Answer>>,
): Readonly<Record<Severity, Answer>> {
  const fields = reader.fields(place, SEVERITIES)
  const answer = (severity: Severity): Answer => {
    const at = fields?.[severity]
    return (at && reader.word(at, `\`${severity}\``, answers)) ?? otherwise[severity]
  }
  return { low: answer('low'), medium: answer('medium'), high: answer('high') }
}
