// The servers in the configuration of a client, each with the positions of its command and arguments.

import type { Place } from '../changes/journal.ts'
import type { ClientFile } from './clients.ts'
import { wrappedIn, type Program } from '../../program/wrapped.ts'
import { readJsonTree } from './json-tree.ts'
import { readTomlTree } from './toml-tree.ts'
import { memberOf, nodeAt, textIn, textMembers, textsOf, type Node, type Table } from './tree.ts'

/** A server of a configuration. */
export interface Entry {
  readonly place: Place
  /** The name in the file. */
  readonly label: string
  readonly state:
    | { readonly is: 'program'; readonly program: Program; readonly nodes: ProgramNodes }
    /** `tollgate mcp --` starts it. `inner` is its own program. */
    | {
        readonly is: 'wrapped'
        readonly inner: Program
        readonly name: string | undefined
        readonly nodes: ProgramNodes
      }
    | { readonly is: 'remote' | 'off' | 'unclear' }
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | undefined
}

/** The positions of the parts that an edit changes. */
export interface ProgramNodes {
  /** The table that holds the command and the arguments. */
  readonly table: Table
  readonly command: Node & { readonly kind: 'text' }
  /** Where the key of the command starts. */
  readonly commandKey: number
  readonly args: (Node & { readonly kind: 'list' }) | undefined
}

/** Reads the text of a file. @throws UnreadableFile. */
export function readTree(text: string, format: ClientFile['format']): Node {
  return format === 'toml' ? readTomlTree(text) : readJsonTree(text)
}

/** Returns the servers under the sections of a client. */
export function entriesIn(root: Node, sections: ClientFile['sections']): readonly Entry[] {
  return sections.flatMap((section) => placesOf(root, section)).map((place) => entryAt(root, place))
}

/** Returns the server at a place; undefined if there is none. */
export function entryIn(root: Node, place: Place): Entry | undefined {
  return nodeAt(root, place) ? entryAt(root, place) : undefined
}

function placesOf(root: Node, section: readonly string[]): readonly Place[] {
  return [...section, '*'].reduce<readonly Place[]>(
    (places, key) =>
      places.flatMap((place) => {
        const node = nodeAt(root, place)
        if (node?.kind !== 'table') return []
        const keys = node.members.map((each) => each.key)
        return (key === '*' ? keys : keys.filter((each) => each === key)).map((each) => [...place, each])
      }),
    [[]],
  )
}

function entryAt(root: Node, place: Place): Entry {
  const node = nodeAt(root, place)
  const env = {
    ...textMembers(memberOf(node, 'env')),
    ...textMembers(memberOf(memberOf(node, 'command'), 'env')),
  }
  const cwd = textIn(memberOf(node, 'cwd'))
  return { place, label: place.at(-1) ?? '', state: stateOf(node), env, cwd }
}

function stateOf(node: Node | undefined): Entry['state'] {
  if (node?.kind !== 'table') return { is: 'unclear' }
  if (isSet(node, 'disabled', true) || isSet(node, 'enabled', false)) return { is: 'off' }
  const nodes = programNodes(node)
  const args = nodes?.args === undefined ? [] : textsOf(nodes.args)
  if (nodes && args) {
    const program = { command: nodes.command.value, args }
    const wrapped = wrappedIn(program)
    return wrapped ? { is: 'wrapped', ...wrapped, nodes } : { is: 'program', program, nodes }
  }
  const isRemote = ['url', 'serverUrl', 'httpUrl'].some((key) => memberOf(node, key)?.kind === 'text')
  return { is: isRemote && !memberOf(node, 'command') ? 'remote' : 'unclear' }
}

function isSet(node: Node, key: string, value: boolean): boolean {
  const member = memberOf(node, key)
  return member?.kind === 'other' && member.value === value
}

/** Zed also knows `command: { path, args }`. */
function programNodes(entry: Table): ProgramNodes | undefined {
  const inner = memberOf(entry, 'command')
  const [table, key] = inner?.kind === 'table' ? ([inner, 'path'] as const) : ([entry, 'command'] as const)
  const command = memberOf(table, key)
  const args = memberOf(table, 'args')
  if (command?.kind !== 'text' || command.value === '' || (args && args.kind !== 'list')) return undefined
  // Two members of the same name: programs disagree about which one counts.
  if (!args && table.members.some((each) => each.key === 'args')) return undefined
  const commandKey = table.members.find((each) => each.key === key)?.at ?? command.start
  return { table, command, commandKey, args }
}
