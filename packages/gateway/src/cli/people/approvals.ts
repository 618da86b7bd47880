// `tollgate approvals`: lists pending requests and answers them.

import { setTimeout as sleep } from 'node:timers/promises'
import type { GatewayOptions } from '../commands.ts'
import { ask } from '../program/ask.ts'
import { runsOn, withConnection, type Connection } from '../program/connect.ts'
import { onInterrupt } from '../program/interrupt.ts'
import { runnable } from '../program/runnable.ts'
import { shown, table, until } from '../program/table.ts'
import { CommandError, UsageError, type Terminal } from '../program/terminal.ts'

/** A pending request, as the API returns it. */
export interface WaitingApproval {
  readonly id: string
  readonly principal: string
  readonly session: string
  readonly tool: string
  readonly effect_class?: string
  readonly reason_code: string
  readonly rule: string | null
  readonly asks: readonly string[]
  readonly arguments?: unknown
  readonly page?: ShownBrowserPage
  readonly approvers: readonly string[]
  readonly reason_required?: boolean
  readonly until: string
}

/** The page of a browser call. */
export interface ShownBrowserPage {
  readonly url?: string | null
  readonly destination?: string | null
  readonly page_host?: string
  readonly sentinel_risk?: number
  readonly sentinel_findings: readonly string[]
  readonly planner_ref?: string
  readonly planner_derived?: boolean
  readonly without_egress?: boolean
  readonly target?: {
    readonly state: string
    readonly role: string
    readonly name: string
    readonly origin: string
  }
}

const POLL_INTERVAL_MS = 1000
const WATCHING = [
  'start it with `tollgate up`',
  'and store an operator or admin token with `tollgate login`',
] as const

/** Lists pending requests; with `--watch`, prints new ones until Ctrl-C. */
export async function runList(
  terminal: Terminal,
  options: GatewayOptions & { watch?: boolean },
): Promise<number> {
  // Watching needs the running gateway, and so a token.
  const follows = options.watch === true && (await runsOn(options))
  return withConnection(options, follows ? 'write' : 'memory', async (connection) => {
    if (options.watch === true) {
      // On a data directory this would block the ledger.
      if (connection.local) throw new CommandError('`--watch` needs a running gateway', ...WATCHING)
      return await watch(terminal, connection)
    }
    const { approvals } = await waitingOn(connection)
    terminal.exact({ approvals }, () => format(approvals))
    if (approvals.length === 0) terminal.say('no pending requests')
    else if (!terminal.json)
      terminal.say('answer with `tollgate approvals approve ID` or `tollgate approvals deny ID`')
    return 0
  })
}

async function watch(terminal: Terminal, connection: Connection): Promise<number> {
  const stop = new AbortController()
  onInterrupt(() => stop.abort())
  const seen = new Set<string>()
  terminal.say('waiting for requests; press Ctrl-C to stop')
  while (!stop.signal.aborted) {
    const { approvals } = await waitingOn(connection)
    for (const each of approvals.filter(({ id }) => !seen.has(id))) {
      seen.add(each.id)
      terminal.row(each, () => sentence(each))
    }
    await sleep(POLL_INTERVAL_MS, undefined, { signal: stop.signal }).catch(() => undefined)
  }
  return 0
}

function sentence(request: WaitingApproval): string {
  const { id, principal, tool, reason_code, rule, until: end } = request
  const by = rule === null ? '' : ` (rule ${shown(rule)})`
  const left = until(end, new Date().getTime())
  const asked = `${shown(principal)} requests ${shown(tool)}: ${reason_code}${by}, ${left} left`
  return [`${id}  ${asked}`, ...aboutOf(request), argumentsOf(request)].join('\n  ')
}

/** Returns the pending requests. */
export function waitingOn(
  connection: Connection,
): Promise<{ readonly approvals: readonly WaitingApproval[] }> {
  return ask(connection, '/v1/approvals')
}

const COLUMNS = ['ID', 'TOOL', 'PRINCIPAL', 'EFFECT', 'REASON', 'LEFT']

function format(approvals: readonly WaitingApproval[]): string {
  const now = new Date().getTime()
  const rows = approvals.map((each) => [
    each.id.slice(0, 8),
    shown(each.tool),
    shown(each.principal),
    each.effect_class ?? '',
    each.reason_code,
    until(each.until, now),
  ])
  if (rows.length === 0) return ''
  const what = approvals.flatMap((each) => [
    `${each.id.slice(0, 8)}  ${argumentsOf(each)}`,
    ...aboutOf(each).map((line) => `${' '.repeat(10)}${line}`),
  ])
  return [table(COLUMNS, rows), '', 'Arguments:', ...what].join('\n')
}

function aboutOf(request: WaitingApproval): readonly string[] {
  const reason = request.reason_required === true ? ['the policy requires a reason: add --because'] : []
  const { approvers } = request
  const by = approvers.length === 0 ? [] : [`may be answered by: ${approvers.map(shown).join(', ')}`]
  return [...asksOf(request), ...pageLines(request), ...by, ...reason]
}

/** Returns the lines about the page of a browser call. */
export function pageLines({ page }: Pick<WaitingApproval, 'page'>): readonly string[] {
  if (!page) return []
  const { url, destination, page_host = '(unknown)', sentinel_risk, sentinel_findings, target } = page
  const goes = destination === undefined || destination === null ? '' : `, goes to ${shown(destination)}`
  const found = sentinel_findings.length === 0 ? 'no findings' : sentinel_findings.map(shown).join(', ')
  return [
    `page: ${shown(url ?? page_host)}${goes}`,
    ...(target ? [`element: ${elementText(target)}`] : []),
    `Sentinel: risk ${sentinel_risk ?? 'unknown'}, ${found}; plan ${planText(page)}`,
    ...(page.without_egress === true ? ['the gateway does not control the network of this browser'] : []),
  ]
}

