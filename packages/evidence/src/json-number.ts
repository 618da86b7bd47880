// Numbers of strict JSON: those that every parser reads alike, though one keeps binary64 and another any number of digits.

/** Whether a number is one the parser could have made: finite, not `-0`, and unambiguous when written out. */
export function isJsonNumber(value: number): boolean {
  if (Number.isInteger(value)) {
    // From 1e21 on the written form has an exponent and no longer looks like an exact integer.
    return Number.isSafeInteger(value) ? !Object.is(value, -0) : Math.abs(value) >= 1e21
  }
  return Number.isFinite(value)
}

/** Whether `value`, read from this text, lost what it must not: all of a small number, or digits of a large whole one. */
export function losesDigits(literal: string, value: number): boolean {
  // A number too small for binary64 would silently become nothing.
  if (value === 0) return /^[^eE]*[1-9]/.test(literal)
  if (Number.isSafeInteger(value) || Math.abs(value) < 1e21) return false
  // Written out, it is a whole number that some parsers keep exactly. With an exponent all of them read a binary64.
  const spelled = literal.length <= MAX_LARGE && /[eE]/.test(literal)
  return !spelled || decimalOf(literal) !== decimalOf(String(value))
}

// No number needs as much: binary64 itself writes at most 24 characters.
const MAX_LARGE = 64

/** A decimal without what its spelling adds: its digits, and the power of ten of the last of them. */
function decimalOf(literal: string): string {
  const [mantissa = '', exponent = ''] = literal.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = (whole + fraction).replace(/^(-?)0+/, '$1')
  const kept = digits.replace(/0+$/, '')
  return `${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`
}
