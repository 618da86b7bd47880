// A text for a condition that does not depend on its layout.

import { createReader } from './cel/reader.ts'

// It only parses, so it needs no variables.
const reader = createReader()

/** Returns the same text for conditions that differ only in spaces, lines and brackets. Never throws. */
export function conditionText(source: string): string {
  try {
    return JSON.stringify(partsOf(reader.read(source).tree))
  } catch {
    // A condition that does not parse is compared by its source.
    return source
  }
}

/** @throws for a constant without a plain text. */
function partsOf(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(partsOf)
  if (typeof node === 'bigint') return { int: String(node) }
  if (typeof node !== 'object' || node === null) return { [typeof node]: String(node) }
  if (!('op' in node) || !('args' in node)) throw new TypeError('not a part of a condition')
  return [node.op, partsOf(node.args)]
}
