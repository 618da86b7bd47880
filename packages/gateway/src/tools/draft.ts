// The text of a first policy for tools that nobody has written rules for: what each seems to do, reading allowed, everything else
// asked of a person. It is a draft: every guess stands beside its reason, to be read.

import type { JsonObject } from '@tollgate/evidence'
import { guess, type Guess } from './effect.ts'
import { excerpt } from './hidden.ts'
import { observedRules, observedSection, roomFor, seenLines, type DraftStyle } from './draft-seen.ts'
import {
  FACULTIES,
  isObject,
  isServerName,
  isUsable,
  saidIn,
  serverOf,
  textOf,
  toolOf,
  type Offer,
} from './offer.ts'
import type { SeenTool } from './seen.ts'

interface Drafted {
  readonly name: string
  /** How it was called, if it was. */
  readonly seen: SeenTool | undefined
  readonly said: JsonObject
  readonly guess: Guess
}

/** Most offers that a draft is made of: a policy has its limits, and so has its reader. */
const MOST_OFFERS = 2000

/** Most characters about tools that were only seen, and about how others were called. */
const MOST_SEEN = 200_000
const MOST_BESIDE = 100_000

/** Most names that are told to be left out: YAML takes hundreds of comments in a row for too long a key. */
const MOST_LEFT_OUT = 20

/**
 * The text of a policy. It parses without mistakes, whatever the definitions say. Tools that were only `seen` in calls come after
 * those that servers offer.
 */
export function draftPolicy(
  all: readonly Offer[],
  name = 'draft',
  seen: readonly SeenTool[] = [],
  style: DraftStyle = 'attended',
): string {
  const offers = all.slice(0, MOST_OFFERS)
  const servers = [...new Set(offers.map((offer) => serverOf(offer.name)))].filter(isServerName).sort()
  const calls = new Map(roomFor(seen, MOST_BESIDE, style).map((tool) => [tool.name, tool]))
  const tools = new Map(servers.map((server) => [server, toolsOf(offers, server, calls)]))
  const declared = new Set(servers.flatMap((server) => namesOf(server, tools.get(server) ?? [])))
  const undeclared = seen.filter((tool) => !declared.has(tool.name))
  const others = roomFor(undeclared, MOST_SEEN, style)
  const section = observedSection(others, undeclared.length, style)
  const rules = observedRules(others, style)
  const left = offers.filter(({ name: each }) => !isDraftable(each))
  return [
    HEAD,
    `tollgate: 1\nname: ${JSON.stringify(name)}\n`,
    PRINCIPALS[style],
    TOOLS,
    ...(servers.length === 0 && rules.length === 0 ? ['tools: {}\n'] : ['tools:']),
    ...servers.map((server) => sectionOf(server, tools.get(server) ?? [])),
    ...section,
    ...left.slice(0, MOST_LEFT_OUT).map((each) => `  # left out, for its name: ${excerpt(each.name, 160)}`),
    ...(left.length > MOST_LEFT_OUT
      ? [`  # left out, for their names: ${left.length - MOST_LEFT_OUT} more tools`]
      : []),
    ...(all.length > offers.length ? [`  # left out: ${all.length - offers.length} more tools`] : []),
    RULES,
    ...(servers.length === 0 && rules.length === 0 ? ['rules: []\n'] : ['rules:']),
    ...servers.map((server) => rulesOf(server, tools.get(server) ?? [], style)),
    ...rules,
    GATES[style],
  ].join('\n')
}

function isDraftable(name: string): boolean {
  const tool = toolOf(name)
  return isServerName(serverOf(name)) && (tool === undefined || isUsable(tool))
}

/** Every name that the section of a server declares. */
function namesOf(server: string, tools: readonly Drafted[]): readonly string[] {
  return [...tools.map((tool) => tool.name), ...FACULTIES.map((faculty) => `${server}:${faculty}`)]
}

function toolsOf(
  offers: readonly Offer[],
  server: string,
  calls: ReadonlyMap<string, SeenTool>,
): readonly Drafted[] {
  const own = offers.filter(({ name }) => serverOf(name) === server && isDraftable(name))
  const byName = new Map(own.map((offer) => [offer.name, offer]))
  return [...byName.values()].flatMap(({ name, definition }) => {
    const tool = toolOf(name)
    const said = saidIn(definition)
    return tool === undefined ? [] : [{ name, said, guess: guess(tool, said), seen: calls.get(name) }]
  })
}

const HEAD = `# A first policy, drafted from what the servers say of their tools. Servers may be wrong, or lie: read every line.
#
# \`tollgate policy check FILE\` tells mistakes, \`tollgate policy activate FILE\` puts it in force.`

const PRINCIPALS: Readonly<Record<DraftStyle, string>> = {
  attended: `# How far principals are trusted.
principals:
  "agent:*": { tier: standard }
`,
  unattended: `# How far principals are trusted: these may pay, delete and run what a rule allows.
principals:
  "agent:*": { tier: elevated }
`,
}

const TOOLS = `# What each tool does. Review the effect of each; "review" marks where the draft knows too little.
# Effects: read, write, delete, execute, send, pay, admin.
# Where a tool reaches no network whatever its arguments say, add \`destinations: none\`: without it a call whose arguments name a
# host is denied unless \`gates.egress\` allows the host.`

const RULES = `
# In order; the first that fits decides, and if none fits the call is denied.`

