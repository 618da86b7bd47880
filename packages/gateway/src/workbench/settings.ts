// What is different in two policies besides what single calls can show: settings, how rungs stand, who is asked.

import type { Json, Rung } from '@tollgate/evidence'
import {
  describeLadder,
  type Policy,
  type Rule,
  type RungStanding,
  type ToolDeclaration,
} from '@tollgate/kernel'
import { schemasIn } from './generate/shape.ts'
import { ruleText } from './rule-changes.ts'

/** A rung that stands differently. */
export interface StandingChange {
  readonly rung: RungStanding['rung']
  readonly from: RungStanding['standing']
  readonly to: RungStanding['standing']
}

/** Rungs that stand differently under the second policy. */
export function standingsThatDiffer(a: Policy, b: Policy): readonly StandingChange[] {
  const after = describeLadder(b)
  return describeLadder(a).flatMap(({ rung, standing }, i) => {
    const to = after[i]?.standing ?? standing
    return to === standing ? [] : [{ rung, from: standing, to }]
  })
}

/** Sections of the policy file that say different things, by name. */
export function sectionsThatDiffer(a: Policy, b: Policy): readonly string[] {
  const [left, right] = [sectionsOf(a), sectionsOf(b)]
  return Object.keys(left).filter((name) => left[name] !== right[name])
}

const GATES: readonly (readonly [name: string, member: keyof Policy['gates']])[] = [
  ['egress', 'egress'],
  ['session-risk', 'sessionRisk'],
  ['browser', 'browser'],
  ['taint', 'taint'],
  ['threat', 'threat'],
  ['trust', 'trust'],
  ['privilege', 'privilege'],
  ['scope', 'scope'],
  ['temporal', 'temporal'],
  ['compliance', 'compliance'],
]

/** Each section in one text that is the same for the same meaning, whatever the order of what has no order. */
function sectionsOf(policy: Policy): Readonly<Record<string, string>> {
  const { context, principals, tools, rules, approvals, gates } = policy
  const named = GATES.map(([name, member]) => [`gates.${name}`, plain(gates[member])] as const)
  return {
    context: plain(context),
    principals: principalsText(principals),
    tools: JSON.stringify([...toolTexts(policy)].toSorted()) + orderOf(tools, ({ name }) => !name.exact),
    rules: JSON.stringify(rules.map((rule) => ruleText(rule) + askingText(rule))),
    approvals: plain(approvals),
    ...Object.fromEntries(named),
  }
}

function askingText({ approvers, expires }: Rule): string {
  return plain({ approvers, expires })
}

/** The first that fits counts, so that patterns have an order. */
function principalsText(principals: Policy['principals']): string {
  return plain(principals) + orderOf(principals, ({ name }) => principals.some(isPattern) || !name.exact)
}

/** Each declaration of a tool in one text, with its schema as it is written. */
export function toolTexts({ tools, text }: Policy): ReadonlyMap<string, string> {
  const schemas = schemasIn(text)
  return new Map(
    tools.map(({ schema, ...rest }) => {
      const { source } = rest.name
      return [
        source,
        plain({ ...rest, schema: schema ? schemaText(schemas.get(source) ?? text) : undefined }),
      ]
    }),
  )
}

// In other lists of a schema the order counts.
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

/** Declarations of tools that are not the same in both policies; all patterns, if their order is another one. */
export function toolsThatDiffer(a: Policy, b: Policy): readonly ToolDeclaration['name'][] {
  const [left, right] = [toolTexts(a), toolTexts(b)]
  const order = (policy: Policy): string => orderOf(policy.tools, isPattern)
  const isSameOrder = order(a) === order(b)
  const names = new Map([...a.tools, ...b.tools].map(({ name }) => [name.source, name]))
  return [...names.values()].filter(
    ({ source, exact }) => left.get(source) !== right.get(source) || (!exact && !isSameOrder),
  )
}

/** Part of a policy that is not the same in both, and may let more pass. */
export interface Differing {
  readonly name: string
  /** The rungs at which a call would show it. */
  readonly rungs: readonly Rung[]
}

type Read = (policy: Policy) => unknown

/** What single calls can show: where it is written, at which rungs it shows, and what of it counts. */
const SHOWN_BY_CALLS: readonly (readonly [name: string, rungs: readonly Rung[], read: Read])[] = [
  ['context', ['context'], ({ context }) => context],
  [
    'principals',
    ['privilege', 'delegation', 'identity', 'policy'],
    ({ principals }) => principalsText(principals.map((each) => ({ ...each, key: undefined }))),
  ],
  ['gates.egress', ['egress'], ({ gates }) => gates.egress],
  ['gates.browser', ['browser'], ({ gates }) => gates.browser],
  [
    'gates.taint',
    ['taint', 'policy'],
    ({ gates: { taint } }) => taint && { ...taint, follow: 0, results: 0 },
  ],
  ['gates.threat', ['threat', 'policy'], ({ gates: { threat } }) => threat && { ...threat, results: 0 }],
  ['gates.trust', ['trust', 'policy'], ({ gates }) => gates.trust?.needs],
  ['gates.privilege', ['privilege'], ({ gates }) => gates.privilege?.needs],
  ['gates.scope', ['scope'], ({ gates }) => gates.scope?.required === true || undefined],
  [
    'gates.temporal',
    ['temporal'],
    ({ gates }) => [gates.temporal.hours, gates.temporal.limits.filter(isCost)],
  ],
  ['gates.compliance', ['compliance'], ({ gates }) => complianceText(gates.compliance)],
]

