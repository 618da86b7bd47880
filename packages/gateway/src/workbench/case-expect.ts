// Reads the expectations of a case.

import {
  reasonOf,
  LADDER_STEPS,
  VERDICTS,
  type ReasonCode,
  type LadderStep,
  type Verdict,
} from '@tollgate/evidence'
import type { Place, Reader } from '@tollgate/kernel/policy'
import type { Expectation } from './case.ts'

const FIELDS = ['verdict', 'rule', 'rung', 'reason', 'detail'] as const
const SHORT = /^(?<verdict>[A-Z]{1,20})(?: by (?<rule>[^ ]{1,100}))?(?: at (?<rung>[^ ]{1,40}))?$/
const FORM =
  'write `ALLOW`, `DENY` or `ESCALATE`, then `by RULE` or `at STEP` if that matters, such as `DENY at egress`'

/** Reads an expectation; undefined if it is malformed. Calls `meets` for each rule that it names. */
export function readExpectation(
  reader: Reader,
  place: Place,
  meets: (rule: string, place: Place) => void,
): Expectation | undefined {
  const value = reader.plain(place)
  const expectation = typeof value === 'string' ? readShort(reader, place, value) : readLong(reader, place)
  if (expectation?.rule !== undefined) meets(expectation.rule, place)
  return expectation
}

function readShort(reader: Reader, place: Place, text: string): Expectation | undefined {
  const { verdict: word = '', rule, rung } = SHORT.exec(text)?.groups ?? {}
  const verdict = VERDICTS.find((each) => each === word)
  if (verdict === undefined) {
    reader.note(place, `this is not an expectation; ${FORM}`)
    return undefined
  }
  const known = LADDER_STEPS.find((each) => each === rung)
  if (rung !== undefined && known === undefined) {
    reader.note(place, `there is no step \`${rung}\`; write one of ${quoted(LADDER_STEPS)}`)
  }
  return { verdict, rule, rung: known, reason: undefined, detail: undefined }
}

function readLong(reader: Reader, place: Place): Expectation | undefined {
  if (typeof reader.plain(place) !== 'object') {
    reader.note(place, `this is not an expectation; ${FORM}`)
    return undefined
  }
  const fields = reader.fields(place, FIELDS)
  if (!fields) return undefined
  if (!fields.verdict) reader.note(place, '`verdict` is missing; write `verdict: DENY` or another')
  const verdict = fields.verdict && reader.word(fields.verdict, '`verdict`', VERDICTS)
  const rest = {
    rule: fields.rule && reader.text(fields.rule, '`rule`'),
    rung: fields.rung && reader.word<LadderStep>(fields.rung, '`rung`', LADDER_STEPS),
    reason: fields.reason && readReason(reader, fields.reason, verdict),
    detail: fields.detail && reader.text(fields.detail, '`detail`, a part of the detail text,'),
  }
  return verdict && { verdict, ...rest }
}

function readReason(reader: Reader, place: Place, verdict: Verdict | undefined): ReasonCode | undefined {
  const text = reader.text(place, '`reason`')
  if (text === undefined) return undefined
  const reason = reasonOf(text)
  if (!reason)
    reader.note(place, `there is no reason code \`${text.slice(0, 60)}\`; docs/reasons.md lists them`)
  else if (verdict !== undefined && reason.verdict !== verdict) {
    reader.note(
      place,
      `\`${text}\` always has the verdict ${reason.verdict}; correct \`verdict\` or \`reason\``,
    )
  }
  // Sound: `reasonOf` knows only reason codes.
  return reason && (text as ReasonCode)
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ')
}
