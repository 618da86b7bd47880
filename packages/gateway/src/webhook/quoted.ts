// Names and texts of others inside our sentences.

const MAX_LENGTH = 120

/** Returns a text of others in quotes: one short line without invisible characters, that cannot end the quotes. */
export function quoted(text: string): string {
  const line = text
    .slice(0, MAX_LENGTH)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '·')
    .replaceAll('"', "'")
  return `"${line}${text.length > MAX_LENGTH ? '…' : ''}"`
}
