// Reads JSON with comments and trailing commas, as in configuration files.

/** Removes comments and trailing commas. Strings stay unchanged. */
export function plainJson(text: string): string {
  let plain = ''
  for (let at = 0; at < text.length;) {
    const end = endOfPiece(text, at)
    const piece = text.slice(at, end)
    if (/^[}\]]/.test(piece)) plain = withoutComma(plain)
    plain += piece.startsWith('//') || piece.startsWith('/*') ? ' ' : piece
    at = end
  }
  return plain
}

function endOfPiece(text: string, at: number): number {
  if (text.startsWith('//', at)) return orEnd(text, text.indexOf('\n', at))
  if (text.startsWith('/*', at)) return orEnd(text, text.indexOf('*/', at + 2), 2)
  if (text[at] !== '"') return at + 1
  let end = at + 1
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
  return Math.min(end + 1, text.length)
}

function orEnd(text: string, at: number, length = 0): number {
  return at === -1 ? text.length : at + length
}

function withoutComma(text: string): string {
  const trimmed = text.trimEnd()
  return trimmed.endsWith(',') ? trimmed.slice(0, -1) : text
}
