// Names of principals, tools and rules in what is proposed.

import { excerpt } from '../../tools/hidden.ts'
import { celList, celText } from './cel.ts'
import type { ValueNote } from './observed.ts'

/** A text as YAML writes it in quotes. Beyond ASCII everything is escaped, as in conditions. */
export function yamlText(text: string): string {
  // The escapes of the two languages are the same.
  return celText(text)
}

/** Whom a rule is for. */
interface Principals {
  readonly patterns: readonly string[]
  /** What a condition must say besides, because a name itself has a `*`. */
  readonly when: readonly string[]
  readonly notes: readonly ValueNote[]
}

const FEWEST_ALIKE = 3
const MAX_SHOWN = 5

/** The principals of a rule: those that were seen, or what three and more of them begin with if all do. */
export function principalsOf(names: readonly string[], exact: boolean): Principals {
  const each = [...new Set(names)].sort()
  const listed = each
    .slice(0, MAX_SHOWN)
    .map((name) => `\`${excerpt(name)}\``)
    .join(', ')
  if (each.some((name) => name.includes('*'))) {
    return { patterns: each, when: [`principal in ${celList(each)}`], notes: [] }
  }
  const shared = exact || each.length < FEWEST_ALIKE ? '' : sharedStart(each)
  if (shared === '') return { patterns: each, when: [], notes: [] }
  const note = {
    path: '(principals)',
    seen: `${each.length}, ${listed}${each.length > MAX_SHOWN ? ', …' : ''}`,
    wider: `every principal that begins with \`${excerpt(shared)}\``,
  }
  return { patterns: [`${shared}*`], when: [], notes: [note] }
}

const SEPARATOR = /[:/._-]/

/** What all names begin with, up to the last mark between words; empty if that is nothing, or only their kind. */
function sharedStart(names: readonly string[]): string {
  const [first = ''] = names
  let length = 0
  while (length < first.length && names.every((name) => name[length] === first[length])) length++
  while (length > 0 && !SEPARATOR.test(first[length - 1] ?? '')) length--
  const shared = first.slice(0, length)
  // `agent:` is every agent there is: what follows the kind must begin alike too.
  const isKind = !/[^:/._-]/.test(shared.slice(shared.indexOf(':') + 1))
  return isKind ? '' : shared
}

/** What the condition says of a tool whose own name has a `*`. */
export function toolTerms(tool: string): readonly string[] {
  return tool.includes('*') ? [`tool == ${celText(tool)}`] : []
}

const MAX_SLUG = 80

/** The id of a rule for a tool, other than those that are taken; it is taken from then on. */
export function ruleId(tool: string, taken: Set<string>): string {
  const words = tool.toLowerCase().match(/[a-z0-9]+/g) ?? ['tool']
  const slug = `learned-${words.join('-').slice(0, MAX_SLUG)}`
  let id = slug
  for (let n = 2; taken.has(id); n++) id = `${slug}-${n}`
  taken.add(id)
  return id
}
