// What can be done to an Ed25519 signature without its key.

const L = 2n ** 252n + 27742317777372353535851937790883648493n

/** The same signature with the group order added to S: it fits the same equation, and lenient verifiers accept it. */
export function plusGroupOrder(signature: Uint8Array): Uint8Array {
  const changed = Buffer.from(signature)
  const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) + L
  Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse().copy(changed, 32)
  return new Uint8Array(changed)
}
