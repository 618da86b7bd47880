// `tollgate receipts list` and `tollgate receipts show`.

import { accepted, ask, queryOf } from '../program/ask.ts'
import { withConnection, type Connection } from '../program/connect.ts'
import type { GatewayOptions } from '../commands.ts'
import { describe, type ShownEntry } from './describe.ts'
import { detail } from './detail.ts'
import { moment } from '../program/table.ts'
import { CommandError, UsageError, type Terminal } from '../program/terminal.ts'
import { parsePeriod } from '../program/when.ts'

/** Filters of receipts. */
export interface FilterOptions extends GatewayOptions {
  readonly kind?: string
  readonly principal?: string
  readonly tool?: string
  readonly verdict?: string
  readonly session?: string
  readonly decision?: string
  readonly from?: number
}

interface ListOptions extends FilterOptions, PeriodOptions {
  readonly limit: number
  readonly oldestFirst?: boolean
}

/** A period, as given on the command line. */
export interface PeriodOptions {
  readonly since?: string
  readonly until?: string
}

/** Returns the period as query parameters. @throws UsageError for a wrong time. */
export function periodOf({ since, until }: PeriodOptions): Readonly<Record<string, string | undefined>> {
  const period = parsePeriod(since, until)
  const text = (time: number | undefined): string | undefined =>
    time === undefined ? undefined : new Date(time).toISOString()
  return { since: text(period.since), until: text(period.until) }
}

/** One page of receipts, as the API returns it. */
export interface ReceiptPage {
  readonly receipts: readonly ShownEntry[]
  readonly next: number | null
}

/** Returns the filters as query parameters. The decision can be given by the start of its id. */
export async function filtersOf(connection: Connection, options: FilterOptions): Promise<URLSearchParams> {
  const { kind, principal, tool, verdict, session, from } = options
  const decision = options.decision && (await fullId(connection, options.decision))
  return queryOf({ kind, principal, tool, verdict, session, decision, from })
}

/** Lists receipts. A page can be empty and still have a next one, so it reads pages until the limit is reached. */
export async function runList(terminal: Terminal, options: ListOptions): Promise<number> {
  const period = queryOf(periodOf(options))
  return withConnection(options, 'read', async (connection) => {
    const query = new URLSearchParams([...(await filtersOf(connection, options)), ...period])
    query.set('direction', options.oldestFirst === true ? 'on' : 'back')
    const { receipts, next } = await pages(connection, query, options.limit)
    terminal.exact({ receipts, next }, () =>
      receipts.map((entry) => describe(entry, terminal.paint)).join('\n'),
    )
    if (receipts.length === 0) terminal.say('no matching receipts')
    else if (next !== null && !terminal.json)
      terminal.say(`there may be more: continue with \`--from ${next}\``)
    return 0
  })
}

async function pages(connection: Connection, query: URLSearchParams, limit: number): Promise<ReceiptPage> {
  const receipts: ShownEntry[] = []
  while (true) {
    query.set('limit', String(limit - receipts.length))
    const page = await ask<ReceiptPage>(connection, `/v1/receipts?${query.toString()}`)
    receipts.push(...page.receipts)
    if (page.next === null || receipts.length >= limit) return { receipts, next: page.next }
    query.set('from', String(page.next))
  }
}

interface ReceiptShowOptions extends GatewayOptions {
  readonly envelope?: boolean
  readonly proof?: boolean
}

/** Shows one receipt, its envelope or its proof. */
export async function runShow(terminal: Terminal, options: ReceiptShowOptions, which = ''): Promise<number> {
  return withConnection(options, 'read', async (connection) => {
    const id = await idOf(connection, which)
    if (options.proof === true) {
      const proof = await (await accepted(await connection.request(`/v1/receipts/${id}/proof`))).text()
      terminal.exact({ id, proof }, proof)
      return 0
    }
    const entry = await ask<ShownEntry & { readonly envelope: string }>(connection, `/v1/receipts/${id}`)
    terminal.exact(entry, () => (options.envelope === true ? entry.envelope : detail(entry, terminal.paint)))
    return 0
  })
}

/** Returns the id of a receipt that is given by id, by the start of its id, or by index. */
async function idOf(connection: Connection, which: string): Promise<string> {
  const isIndex = /^(?:0|[1-9][0-9]{0,14})$/.test(which)
  // Eight digits are more often the start of an id than an index.
  if (!isIndex || which.length >= SHORTEST) {
    const found = isIdStart(which) ? await receiptsLike(connection, which) : []
    if (!isIndex || found.length > 0) return fullId(connection, which, found)
  }
  const { receipts } = await ask<ReceiptPage>(connection, `/v1/receipts?direction=on&from=${which}&limit=1`)
  const [entry] = receipts
  if (entry?.index === Number(which)) return entry.id
  throw new UsageError(`no entry ${which}, or you are not allowed to see it`)
}

const SHORTEST = 8

/** Whether a text can be an id, or the start of one that is long enough. */
function isIdStart(which: string): boolean {
  return /^[0-9a-f]{8,64}$/.test(which)
}

/** Refuses a text that cannot be an id or the start of one. @throws UsageError. */
export function refuseNoId(which: string): void {
  if (isIdStart(which)) return
  throw new UsageError(
    `\`${which.slice(0, 80)}\` is not the id of a receipt`,
    'give its id, at least 8 digits of it, or its index, as shown by `tollgate receipts list`',
  )
}

/** Returns the full id of a receipt that is given by its id or the start of it. @throws if there is not exactly one. */
export async function fullId(
  connection: Connection,
  which: string,
  found?: readonly ShownEntry[],
): Promise<string> {
  refuseNoId(which)
  if (which.length === 64) return which
  return only(which, found ?? (await receiptsLike(connection, which))).id
}

/** Returns the receipt whose id starts with `which`. @throws UsageError if there is more than one. */
export async function receiptNamed(connection: Connection, which: string): Promise<ShownEntry> {
  return only(which, await receiptsLike(connection, which))
}

async function receiptsLike(connection: Connection, which: string): Promise<readonly ShownEntry[]> {
  return (await ask<ReceiptPage>(connection, `/v1/receipts?begins=${which}`)).receipts
}

function only(which: string, receipts: readonly ShownEntry[]): ShownEntry {
  const [entry, ...more] = receipts
  if (!entry) throw new CommandError(`no receipt \`${which}\`, or you are not allowed to see it`)
  if (more.length === 0) return entry
  throw new UsageError(
    `more than one receipt id starts with \`${which}\``,
    ...receipts.map(({ id, receipt }) => `${id.slice(0, 16)}: ${receipt.kind}, ${moment(receipt.time)}`),
  )
}
