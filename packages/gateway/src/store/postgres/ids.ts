// Finds entries by the beginning of their id. The table keeps the first eight bytes as a number, which makes a small index.

/** The first eight bytes of an id as a signed number, in decimal digits. */
export function prefixOf(id: string): string {
  return BigInt.asIntN(64, BigInt(`0x${id.slice(0, 16)}`)).toString()
}

/** The first and the last number of the ids that begin with these digits: eight to sixteen of them. */
export function prefixesOf(digits: string): readonly [string, string] {
  const shown = digits.slice(0, 16)
  return [prefixOf(shown.padEnd(16, '0')), prefixOf(shown.padEnd(16, 'f'))]
}
