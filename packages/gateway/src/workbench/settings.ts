// Finds the differences of two policies that single calls do not show: settings, the status of steps, approvers.

import type { Json, LadderStep } from '@tollgate/evidence'
import { describeLadder, type StepStatus } from '@tollgate/kernel'
import type { Policy, Rule, ToolDeclaration } from '@tollgate/kernel/policy'
import { GATE_SECTIONS, isWithin, meaningOf, type GateSection, type Shown } from '@tollgate/kernel/policy'
import { schemasIn } from './generate/shape.ts'
import { ruleText } from './rule-changes.ts'

/** A step whose status differs. */
export interface StatusChange {
  readonly rung: StepStatus['rung']
  readonly from: StepStatus['standing']
  readonly to: StepStatus['standing']
}

/** The steps whose status differs under the second policy. */
export function statusChanges(a: Policy, b: Policy): readonly StatusChange[] {
  const after = describeLadder(b)
  return describeLadder(a).flatMap(({ rung, standing }, i) => {
    const to = after[i]?.standing ?? standing
    return to === standing ? [] : [{ rung, from: standing, to }]
  })
}

/** The names of the sections that differ. */
export function sectionsThatDiffer(a: Policy, b: Policy): readonly string[] {
  const [left, right] = [sectionsOf(a), sectionsOf(b)]
  return Object.keys(left).filter((name) => left[name] !== right[name])
}

/** Each section as one text, equal for equal meaning. Insignificant order is ignored. */
function sectionsOf(policy: Policy): Readonly<Record<string, string>> {
  const { context, principals, tools, rules, approvals, providerTools, gates } = policy
  const named = GATE_SECTIONS.map(([gate, { name }]) => [`gates.${name}`, meaningOf(gates[gate])] as const)
  return {
    context: meaningOf(context),
    principals: principalsText(principals),
    tools: JSON.stringify([...toolTexts(policy)].toSorted()) + orderOf(tools, ({ name }) => !name.exact),
    rules: JSON.stringify(rules.map((rule) => ruleText(rule) + askingText(rule))),
    approvals: meaningOf(approvals),
    'provider-tools': meaningOf(providerTools),
    ...Object.fromEntries(named),
  }
}

function askingText({ approvers, answer, expires }: Pick<Rule, 'approvers' | 'answer' | 'expires'>): string {
  return meaningOf({ approvers, answer, expires })
}

/** The first match counts, so the order of patterns is significant. */
function principalsText(principals: Policy['principals']): string {
  return meaningOf(principals) + orderOf(principals, ({ name }) => principals.some(isPattern) || !name.exact)
}

/** Each tool declaration as one text, with its schema as written. */
function toolTexts({ tools, text }: Policy): ReadonlyMap<string, string> {
  const schemas = schemasIn(text)
  return new Map(
    tools.map(({ schema, ...rest }) => {
      const { source } = rest.name
      return [
        source,
        meaningOf({ ...rest, schema: schema ? schemaText(schemas.get(source) ?? text) : undefined }),
      ]
    }),
  )
}

// In other lists of a schema the order is significant.
const UNORDERED: ReadonlySet<string> = new Set(['enum', 'required', 'type'])

function schemaText(value: Json, name = ''): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (!Array.isArray(value)) {
    const members = Object.entries(value).map(
      ([key, each]) => `${JSON.stringify(key)}:${schemaText(each, key)}`,
    )
    return `{${sorted(members)}}`
  }
  const texts = value.map((each: Json) => schemaText(each))
  return `[${UNORDERED.has(name) ? sorted(texts) : texts.join(',')}]`
}

/** The tool declarations that differ; all patterns, if their order differs. */
export function toolsThatDiffer(a: Policy, b: Policy): readonly ToolDeclaration['name'][] {
  const [left, right] = [toolTexts(a), toolTexts(b)]
  const order = (policy: Policy): string => orderOf(policy.tools, isPattern)
  const isSameOrder = order(a) === order(b)
  const names = new Map([...a.tools, ...b.tools].map(({ name }) => [name.source, name]))
  return [...names.values()].filter(
    ({ source, exact }) => left.get(source) !== right.get(source) || (!exact && !isSameOrder),
  )
}

/** A part of a policy that differs and may allow more. */
export interface Differing {
  readonly name: string
  /** The steps at which a call would show the difference. */
  readonly rungs: readonly LadderStep[]
}

/** A part of a policy: its name, and the values that are compared. */
interface Part extends Differing {
  readonly read: (policy: Policy) => unknown
  readonly isStricter?: (a: Policy, b: Policy) => boolean
}

