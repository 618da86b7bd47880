// A configuration file as a tree of values with their positions, so that an edit changes only the bytes that it must change.

/** A part of a text. */
interface TextSpan {
  readonly start: number
  readonly end: number
}

/** A value and its position. */
export type Node =
  | (TextSpan & { readonly kind: 'text'; readonly value: string })
  | (TextSpan & { readonly kind: 'other'; readonly value: boolean | undefined })
  | (TextSpan & { readonly kind: 'list'; readonly items: readonly Node[] })
  | (TextSpan & { readonly kind: 'table'; readonly members: readonly Member[] })

/** A table, such as an object of JSON. */
export type Table = Node & { readonly kind: 'table' }

/** A member of a table. */
export interface Member {
  readonly key: string
  /** The position of the key. */
  readonly at: number
  readonly value: Node
}

/** The text is not in the format. Says where, and repeats no part of it: it may be a secret. */
export class UnreadableFile extends Error {
  constructor(text: string, at: number, expected: string) {
    super(`line ${text.slice(0, at).split('\n').length}: ${expected}`)
    this.name = 'UnreadableFile'
  }
}

/** Returns the member of a table; undefined if there is none, or several, which programs read differently. */
export function memberOf(node: Node | undefined, key: string): Node | undefined {
  if (node?.kind !== 'table') return undefined
  const found = node.members.filter((each) => each.key === key)
  return found.length === 1 ? found[0]?.value : undefined
}

/** Follows keys from a node. */
export function nodeAt(root: Node, path: readonly string[]): Node | undefined {
  return path.reduce<Node | undefined>(memberOf, root)
}

/** Returns the strings of a list; undefined if it has anything else. */
export function textsOf(node: Node | undefined): readonly string[] | undefined {
  if (node?.kind !== 'list') return undefined
  const texts = node.items.flatMap((each) => (each.kind === 'text' ? [each.value] : []))
  return texts.length === node.items.length ? texts : undefined
}

/** Returns the string of a node. */
export function textIn(node: Node | undefined): string | undefined {
  return node?.kind === 'text' ? node.value : undefined
}

/** Returns the string members of a table. */
export function textMembers(node: Node | undefined): Readonly<Record<string, string>> {
  if (node?.kind !== 'table') return {}
  return Object.fromEntries(
    node.members.flatMap(({ key, value }) => (value.kind === 'text' ? [[key, value.value] as const] : [])),
  )
}
