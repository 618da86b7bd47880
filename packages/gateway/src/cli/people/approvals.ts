// `tollgate approvals`: what waits for a person, and the answers.

import { setTimeout as sleep } from 'node:timers/promises'
import type { GatewayOptions } from '../commands.ts'
import { ask } from '../program/ask.ts'
import { withConnection, type Connection } from '../program/connect.ts'
import { onInterrupt } from '../program/interrupt.ts'
import { shown, table, until } from '../program/table.ts'
import { CommandError, UsageError, type Terminal } from '../program/terminal.ts'

/** A request as the API shows it. */
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
}

const PAUSE = 1000
const WATCHING = [
  'start it with `tollgate up`',
  'and set TOLLGATE_TOKEN to an operator or admin token',
] as const

/** Lists what waits; with `--watch`, goes on until Ctrl-C. */
export async function runList(
  terminal: Terminal,
  options: GatewayOptions & { watch?: boolean },
): Promise<number> {
  return withConnection(options, 'read', async (connection) => {
    if (options.watch === true) {
      // On a directory, this would keep the ledger for itself.
      if (connection.local) throw new CommandError('only a running gateway can be watched', ...WATCHING)
      return await watch(terminal, connection)
    }
    const { approvals } = await waitingOn(connection)
    terminal.data({ approvals }, () => format(approvals))
    if (approvals.length === 0) terminal.say('nothing waits for a person')
    else if (!terminal.json) terminal.say('answer with `tollgate approvals approve ID` or `deny ID`')
    return 0
  })
}

async function watch(terminal: Terminal, connection: Connection): Promise<number> {
  const stop = new AbortController()
  onInterrupt(() => stop.abort())
  const seen = new Set<string>()
  terminal.say('watching for what waits for a person; Ctrl-C ends it')
  while (!stop.signal.aborted) {
    const { approvals } = await waitingOn(connection)
    for (const each of approvals.filter(({ id }) => !seen.has(id))) {
      seen.add(each.id)
      terminal.row(each, () => sentence(each))
    }
    await sleep(PAUSE, undefined, { signal: stop.signal }).catch(() => undefined)
  }
  return 0
}

function sentence(request: WaitingApproval): string {
  const { id, principal, tool, reason_code, rule, until: end } = request
  const by = rule === null ? '' : ` (rule ${shown(rule)})`
  const left = until(end, new Date().getTime())
  const asked = `${shown(principal)} wants ${shown(tool)}: ${reason_code}${by}, ${left} left`
  return [`${id}  ${asked}`, ...aboutOf(request), argumentsOf(request)].join('\n  ')
}

function waitingOn(connection: Connection): Promise<{ readonly approvals: readonly WaitingApproval[] }> {
  return ask(connection, '/v1/approvals')
}

function format(approvals: readonly WaitingApproval[]): string {
  const now = new Date().getTime()
  const rows = approvals.map((each) => [
    each.id.slice(0, 16),
    shown(each.principal),
    shown(each.tool),
    each.effect_class ?? '',
    each.reason_code,
    each.approvers.map(shown).join(', ') || 'anybody',
    until(each.until, now),
  ])
  if (rows.length === 0) return ''
  const what = approvals.flatMap((each) => [
    `${each.id.slice(0, 16)}  ${argumentsOf(each)}`,
    ...aboutOf(each).map((line) => `${' '.repeat(18)}${line}`),
  ])
  const columns = ['ID', 'PRINCIPAL', 'TOOL', 'EFFECT', 'REASON', 'APPROVERS', 'LEFT']
  return [table(columns, rows), '', 'with these arguments:', ...what].join('\n')
}

/** What else a person should know before they answer. */
function aboutOf(request: WaitingApproval): readonly string[] {
  const reason = request.reason_required === true ? ['the policy asks for a reason: --because'] : []
  return [...asksOf(request), ...pageLines(request), ...reason]
}

/** The page that a yes would be for. */
export function pageLines({ page }: Pick<WaitingApproval, 'page'>): readonly string[] {
  if (!page) return []
  const { url, destination, page_host = '(unknown)', sentinel_risk, sentinel_findings, planner_ref } = page
  const goes = destination === undefined || destination === null ? '' : `, goes to ${shown(destination)}`
  const found = sentinel_findings.length === 0 ? 'no findings' : sentinel_findings.map(shown).join(', ')
  return [
    `on the page ${shown(url ?? page_host)}${goes}`,
    `the Sentinel says: risk ${sentinel_risk ?? 'unknown'}, ${found}; plan ${shown(planner_ref ?? '(none)')}`,
  ]
}

/** What else a yes would lift, where the reason alone does not say it. */
function asksOf({ asks, reason_code }: WaitingApproval): readonly string[] {
  const plain = asks.length === 1 && asks[0]?.endsWith(` ${reason_code}`) === true
  if (plain || asks.length === 0) return []
  const raises = reason_code === 'ELEVATION_REQUIRED' ? ' (and raises the session for a time)' : ''
  return [`a yes lifts: ${asks.map(shown).join('; ')}${raises}`]
}

const MOST_SHOWN = 1000

/** What the call would be run with. Nobody should say yes to what they have not seen. */
function argumentsOf({ arguments: args }: WaitingApproval): string {
  if (args === undefined) return '(lost or erased: it can be denied, not approved)'
  const text = shown(JSON.stringify(args))
  return text.length <= MOST_SHOWN
    ? text
    : `${text.slice(0, MOST_SHOWN)}… (all of it with \`tollgate approvals show\`)`
}

interface AnswerOptions extends GatewayOptions {
  readonly because?: string
  readonly widen?: boolean
}

/** Says yes to a request. */
export function runApprove(terminal: Terminal, options: AnswerOptions, which = ''): Promise<number> {
  return answer(terminal, options, which, 'approve')
}

/** Says no to a request. */
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
    const said = await ask<{ readonly receipt: string; readonly answer: string }>(
      connection,
      `/v1/approvals/${id}/${word}`,
      body,
    )
    terminal.data({ request: id, ...said }, said.receipt)
    terminal.say(word === 'approve' ? grantOf(request, widen === true) : 'denied: this call does not pass')
    return 0
  })
}

/** What a yes has brought. One that raises a tier is for more than the call that asked. */
function grantOf(request: WaitingApproval | undefined, widen: boolean): string {
  if (widen)
    return 'approved: once this call has passed, its tool and what it acts on are in the scope of the session'
  if (request?.reason_code !== 'ELEVATION_REQUIRED') return 'approved: exactly this call may pass, once'
  const whose = `session ${shown(request.session)} of ${shown(request.principal)}`
  return `approved: this call may pass, and ${whose} keeps the higher tier as long as \`gates.privilege.elevation\` says`
}

/** The request that is meant, by its id or the beginning of it. */
export async function idOf(connection: Connection, which: string): Promise<string> {
  if (/^[0-9a-f]{64}$/.test(which)) return which
  if (!/^[0-9a-f]{8,63}$/.test(which)) {
    throw new UsageError(
      `\`${which.slice(0, 80)}\` is no id of a request`,
      'give at least 8 characters of one that `tollgate approvals list` shows',
    )
  }
  const { approvals } = await waitingOn(connection)
  const [found, another] = approvals.filter(({ id }) => id.startsWith(which))
  if (found && !another) return found.id
  throw new CommandError(
    found
      ? `more than one request begins with \`${which}\``
      : `no request that waits begins with \`${which}\``,
    '`tollgate approvals list` shows what waits',
  )
}
