// Forges a pack for the demonstration: changes one name in one receipt and adjusts the manifest.

import { sha256Hex } from '@tollgate/evidence'

const RECEIPTS = 'receipts/0000000000000000.jsonl\0'

/** A replacement of equal length, in the first receipt that contains `mark`. */
interface Forgery {
  readonly mark: string
  readonly from: string
  readonly to: string
}

/** Returns the forged pack. @throws if no receipt contains the mark. */
export function forgePack(pack: Buffer, forgery: Forgery): Buffer {
  // One character per byte, so that offsets stay the same.
  const text = pack.toString('latin1')
  const header = text.indexOf(RECEIPTS)
  // POSIX ustar: the size is octal at offset 124, and the content starts at 512.
  const size = Number.parseInt(text.slice(header + 124, header + 136), 8)
  const member = text.slice(header + 512, header + 512 + size)
  const forged = forgeReceipt(member, forgery)
  return Buffer.from(
    text.replace(member, () => forged).replace(sha256Hex(member), () => sha256Hex(forged)),
    'latin1',
  )
}

/** Changes the first matching receipt. Envelopes are one per line, with a base64 payload. */
function forgeReceipt(member: string, { mark, from, to }: Forgery): string {
  for (const [, payload = ''] of member.matchAll(/"payload":"([^"]+)"/g)) {
    const receipt = Buffer.from(payload, 'base64').toString()
    if (!receipt.includes(mark)) continue
    return member.replace(payload, () => Buffer.from(receipt.replace(from, to)).toString('base64'))
  }
  throw new Error('no receipt of the pack contains the mark')
}