const GATES: Readonly<Record<DraftStyle, string>> = {
  attended: `# What watches over every call, whatever the rules say.
gates:
  # Where data may go. What is on no list is denied.
  egress: { allow: [], ask: [] }
  # Orders to the agent, attacks on tools and disguised text, in arguments and in what tools answer. With {}, what is certain
  # is denied or cut out, and what is likely asks a person.
  threat: {}
  # Classes of data. Keys and passwords do not leave, and are cut out of what tools answer; for what is personal a person is
  # asked. Name your own hosts in \`internal\`: going there is not leaving.
  taint: { deny: [secret], ask: [personal], internal: [], results: { secret: redact } }
  # What a tier may do: standard reads, writes and sends. For more, a person raises the session, for a while; each call still
  # needs its rule.
  privilege: { elevation: { up-to: admin, for: 15m } }
  # Everybody begins in the middle, at 500 of 1000. What is denied or refused costs, attacks cost most, and half of it is
  # forgotten in a day. Below these scores, calls of the class are denied.
  trust: { needs: { write: 300, delete: 300, execute: 300, send: 300, pay: 400, admin: 400 } }
`,
  unattended: `# What watches over every call, whatever the rules say. Nobody sits beside these agents, so the gates decide: what only an
# order in tool output has named is denied, what may come from one asks a person.
gates:
  # Where data may go. Name the hosts that your agents need in \`allow\`, and put the rest into \`ask\`, once you know them.
  egress: { allow: ["*"] }
  # Orders to the agent, attacks on tools and disguised text, in arguments and in what tools answer.
  threat: {}
  # Where the values of a call come from. Keys and passwords do not leave.
  taint: { deny: [secret], provenance: { untrusted: allow, ordered: ask, flagged: deny } }
`,
}

function sectionOf(server: string, tools: readonly Drafted[]): string {
  return [`  # ${server}`, ...tools.map(declaration), ...facultiesOf(server), ''].join('\n')
}

function declaration({ name, said, guess: each, seen }: Drafted): string {
  const { effect, because, destinations, sinks } = each
  const fields = [
    `effect: ${effect}`,
    ...(destinations.length > 0 ? [`destinations: [${destinations.map(quoted).join(', ')}]`] : []),
    ...(sinks.length > 0 ? [`sinks: [${sinks.map(quoted).join(', ')}]`] : []),
  ]
  const description = excerpt(textOf(said, 'description'), 90)
  return [
    ...(description === '' ? [] : [`  # “${description}”`]),
    ...[`${effect}: ${because}`, ...doubtsOf(each), ...(seen ? seenLines(seen) : [])].map(
      (line) => `  #   ${line}`,
    ),
    `  ${quoted(name)}: { ${fields.join(', ')} }`,
  ].join('\n')
}

function doubtsOf({ effect, isOpen, destinations, showsSecrets }: Guess): readonly string[] {
  return [
    ...(effect === 'admin' ? ['review: the strictest class stands here until you say what it does'] : []),
    ...(isOpen && destinations.length === 0
      ? ['review: it may reach the network; name the arguments that say where in `destinations`']
      : []),
    ...(showsSecrets ? ['review: what it answers may hold secrets; a person is asked first'] : []),
  ]
}

function quoted(text: string): string {
  return JSON.stringify(text)
}

// What goes to the client's model or to its person leaves the server.
const EFFECTS: Readonly<Record<(typeof FACULTIES)[number], string>> = {
  'resources/read': '{ effect: read }',
  'prompts/get': '{ effect: read }',
  'completion/complete': '{ effect: read }   # what is typed goes to the server while it is typed',
  'resources/subscribe': '{ effect: read }   # the server is told which resource is watched',
  'resources/unsubscribe': '{ effect: read }',
  'sampling/createMessage': '{ effect: send }   # the server asks the client’s model',
  'elicitation/create': '{ effect: send }   # the server asks the person',
  'roots/list': '{ effect: send }   # the server asks for the client’s folders',
}

/** What else of a server is governed. */
function facultiesOf(server: string): readonly string[] {
  return FACULTIES.map((faculty) => `  ${quoted(`${server}:${faculty}`)}: ${EFFECTS[faculty]}`)
}

function rulesOf(server: string, tools: readonly Drafted[], style: DraftStyle): string {
  const secret = tools.filter(({ guess: { effect, showsSecrets } }) => effect === 'read' && showsSecrets)
  const all = `[${quoted(`${server}/*`)}, ${quoted(`${server}:*`)}]`
  return [
    ...(secret.length === 0
      ? []
      : [
          `  - id: ${server}-secrets`,
          `    require: [${secret.map(({ name }) => quoted(name)).join(', ')}]`,
          '    because: what it answers may hold secrets',
        ]),
    `  - id: ${server}-reading`,
    `    allow: ${all}`,
    `    when: 'effect == "read"'`,
    ...(namesPaths(tools) ? [INSIDE] : []),
    `  - id: ${server}-acting`,
    ...(style === 'unattended' ? [`    allow: ${all}`] : [`    require: ${all}`, '    expires: 15m']),
    '',
  ].join('\n')
}

// What no draft can know: which directory is meant.
const INSIDE = `    # only below one directory: when: 'effect == "read" && path.within(args.path, "/notes")'`

/** Whether a tool that reads takes a path. */
function namesPaths(tools: readonly Drafted[]): boolean {
  return tools.some(({ said, guess: { effect } }) => {
    const schema = said['inputSchema']
    const properties = isObject(schema) ? schema['properties'] : undefined
    return effect === 'read' && isObject(properties) && Object.hasOwn(properties, 'path')
  })
}
