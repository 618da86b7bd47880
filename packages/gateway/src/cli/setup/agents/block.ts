// A block of lines of ours at the end of a TOML file of someone else.

import { readTomlTree } from '../clients/toml-tree.ts'
import { nodeAt } from '../clients/tree.ts'

/** The first and the last line of the block. */
export const BLOCK = {
  begin: '# Begin of the hooks of Tollgate.',
  end: '# End of the hooks of Tollgate.',
} as const

/** Returns the text without the block. */
export function withoutBlock(text: string): string {
  const start = text.indexOf(BLOCK.begin)
  const end = text.indexOf(BLOCK.end, start)
  if (start === -1 || end === -1) return text
  const before = text.slice(0, start)
  return before + text.slice(end + BLOCK.end.length).replace(/^\r?\n/, '')
}

/** Returns the text with the block at its end. Undefined if it has tables of the block already. @throws UnreadableFile. */
export function withBlock(text: string, block: string): string | undefined {
  const bare = withoutBlock(text)
  const root = readTomlTree(bare)
  if (nodeAt(root, ['features']) || nodeAt(root, ['hooks']) || /^\s*\[\[\s*hooks\b/m.test(bare))
    return undefined
  return bare + (bare === '' || bare.endsWith('\n') ? '' : '\n') + block
}