/** The parts whose changes single calls can show. */
const SHOWN_BY_CALLS: readonly Part[] = [
  {
    name: 'context',
    rungs: ['context'],
    read: ({ context }) => context,
    isStricter: (a, b) => isNarrowerContext(a.context, b.context),
  },
  {
    name: 'principals',
    rungs: ['privilege', 'delegation', 'identity', 'policy'],
    read: ({ principals }) => principalsText(principals.map((each) => ({ ...each, key: undefined }))),
  },
  ...GATE_SECTIONS.map(([gate, section]) => gatePart(gate, section, section.calls ?? {})),
]

/** The parts whose changes only a history, a result or a person can show. */
const SHOWN_BY_HISTORY: readonly Part[] = [
  {
    name: 'principals',
    rungs: [],
    read: ({ principals }) => principals.map(({ name, key }) => [name.source, key && meaningOf(key)]),
  },
  {
    name: 'tools',
    rungs: [],
    read: ({ tools }) => tools.map(({ name, returns, salted }) => [name.source, returns, salted]),
  },
  // If no reason was required, nothing can be loosened.
  {
    name: 'approvals',
    rungs: [],
    read: ({ approvals }) => (approvals.reason === 'required' ? approvals : undefined),
  },
  ...GATE_SECTIONS.flatMap(([gate, section]) =>
    section.history ? [gatePart(gate, section, { rungs: [], ...section.history })] : [],
  ),
]

/** A section of `gates`. A gate that was not configured cannot be loosened. */
function gatePart(gate: keyof Policy['gates'], { name }: GateSection<unknown>, shown: Shown<unknown>): Part {
  return {
    name: `gates.${name}`,
    rungs: shown.rungs ?? [name],
    read: ({ gates: { [gate]: settings } }) => (settings && shown.of ? shown.of(settings) : settings),
    isStricter: (a, b) => shown.isStricter?.(a.gates[gate], b.gates[gate]) === true,
  }
}

/** The sections whose changes calls can show, unless they only restrict. */
export function callSections(a: Policy, b: Policy): readonly Differing[] {
  return SHOWN_BY_CALLS.filter((part) => isLooser(part, a, b))
}

/** The sections whose changes only a history shows, unless they only restrict. Includes rules with other approvers. */
export function historySections(a: Policy, b: Policy): readonly Differing[] {
  const asking = asksFewer(a, b).map((name) => ({ name, rungs: [] }))
  return [...SHOWN_BY_HISTORY.filter((part) => isLooser(part, a, b)), ...asking]
}

/** Whether a part differs and may be looser. Adding a gate is never looser. */
function isLooser({ read, isStricter }: Part, a: Policy, b: Policy): boolean {
  const before = read(a)
  return before !== undefined && meaningOf(before) !== meaningOf(read(b)) && isStricter?.(a, b) !== true
}

/** Whether the lists have fewer names. An empty list means any name. */
function isNarrowerContext(before: Policy['context'], after: Policy['context']): boolean {
  const names = ['environments', 'tenants', 'workspaces'] as const
  return names.every(
    (each) => before[each].length === 0 || (after[each].length > 0 && isWithin(after[each], before[each])),
  )
}

/** The rules with other approvers or a longer time limit. Fewer approvers and less time are stricter. */
function asksFewer(a: Policy, b: Policy): readonly string[] {
  const [before, after] = [a, b].map(({ rules }) => new Map(rules.map((rule) => [rule.id, rule])))
  return askingThatDiffers(a, b).filter((id) => {
    const [old, now] = [before?.get(id), after?.get(id)]
    if (!old || !now || now.expires > old.expires) return true
    if (now.answer === 'client' && old.answer !== 'client') return true
    if (old.approvers.length === 0) return false
    return now.approvers.length === 0 || !isWithin(now.approvers, old.approvers)
  })
}

interface Named {
  readonly name: { readonly source: string; readonly exact: boolean }
}

function isPattern({ name }: Named): boolean {
  return !name.exact
}

function orderOf<T extends Named>(list: readonly T[], counts: (each: T) => boolean): string {
  return JSON.stringify(list.filter(counts).map(({ name }) => name.source))
}

function sorted(texts: readonly string[]): string {
  return texts.toSorted().join(',')
}

/** The rules of both policies with other approvers, another answerer or another time limit. */
export function askingThatDiffers(a: Policy, b: Policy): readonly string[] {
  const before = new Map(a.rules.map((rule) => [rule.id, rule]))
  return b.rules.flatMap(({ id, action, approvers, answer, expires }) => {
    const old = before.get(id)
    if (old?.action !== action || action === 'deny') return []
    const was = askingText(old)
    return was === askingText({ approvers, answer, expires }) ? [] : [id]
  })
}
