// Compares tool names: a model that means one tool can be tricked into calling another with the same or a similar name.

import type { Finding, FindingCode, Severity } from './finding.ts'
import { excerpt } from './hidden.ts'
import { serverOf, toolOf } from './offer.ts'

interface InspectedName {
  readonly name: string
  readonly server: string
  readonly tool: string
  /** In lower case, without separators and marks. */
  readonly plain: string
  /** The name with similar letters mapped to one. */
  readonly looks: string
}

const MAX_NAMES = 1000
const MAX_NAME_LENGTH = 128
/** In shorter names one letter makes a different word: `get` and `set`. */
const MIN_NEAR = 5

/** The findings about the names of offers. */
export function findingsOfNames(names: readonly string[]): readonly Finding[] {
  const tools = names.flatMap(named)
  const compared = tools.slice(0, MAX_NAMES)
  const tooMany = tools[MAX_NAMES]
  return [
    ...same(compared),
    ...alike(compared),
    ...near(compared),
    ...(tooMany ? [finding('TOOLS_TOO_MANY', 'high', tooMany.name, TOO_MANY)] : []),
  ]
}

function named(name: string): readonly InspectedName[] {
  const tool = toolOf(name)?.slice(0, MAX_NAME_LENGTH + 1)
  if (tool === undefined) return []
  const plain = plainOf(tool)
  return [{ name, server: serverOf(name), tool, plain, looks: looksOf(plain) }]
}

const TOO_MANY = `there are more than ${MAX_NAMES} tools; the remaining names are not compared`

function finding(code: FindingCode, severity: Severity, tool: string, message: string): Finding {
  return { code, severity, tool, message }
}

function groupsBy(
  tools: readonly InspectedName[],
  key: (tool: InspectedName) => string,
): readonly (readonly InspectedName[])[] {
  const groups = new Map<string, InspectedName[]>()
  for (const tool of tools) {
    const group = groups.get(key(tool))
    if (group) group.push(tool)
    else groups.set(key(tool), [tool])
  }
  return [...groups.values()].filter((group) => group.length > 1)
}

function same(tools: readonly InspectedName[]): readonly Finding[] {
  return groupsBy(tools, ({ tool }) => tool).flatMap((group) => {
    const servers = [...new Set(group.map(({ server }) => server))]
    const repeated = groupsBy(group, ({ server }) => server).map(([first]) => first?.name ?? '')
    return [
      ...repeated.map((name) =>
        finding('TOOL_NAME_REPEATED', 'high', name, 'the server offers this name more than once'),
      ),
      ...(servers.length === 1 ? [] : group.map((each) => shared(each, servers))),
    ]
  })
}

function shared({ name, server }: InspectedName, servers: readonly string[]): Finding {
  const others = servers.filter((each) => each !== server).map((each) => `\`${excerpt(each)}\``)
  return finding('TOOL_NAME_SHARED', 'medium', name, `${listed(others)} offers a tool with the same name`)
}

function listed(names: readonly string[]): string {
  const [first = '', ...more] = names
  return more.length === 0 ? first : `${first} (and ${more.length} more)`
}

/** Different names that look the same. */
function alike(tools: readonly InspectedName[]): readonly Finding[] {
  return groupsBy(tools, ({ looks }) => looks).flatMap((group) =>
    group.flatMap((each) => {
      const other = another(each, group, (one) => one.tool !== each.tool)
      if (!other) return []
      // `readFile` and `read_file` are two spellings of one name. `read_fi1e` is meant to be confused.
      const isPlain = other.server === each.server || other.plain === each.plain
      const message = `it looks like \`${excerpt(other.name)}\``
      return [finding('TOOL_NAME_CONFUSABLE', isPlain ? 'medium' : 'high', each.name, message)]
    }),
  )
}

const MAX_LOOKED_AT = 50

