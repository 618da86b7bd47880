// Parses source files, each only once.

import ts from 'typescript-api'

const parsed = new Map<string, ts.SourceFile>()

/** The syntax tree of a file, with parent links. */
export function sourceOf(path: string, text: string): ts.SourceFile {
  const known = parsed.get(path)
  if (known?.text === text) return known
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  parsed.set(path, source)
  return source
}
