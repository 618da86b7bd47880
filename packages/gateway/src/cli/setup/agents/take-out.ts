// Takes our hooks out of a file that changed since setup.

import { without } from '../clients/json-merge.ts'
import { withoutBlock } from './block.ts'
import { readJsonTree } from '../clients/json-tree.ts'
import { readTomlTree } from '../clients/toml-tree.ts'
import { untrusted } from '../clients/toml-trust.ts'
import type { TakeOut } from '../changes/undo.ts'

/** Keeps every later change of the user. Undefined if the file cannot be read. */
export const takeOutHooks: TakeOut = (file, bytes, places) => {
  const text = Buffer.from(bytes).toString('utf8')
  if (!Buffer.from(text).equals(bytes)) return undefined
  try {
    if (file.endsWith('.toml')) {
      const keys = places.flatMap(([kind, key]) => (kind === 'trust' && key !== undefined ? [key] : []))
      const bare = places.some(([kind]) => kind === 'block') ? withoutBlock(text) : text
      const after = untrusted(bare, keys)
      readTomlTree(after)
      return Buffer.from(after)
    }
    const marks = places.flatMap(([kind, mark]) => (kind === 'hooks' && mark !== undefined ? [mark] : []))
    const after = marks.reduce((left, mark) => without(left, 'hooks', mark), text)
    readJsonTree(after)
    return Buffer.from(after)
  } catch {
    // The caller says what to do by hand.
    return undefined
  }
}