/** What only a history, an answer or a person shows. */
const SHOWN_BY_HISTORY: readonly (readonly [name: string, read: Read])[] = [
  ['principals', ({ principals }) => principals.map(({ name, key }) => [name.source, key && plain(key)])],
  ['tools', ({ tools }) => tools.map(({ name, returns, salted }) => [name.source, returns, salted])],
  // One that asks for no reason has nothing that could be lost.
  ['approvals', ({ approvals }) => (approvals.reason === 'required' ? approvals : undefined)],
  ['gates.session-risk', ({ gates }) => gates.sessionRisk],
  [
    'gates.taint',
    ({ gates: { taint } }) => taint && { ...taint, deny: 0, ask: 0, internal: 0, provenance: 0 },
  ],
  ['gates.threat', ({ gates }) => gates.threat?.results],
  ['gates.trust', ({ gates: { trust } }) => trust && { ...trust, needs: 0 }],
  ['gates.privilege', ({ gates }) => gates.privilege && plain(gates.privilege.elevation)],
  ['gates.temporal', ({ gates }) => gates.temporal.limits.filter((limit) => !isCost(limit))],
]

function complianceText(settings: Policy['gates']['compliance']): string | undefined {
  return settings && plain(settings) + JSON.stringify(settings.rules)
}

type Limit = Policy['gates']['temporal']['limits'][number]

function isCost({ of }: Limit): boolean {
  return of === 'cost'
}

/** Sections that differ in what calls can show, unless they can only let less pass. */
export function callSections(a: Policy, b: Policy): readonly Differing[] {
  return SHOWN_BY_CALLS.filter(
    ([name, , read]) => isLooser(read(a), read(b)) && !isStricterList(name, a, b),
  ).map(([name, rungs]) => ({ name, rungs }))
}

/** Sections that differ in what only a history shows, unless they can only let less pass; also rules that ask others. */
export function historySections(a: Policy, b: Policy): readonly Differing[] {
  const sections = SHOWN_BY_HISTORY.filter(
    ([name, read]) => isLooser(read(a), read(b)) && !isStricterSetting(name, a, b),
  ).map(([name]) => name)
  return [...sections, ...asksFewer(a, b)].map((name) => ({ name, rungs: [] }))
}

/** Whether they differ, and not only because a gate was added: one more gate lets nothing more pass. */
function isLooser(before: unknown, after: unknown): boolean {
  return before !== undefined && plain(before) !== plain(after)
}

/** Lists of which one is the other with less in it, or with more where that is stricter. */
function isStricterList(name: string, a: Policy, b: Policy): boolean {
  if (name === 'context') {
    const names = ['environments', 'tenants', 'workspaces'] as const
    return names.every(
      (each) =>
        a.context[each].length === 0 ||
        (b.context[each].length > 0 && isWithin(b.context[each], a.context[each])),
    )
  }
  if (name !== 'gates.egress') return false
  const [before, after] = [a.gates.egress, b.gates.egress]
  return (
    isWithin(after.allow, before.allow) &&
    isWithin(after.ask, before.ask) &&
    isWithin(before.deny, after.deny)
  )
}

function isWithin(some: readonly unknown[], all: readonly unknown[]): boolean {
  const known = new Set(all.map(plain))
  return some.every((each) => known.has(plain(each)))
}

function isStricterSetting(name: string, a: Policy, b: Policy): boolean {
  if (name === 'gates.session-risk') {
    const [before, after] = [a.gates.sessionRisk, b.gates.sessionRisk]
    return (
      after.threshold <= before.threshold && plain({ ...before, threshold: after.threshold }) === plain(after)
    )
  }
  if (name !== 'gates.temporal') return false
  const limits = b.gates.temporal.limits
  return a.gates.temporal.limits.every((old) =>
    limits.some(
      (now) => now.calls <= old.calls && plain({ ...old, calls: 0 }) === plain({ ...now, calls: 0 }),
    ),
  )
}

/** Rules that ask others than before or wait longer: fewer people and less time are stricter. */
function asksFewer(a: Policy, b: Policy): readonly string[] {
  const [before, after] = [a, b].map(({ rules }) => new Map(rules.map((rule) => [rule.id, rule])))
  return askingThatDiffers(a, b).filter((id) => {
    const [old, now] = [before?.get(id), after?.get(id)]
    if (!old || !now || now.expires > old.expires) return true
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

/** A value as text; lists and maps in the order of their texts. Functions, which come from the rest, say nothing. */
function plain(value: unknown): string {
  if (typeof value !== 'object' || value === null) return value === undefined ? '' : JSON.stringify(value)
  if (value instanceof Map) return `<${sorted([...value].map(([name, each]) => pair(name, each)))}>`
  if (Array.isArray(value)) return `[${sorted(value.map(plain))}]`
  const members = Object.entries(value).filter(([, each]) => typeof each !== 'function')
  return `{${sorted(members.map(([name, each]) => pair(name, each)))}}`
}

function pair(name: unknown, value: unknown): string {
  return `${plain(name)}:${plain(value)}`
}

function sorted(texts: readonly string[]): string {
  return texts.toSorted().join(',')
}

/** Rules of both policies that ask other people, or wait for another time. */
export function askingThatDiffers(a: Policy, b: Policy): readonly string[] {
  const before = new Map(a.rules.map((rule) => [rule.id, rule]))
  return b.rules.flatMap(({ id, action, approvers, expires }) => {
    const old = before.get(id)
    if (old?.action !== 'require' || action !== 'require') return []
    const isSame = plain(old.approvers) === plain(approvers) && old.expires === expires
    return isSame ? [] : [id]
  })
}
