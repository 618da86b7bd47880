// `tollgate status`: shows the state of the gateway and its ledger. Changes nothing.

import { parseReceipt } from '@tollgate/evidence'
import type { LedgerView } from '../../view.ts'
import type { GatewayOptions } from '../commands.ts'
import { ask } from '../program/ask.ts'
import { connect, dataOf, sayPlace, type Connection } from '../program/connect.ts'
import type { TrustChanges } from '../people/trust-changes.ts'
import type { ShownObserved } from '../policy/observe.ts'
import type { PolicyStatus } from '../policy/policy-status.ts'
import type { ReceiptPage } from '../receipts/receipts.ts'
import { counted, pairs, shown } from '../program/table.ts'
import type { Terminal } from '../program/terminal.ts'

interface GatewayStatus {
  readonly version: string
  readonly ledger: string
  readonly size: number
  readonly poisoned: string | null
  readonly since: string
  readonly principal: string
  readonly role: string
}

interface Frozen {
  readonly scope: string
  readonly target: string | null
}

/** Further facts; a member is undefined if this caller is not allowed to read it. */
interface Details {
  readonly gateway: string
  readonly policy: { readonly name: string; readonly file: PolicyStatus['file'] } | undefined
  readonly freezes: readonly Frozen[] | undefined
  readonly waiting: number | undefined
  readonly observed: readonly ShownObserved[] | undefined
  readonly earned: TrustChanges | undefined
  /** Hash of the policy in force, and the path of the policy file. They are not part of the JSON output. */
  readonly hash?: string | undefined
  readonly path?: string | undefined
}

interface StatusOptions extends GatewayOptions {
  readonly line?: boolean
}

/** Shows the status. Returns 1 if the ledger is poisoned. */
export async function runStatus(terminal: Terminal, options: StatusOptions): Promise<number> {
  if (options.line === true) return (await import('./status-line.ts')).printLine(dataOf(options))
  const connection = await connect(options, 'read')
  try {
    // The status of a data directory names it.
    if (!connection.local) sayPlace(options, connection.place)
    const status = await ask<GatewayStatus>(connection, '/v1/status')
    const { hash, path, ...details } = connection.local
      ? await localDetails(connection, connection.local)
      : await remoteDetails(connection, status)
    const rows =
      details.earned && (await import('../people/trust-changes.ts')).trustChangeRows(details.earned)
    terminal.data({ ...status, ...details }, () => format(status, { ...details, hash }, rows))
    await warn(terminal, status, { ...details, hash, path })
    return status.poisoned === null ? 0 : 1
  } finally {
    await connection.close()
  }
}

function format(
  status: GatewayStatus,
  { gateway, policy, freezes, waiting, observed = [], hash }: Details,
  earned: readonly (readonly [string, string])[] = [],
): string {
  return pairs([
    ['gateway', gateway],
    ['version', status.version],
    ['ledger', `${shown(status.ledger)}, ${counted(status.size, 'entry', 'entries')}`],
    ['you', `${shown(status.principal)} (${status.role})`],
    ...(policy ? [['policy', policyText(policy, hash)] as const] : []),
    ...(freezes
      ? [['frozen', freezes.length === 0 ? 'nothing' : freezes.map(named).join(', ')] as const]
      : []),
    ...(waiting === undefined ? [] : [['waiting', `${waiting} for approval`] as const]),
    ...(observed.length > 0 ? [['observe mode', `on for ${observed.map(named).join(', ')}`] as const] : []),
    ...earned,
  ])
}

const FILE_NOTES: Readonly<Record<string, string>> = {
  pending: ' The policy file differs and is not in force.',
  mistaken: ' The policy file has mistakes and is not in force.',
  missing: ' The policy file is missing.',
}

function policyText({ name, file }: NonNullable<Details['policy']>, hash: string | undefined): string {
  const active = hash === undefined ? 'None in force.' : `In force: \`${shown(name)}\` (${hash.slice(0, 8)}).`
  return active + (FILE_NOTES[file] ?? '')
}

function named({ scope, target }: Frozen): string {
  return target === null ? 'everything' : `${scope} ${shown(target)}`
}

async function warn(
  terminal: Terminal,
  { poisoned }: GatewayStatus,
  { policy, observed, hash, path }: Details,
): Promise<void> {
  if (observed && observed.length > 0) {
    const { observeNotice } = await import('../policy/observe.ts')
    terminal.warn(...(observeNotice(observed) ?? ['']))
  }
  if (poisoned !== null) {
    terminal.warn(
      `every call is denied, because the ledger cannot be written: ${poisoned}`,
      'run `tollgate doctor`, then restart the gateway',
    )
  }
  if (!policy || policy.file === 'in force') return
  const { pendingNotice } = await import('../policy/policy-status.ts')
  const active = hash === undefined ? undefined : { name: policy.name, hash }
  const notice = pendingNotice({ file: policy.file, path, active })
  if (notice) terminal.warn(...notice)
}

