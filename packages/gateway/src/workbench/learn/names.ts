// Names of principals, tools and rules in proposed rules.

import { excerpt } from '../../tools/hidden.ts'
import { celList, celText } from './cel.ts'
import type { ValueNote } from './observed.ts'

/** A quoted YAML string. Non-ASCII characters are escaped, as in conditions. */
export function yamlText(text: string): string {
  // The escapes of both languages are the same.
  return celText(text)
}

/** The principals of a rule. */
interface Principals {
  readonly patterns: readonly string[]
  /** Additional conditions, needed if a name contains `*`. */
  readonly when: readonly string[]
  readonly notes: readonly ValueNote[]
}

const FEWEST_ALIKE = 3
const MAX_SHOWN = 5

/** The principals of a rule: the observed ones, or their common prefix if there are at least three. */
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

/** The common prefix of all names up to a separator; empty if it is only the kind. */
function sharedStart(names: readonly string[]): string {
  const [first = ''] = names
  let length = 0
  while (length < first.length && names.every((name) => name[length] === first[length])) length++
  while (length > 0 && !SEPARATOR.test(first[length - 1] ?? '')) length--
  const shared = first.slice(0, length)
  // `agent:` alone matches every agent, so the names after the kind must share a prefix too.
  const isKind = !/[^:/._-]/.test(shared.slice(shared.indexOf(':') + 1))
  return isKind ? '' : shared
}

/** The condition for a tool whose name contains `*`. */
export function toolTerms(tool: string): readonly string[] {
  return tool.includes('*') ? [`tool == ${celText(tool)}`] : []
}

const MAX_SLUG = 80

/** A unique rule id for a tool. Adds it to `taken`. */
export function ruleId(tool: string, taken: Set<string>): string {
  const words = tool.toLowerCase().match(/[a-z0-9]+/g) ?? ['tool']
  const slug = `learned-${words.join('-').slice(0, MAX_SLUG)}`
  let id = slug
  for (let n = 2; taken.has(id); n++) id = `${slug}-${n}`
  taken.add(id)
  return id
}
