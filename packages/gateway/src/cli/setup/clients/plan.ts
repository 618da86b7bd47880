// Plans what setup changes: which servers it wraps, under which names, with which edits. Changes nothing.

import { readFileSync } from 'node:fs'
import {
  adapterOf,
  recogniseAdapter,
  refusedOption,
  type AdapterName,
} from '../../../browser/servers/adapters.ts'
import type { FileChange } from '../changes/apply.ts'
import type { ServerAddress } from '../../../mcp/server/upstream.ts'
import { nameFor, programAddress } from '../../mcp/config.ts'
import type { ClientFile, Surroundings } from './clients.ts'
import { edited, type Edit } from '../../program/unified-diff.ts'
import { wrapEdits } from './edits.ts'
import type { Program } from '../../program/wrapped.ts'
import { entriesIn, entryIn, readTree, type Entry } from './entries.ts'
import { masksIn } from './masks.ts'
import { UnreadableFile, type Node } from './tree.ts'

/** A server of a configuration, with the name that the gateway uses. */
export interface FoundServer {
  readonly from: ClientFile
  readonly label: string
  /** Undefined if the gateway does not get it: it is remote, off or unclear. */
  readonly name: string | undefined
  readonly is: Entry['state']['is']
  /** How to start the server itself, without the wrapper. */
  readonly address: ServerAddress | undefined
  /** Variables of the client that are not known here. */
  readonly missing: readonly string[]
  /** The published browser server that it is. */
  readonly browser: AdapterName | undefined
  /** An option that would lead it to another browser. Such a server is not wrapped. */
  readonly refused: string | undefined
}

/** A file that setup changes. */
interface PlannedFile {
  readonly from: ClientFile
  readonly change: FileChange
  readonly text: string
  readonly edits: readonly Edit[]
  readonly masks: readonly Edit[]
}

/** A file that setup cannot use. */
export interface Unusable {
  readonly from: ClientFile
  readonly why: string
}

export interface Plan {
  readonly servers: readonly FoundServer[]
  readonly files: readonly PlannedFile[]
  readonly unusable: readonly Unusable[]
}

/** The user's choice of servers. */
export interface ServerChoice {
  /** Servers, by label or name; all if it is empty. */
  readonly servers: readonly string[]
  /** Whether only browser servers are meant, or only others. */
  readonly isBrowser: boolean
  /** The words before `--` of a wrapped server. */
  readonly wrapper: (name: string, browser: AdapterName | undefined) => readonly string[]
}

interface ReadFile {
  readonly from: ClientFile
  readonly text: string
  readonly root: Node
  readonly entries: readonly Entry[]
}

/** Reads the files that exist, and plans. */
export function makePlan(all: readonly ClientFile[], choice: ServerChoice, at: Surroundings): Plan {
  const unusable: Unusable[] = []
  const files = all.flatMap((from) => {
    const read = readFile(from)
    if (read && 'why' in read) unusable.push(read)
    return read && !('why' in read) ? [read] : []
  })
  const name = createNames(files)
  const servers: FoundServer[] = []
  const planned: PlannedFile[] = []
  for (const file of files) {
    const found = file.entries.map((entry) => ({ entry, server: foundIn(file.from, entry, name, at) }))
    servers.push(...found.map(({ server }) => server))
    const chosen = found.filter(({ server }) => server.is === 'program' && isChosen(choice, server))
    if (chosen.length === 0) continue
    const plan = planFile(file, chosen, choice)
    if ('why' in plan) unusable.push(plan)
    else planned.push(plan)
  }
  return { servers, files: planned, unusable }
}

