// Hides values that may be secrets before a configuration is shown.

import { isSecretName, looksLikeKey } from '../../mcp/secrets.ts'
import type { Edit } from '../../program/unified-diff.ts'
import type { Node } from './tree.ts'

const HIDDEN_TABLES = new Set(['env', 'headers', 'http_headers', 'requestInit', 'inputs'])

/** Returns edits that replace values that may be secrets. They never change the number of lines. */
export function masksIn(node: Node, isSecret = false): readonly Edit[] {
  if (node.kind === 'text') {
    return isSecret || looksLikeKey(node.value) ? [{ start: node.start, end: node.end, text: '"…"' }] : []
  }
  if (node.kind === 'list') return node.items.flatMap((each) => masksIn(each, isSecret))
  if (node.kind !== 'table') return []
  return node.members.flatMap(({ key, value }) =>
    masksIn(value, isSecret || HIDDEN_TABLES.has(key) || isSecretName(key)),
  )
}
