// Names that stand for nothing: tools that nobody offers or declares, principals and labels that nobody has, declarations
// that another one has taken the effect from.

import { glob, type Glob } from '../../policy/glob.ts'
import type { Policy } from '../../policy/parse/parse.ts'
import { Directory, PatternIndex, type Budget } from './patterns.ts'
import { listed, type RemarkNote, type RemarkPath } from './remark.ts'

/** Patterns for tools that stand somewhere in a policy. */
interface Named {
  readonly path: RemarkPath
  readonly named: boolean
  readonly what: string
  readonly patterns: readonly Glob[]
}

/** Patterns that fit no tool: the ladder denies calls of unknown tools before any rule. */
export function toolNotes(policy: Policy, known: readonly string[], budget: Budget): readonly RemarkNote[] {
  const { tools } = policy
  // Without any tool at all there is something else to say.
  if (tools.length === 0 && known.length === 0) return []
  const all = new Directory(
    [...tools.map(({ name }) => name), ...known.map(glob)].map((name): [Glob, true] => [name, true]),
    budget,
  )
  return namedIn(policy).flatMap(({ path, named, what, patterns }) => {
    const strange = patterns.flatMap((pattern, i) => (all.has(pattern) ? [] : [{ pattern, i }]))
    const [first] = strange
    if (!first) return []
    const names = strange.map(({ pattern }) => pattern.source)
    const isWhole = strange.length === patterns.length
    return [
      {
        path: named ? path : [...path, first.i],
        named,
        code: 'TOOL_UNKNOWN' as const,
        message: `${listed(names)} ${names.length === 1 ? 'fits' : 'fit'} no tool that is declared or offered${isWhole ? `, so ${what} has no effect` : ''}`,
        remedy:
          'correct the name, or declare the tool under `tools`: calls of unknown tools are denied, and those of known ones are decided by the rules',
      },
    ]
  })
}

function namedIn({ rules, gates }: Policy): readonly Named[] {
  const { temporal, compliance } = gates
  const limits = temporal.limits.filter(({ kind }) => kind === 'rate')
  const rates = new Map(limits.map(({ name, tools }) => [name, tools]))
  return [
    ...rules.map(({ id, action, tools }, i) => ({
      path: ['rules', i, action],
      named: false,
      what: `rule \`${id}\``,
      patterns: tools,
    })),
    ...[...rates].map(([name, tools]) => setting(['gates', 'temporal', 'rate', name], 'the rate', tools)),
    ...temporal.hours.map(({ name, tools }) =>
      setting(['gates', 'temporal', 'hours', name], 'the window', tools),
    ),
    ...(compliance?.rules ?? []).map(({ id, tools }, i) => ({
      path: ['gates', 'compliance', 'rules', i, 'tools'],
      named: false,
      what: `rule \`${id}\``,
      patterns: tools,
    })),
  ]
}

function setting(path: RemarkPath, what: string, tools: Glob): Named {
  return { path, named: true, what, patterns: [tools] }
}

/** Declared tools that no rule names: nobody can ever call them. */
export function unusedNotes({ tools, rules }: Policy, budget: Budget): readonly RemarkNote[] {
  if (rules.length === 0) return []
  const named = new Directory(
    rules.flatMap((rule) => rule.tools.map((pattern): [Glob, true] => [pattern, true])),
    budget,
  )
  const unused = tools.filter(({ name }) => !named.has(name)).map(({ name }) => name.source)
  const [first] = unused
  if (first === undefined) return []
  return [
    {
      path: ['tools', first],
      named: true,
      code: 'TOOL_UNUSED',
      message: `no rule names ${listed(unused, 10)}: every call is denied`,
      remedy: 'add a rule that allows, requires or denies, so that it is said what was meant',
    },
  ]
}

/** Principals in rules that are not declared. */
export function principalNotes({ principals, rules }: Policy, budget: Budget): readonly RemarkNote[] {
  if (principals.length === 0) return []
  const declared = new Directory(
    principals.map(({ name }): [Glob, true] => [name, true]),
    budget,
  )
  return rules.flatMap((rule, i) => {
    const strange = rule.principals.flatMap((pattern, at) => (declared.has(pattern) ? [] : [{ pattern, at }]))
    const [first] = strange
    if (!first) return []
    const names = strange.map(({ pattern }) => pattern.source)
    return [
      {
        path: ['rules', i, 'principal', first.at],
        code: 'PRINCIPAL_UNKNOWN' as const,
        message: `${listed(names)} in rule \`${rule.id}\` ${names.length === 1 ? 'is' : 'are'} not declared, and so of the tier observer`,
        remedy: 'correct the name, or declare it under `principals`, and its tier counts',
      },
    ]
  })
}

/** Declarations that have no effect because an earlier one fits all that they are for. */
export function coveredNotes({ principals, tools }: Policy, budget: Budget): readonly RemarkNote[] {
  // The exact name of a tool counts before every pattern.
  const globs = tools.filter(({ name }) => !name.exact)
  return [
    ...coveredIn(principals, budget).map(([{ name, key, delegateOnly }, by]) => {
      const counts = [...(key ? ['`key`'] : []), ...(delegateOnly ? ['`delegate-only`'] : [])]
      // The exact name says for itself whether it acts only for others, also by saying nothing.
      const exempts =
        name.exact && principals.some((each) => each.delegateOnly && each.name.matches(name.source))
      return principalNote(
        name,
        by,
        counts.length > 0 || !exempts ? counts : ['name without `delegate-only`'],
      )
    }),
    ...coveredIn(globs, budget).map(([{ name }, by]): RemarkNote => ({
      path: ['tools', name.source],
      named: true,
      code: 'TOOL_COVERED',
      message: `\`${name.source}\` has no effect: \`${by}\` stands before it and fits all that it fits`,
      remedy: `put it before \`${by}\`, and what it says counts instead; or remove it, which changes nothing`,
    })),
  ]
}

/** Of a covered entry the tier is without effect. A key and `delegate-only` count wherever they stand. */
function principalNote(name: Glob, by: string, counts: readonly string[]): RemarkNote {
  const path = ['principals', name.source]
  const note = { path, named: true, code: 'PRINCIPAL_COVERED' as const }
  const why = `\`${by}\` stands before it and fits all that it fits`
  const before = `put it before \`${by}\`, and its tier counts instead`
  if (counts.length === 0) {
    const remedy = `${before}; or remove it, which changes nothing`
    return { ...note, message: `\`${name.source}\` has no effect: ${why}`, remedy }
  }
  return {
    ...note,
    message: `the tier of \`${name.source}\` has no effect: ${why}`,
    remedy: `${before}; or give it the tier of \`${by}\`. Keep the entry: its ${counts.join(' and ')} counts`,
  }
}

/** Each entry that an earlier one covers, with the name of the earlier one. */
function coveredIn<T extends { readonly name: Glob }>(
  declared: readonly T[],
  budget: Budget,
): readonly (readonly [entry: T, by: string])[] {
  const earlier = new PatternIndex<string>(budget)
  return declared.flatMap((entry): readonly (readonly [T, string])[] => {
    const found = earlier.covering(entry.name).next()
    earlier.add(entry.name, entry.name.source)
    return found.done === true ? [] : [[entry, found.value]]
  })
}
