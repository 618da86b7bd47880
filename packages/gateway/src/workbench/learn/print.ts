// Writes proposed rules as YAML, each with its evidence and a comment for everything it allows beyond it.

import { excerpt } from '../../tools/hidden.ts'
import { celList } from './cel.ts'
import { yamlText } from './names.ts'
import { count, type ValueNote, type ObservedCall } from './observed.ts'
import { conditionText, type RuleProposal } from './rule.ts'

export interface ProposedRule extends RuleProposal {
  readonly id: string
}

/** The rules as the end of a policy: `rules:` and the list. */
export function rulesText(rules: readonly ProposedRule[]): string {
  if (rules.length === 0) return 'rules: []\n'
  return `rules:\n${rules.map(ruleText).join('\n')}`
}

function ruleText(rule: ProposedRule): string {
  const { id, action, tool, principals, doors, when, asks } = rule
  const condition = conditionText(when)
  return [
    ...commentsOf(rule).map((line) => `  # ${line}`),
    `  - id: ${id}`,
    `    ${action}: [${yamlText(tool)}]`,
    `    principal: ${celList(principals)}`,
    `    door: [${doors.join(', ')}]`,
    '    when: |-',
    ...condition.split('\n').map((line) => `      ${line}`),
    ...(action === 'require' ? [`    because: ${yamlText(reason(asks))}`] : []),
    '',
  ].join('\n')
}

const MAX_REASON = 400

function reason(asks: readonly string[]): string {
  return excerpt(asks.join('; '), MAX_REASON)
}

// More comments would not be read.
const MAX_NOTES = 30
const MAX_LINE = 500

function commentsOf({ tool, calls, notes, asks }: ProposedRule): readonly string[] {
  const wider = notes.filter((note) => note.wider !== undefined)
  const listed = new Set([...wider, ...notes].slice(0, MAX_NOTES))
  const lines = [
    `${excerpt(tool, 100)}: ${evidenceOf(calls)}`,
    `receipts ${receiptsOf(calls)}`,
    ...notes.filter((note) => listed.has(note)).flatMap(linesOf),
    ...moreOf(notes.filter((note) => !listed.has(note))),
    ...asks.slice(0, MAX_NOTES).map((why) => `needs approval: ${why}`),
  ]
  return lines.map((line) => excerpt(line, MAX_LINE))
}

function linesOf({ path, seen, wider }: ValueNote): readonly string[] {
  const name = path === '' ? '(arguments)' : path
  return [`  ${name}: ${seen}`, ...(wider === undefined ? [] : [`    WIDER than seen: allows ${wider}`])]
}

/** A summary of the other notes. Widened ones are listed by name. */
function moreOf(notes: readonly ValueNote[]): readonly string[] {
  if (notes.length === 0) return []
  const wider = notes.filter((note) => note.wider !== undefined).map(({ path }) => path)
  return [
    `  and ${count(notes.length, 'more value')}, see the condition`,
    ...(wider.length > 0 ? [`    WIDER than seen, ${wider.length} of them: ${wider.join(', ')}`] : []),
  ]
}

function evidenceOf(calls: readonly ObservedCall[]): string {
  const sessions = new Set(
    calls.map(({ tenant = '', principal, session }) => `${tenant}\n${principal}\n${session}`),
  )
  const principals = new Set(calls.map(({ principal }) => principal))
  const parts = [
    count(calls.length, 'call'),
    count(sessions.size, 'session'),
    count(principals.size, 'principal'),
    spanOf(calls),
  ]
  return parts.join(', ')
}

/** The first and the last time. */
export function spanOf(calls: readonly ObservedCall[]): string {
  const times = calls.map(({ time }) => time).sort()
  const [first = '', last = ''] = [times[0], times.at(-1)]
  return first === last ? first : `${first} to ${last}`
}

const MAX_RECEIPTS = 5

function receiptsOf(calls: readonly ObservedCall[]): string {
  const some = calls.slice(0, MAX_RECEIPTS).map(({ receipt }) => receipt.slice(0, 8))
  return `${some.join(' ')}${calls.length > MAX_RECEIPTS ? ` and ${calls.length - MAX_RECEIPTS} more` : ''}`
}
