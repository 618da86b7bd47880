// Formats an explanation: the verdict, the ladder, the rules, and what has to change for an ALLOW.

import type { ShownExplanation, ShownObstacle, ShownPart, ShownRule, ShownStep } from '../../api/explained.ts'
import { painted } from '../receipts/describe.ts'
import { shown, table } from '../program/table.ts'
import type { Colors } from '../program/terminal.ts'

interface CallNames {
  readonly tool: string
  readonly principal: string
}

/** Returns the explanation as text. */
export function explanationText(explanation: ShownExplanation, names: CallNames, paint: Colors): string {
  return [
    headline(explanation, names, paint),
    '',
    paint.bold('Ladder'),
    indented(columns(explanation.rungs.map((step) => stepRow(step, paint))), 2),
    '',
    paint.bold('Rules'),
    indented(rulesText(explanation.rules, paint), 2),
    '',
    explanation.verdict === 'ALLOW' ? relianceText(explanation, paint) : obstaclesText(explanation, paint),
  ].join('\n')
}

function headline(explanation: ShownExplanation, { tool, principal }: CallNames, paint: Colors): string {
  const { verdict, reason_code, rung, rule, message, detail } = explanation
  const by = rule === null ? rung : `${rung}, rule ${shown(rule)}`
  const exactly = detail === null ? '' : ` (${shown(detail)})`
  return [
    `${painted(verdict, paint)} ${shown(tool)} for ${shown(principal)}: ${reason_code} by ${by}`,
    `${message}${exactly}`,
  ].join('\n')
}

function stepRow(step: ShownStep, paint: Colors): readonly string[] {
  const { rung: name, standing, asked, verdict } = step
  if (verdict !== null) {
    const word = painted(verdict, paint)
    return asked
      ? [name, word, answerText(step)]
      : [name, 'not asked', `would answer ${word} ${answerText(step)}`]
  }
  if (standing !== 'active') return [name, paint.dim(standing), '']
  return asked ? [name, 'no objection', ''] : [name, 'not asked', paint.dim('would not object')]
}

function answerText({ reason_code, detail, rule }: ShownStep): string {
  const by = rule === null ? '' : `, rule ${shown(rule)}`
  return `${reason_code ?? ''}${by}${detail === null ? '' : `: ${shown(detail)}`}`
}

// With more rules than this, rules for other tools are only counted.
const MAX_RULES = 30

function rulesText(rules: readonly ShownRule[], paint: Colors): string {
  if (rules.length === 0) return 'none'
  const some = rules.length > MAX_RULES ? rules.filter((rule) => matchOf(rule) !== 'other tool') : rules
  const widths = [(rule: ShownRule) => String(rule.line), (rule: ShownRule) => rule.id].map((of) =>
    Math.max(...some.map((rule) => of(rule).length), 0),
  )
  const lines = some.flatMap((rule) => {
    const line = `line ${String(rule.line).padEnd(widths[0] ?? 0)}`
    const head = `${line}  ${rule.id.padEnd(widths[1] ?? 0)}  ${rule.action.padEnd(7)}  ${matchText(rule, paint)}`
    return [head, ...partLines(rule.parts).map((part) => `    ${part}`)]
  })
  const left = rules.length - some.length
  return [...lines, ...(left > 0 ? [paint.dim(`and ${left} rules for other tools`)] : [])].join('\n')
}

function matchOf({ match, would }: ShownRule): string {
  return match === 'not reached' ? (would ?? match) : match
}

function matchText({ match, would, action }: ShownRule, paint: Colors): string {
  if (match === 'matched') {
    const verdict = { allow: 'ALLOW', deny: 'DENY', require: 'ESCALATE' }[action]
    return `matches: ${painted(verdict, paint)}`
  }
  if (match !== 'not reached') return match === 'condition failed' ? paint.red(match) : match
  const after = would === 'matched' ? 'would match' : would === null ? '' : `would not match: ${would}`
  return paint.dim(`not reached${after === '' ? '' : `; ${after}`}`)
}

/** Returns the parts of a condition that are not true, indented by depth. */
function partLines(parts: readonly ShownPart[]): readonly string[] {
  const [whole, ...inner] = parts
  if (!whole) return []
  if (inner.length === 0) return [partText(whole)]
  return inner
    .filter(({ truth }) => truth !== 'true')
    .map((part) => '  '.repeat(part.depth - 1) + partText(part))
}

