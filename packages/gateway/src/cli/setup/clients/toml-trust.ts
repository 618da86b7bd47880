// Writes the hashes by which Codex trusts hooks into its `config.toml`.

import { edited, type Edit } from '../../program/unified-diff.ts'
import { readTomlTree } from './toml-tree.ts'
import { nodeAt } from './tree.ts'

/** A hook that Codex is to trust. */
interface Trusted {
  readonly key: string
  readonly hash: string
}

/** Returns the edits that make Codex trust these hooks. Undefined if that is not safe. @throws UnreadableFile. */
export function trustEdits(text: string, hooks: readonly Trusted[]): readonly Edit[] | undefined {
  const root = readTomlTree(text)
  const edits: Edit[] = []
  let added = ''
  for (const { key, hash } of hooks) {
    const known = nodeAt(root, ['hooks', 'state', key])
    const node = nodeAt(root, ['hooks', 'state', key, 'trusted_hash'])
    if (!known) added += blockOf(key, hash)
    else if (node?.kind !== 'text') return undefined
    else if (node.value !== hash) edits.push({ start: node.start, end: node.end, text: JSON.stringify(hash) })
  }
  if (added !== '') {
    const start = text === '' || text.endsWith('\n') ? '' : '\n'
    edits.push({
      start: text.length,
      end: text.length,
      text: `${start}${text === '' ? added.slice(1) : added}`,
    })
  }
  // Read again: a table that is written inline cannot get another member.
  readTomlTree(edited(text, edits))
  return edits
}

function blockOf(key: string, hash: string): string {
  return `\n[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = ${JSON.stringify(hash)}\n`
}

/** Returns the text without the hashes of these keys, as far as they are still as written. */
export function untrusted(text: string, keys: readonly string[]): string {
  return keys.reduce((left, key) => {
    const head = `[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = `
    const at = left.indexOf(head)
    if (at === -1) return left
    const end = left.indexOf('\n', at + head.length)
    const start = left.startsWith('\n', at - 1) && at >= 2 ? at - 1 : at
    return left.slice(0, start) + (end === -1 ? '' : left.slice(end + 1))
  }, text)
}
