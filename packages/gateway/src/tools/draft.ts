// Drafts a first policy: the guessed effect class of each tool, reading allowed, everything else with approval. Each guess
// has its reason as a comment, for review.

import type { JsonObject } from '@tollgate/evidence'
import type { AdapterName } from '../browser/servers/adapters.ts'
import { browserServers, guessForBrowser } from './browser-tools.ts'
import { guess, type Guess } from './effect.ts'
import { excerpt } from './hidden.ts'
import { observedRules, observedSection, fitting, seenLines, type DraftStyle } from './draft-seen.ts'
import {
  FACULTIES,
  isObject,
  isServerName,
  isUsable,
  serverPart,
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
  readonly listed: JsonObject
  readonly guess: Guess
  /** Whether it acts in a browser. */
  readonly isBrowser: boolean
}

/** The pages that a browser agent may use, and whether planner references are made from the calls. */
export interface WebDraft {
  readonly domains: readonly string[]
  readonly isDerived: boolean
}

/** The maximum number of offers in a draft: policies have a size limit. */
const MAX_OFFERS = 2000

/** The maximum number of characters for tools that were only seen, and for how other tools were called. */
const MAX_SEEN = 200_000
const MAX_BESIDE = 100_000

/** The maximum number of names in the list of omitted tools: the YAML parser limits comments in a row. */
const MAX_LEFT_OUT = 20

/**
 * The text of a policy. It always parses without mistakes. Tools that were only `seen` in calls come after those that servers
 * offer.
 */
export function draftPolicy(
  all: readonly Offer[],
  name = 'draft',
  seen: readonly SeenTool[] = [],
  style: DraftStyle = 'attended',
  web?: WebDraft,
): string {
  const offers = all.slice(0, MAX_OFFERS)
  const servers = [...new Set(offers.map((offer) => serverOf(offer.name)))].filter(isServerName).sort()
  const calls = new Map(fitting(seen, MAX_BESIDE, style).map((tool) => [tool.name, tool]))
  const browsers = browserServers(offers)
  const tools = new Map(
    servers.map((server) => [server, toolsOf(offers, server, calls, browsers.get(server))]),
  )
  const declared = new Set(servers.flatMap((server) => namesOf(server, tools.get(server) ?? [])))
  const undeclared = seen.filter((tool) => !declared.has(tool.name))
  const others = fitting(undeclared, MAX_SEEN, style)
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
    ...left
      .slice(0, MAX_LEFT_OUT)
      .map((each) => `  # left out because of its name: ${excerpt(each.name, 160)}`),
    ...(left.length > MAX_LEFT_OUT
      ? [`  # left out because of their names: ${left.length - MAX_LEFT_OUT} more tools`]
      : []),
    ...(all.length > offers.length ? [`  # left out: ${all.length - offers.length} more tools`] : []),
    RULES,
    ...(servers.length === 0 && rules.length === 0 ? ['rules: []\n'] : ['rules:']),
    ...servers.map((server) => rulesOf(server, tools.get(server) ?? [], style)),
    ...rules,
    browsers.size === 0 ? GATES[style] : withBrowser(GATES[style], web),
  ].join('\n')
}

function isDraftable(name: string): boolean {
  const tool = toolOf(name)
  return isServerName(serverOf(name)) && (tool === undefined || isUsable(tool))
}

/** All names that the section of a server declares. */
function namesOf(server: string, tools: readonly Drafted[]): readonly string[] {
  return [...tools.map((tool) => tool.name), ...FACULTIES.map((faculty) => `${server}:${faculty}`)]
}