function partText({ text, truth, joins, fault, looks }: ShownPart): string {
  const source = oneLine(text)
  if (joins !== null) return `${truth}: ${joins === 'any' ? 'none of' : 'not all of'} ${source}`
  const seen = looks.flatMap(({ name, value, missing }) =>
    missing ? [`${name} is missing`] : value === null ? [] : [`${name} is ${shown(value)}`],
  )
  const why = truth === 'failed' && fault !== null ? [shown(fault.replace('the condition failed: ', ''))] : []
  const about = [...seen, ...why].join('; ')
  return `${truth}: ${source}${about === '' ? '' : `   (${about})`}`
}

function oneLine(text: string): string {
  return shown(text.replaceAll(/\s+/g, ' '))
}

function relianceText({ relies, rules, rungs }: ShownExplanation, paint: Colors): string {
  const unset = rungs.filter(({ standing }) => standing === 'not configured').map(({ rung }) => rung)
  const lines = [
    paint.bold('Why it is allowed'),
    `  by ${relies === null ? 'the policy' : placed(relies.rule, rules)}`,
    `  without that rule: ${withoutIt(relies?.next ?? null, rules)}`,
    ...(unset.length > 0 ? [`  gates not configured: ${unset.join(', ')}`] : []),
  ]
  return lines.join('\n')
}

function withoutIt(next: string | null, rules: readonly ShownRule[]): string {
  const rule = rules.find(({ id }) => id === next)
  if (!rule) return 'denied, because no other rule matches'
  const where = placed(rule.id, rules)
  if (rule.would === 'condition failed') return `denied, because the condition of ${where} fails`
  const verbs = { allow: 'would allow it as well', deny: 'would deny it', require: 'would ask a person' }
  return `${where} ${verbs[rule.action]}`
}

function placed(id: string, rules: readonly ShownRule[]): string {
  const rule = rules.find((each) => each.id === id)
  return rule ? `rule ${shown(id)} (line ${rule.line})` : `rule ${shown(id)}`
}

function obstaclesText({ obstacles, rules }: ShownExplanation, paint: Colors): string {
  const steps = obstacles.flatMap((obstacle, i) => {
    const [first = '', ...rest] = stepLines(obstacle, rules)
    return [`  ${i + 1}. ${first}`, ...rest.map((line) => `     ${line}`)]
  })
  return [paint.bold('Obstacles to an ALLOW'), ...steps].join('\n')
}

function stepLines(obstacle: ShownObstacle, rules: readonly ShownRule[]): readonly string[] {
  const { rung, verdict, reason_code, message, remedy, detail, rule, approvers } = obstacle
  const exactly = detail === null ? '' : ` (${shown(detail)})`
  const who = rule === null ? rung : `${rung}, ${placed(rule, rules)}`
  const from = approvers.length > 0 ? [`approvers: ${approvers.map(shown).join(', ')}`] : []
  const word = verdict === 'DENY' ? reason_code : `${reason_code}, a person can approve it`
  const goes = obstacle.goes.map(goingText)
  return [`${who}: ${word}`, `${message}${exactly}`, remedy, ...goes, ...from, ...nearLines(obstacle, rules)]
}

function goingText({ at, host }: ShownObstacle['goes'][number]): string {
  const name = at.replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
  return `args${shown(name)} ${host === '' ? 'is a destination that cannot be parsed' : `goes to ${shown(host)}`}`
}

const MAX_NEAR = 5

function nearLines({ reason_code, near }: ShownObstacle, rules: readonly ShownRule[]): readonly string[] {
  if (reason_code !== 'NO_RULE_MATCHED') return []
  if (near.length === 0) return ['no rule allows this tool']
  return near.slice(0, MAX_NEAR).flatMap((id) => {
    const rule = rules.find((each) => each.id === id)
    if (!rule) return []
    const then = rule.action === 'allow' ? 'would allow it' : 'would ask a person'
    const head = `${placed(id, rules)} ${then}, but: ${matchOf(rule)}`
    return [head, ...partLines(rule.parts).map((part) => `  ${part}`)]
  })
}

function columns(rows: readonly (readonly string[])[]): string {
  return table(['', '', ''], rows).slice(1)
}

function indented(text: string, by: number): string {
  return text.replaceAll(/^(?=.)/gm, ' '.repeat(by))
}
