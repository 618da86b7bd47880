// Finds principals with changed trust and elevated sessions in the newest receipts.

import type { ShownEntry } from '../receipts/describe.ts'
import { moment, shown } from '../program/table.ts'

/** How many of the newest receipts are read. */
export const LOOKED_AT = 500

/** Changes of trust and elevated sessions. */
export interface TrustChanges {
  /** Trust in whole points, of principals that differ from the initial score. */
  readonly trust: readonly { readonly principal: string; readonly points: number }[]
  readonly raised: readonly Raised[]
}

interface Raised {
  readonly principal: string
  readonly session: string
  readonly tier: string
  readonly until: string
}

/** A trust that a receipt states, and when. */
interface Changed {
  readonly trust: string
  readonly time: string
}

const INITIAL_POINTS = 500
const MAX_NAMED = 10

/**
 * Returns the changes in `receipts`, which are newest first. `halfLife` comes from the policy and is asked only if a receipt changes
 * trust; without it there is no trust.
 */
export async function trustChangesIn(
  receipts: readonly ShownEntry[],
  halfLife: () => Promise<number | undefined>,
  now: number,
): Promise<TrustChanges> {
  const changed = newestTrust(receipts)
  const every = changed.size === 0 ? undefined : await halfLife()
  return {
    trust: every === undefined ? [] : await trustIn(changed, every, now),
    raised: raisedIn(receipts, now),
  }
}

/** The newest trust of each principal. */
function newestTrust(receipts: readonly ShownEntry[]): ReadonlyMap<string, Changed> {
  const owners = new Map(
    receipts.flatMap(({ id, receipt }) =>
      receipt.kind === 'decision' ? [[id, receipt.principal] as const] : [],
    ),
  )
  const newest = new Map<string, Changed>()
  for (const { receipt } of receipts) {
    if ((receipt.kind !== 'decision' && receipt.kind !== 'effect') || receipt.trust === undefined) continue
    const principal = receipt.kind === 'decision' ? receipt.principal : owners.get(receipt.decision)
    if (principal === undefined || newest.has(principal)) continue
    newest.set(principal, { trust: receipt.trust, time: receipt.time })
  }
  return newest
}

async function trustIn(
  changed: ReadonlyMap<string, Changed>,
  halfLife: number,
  now: number,
): Promise<TrustChanges['trust']> {
  // Imported here, because it takes longer than the rest of `tollgate status`.
  const { POINT, readTrust, trustAt } = await import('@tollgate/kernel/detection')
  return [...changed].flatMap(([principal, { trust, time }]) => {
    const score = trustAt({ score: readTrust(trust), at: Date.parse(time) }, now, halfLife)
    const points = Math.floor(score / POINT)
    return points === INITIAL_POINTS ? [] : [{ principal, points }]
  })
}

function raisedIn(receipts: readonly ShownEntry[], now: number): readonly Raised[] {
  const seen = new Map<string, Raised>()
  for (const { receipt } of receipts) {
    if (receipt.kind !== 'decision' || !receipt.elevation) continue
    const { principal, session, elevation } = receipt
    const key = `${principal}\n${session.id}`
    if (Date.parse(elevation.until) >= now && !seen.has(key))
      seen.set(key, { principal, session: session.id, ...elevation })
  }
  return [...seen.values()]
}

/** Formats the changes as rows. */
export function trustChangeRows({ trust, raised }: TrustChanges): readonly (readonly [string, string])[] {
  return [
    ...rowOf(
      'trust',
      trust.map(({ principal, points }) => `${shown(principal)} ${points} of 1000`),
    ),
    ...rowOf(
      'elevated',
      raised.map(
        ({ principal, session, tier, until }) =>
          `${shown(principal)} in ${shown(session)} to ${tier} until ${moment(until)}`,
      ),
    ),
  ]
}

function rowOf(name: string, values: readonly string[]): readonly (readonly [string, string])[] {
  if (values.length === 0) return []
  const more = values.length > MAX_NAMED ? `, and ${values.length - MAX_NAMED} more` : ''
  return [[name, values.slice(0, MAX_NAMED).join(', ') + more]]
}