function toolsOf(
  offers: readonly Offer[],
  server: string,
  calls: ReadonlyMap<string, SeenTool>,
  browser: AdapterName | undefined,
): readonly Drafted[] {
  const own = offers.filter(({ name }) => serverOf(name) === server && isDraftable(name))
  const byName = new Map(own.map((offer) => [offer.name, offer]))
  return [...byName.values()].flatMap(({ name, definition }) => {
    const tool = toolOf(name)
    const listed = serverPart(definition)
    if (tool === undefined) return []
    const known = guessForBrowser(browser, tool, listed)
    const isBrowser = browser !== undefined
    return [{ name, listed, guess: known ?? guess(tool, listed, server), seen: calls.get(name), isBrowser }]
  })
}

const HEAD = `# A first policy, drafted from the tool descriptions of the servers. Servers can be wrong or lie: review every line.
#
# \`tollgate policy check FILE\` reports mistakes, \`tollgate policy activate FILE\` puts it in force.`

const PRINCIPALS: Readonly<Record<DraftStyle, string>> = {
  attended: `# The tier of each principal.
principals:
  "agent:*": { tier: standard }
`,
  unattended: `# The tier of each principal: elevated agents may pay, delete and execute if a rule allows it.
principals:
  "agent:*": { tier: elevated }
`,
}

const TOOLS = `# The effect class of each tool. Review all of them. "review" marks tools that the draft knows too little about.
# Effect classes: read, write, delete, execute, send, pay, admin.
# If a tool never uses the network, add \`destinations: none\`. Without it, a call whose arguments contain a hostname is denied
# unless \`gates.egress\` allows that hostname.`

const RULES = `
# The first rule that matches decides. If no rule matches, the call is denied.`

const GATES: Readonly<Record<DraftStyle, string>> = {
  attended: `# The gates check every call, independently of the rules.
gates:
  # Destinations of data. Destinations on no list are denied.
  egress: { allow: [], ask: [] }
  # Finds instructions to the agent, attacks on tools and disguised text, in arguments and in results. With {}, certain
  # findings are denied or redacted, and likely ones need approval.
  threat: {}
  # Data labels. Keys and passwords must not leave, and are redacted in results. Personal data needs approval.
  # List your own hostnames in \`internal\`: they do not count as leaving.
  taint: { deny: [secret], ask: [personal], internal: [], results: { secret: redact } }
  # Effect classes by tier: standard may read, write and send. For more, an operator raises the session for a limited time.
  # Each call still needs a rule.
  privilege: { elevation: { up-to: admin, for: 15m } }
  # Trust starts at 500 of 1000. Denials lower it, attacks most, and half of the loss is recovered per day. Below these
  # scores, calls of the effect class are denied.
  trust: { needs: { write: 300, delete: 300, execute: 300, send: 300, pay: 400, admin: 400 } }
`,
  unattended: `# The gates check every call, independently of the rules. No person is present, so the gates decide: a target that only an
# instruction in tool output mentions is denied; a target that may come from one needs approval.
gates:
  # Destinations of data. Once you know them, list the hostnames that your agents need in \`allow\` and put the rest into \`ask\`.
  egress: { allow: ["*"] }
  # Finds instructions to the agent, attacks on tools and disguised text, in arguments and in results.
  threat: {}
  # The origin of the values of a call. Keys and passwords must not leave.
  taint: { deny: [secret], provenance: { untrusted: allow, ordered: ask, flagged: deny } }
`,
}

/** The gates with the pages of browser agents. The same hostnames are destinations. */
function withBrowser(gates: string, web: WebDraft = { domains: [], isDerived: false }): string {
  const list = `[${web.domains.map(quoted).join(', ')}]`
  const derived = web.isDerived ? ', planner-ref: derived' : ''
  const section = `gates:
  # The pages that a browser agent may use. Without a hostname here, every browser call is denied. \`planner-ref: derived\`: the
  # gateway makes a planner reference from each call, so no planner has to give one; the receipts say so.
  browser: { domains: ${list}${derived} }`
  const reachable = gates.replace('egress: { allow: [], ask: [] }', `egress: { allow: ${list}, ask: [] }`)
  return reachable.replace('\ngates:', `\n${section}`)
}

