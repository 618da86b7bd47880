// Parses files of code, each once: several measures look at the same file.

import ts from 'typescript-api'

const parsed = new Map<string, ts.SourceFile>()

/** The syntax of a file. Nodes know their parents. */
export function sourceOf(path: string, text: string): ts.SourceFile {
  const known = parsed.get(path)
  if (known?.text === text) return known
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  parsed.set(path, source)
  return source
}