async function localDetails(
  connection: Connection,
  { config, view }: NonNullable<Connection['local']>,
): Promise<Details> {
  const [{ policyStatus }, { isRunning }] = await Promise.all([
    import('../policy/policy-status.ts'),
    import('../../open.ts'),
  ])
  const { active, file } = await policyStatus(view, config)
  return {
    gateway: (await isRunning(config)) ? `running on ${config.data}` : `stopped; data in ${config.data}`,
    policy: { name: active?.name ?? '(none)', file },
    hash: active?.hash,
    path: config.policy,
    freezes: await freezesIn(view),
    waiting: undefined,
    observed: await observedIn(view, Date.now()),
    earned: await trustChangesOn(connection, () => Promise.resolve(active?.gates.trust?.halfLife)),
  }
}

/** Returns the current freezes, by the newest receipt for each target. */
async function freezesIn(view: LedgerView): Promise<readonly Frozen[]> {
  const frozen = new Map<string, Frozen>()
  for (const index of await view.indexesOf(['freeze'])) {
    const [envelope] = await view.envelopes(index, index + 1)
    const receipt = envelope && parseReceipt(envelope).receipt
    if (receipt?.kind !== 'freeze') continue
    const { scope, target = null, tenant } = receipt
    const name = `${scope}\n${tenant}\n${target ?? ''}`
    if (receipt.frozen) frozen.set(name, { scope, target })
    else frozen.delete(name)
  }
  return [...frozen.values()]
}

/** Returns where observe mode is on, by the newest receipt for each target. */
export async function observedIn(view: LedgerView, now: number): Promise<readonly ShownObserved[]> {
  const observed = new Map<string, ShownObserved>()
  for (const index of await view.indexesOf(['observe'])) {
    const [envelope] = await view.envelopes(index, index + 1)
    const receipt = envelope && parseReceipt(envelope).receipt
    if (receipt?.kind !== 'observe') continue
    const { scope, target, tenant, until } = receipt
    const name = `${tenant}\n${scope}\n${target}`
    if (until === undefined) observed.delete(name)
    else observed.set(name, { scope, target, until })
  }
  return [...observed.values()].filter(({ until }) => Date.parse(until) > now)
}

async function trustChangesOn(
  connection: Connection,
  halfLife: () => Promise<number | undefined>,
): Promise<TrustChanges> {
  const { trustChangesIn, LOOKED_AT } = await import('../people/trust-changes.ts')
  const { receipts } = await ask<ReceiptPage>(connection, `/v1/receipts?limit=${LOOKED_AT}`)
  return trustChangesIn(receipts, halfLife, new Date().getTime())
}

interface ShownPolicy {
  readonly name: string
  readonly hash: string
  readonly text: string
  readonly pending: { readonly mistakes: readonly unknown[] } | null
}

const NO_DETAILS: Details = {
  gateway: 'running',
  policy: undefined,
  freezes: undefined,
  waiting: undefined,
  observed: undefined,
  earned: undefined,
}

async function remoteDetails(connection: Connection, { role }: GatewayStatus): Promise<Details> {
  // Agents and sentinels are not allowed to read the rest.
  const may = role === 'operator' || role === 'admin' || role === 'auditor'
  if (!may) return NO_DETAILS
  const { observed } = await ask<{ readonly observed: readonly ShownObserved[] }>(connection, '/v1/observe')
  const [{ name, pending, text, hash }, { freezes }, { approvals }] = await Promise.all([
    ask<ShownPolicy>(connection, '/v1/policy'),
    ask<{ readonly freezes: readonly Frozen[] }>(connection, '/v1/freeze'),
    ask<{ readonly approvals: readonly unknown[] }>(connection, '/v1/approvals'),
  ])
  const earned = await trustChangesOn(connection, () => halfLifeIn(text))
  const file = pending === null ? 'in force' : pending.mistakes.length > 0 ? 'mistaken' : 'pending'
  const details = { gateway: 'running', freezes, waiting: approvals.length }
  return { ...details, policy: { name, file }, observed, earned, hash: text === '' ? undefined : hash }
}

async function halfLifeIn(text: string): Promise<number | undefined> {
  // Imported here, because most of the time no receipt changes trust.
  const { parsePolicy } = await import('@tollgate/kernel/policy')
  const parsed = parsePolicy(text)
  return parsed.ok ? parsed.policy.gates.trust?.halfLife : undefined
}
