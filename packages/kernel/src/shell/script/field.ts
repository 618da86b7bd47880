// One argument of a program after the shell has expanded it, as far as this is known before it runs.

/** Marks a piece of a text that only the running shell knows. A command never contains it, because commands with NUL are refused. */
export const HOLE = '\0'

/** An argument as far as it is known. */
export interface Field {
  /** Its text, with a hole for each piece that is not known. */
  readonly text: string
  /** The text contains unquoted `*`, `?` or `[…]`: it becomes the names of files. */
  readonly isPattern: boolean
  /** The shell may make no argument or several arguments of it. */
  readonly isMany: boolean
}

/** Returns a field with exactly this text. */
export function exactly(text: string): Field {
  return { text, isPattern: false, isMany: false }
}

/** A field of which nothing is known. */
export const ANYTHING: Field = { text: HOLE, isPattern: false, isMany: true }

/** Returns the text of a field; undefined if it is not known exactly. */
export function exactText({ text, isPattern }: Field): string | undefined {
  return isPattern || text.includes(HOLE) ? undefined : text
}

/** Returns whether a piece of a field is not known. */
export function hasHole({ text }: Field): boolean {
  return text.includes(HOLE)
}

/** Returns the text of a field for facts. */
export function shown({ text }: Field): string {
  return text.replaceAll(HOLE, '$…')
}

/** Returns whether a field may become an option of a program that nothing in the command shows. */
export function mayBeOption({ text, isPattern }: Field): boolean {
  return text.startsWith(HOLE) || (isPattern && /^[*?[]/.test(text))
}

/** Returns a field without the first characters of its text. */
export function after(field: Field, length: number): Field {
  return { ...field, text: field.text.slice(length) }
}

/** Returns the combination of two pieces of one argument. */
export function glued(a: Field, b: Field): Field {
  return { text: a.text + b.text, isPattern: a.isPattern || b.isPattern, isMany: a.isMany || b.isMany }
}
