// Finds rules that allow calls which `gates.egress` then denies, because no list names the host.

import type { ASTNode } from '@marcbachmann/cel-js'
import { destinationsIn } from '../../destinations/find.ts'
import { matchesHost } from '../../destinations/pattern.ts'
import { childrenOf } from '../../policy/cel/reader.ts'
import type { Glob } from '../../policy/glob.ts'
import type { Policy, Rule, ToolDeclaration } from '../../policy/parse/parse.ts'
import { literalOf } from './constraint.ts'
import { Directory, type Budget } from './patterns.ts'
import { listed, type RemarkNote } from './remark.ts'
import { testsIn } from './sightings.ts'

/** Returns a remark for each rule whose calls the egress gate denies. */
export function* egressNotes(policy: Policy, budget: Budget): Generator<RemarkNote> {
  const reaching = policy.tools.filter(({ destinations }) => destinations !== 'none')
  const directory = new Directory(
    reaching.map((tool): [Glob, ToolDeclaration] => [tool.name, tool]),
    budget,
  )
  for (const [place, rule] of policy.rules.entries()) {
    if (rule.action !== 'allow') continue
    const tools = rule.tools.flatMap((pattern) => [...directory.touching(pattern)])
    const note = tools.length > 0 ? noteOn(rule, place, tools, policy) : undefined
    if (note) yield note
  }
}

function noteOn(
  rule: Rule,
  place: number,
  tools: readonly ToolDeclaration[],
  policy: Policy,
): RemarkNote | undefined {
  const named = rule.when ? hostsIn(rule.when.tree()) : []
  const missing = [...new Set(named)].filter((host) => !isListed(host, policy))
  if (missing.length > 0) return hostNote(rule, place, missing, policy)
  // A tool that declares no destinations may have none in a call.
  const sender = tools.find(({ destinations }) => destinations.length > 0)
  return sender && named.length === 0 && isClosed(policy) ? closedNote(rule, place, sender) : undefined
}

function isClosed({ gates: { egress } }: Policy): boolean {
  return egress.allow.length + egress.ask.length === 0
}

/** Whether some list names the host, for mail or for the web. A host under `deny` is denied on purpose. */
function isListed(host: string, { gates: { egress } }: Policy): boolean {
  const lists = [...egress.allow, ...egress.ask, ...egress.deny]
  const ways = destinationsIn({ to: [`a@${host}`, `https://${host}/`] }, ['to'])
  return ways.some((way) => lists.some((pattern) => matchesHost(pattern, way)))
}

function closedNote({ id }: Rule, place: number, { name }: ToolDeclaration): RemarkNote {
  return {
    path: ['rules', place],
    code: 'EGRESS_CLOSED',
    message: `rule \`${id}\` allows \`${name.source}\`, but \`gates.egress\` lists no host, so every call with a destination is denied`,
    remedy: edit(['example.com'], true, 'with the hosts of your destinations instead of `example.com`'),
  }
}

function hostNote({ id }: Rule, place: number, hosts: readonly string[], policy: Policy): RemarkNote {
  return {
    path: ['rules', place, 'when'],
    code: 'EGRESS_CLOSED',
    message: `rule \`${id}\` allows calls to ${listed(hosts)}, but \`gates.egress\` does not list ${hosts.length > 1 ? 'these hosts' : 'this host'}, so these calls are denied`,
    remedy: edit(hosts, isClosed(policy)),
  }
}

/** The edit as text to copy. */
function edit(hosts: readonly string[], isNew: boolean, further?: string): string {
  const items = hosts.map((host) => `'${host}'`).join(', ')
  const added = isNew
    ? `add \`egress: { allow: [${items}] }\` under \`gates\``
    : `add \`${items}\` to \`gates.egress.allow\``
  return `${added}${further === undefined ? '' : `, ${further}`}; more calls are then allowed`
}

/** The hosts that a condition requires of a destination or of an argument: `d.host == "example.com"`, `endsWith("@example.com")`. */
function hostsIn(tree: ASTNode): readonly string[] {
  const tested = testsIn(tree).flatMap(({ name, receiver, argument, holds }) => {
    const text = argument && literalOf(argument)
    if (!holds || typeof text !== 'string') return []
    if (name === 'endsWith') return text.startsWith('@') ? [text.slice(1)] : []
    if (name !== 'within' || receiver === 'path') return []
    return destinationsIn({ to: [text] }, ['to']).map(({ host }) => host)
  })
  return [...tested, ...comparedIn(tree)].map((host) => host.toLowerCase()).filter((host) => host !== '')
}

/** The texts that a `host` of something is compared with. Nothing below a negation counts. */
function comparedIn(node: ASTNode): readonly string[] {
  if (node.op === '!_') return []
  if (node.op !== '==' && node.op !== 'in') return childrenOf(node).flatMap(comparedIn)
  const [left, right] = node.args
  if (left.op !== '.' || left.args[1] !== 'host') return []
  const items = right.op === 'list' ? right.args : [right]
  return items.flatMap((item) => literalOf(item) ?? []).filter((text) => typeof text === 'string')
}
