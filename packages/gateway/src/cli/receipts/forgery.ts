// What a forger would do to a pack, done well: one name is changed in one receipt, and the list of contents is made to fit.
// For the demonstration.

import { sha256Hex } from '@tollgate/evidence'

const RECEIPTS = 'receipts/0000000000000000.jsonl\0'

/** What is written instead of what, both of the same length, in the first receipt that has `mark`. */
interface Forgery {
  readonly mark: string
  readonly from: string
  readonly to: string
}

/** The same pack but for the forgery. @throws if no receipt has the mark. */
export function forgePack(pack: Buffer, forgery: Forgery): Buffer {
  // One character for each byte, so that places stay what they are.
  const text = pack.toString('latin1')
  const header = text.indexOf(RECEIPTS)
  // POSIX ustar: the size is in octal at 124, and the content begins after 512 bytes.
  const size = Number.parseInt(text.slice(header + 124, header + 136), 8)
  const member = text.slice(header + 512, header + 512 + size)
  const forged = forgeReceipt(member, forgery)
  return Buffer.from(
    text.replace(member, () => forged).replace(sha256Hex(member), () => sha256Hex(forged)),
    'latin1',
  )
}

/** Receipts stand in envelopes, one a line, their payload in base64. */
function forgeReceipt(member: string, { mark, from, to }: Forgery): string {
  for (const [, payload = ''] of member.matchAll(/"payload":"([^"]+)"/g)) {
    const receipt = Buffer.from(payload, 'base64').toString()
    if (!receipt.includes(mark)) continue
    return member.replace(payload, () => Buffer.from(receipt.replace(from, to)).toString('base64'))
  }
  throw new Error('the pack has no such receipt')
}
