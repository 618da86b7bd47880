// Finds principals with changed trust and elevated sessions in the newest receipts.

import type { Receipt } from '@tollgate/evidence'
import { readTrustState } from '@tollgate/kernel'
import { POINT, trustAt } from '@tollgate/kernel/detection'
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

const INITIAL_POINTS = 500
const MAX_NAMED = 10

/** Returns the changes in `receipts`, which are newest first. `halfLife` comes from the policy; without it there is no trust. */
export function trustChangesIn(
  receipts: readonly ShownEntry[],
  halfLife: number | undefined,
  now: number,
): TrustChanges {
  return {
    trust: halfLife === undefined ? [] : trustIn(receipts, halfLife, now),
    raised: raisedIn(receipts, now),
  }
}

function trustIn(receipts: readonly ShownEntry[], halfLife: number, now: number): TrustChanges['trust'] {
  const owners = new Map(
    receipts.flatMap(({ id, receipt }) =>
      receipt.kind === 'decision' ? [[id, receipt.principal] as const] : [],
    ),
  )
  const points = new Map<string, number>()
  for (const { receipt } of receipts) {
    const principal = ownerOf(receipt, owners)
    if (principal === undefined || points.has(principal)) continue
    const anchor = new TextEncoder().encode(JSON.stringify(receipt))
    const score = trustAt(readTrustState({ record: undefined, anchor }), now, halfLife)
    points.set(principal, Math.floor(score / POINT))
  }
  return [...points].flatMap(([principal, each]) =>
    each === INITIAL_POINTS ? [] : [{ principal, points: each }],
  )
}

function ownerOf(receipt: Receipt, owners: ReadonlyMap<string, string>): string | undefined {
  if (receipt.kind === 'decision' && receipt.trust !== undefined) return receipt.principal
  return receipt.kind === 'effect' && receipt.trust !== undefined ? owners.get(receipt.decision) : undefined
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