function sectionOf(server: string, tools: readonly Drafted[]): string {
  return [`  # ${server}`, ...tools.map(declaration), ...facultiesOf(server), ''].join('\n')
}

function declaration({ name, listed, guess: each, seen, isBrowser }: Drafted): string {
  const { effect, because, destinations, sinks } = each
  const fields = [
    `effect: ${effect}`,
    ...(isBrowser ? ['browser: true'] : []),
    ...(destinations.length > 0 ? [`destinations: [${destinations.map(quoted).join(', ')}]`] : []),
    // The page itself is its destination.
    ...(isBrowser && destinations.length === 0 ? ['destinations: none'] : []),
    ...(sinks.length > 0 ? [`sinks: [${sinks.map(quoted).join(', ')}]`] : []),
  ]
  const description = excerpt(textOf(listed, 'description'), 90)
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
    ...(effect === 'admin' ? ['review: strictest class by default; set the effect class of this tool'] : []),
    ...(isOpen && destinations.length === 0
      ? ['review: it may use the network; list the arguments with its destinations in `destinations`']
      : []),
    ...(effect === 'read' && destinations.length > 0
      ? ['a call is denied unless `gates.egress` allows the hostname']
      : []),
    ...(showsSecrets ? ['review: its results may contain secrets; calls need approval'] : []),
  ]
}

function quoted(text: string): string {
  return JSON.stringify(text)
}

// Data that goes to the client's model or user leaves the server.
const EFFECTS: Readonly<Record<(typeof FACULTIES)[number], string>> = {
  'resources/read': '{ effect: read, destinations: none }   # its URI names a resource of the server',
  'prompts/get': '{ effect: read }',
  'completion/complete': '{ effect: read }   # the server sees text while the user types it',
  'resources/subscribe':
    '{ effect: read, destinations: none }   # the server learns which resource is watched',
  'resources/unsubscribe': '{ effect: read, destinations: none }',
  'sampling/createMessage': '{ effect: send }   # the server queries the client’s model',
  'elicitation/create': '{ effect: send }   # the server asks the user',
  'roots/list': '{ effect: send }   # the server gets the client’s folders',
}

/** The declarations of the governed features besides tools. */
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
          '    because: its results may contain secrets',
        ]),
    webRule(server),
    `  - id: ${server}-reading`,
    `    allow: ${all}`,
    `    when: 'effect == "read"'`,
    ...(namesPaths(tools) ? [INSIDE] : []),
    `  - id: ${server}-acting`,
    ...(style === 'unattended' ? [`    allow: ${all}`] : [`    require: ${all}`, '    expires: 15m']),
    '',
  ].join('\n')
}

/**
 * Asks about resources with a web address. A URI such as `memo://x` names a resource and no host, so the draft declares no
 * destinations for resources, and the gates would not see a web address there.
 */
function webRule(server: string): string {
  const names = ['resources/read', 'resources/subscribe', 'resources/unsubscribe']
  const web = '(?i)(^|[^a-z])(https?|wss?|s?ftps?|smb):'
  return [
    `  - id: ${server}-web-resources`,
    `    require: [${names.map((name) => quoted(`${server}:${name}`)).join(', ')}]`,
    `    when: 'has(args.uri) && (type(args.uri) != string || args.uri.matches("${web}"))'`,
    '    because: it names a web address',
  ].join('\n')
}

// A comment for the reader: the draft cannot know the directory.
const INSIDE = `    # only below one directory: when: 'effect == "read" && path.within(args.path, "/notes")'`

/** Whether a tool that reads takes a path. */
function namesPaths(tools: readonly Drafted[]): boolean {
  return tools.some(({ listed, guess: { effect } }) => {
    const schema = listed['inputSchema']
    const properties = isObject(schema) ? schema['properties'] : undefined
    return effect === 'read' && isObject(properties) && Object.hasOwn(properties, 'path')
  })
}
