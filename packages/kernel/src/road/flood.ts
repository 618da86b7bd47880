// Denials that are only counted, because their principal floods the ledger, or everything is frozen.

import { FLOOD_OF_ALL, floodName } from '../admin/freezes.ts'
import type { Intent } from './capture.ts'
import type { Kernel } from '../kernel.ts'
import type { Turn } from '../ledger/ledger.ts'
import { payerOf } from '../ledger/storage.ts'
import { chargedTo } from '../names.ts'
import { refilled } from '../rates.ts'

/** A call whose denial is only counted: the key to count under, and the reason. */
export interface Flood {
  readonly name: string
  readonly reason: 'QUOTA_EXCEEDED' | 'STORAGE_QUOTA_EXCEEDED' | 'SYSTEM_FROZEN'
}

/** Returns whether a call is only counted, and why; undefined if it is decided. */
export function floodOf(kernel: Kernel, intent: Intent): Flood | undefined {
  const { flooding, freezes, denials, quota, host, storage } = kernel
  const name = floodName(intent.tenant, chargedTo(intent))
  if (flooding.size > 0 && flooding.has(name)) return { name, reason: 'QUOTA_EXCEEDED' }
  if (storage.isDenied(payerOf(intent), host.now())) return { name, reason: 'STORAGE_QUOTA_EXCEEDED' }
  if (!freezes.all()) return undefined
  // While everything is frozen, a principal without remaining denials is not frozen as well, but gets no more receipts.
  const { left } = refilled(quota, denials.get(name), host.now())
  return left < quota.period ? { name: FLOOD_OF_ALL, reason: 'SYSTEM_FROZEN' } : undefined
}

/** Counts a denial without a receipt, and waits, so that a flood does not occupy a core. */
export async function countFlood(kernel: Kernel, intent: Intent, { name, reason }: Flood): Promise<void> {
  if (reason !== 'STORAGE_QUOTA_EXCEEDED') await countDenial(kernel, name)
  else {
    const run = kernel.storage.count(payerOf(intent))
    if (run) await kernel.ledger.append({ run })
  }
  const { host, floodPause } = kernel
  if (floodPause > 0) await new Promise<void>((resolve) => host.after(floodPause, resolve))
}

async function countDenial(kernel: Kernel, name: string): Promise<void> {
  const count = (kernel.flooding.get(name) ?? 0) + 1
  kernel.flooding.set(name, count)
  // Stored at 1, 2, 4, 8, …: a flood costs few writes, and a crash loses less than half of the count.
  const run = (turn: Turn): void => turn.put(`flood\n${name}`, String(count))
  if (Number.isInteger(Math.log2(count))) await kernel.ledger.append({ run })
}
