// The numbers of strict JSON: those that parsers with binary64 and parsers with arbitrary precision read alike.

/** Whether the strict parser can return this number: finite, not `-0`, and unambiguous in its written form. */
export function isJsonNumber(value: number): boolean {
  if (Number.isInteger(value)) {
    // From 1e21 on the written form has an exponent, so no parser takes it for an exact integer.
    return Number.isSafeInteger(value) ? !Object.is(value, -0) : Math.abs(value) >= 1e21
  }
  return Number.isFinite(value)
}

/** Whether `value` lost digits of this text: a small number became 0, or a large whole number was rounded. */
export function losesDigits(literal: string, value: number): boolean {
  // A number too small for binary64 silently becomes 0.
  if (value === 0) return /^[^eE]*[1-9]/.test(literal)
  if (Number.isSafeInteger(value) || Math.abs(value) < 1e21) return false
  // Without an exponent some parsers keep the exact integer. With an exponent all of them read a binary64.
  const hasExponent = literal.length <= MAX_LITERAL_LENGTH && /[eE]/.test(literal)
  return !hasExponent || decimalOf(literal) !== decimalOf(String(value))
}

// Far above the 24 characters of the longest binary64.
const MAX_LITERAL_LENGTH = 64

/** A normal form of a decimal: its significant digits and the power of ten of the last one. */
function decimalOf(literal: string): string {
  const [mantissa = '', exponent = ''] = literal.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = (whole + fraction).replace(/^(-?)0+/, '$1')
  const kept = digits.replace(/0+$/, '')
  return `${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`
}