/** Whether the user chose a server. */
export function isChosen(
  { servers, isBrowser }: ServerChoice,
  { label, name, browser, refused }: FoundServer,
): boolean {
  if (isBrowser !== (browser !== undefined) || refused !== undefined) return false
  return servers.length === 0 || servers.includes(label) || (name !== undefined && servers.includes(name))
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function readFile(from: ClientFile): ReadFile | Unusable | undefined {
  try {
    const text = utf8.decode(readFileSync(from.file))
    if (text.trim() === '') return undefined
    const root = readTree(text, from.format)
    return { from, text, root, entries: entriesIn(root, from.sections) }
  } catch (fault) {
    // Sound: the member is tested before use.
    const { code } = fault as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    return { from, why: whyOf(fault, code) }
  }
}

function whyOf(fault: unknown, code: string | undefined): string {
  if (fault instanceof UnreadableFile) return fault.message
  if (code === 'EACCES' || code === 'EPERM') return 'you may not read it'
  return code === 'EISDIR' ? 'it is a directory' : 'it is not UTF-8 text'
}

type ServerNames = (label: string, program: Program) => string

/** Gives the same program under the same label one name, and others different names. Names of wrapped servers stay. */
function createNames(files: readonly ReadFile[]): ServerNames {
  const taken = new Set<string>()
  const known = new Map<string, string>()
  const keyOf = (label: string, program: Program): string =>
    JSON.stringify([label, program.command, ...program.args])
  for (const { label, state } of files.flatMap(({ entries }) => entries)) {
    if (state.is !== 'wrapped' || state.name === undefined) continue
    taken.add(state.name)
    known.set(keyOf(label, state.inner), state.name)
  }
  return (label, program) => {
    const key = keyOf(label, program)
    const name = known.get(key) ?? nameFor(label, taken)
    known.set(key, name)
    return name
  }
}

const NO_PROGRAM = {
  name: undefined,
  address: undefined,
  missing: [],
  browser: undefined,
  refused: undefined,
}

function foundIn(from: ClientFile, entry: Entry, nameOf: ServerNames, at: Surroundings): FoundServer {
  const { label, state } = entry
  const program = state.is === 'program' ? state.program : state.is === 'wrapped' ? state.inner : undefined
  if (!program) return { from, label, is: state.is, ...NO_PROGRAM }
  const cwd = entry.cwd ?? (entry.place[0] === 'projects' ? entry.place[1] : undefined) ?? from.cwd
  const { address, missing } = programAddress(
    { command: program.command, args: program.args, env: entry.env, cwd },
    { ...at.env, workspaceFolder: at.project, userHome: at.home },
  )
  const name = state.is === 'wrapped' && state.name !== undefined ? state.name : nameOf(label, program)
  const browser = recogniseAdapter([program.command, ...program.args])
  const refused = browser && refusedOption(adapterOf(browser), program.args)
  const whole = address?.transport === 'stdio' && browser ? { ...address, browser } : address
  return { from, label, name, is: state.is, address: whole, missing, browser, refused }
}

function planFile(
  { from, text, root }: ReadFile,
  chosen: readonly { readonly entry: Entry; readonly server: FoundServer }[],
  { wrapper }: ServerChoice,
): PlannedFile | Unusable {
  const edits = chosen.flatMap(({ entry: { state }, server: { name = '', browser } }) =>
    state.is === 'program' ? wrapEdits(text, from.format, state.nodes, wrapper(name, browser)) : [],
  )
  const after = edited(text, edits)
  const places = chosen.map(({ entry }) => entry.place)
  if (
    !isRight(
      after,
      from,
      chosen.map(({ entry }) => entry),
    )
  ) {
    return { from, why: 'its form is unusual, and an edit could damage it' }
  }
  const change = { file: from.file, before: Buffer.from(text), after: Buffer.from(after), places }
  return { from, change, text, edits, masks: masksIn(root) }
}

/** Reads the edited text again: every server must still start exactly the program that it started before. */
function isRight(after: string, from: ClientFile, entries: readonly Entry[]): boolean {
  try {
    const root = readTree(after, from.format)
    return entries.every(({ place, state: was }) => {
      const now = entryIn(root, place)?.state
      return was.is === 'program' && now?.is === 'wrapped' && isSame(now.inner, was.program)
    })
  } catch {
    // The edit would have damaged the file.
    return false
  }
}

function isSame(a: Program, b: Program): boolean {
  return JSON.stringify([a.command, ...a.args]) === JSON.stringify([b.command, ...b.args])
}
