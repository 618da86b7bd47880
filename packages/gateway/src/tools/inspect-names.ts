// Names beside each other: tools that are called the same, look the same or nearly so. A model that means one can be led to
// call the other.

import type { Finding, FindingCode, Severity } from './finding.ts'
import { excerpt } from './hidden.ts'
import { serverOf, toolOf } from './offer.ts'

interface InspectedName {
  readonly name: string
  readonly server: string
  readonly tool: string
  /** In lower case and without marks that part words. */
  readonly plain: string
  /** What it looks like. */
  readonly looks: string
}

const MOST_NAMES = 1000
const LONGEST = 128
/** In shorter names a letter makes another word: `get` and `set`. */
const LEAST_NEAR = 5

/** What is found in the names of offers. */
export function findingsOfNames(names: readonly string[]): readonly Finding[] {
  const tools = names.flatMap(named)
  const compared = tools.slice(0, MOST_NAMES)
  const tooMany = tools[MOST_NAMES]
  return [
    ...same(compared),
    ...alike(compared),
    ...near(compared),
    ...(tooMany ? [finding('TOOLS_TOO_MANY', 'high', tooMany.name, TOO_MANY)] : []),
  ]
}

function named(name: string): readonly InspectedName[] {
  const tool = toolOf(name)?.slice(0, LONGEST + 1)
  if (tool === undefined) return []
  const plain = plainOf(tool)
  return [{ name, server: serverOf(name), tool, plain, looks: looksOf(plain) }]
}

const TOO_MANY = `there are more than ${MOST_NAMES} tools; the names from here on are compared with nothing`

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
  return finding('TOOL_NAME_SHARED', 'medium', name, `${listed(others)} offers a tool of the same name`)
}

function listed(names: readonly string[]): string {
  const [first = '', ...more] = names
  return more.length === 0 ? first : `${first} (and ${more.length} more)`
}

/** Names that are not the same and read the same. */
function alike(tools: readonly InspectedName[]): readonly Finding[] {
  return groupsBy(tools, ({ looks }) => looks).flatMap((group) =>
    group.flatMap((each) => {
      const other = another(each, group, (one) => one.tool !== each.tool)
      if (!other) return []
      // `readFile` and `read_file` are how two people name one thing; `read_fi1e` is meant to be mistaken.
      const isPlain = other.server === each.server || other.plain === each.plain
      const message = `it looks like \`${excerpt(other.name)}\``
      return [finding('TOOL_NAME_CONFUSABLE', isPlain ? 'medium' : 'high', each.name, message)]
    }),
  )
}

const MOST_LOOKED_AT = 50

/** Another tool for which something holds, rather of another server than of the same. */
function another(
  { server }: InspectedName,
  group: readonly InspectedName[],
  holds: (other: InspectedName) => boolean,
): InspectedName | undefined {
  // Whoever offers hundreds of names that are nearly the same has been found out by the first of them.
  const others = group.slice(0, MOST_LOOKED_AT).filter(holds)
  return others.find((each) => each.server !== server) ?? others[0]
}

// Letters of other alphabets that look like ours, and ours that look like each other.
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

/** One letter for all that look like it. */
function looksOf(plain: string): string {
  const letters = Array.from(plain, (letter) => LOOKS.get(letter) ?? letter).join('')
  return letters.replaceAll('rn', 'm').replaceAll('vv', 'w')
}

/** Names that differ in one letter, or in two that changed places. */
function near(tools: readonly InspectedName[]): readonly Finding[] {
  const found = new Map<string, Finding>()
  for (const group of groupsByShortening(tools)) {
    for (const each of group) {
      const other = another(each, group, (one) => one.looks !== each.looks && isOneApart(one.tool, each.tool))
      if (!other) continue
      const severity = other.server === each.server ? 'low' : 'medium'
      if (severity === 'low' && (found.has(each.name) || isSeries(each.tool, other.tool))) continue
      const message = `one letter parts it from \`${excerpt(other.name)}\``
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

/** `read_file` and `read_files`, `step1` and `step2` of one server: that is how tools are named. */
function isSeries(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a]
  return long === `${short}s` || a.replaceAll(/[0-9]/g, '') === b.replaceAll(/[0-9]/g, '')
}

/** Two names one letter apart become the same when each loses one; so nothing is compared with everything. */
function groupsByShortening(tools: readonly InspectedName[]): readonly (readonly InspectedName[])[] {
  const groups = new Map<string, InspectedName[]>()
  for (const each of tools) {
    const { tool } = each
    if (tool.length < LEAST_NEAR || tool.length > LONGEST) continue
    // The whole name too: it meets those that are one letter longer.
    for (let at = -1; at < tool.length; at++) {
      const short = at === -1 ? tool : tool.slice(0, at) + tool.slice(at + 1)
      const group = groups.get(short)
      if (!group) groups.set(short, [each])
      else if (group.at(-1) !== each) group.push(each)
    }
  }
  return [...groups.values()].filter(({ length }) => length > 1)
}
