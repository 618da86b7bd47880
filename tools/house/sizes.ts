// What is long: files, and functions in them.

import ts from 'typescript-api'
import type { Source } from '../check-rooms.ts'
import { sourceOf } from '../source.ts'

/** A function with its length, from its first line to its last. */
export interface SizedFunction {
  readonly path: string
  readonly line: number
  readonly name: string
  readonly lines: number
}

/** The functions of a file that are longer than `most` lines. */
export function longFunctions({ path, text }: Source, most: number): readonly SizedFunction[] {
  const source = sourceOf(path, text)
  const found: SizedFunction[] = []
  const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1
  const visit = (node: ts.Node): void => {
    const line = lineAt(node.getStart(source))
    const lines = lineAt(node.end) - line + 1
    if (ts.isFunctionLike(node) && 'body' in node && node.body && lines > most) {
      found.push({ path, line, name: nameOf(node), lines })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function nameOf(node: ts.SignatureDeclaration): string {
  const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined)
  return named?.getText() ?? 'a function without a name'
}
