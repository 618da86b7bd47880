// Finds names without effect: unknown tools, principals and labels, and declarations that an earlier one covers.

import { glob, type Glob } from '../../policy/glob.ts'
import type { Policy } from '../../policy/parse/parse.ts'
import { Directory, PatternIndex, type Budget } from './patterns.ts'
import { listed, type RemarkNote, type RemarkPath } from './remark.ts'

/** Tool patterns at one place of a policy. */
interface Named {
  readonly path: RemarkPath
  readonly named: boolean
  readonly what: string
  readonly patterns: readonly Glob[]
}

/** Finds patterns that match no tool. The ladder denies calls of unknown tools before any rule. */
export function toolNotes(policy: Policy, known: readonly string[], budget: Budget): readonly RemarkNote[] {
  const { tools } = policy
  // Without any tools, this check does not apply.
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
        message: `${listed(names)} ${names.length === 1 ? 'matches' : 'match'} no declared or offered tool${isWhole ? `, so ${what} has no effect` : ''}`,
        remedy:
          'correct the name, or declare the tool under `tools`: calls of unknown tools are denied, and the rules decide calls of known tools',
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

/** Finds declared tools that no rule names. All their calls are denied. */
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
      message: `no rule names ${listed(unused, 10)}, so every call is denied`,
      remedy: 'add a rule with `allow`, `require` or `deny` for each of them',
    },
  ]
}

/** Finds undeclared principals in rules. */
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
        message: `${listed(names)} in rule \`${rule.id}\` ${names.length === 1 ? 'is' : 'are'} not declared and therefore in the tier \`observer\``,
        remedy: 'correct the name, or declare it under `principals`; its tier then applies',
      },
    ]
  })
}

/** Finds declarations without effect, because an earlier one matches everything that they match. */
export function coveredNotes({ principals, tools }: Policy, budget: Budget): readonly RemarkNote[] {
  // The exact name of a tool takes precedence over every pattern.
  const globs = tools.filter(({ name }) => !name.exact)
  return [
    ...coveredIn(principals, budget).map(([{ name, key, delegateOnly }, by]) => {
      const counts = [...(key ? ['`key`'] : []), ...(delegateOnly ? ['`delegate-only`'] : [])]
      // An exact name decides about `delegate-only`, also by leaving it out.
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
      message: `\`${name.source}\` has no effect: \`${by}\` comes first and matches everything that it matches`,
      remedy: `move it before \`${by}\` to make it take effect, or remove it, which changes nothing`,
    })),
  ]
}

/** The tier of a covered entry has no effect. A key and `delegate-only` always count. */
function principalNote(name: Glob, by: string, counts: readonly string[]): RemarkNote {
  const path = ['principals', name.source]
  const note = { path, named: true, code: 'PRINCIPAL_COVERED' as const }
  const why = `\`${by}\` comes first and matches everything that it matches`
  const before = `move it before \`${by}\` to make its tier take effect`
  if (counts.length === 0) {
    const remedy = `${before}, or remove it, which changes nothing`
    return { ...note, message: `\`${name.source}\` has no effect: ${why}`, remedy }
  }
  return {
    ...note,
    message: `the tier of \`${name.source}\` has no effect: ${why}`,
    remedy: `${before}, or give it the tier of \`${by}\`. Keep the entry because of its ${counts.join(' and ')}`,
  }
}

/** Returns each entry that an earlier one covers, with the name of the earlier one. */
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
