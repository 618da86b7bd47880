// Checks pieces of text that the parser calls plain. Whatever a shell could still expand in them makes the command unknown.

/** Returns whether a piece outside of quotes contains something that a shell would expand. */
export function isSuspicious(text: string): boolean {
  const plain = text.replace(/\\[^]/g, '')
  return /[`'"]|[<>]\(|\$[\w({['"@*#?!$-]/.test(plain)
}

/** Returns whether a piece inside of double quotes, or of a here-document, contains something that a shell would expand. */
export function isSuspiciousInQuotes(text: string): boolean {
  const plain = text.replace(/\\[^]/g, '')
  return /`|\$[\w({[@*#?!$-]/.test(plain)
}

/** Returns a piece outside of quotes without its backslashes. */
export function unescaped(text: string): string {
  return text.replace(/\\([^])/g, (_, char: string) => (char === '\n' ? '' : char))
}
