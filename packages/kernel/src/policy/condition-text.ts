// A condition in one text that does not depend on how it is laid out.

import { createReader } from './cel/reader.ts'

// It only reads: which variables there are matters to nobody here.
const reader = createReader()

/** The parts of a condition as text: the same for conditions that differ in spaces, lines and brackets only. Never throws. */
export function conditionText(source: string): string {
  try {
    return JSON.stringify(partsOf(reader.read(source).tree))
  } catch {
    // What cannot be told apart by its parts is told apart by how it is written.
    return source
  }
}

/** @throws for a constant that has no plain text. */
function partsOf(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(partsOf)
  if (typeof node === 'bigint') return { int: String(node) }
  if (typeof node !== 'object' || node === null) return { [typeof node]: String(node) }
  if (!('op' in node) || !('args' in node)) throw new TypeError('not a part of a condition')
  return [node.op, partsOf(node.args)]
}