/** Another tool that meets a condition, preferably of another server. */
function another(
  { server }: InspectedName,
  group: readonly InspectedName[],
  holds: (other: InspectedName) => boolean,
): InspectedName | undefined {
  // Limited: a server with hundreds of similar names is already reported by the first ones.
  const others = group.slice(0, MAX_LOOKED_AT).filter(holds)
  return others.find((each) => each.server !== server) ?? others[0]
}

// Letters of other alphabets that look like Latin letters, and Latin letters that look alike.
const LOOKS: ReadonlyMap<string, string> = new Map(
  [
    ['аɑα', 'a'],
    ['ЬВβ', 'b'],
    ['сϲ', 'c'],
    ['ԁ', 'd'],
    ['еёε', 'e'],
    ['ɡ', 'g'],
    ['һНη', 'h'],
    ['іїιı1|!lℓӏ', 'i'],
    ['ј', 'j'],
    ['кκ', 'k'],
    ['мμ', 'm'],
    ['пո', 'n'],
    ['0оοо', 'o'],
    ['рρ', 'p'],
    ['ԛ', 'q'],
    ['ѕ5', 's'],
    ['тτ', 't'],
    ['υս', 'u'],
    ['ѵν', 'v'],
    ['ѡω', 'w'],
    ['хχ', 'x'],
    ['уγ', 'y'],
    ['2', 'z'],
  ].flatMap(([others = '', ours = '']) => Array.from(others, (letter) => [letter.toLowerCase(), ours])),
)

const PARTING = /^[\p{P}\p{S}\p{M}\p{C}\p{Z}]$/u

function plainOf(tool: string): string {
  const letters = Array.from(tool.normalize('NFKD').toLowerCase())
  return letters.filter((letter) => !PARTING.test(letter)).join('')
}

/** Maps letters that look alike to one letter. */
function looksOf(plain: string): string {
  const letters = Array.from(plain, (letter) => LOOKS.get(letter) ?? letter).join('')
  return letters.replaceAll('rn', 'm').replaceAll('vv', 'w')
}

/** Names that differ in one letter, or in two swapped letters. */
function near(tools: readonly InspectedName[]): readonly Finding[] {
  const found = new Map<string, Finding>()
  for (const group of groupsByShortening(tools)) {
    for (const each of group) {
      const other = another(each, group, (one) => one.looks !== each.looks && isOneApart(one.tool, each.tool))
      if (!other) continue
      const severity = other.server === each.server ? 'low' : 'medium'
      if (severity === 'low' && (found.has(each.name) || isSeries(each.tool, other.tool))) continue
      const message = `it differs in one letter from \`${excerpt(other.name)}\``
      found.set(each.name, finding('TOOL_NAME_NEAR', severity, each.name, message))
    }
  }
  return [...found.values()]
}

function isOneApart(a: string, b: string): boolean {
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const [x, y] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  return (x.length <= 1 && y.length <= 1) || (x.length === 2 && x === `${y.charAt(1)}${y.charAt(0)}`)
}

/** `read_file` and `read_files`, `step1` and `step2` of one server are ordinary names. */
function isSeries(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a]
  return long === `${short}s` || a.replaceAll(/[0-9]/g, '') === b.replaceAll(/[0-9]/g, '')
}

/** Two names that are one letter apart become equal when each loses one letter. So not all pairs must be compared. */
function groupsByShortening(tools: readonly InspectedName[]): readonly (readonly InspectedName[])[] {
  const groups = new Map<string, InspectedName[]>()
  for (const each of tools) {
    const { tool } = each
    if (tool.length < MIN_NEAR || tool.length > MAX_NAME_LENGTH) continue
    // The whole name too: it matches names that are one letter longer.
    for (let at = -1; at < tool.length; at++) {
      const short = at === -1 ? tool : tool.slice(0, at) + tool.slice(at + 1)
      const group = groups.get(short)
      if (!group) groups.set(short, [each])
      else if (group.at(-1) !== each) group.push(each)
    }
  }
  return [...groups.values()].filter(({ length }) => length > 1)
}
