// The demonstration pack of the README: true, and with one verdict turned from DENY to ALLOW.

import { collect, demoLedger } from '../../packages/evidence/test/ledger.ts'
import {
  canonicalBytes,
  formatTrust,
  parseReceipt,
  toBase64,
  writePack,
} from '../../packages/evidence/src/index.ts'

/** The files by name. */
export async function makeDemo(): Promise<ReadonlyMap<string, Uint8Array>> {
  const ledger = await demoLedger()
  const pack = await collect(writePack(ledger, { range: { start: 0, end: ledger.size } }))
  const trust = formatTrust({ ledger: ledger.origin, keys: [ledger.noteKey()], witnesses: [], quorum: 0 })
  return new Map([
    ['demo.pack', pack],
    ['tampered.pack', allowDenied(pack)],
    ['trust.json', Buffer.from(trust)],
  ])
}

/** The first refused call, said to have been allowed. The text keeps its length, so that the archive stays one. */
function allowDenied(pack: Uint8Array): Uint8Array {
  const text = Buffer.from(pack).toString('latin1')
  for (const envelope of text.match(/\{"payload":[^\n]+/g) ?? []) {
    const { receipt, payload } = parseReceipt(envelope)
    if (receipt.kind !== 'decision' || receipt.reason_code !== 'DATA_EGRESS_BLOCKED') continue
    const lie = { ...receipt, verdict: 'ALLOW', reason_code: 'RULE_ALLOWED', rung: 'policy' }
    // It is shorter than the truth; a field that anybody may fill makes up for it.
    const missing = payload.length - canonicalBytes(lie).length
    const padded = canonicalBytes({ ...lie, rule: (receipt.rule ?? '') + '-'.repeat(missing) })
    return Buffer.from(text.replace(toBase64(payload), toBase64(padded)), 'latin1')
  }
  throw new Error('the ledger has no such call')
}
