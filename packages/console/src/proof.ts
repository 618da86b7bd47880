// Proves in the browser that a receipt is in the ledger: the path from its leaf to the root of the checkpoint, hash by hash.

import {
  importPublicKey,
  leafHash,
  nodeHash,
  noteKey,
  openProof,
  openReceipt,
  parseProof,
  toHex,
  type Receipt,
} from '@tollgate/evidence'

/** One step from the leaf to the root. */
interface PathStep {
  /** The hash beside the path. */
  readonly beside: string
  readonly side: 'left' | 'right'
  /** The hash of the two together. */
  readonly hash: string
}

/** A receipt that is proved. */
export interface Proven {
  readonly index: number
  readonly size: number
  readonly leaf: string
  readonly steps: readonly PathStep[]
  readonly root: string
}

/** A receipt with its bytes, and the keys that the ledger names. */
interface Evidence {
  readonly envelope: string
  readonly proof: string
  /** The name of the ledger. */
  readonly origin: string
  /** The receipts of the genesis and of all keys. */
  readonly keys: readonly Receipt[]
}

/** Proves a receipt: its signature, the signature of the checkpoint, and the path between them. @throws EvidenceError if a check fails. */
export async function prove({ envelope, proof, origin, keys }: Evidence): Promise<Proven> {
  const bytes = new TextEncoder().encode(envelope)
  const known = keys.flatMap((each) =>
    each.kind === 'genesis' || (each.kind === 'key' && each.op === 'add')
      ? [
          {
            key: importPublicKey(each.public_key),
            isLedger: each.kind === 'genesis' || each.role === 'ledger',
          },
        ]
      : [],
  )
  const ledger = known.filter(({ isLedger }) => isLedger).map(({ key }) => noteKey(origin, key))
  const { index, checkpoint } = await openProof(proof, bytes, { ledger, witnesses: [] })
  const { hashes } = parseProof(proof)
  const steps = pathOf(leafHash(bytes), index, checkpoint.size, hashes)
  await openReceipt(bytes, (id) => known.find(({ key }) => key.id === id)?.key)
  return {
    index,
    size: checkpoint.size,
    leaf: toHex(leafHash(bytes)),
    steps,
    root: toHex(checkpoint.root),
  }
}

/** The path as `verifyInclusion` computes it (RFC 9162, 2.1.3.2). */
function pathOf(
  leaf: Uint8Array,
  index: number,
  size: number,
  hashes: readonly Uint8Array[],
): readonly PathStep[] {
  let [node, last, hash] = [index, size - 1, leaf]
  return hashes.map((sibling) => {
    const isRight = node % 2 === 1 || node === last
    hash = isRight ? nodeHash(sibling, hash) : nodeHash(hash, sibling)
    if (isRight) while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)]
    ;[node, last] = [Math.floor(node / 2), Math.floor(last / 2)]
    return { beside: toHex(sibling), side: isRight ? 'left' : 'right', hash: toHex(hash) }
  })
}
