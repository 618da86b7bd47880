// Formats the report of `tollgate policy diff`.

import type { JsonObject } from '@tollgate/evidence'
import type { Policy } from '@tollgate/kernel/policy'
import { LOOSENING, outcomeText, type Example, type ChangeGroup } from '../../workbench/compare.ts'
import type { StatusChange } from '../../workbench/settings.ts'
import type { Untried } from '../../workbench/untried.ts'
import { shown, word } from '../program/table.ts'
import type { Colors } from '../program/terminal.ts'

/** One of the two policies. */
export interface Side {
  /** Undefined for the policy in force. */
  readonly file: string | undefined
  readonly policy: Policy
}

/** Numbers of compared calls. */
export interface TriedCalls {
  readonly generated: number
  /** Calls of the case files beside the policies. */
  readonly cases: number
  readonly recorded: { readonly calls: number; readonly skipped: ReadonlyMap<string, number> }
}

/** The result of a comparison. */
export interface Diff {
  readonly a: Side
  readonly b: Side
  readonly tried: TriedCalls
  readonly groups: readonly ChangeGroup[]
  /** Changes that no call shows. */
  readonly untried: readonly (Untried & { readonly accepted: boolean })[]
  /** Names that must be accepted and are not. */
  readonly missing: readonly string[]
  /** Accepted names that are not needed. */
  readonly stale: readonly string[]
  readonly standings: readonly StatusChange[]
  readonly sections: readonly string[]
  /** Rules with other approvers or another expiry. */
  readonly asking: readonly string[]
}

/** Returns the whole report. */
export function diffText(diff: Diff, all: boolean, paint: Colors): string {
  const changed = diff.groups.filter(({ change }) => change !== 'same verdict')
  const same = diff.groups.filter(({ change }) => change === 'same verdict')
  const parts = [
    ...changed.map((group) => groupText(group, paint)),
    ...(all ? same.map((group) => groupText(group, paint)) : sameText(same)),
    ...(changed.length === 0 ? ['No verdict changes.'] : []),
    ...untriedText(diff, paint),
    ...besidesText(diff),
  ]
  return parts.join('\n\n')
}

function untriedText({ untried }: Diff, paint: Colors): readonly string[] {
  if (untried.length === 0) return []
  const lines = untried.map(({ name, why, accepted }) =>
    accepted ? `  ${name}: ${why}; accepted` : `  ${paint.red(name)}: ${why}; not accepted`,
  )
  return [['No call shows the effect of:', ...lines].join('\n')]
}

function sameText(same: readonly ChangeGroup[]): readonly string[] {
  if (same.length === 0) return []
  const calls = same.reduce((sum, { recorded, cases, generated }) => sum + recorded + cases + generated, 0)
  return [`${calls} calls have the same verdict for another reason; \`--all\` shows them.`]
}

function groupText(group: ChangeGroup, paint: Colors): string {
  const { change, from, to, needs, accepted, recorded, cases, generated } = group
  const isLooser = LOOSENING.includes(change)
  const title = isLooser && !accepted ? paint.red(change) : paint.bold(change)
  const state = !isLooser
    ? ''
    : accepted
      ? `, accepted: ${needs.join(' ')}`
      : `, not accepted: ${needs.join(' ')}`
  return [
    `${title}  ${recorded} recorded, ${cases} from cases, ${generated} generated${state}`,
    `  ${outcomeText(from)}  →  ${outcomeText(to)}`,
    ...group.examples.map((example) => `    ${exampleText(example)}`),
  ].join('\n')
}

function exampleText(example: Example): string {
  if ('call' in example) return `${shown(JSON.stringify(example.call))}  at ${example.at}`
  const { receipt, principal, tool, arguments: names, args } = example
  const given = args === undefined ? `(${names.join(', ')})` : JSON.stringify(args)
  return shown(`receipt ${receipt}  ${principal}  ${tool} ${given}`)
}

/** Returns the changes that no single call shows. */
function besidesText({ standings, sections, asking }: Diff): readonly string[] {
  const lines = [
    ...standings.map(({ rung, from, to }) => `  step ${rung}: ${from} → ${to}`),
    ...(asking.length > 0 ? [`  rules with other approvers or another expiry: ${asking.join(', ')}`] : []),
    ...(sections.length > 0 ? [`  changed sections: ${sections.join(', ')}`] : []),
  ]
  return lines.length === 0 ? [] : [['Other changes:', ...lines].join('\n')]
}

/** Returns a command that explains the first loosened call that is not accepted; undefined if no command can express it. */
export function explainCommand({ groups, b }: Diff): string | undefined {
  const open = groups.filter(({ accepted }) => !accepted)
  const examples = open.flatMap((group) => group.examples)
  const line = examples.map((example) =>
    'call' in example ? optionsOf(example.call, example.at) : undefined,
  )
  const options = line.find((each) => each !== undefined)
  if (options === undefined || b.file === undefined) return undefined
  return `tollgate policy explain --policy ${word(b.file)} ${options}`
}

function optionsOf(call: JsonObject, at: string): string | undefined {
  const { tool, args, principal, session, door, context, ...more } = call
  if (Object.keys(more).length > 0 || typeof principal !== 'string') return undefined
  // Sound: `caseOf` makes all of these strings.
  const texts = {
    tool,
    args: JSON.stringify(args),
    principal,
    session,
    door,
    ...(context as object),
    at,
  } as Readonly<Record<string, string>>
  return Object.entries(texts)
    .map(([name, value]) => `--${name} ${word(value)}`)
    .join(' ')
}
