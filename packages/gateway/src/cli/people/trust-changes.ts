// Who has earned or lost trust, and which sessions a person has raised, as the newest receipts tell it.

import type { Receipt } from '@tollgate/evidence'
import { readTrustState } from '@tollgate/kernel'
import { POINT, trustAt } from '@tollgate/kernel/detection'
import type { ShownEntry } from '../receipts/describe.ts'
import { moment, shown } from '../program/table.ts'

/** How many of the newest receipts are looked at. */
export const LOOKED_AT = 500

/** What the newest receipts tell. */
export interface TrustChanges {
  /** Trust in whole points, of those that do not stand in the middle. */
  readonly trust: readonly { readonly principal: string; readonly points: number }[]
  readonly raised: readonly Raised[]
}

interface Raised {
  readonly principal: string
  readonly session: string
  readonly tier: string
  readonly until: string
}

const MIDDLE = 500
const MOST_NAMED = 10

/** What the newest receipts tell, the newest first. `halfLife` is the policy's; without one nobody has any trust. */
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
  return [...points].flatMap(([principal, each]) => (each === MIDDLE ? [] : [{ principal, points: each }]))
}

/** Whose trust a receipt speaks of; undefined if of nobody's. */
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

/** The same in lines. */
export function trustChangeRows({ trust, raised }: TrustChanges): readonly (readonly [string, string])[] {
  return [
    ...rowOf(
      'trust',
      trust.map(({ principal, points }) => `${shown(principal)} ${points} of 1000`),
    ),
    ...rowOf(
      'raised',
      raised.map(
        ({ principal, session, tier, until }) =>
          `${shown(principal)} in ${shown(session)} to ${tier} until ${moment(until)}`,
      ),
    ),
  ]
}

function rowOf(name: string, values: readonly string[]): readonly (readonly [string, string])[] {
  if (values.length === 0) return []
  const more = values.length > MOST_NAMED ? `, and ${values.length - MOST_NAMED} more` : ''
  return [[name, values.slice(0, MOST_NAMED).join(', ') + more]]
}
