// A ledger of several hundred entries in several bundles, with two writers and changing policies and keys.

import {
  begin,
  createLedger,
  decision,
  effect,
  fixedKey,
  POLICY_TEXT,
  unknownEffect,
  type Draft,
  type TestLedger,
} from './ledger.ts'
import { keyChange } from './audit-story.ts'
import type { Range, SigningKey } from '../src/index.ts'

/** A long ledger and the receipts that a part of it needs. */
export interface LongLedger {
  readonly ledger: TestLedger
  /** The receipts that a range or a selection needs: genesis, all keys, the policy in force at its start. */
  contextOf(range: Range | undefined): readonly number[]
}

/** 600 entries in three bundles; the last one is not full. */
export async function longLedger(size = 600): Promise<LongLedger> {
  const ledger = await createLedger()
  const second = await fixedKey('second writer')
  const keys = [0, 1]
  const policies: number[] = []
  let policy = ''
  await begin(ledger)
  while (ledger.size < size) {
    const at = ledger.size
    if (at === 2 || at % 170 === 0) {
      policies.push(at)
      policy = ledger.keepPolicy(`${POLICY_TEXT}# edition ${at}\n`)
      await ledger.append({ kind: 'policy', policy_hash: policy, name: `edition ${at}`, by: 'admin:ann' })
    } else if (at === 40) {
      keys.push(at)
      await ledger.append(keyChange(second, 'gw-2'))
    } else await appendCall(ledger, policy, second)
  }
  await ledger.sealHead()
  const inForce = (range: Range | undefined): number[] =>
    range ? policies.filter((at) => at < range.start).slice(-1) : []
  return {
    ledger,
    contextOf: (range) =>
      [...keys, ...inForce(range)]
        .filter((at) => !range || at < range.start || at >= range.end)
        .sort((a, b) => a - b),
  }
}

/** An allowed call of one of the writers, or the effect of the newest one. */
async function appendCall(ledger: TestLedger, policy: string, second: SigningKey): Promise<void> {
  const at = ledger.size
  const theirs = at > 40 && at % 3 === 0
  const by = theirs ? { writer: 'gw-2' } : {}
  const session = { id: 's-1', seq: at }
  await ledger.append(
    effectDue(ledger, by) ?? decision(policy, { ...by, session }),
    theirs ? second : undefined,
  )
}

/** The effect of the newest call of any writer, if due. Some are UNKNOWN first. */
function effectDue({ entries }: TestLedger, by: { readonly writer?: string }): Draft | undefined {
  const newest = entries.at(-1)
  const at = entries.length
  if (newest?.receipt.kind === 'decision' && at % 2 === 1) {
    return at % 7 === 0 ? { ...unknownEffect(newest.id), ...by } : effect(newest.id, by)
  }
  const lost = newest?.receipt.kind === 'effect' && newest.receipt.status === 'UNKNOWN'
  return lost ? effect(newest.receipt.decision, { ...by, late: true }) : undefined
}