function elementText({ state, role, name, origin }: NonNullable<ShownBrowserPage['target']>): string {
  if (state === 'unresolved') return 'in no snapshot that the agent saw'
  return `${shown(role)} \`${shown(name)}\` of ${shown(origin)}${state === 'bound' ? '' : `, ${shown(state)}`}`
}

function planText({ planner_ref, planner_derived }: ShownBrowserPage): string {
  if (planner_ref === undefined) return '(none)'
  return `${shown(planner_ref)}${planner_derived === true ? ' (derived by the gateway)' : ''}`
}

const ASK_TEXTS: Readonly<Record<string, string>> = {
  APPROVAL_REQUIRED: 'approval rule',
  TOOL_NOT_PINNED: 'tool not pinned',
  TOOL_NOT_DECLARED: 'tool not declared, which an approval does not change',
  EGRESS_APPROVAL_REQUIRED: 'new destination',
  TAINT_APPROVAL_REQUIRED: 'labelled data',
  THREAT_APPROVAL_REQUIRED: 'possible attack',
  SESSION_RISK_APPROVAL_REQUIRED: 'risky session or target',
  ELEVATION_REQUIRED: 'tier too low',
  TASK_SCOPE_EXCEEDED: 'outside of the scope',
  TEMPORAL_INTERVENTION: 'burst of calls',
  COMPLIANCE_APPROVAL_REQUIRED: 'compliance rule',
  COGNITIVE_FIREWALL_APPROVAL_REQUIRED: 'finding of the Sentinel',
  COGNITIVE_FIREWALL_TARGET_UNRESOLVED: 'unknown element',
}

/** Formats a check that an approval overrides, which the API returns as `STEP CODE DETAIL`. */
export function askText(ask: string): string {
  const [step = '', code = '', ...detail] = shown(ask).split(' ')
  const about = [ASK_TEXTS[code] ?? code, detail.join(' ')].filter((part) => part !== '')
  return `${step} check (${about.join(': ')})`
}

/** Returns the checks that an approval overrides, unless the reason already says it. */
function asksOf({ asks, reason_code }: WaitingApproval): readonly string[] {
  const plain = asks.length === 1 && asks[0]?.endsWith(` ${reason_code}`) === true
  if (plain || asks.length === 0) return []
  const raises = reason_code === 'ELEVATION_REQUIRED' ? ' (and elevates the session temporarily)' : ''
  return [`Approving overrides: ${asks.map(askText).join('; ')}${raises}`]
}

const MAX_SHOWN = 1000
/** Shown if the policy names no approvers. */
export const ANY_APPROVER = 'any operator except the requester'

/** Returns the arguments of the call, so that people see what they approve. */
function argumentsOf({ arguments: args }: WaitingApproval): string {
  if (args === undefined) return '(lost or erased; the request can only be denied)'
  const text = shown(JSON.stringify(args))
  return text.length <= MAX_SHOWN
    ? text
    : `${text.slice(0, MAX_SHOWN)}… (show all with ${runnable('`tollgate approvals show ID`')})`
}

interface AnswerOptions extends GatewayOptions {
  readonly because?: string
  readonly widen?: boolean
}

/** Approves a request. */
export function runApprove(terminal: Terminal, options: AnswerOptions, which = ''): Promise<number> {
  return answer(terminal, options, which, 'approve')
}

/** Denies a request. */
export function runDeny(terminal: Terminal, options: AnswerOptions, which = ''): Promise<number> {
  return answer(terminal, options, which, 'deny')
}

async function answer(
  terminal: Terminal,
  options: AnswerOptions,
  which: string,
  word: 'approve' | 'deny',
): Promise<number> {
  return withConnection(options, 'write', async (connection) => {
    const id = await idOf(connection, which)
    const { approvals } = await waitingOn(connection)
    const request = approvals.find((each) => each.id === id)
    const { because, widen } = options
    const body = { ...(because !== undefined && { because }), ...(widen === true && { widen }) }
    const answered = await ask<{ readonly receipt: string; readonly answer: string }>(
      connection,
      `/v1/approvals/${id}/${word}`,
      body,
    )
    terminal.data({ request: id, ...answered }, answered.receipt)
    terminal.say(word === 'approve' ? grantOf(request, widen === true) : 'denied: this call will not run')
    return 0
  })
}

/** Returns the message after an approval. An elevation applies to more than this call. */
function grantOf(request: WaitingApproval | undefined, widen: boolean): string {
  if (widen)
    return 'approved: when the call is allowed, its tool and targets are added to the scope of the session'
  if (request?.reason_code !== 'ELEVATION_REQUIRED') return 'approved: exactly this call is allowed, once'
  const whose = `session ${shown(request.session)} of ${shown(request.principal)}`
  return `approved: this call is allowed, and ${whose} keeps the higher tier for the time in \`gates.privilege.elevation\``
}

/** Returns the id of the request that is given by id or by the start of it. */
export async function idOf(connection: Connection, which: string): Promise<string> {
  if (/^[0-9a-f]{64}$/.test(which)) return which
  if (!/^[0-9a-f]{8,63}$/.test(which)) {
    throw new UsageError(
      `\`${which.slice(0, 80)}\` is not the id of a request`,
      'give at least 8 characters of an id from `tollgate approvals list`',
    )
  }
  const { approvals } = await waitingOn(connection)
  const [found, another] = approvals.filter(({ id }) => id.startsWith(which))
  if (found && !another) return found.id
  throw new CommandError(
    found
      ? `more than one request id starts with \`${which}\``
      : `no pending request id starts with \`${which}\``,
    'list pending requests with `tollgate approvals list`',
  )
}
