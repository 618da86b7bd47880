// The facts of a call: of the commands and the paths in its arguments.

import type { Json } from '@tollgate/evidence/core'
import { isRecord } from '../plain.ts'
import { readCommand } from './command.ts'
import {
  NO_COMMAND,
  USES,
  type CallFacts,
  type CommandFacts,
  type FactArguments,
  type FileFacts,
  type NamedPath,
  type ShellFacts,
} from './facts.ts'
import { isGatePath, isSecretPath, isStartupPath } from './kinds.ts'
import { MAX_PATHS, startAt, type CallPlace, type Start } from './place.ts'
import { findPath, pathsToResolve, type FoundPath } from './resolve.ts'

/** Returns the facts of a call. The tool must declare where they come from; otherwise nothing is known. Never throws. */
export function factsOfCall(
  from: FactArguments | undefined,
  args: Json,
  place: CallPlace | undefined,
): CallFacts {
  if (!from) return { shell: UNDECLARED, files: { ...filesOf([], place), unresolved: [NOT_DECLARED] } }
  const { command, named } = readArguments(from, args, place)
  const inCommand = command.paths.map((path) => findPath(path, place))
  const all = [...inCommand, ...named.map((path) => findPath(path, place))]
  return { shell: shellOf(command, inCommand), files: filesOf(all, place) }
}

/** Returns the paths that the door resolves for a call, without duplicates. Never throws. */
export function pathsOfCall(
  from: FactArguments | undefined,
  args: Json,
  place: CallPlace | undefined,
): readonly string[] {
  if (!from) return []
  const { command, named } = readArguments(from, args, place)
  return pathsToResolve([...command.paths, ...named])
}

const NOT_DECLARED = 'the policy declares no arguments of the tool'

/** The facts of a tool that the policy does not describe: nothing is known. */
const UNDECLARED: ShellFacts = shellOf({ ...NO_COMMAND, unknown: [NOT_DECLARED] }, [])

interface ReadArguments {
  readonly command: CommandFacts
  /** The paths in arguments outside of the command. */
  readonly named: readonly NamedPath[]
}

function readArguments(from: FactArguments, args: Json, place: CallPlace | undefined): ReadArguments {
  const start = startIn(from, args, place)
  const commands = from.command.flatMap((path) => valuesAt(args, path))
  const read = commands.map((value) => readCommand(typeof value === 'string' ? value : undefined, start))
  const missing = from.command.length > 0 && commands.length === 0 ? [readCommand(undefined, start)] : []
  const named = USES.flatMap((use) =>
    from[use].flatMap((path) => valuesAt(args, path).map((value) => namedIn(use, value, start))),
  )
  return { command: merged([...read, ...missing]), named }
}

/** The directory that a call starts in: that of its argument, otherwise that of the place. */
function startIn({ cwd }: FactArguments, args: Json, place: CallPlace | undefined): Start {
  const start = startAt(place)
  const [given, ...others] = cwd.flatMap((path) => valuesAt(args, path))
  if (given === undefined) return start
  if (typeof given !== 'string' || others.length > 0) return { ...start, cwd: undefined }
  return { ...start, cwd: given.startsWith('/') ? given : start.cwd && `${start.cwd}/${given}` }
}

const UNREADABLE = 'a path that is not a text'

function namedIn(use: NamedPath['use'], value: Json, { cwd, home }: Start): NamedPath {
  if (typeof value !== 'string' || value.includes('\0')) return { use, path: UNREADABLE, kind: 'unknown' }
  if (value.startsWith('/')) return { use, path: value, kind: 'exact' }
  // Programs differ about `~`, so it is only a home directory if nothing else is possible.
  if (value === '~' || value.startsWith('~/')) {
    return { use, path: home === undefined ? value : home + value.slice(1), kind: 'exact' }
  }
  return { use, path: cwd === undefined || value === '' ? value : `${cwd}/${value}`, kind: 'exact' }
}

/** The values at the path of an argument. Items of lists are visited; null and a missing argument have none. */
function valuesAt(args: Json, path: string): readonly Json[] {
  return follow(args, path.replaceAll('[*]', '').split('.'))
}

function follow(value: Json, names: readonly string[]): readonly Json[] {
  if (Array.isArray(value)) return value.flatMap((item: Json) => follow(item, names))
  const [name, ...rest] = names
  if (name === undefined) return value === null ? [] : [value]
  return isRecord(value) && Object.hasOwn(value, name) ? follow(value[name] ?? null, rest) : []
}

function merged(all: readonly CommandFacts[]): CommandFacts {
  const [only = NO_COMMAND, ...others] = all
  if (others.length === 0) return only
  const list = <Item>(of: (facts: CommandFacts) => readonly Item[]): readonly Item[] => [
    ...new Set(all.flatMap(of)),
  ]
  return {
    programs: list((each) => each.programs),
    paths: list((each) => each.paths),
    hosts: list((each) => each.hosts),
    secrets: list((each) => each.secrets),
    installs: list((each) => each.installs),
    publishes: list((each) => each.publishes),
    pushes: list((each) => each.pushes),
    kills: list((each) => each.kills),
    privileged: all.some((each) => each.privileged),
    background: all.some((each) => each.background),
    runs_other_code: list((each) => each.runs_other_code),
    unknown_programs: list((each) => each.unknown_programs),
    unknown: list((each) => each.unknown),
  }
}

function shellOf(command: CommandFacts, found: readonly FoundPath[]): ShellFacts {
  const { paths, ...facts } = { ...command, ...usedIn(found) }
  return paths.length > MAX_PATHS ? { ...facts, unknown: [...facts.unknown, TOO_MANY] } : facts
}

const TOO_MANY = 'too many paths'

function usedIn(found: readonly FoundPath[]): Pick<FileFacts, 'reads' | 'writes' | 'deletes'> {
  const of = (use: NamedPath['use']): readonly string[] => pathsIn(found.filter((each) => each.use === use))
  return { reads: of('reads'), writes: of('writes'), deletes: of('deletes') }
}

function pathsIn(found: readonly FoundPath[]): readonly string[] {
  return [...new Set(found.map(({ path }) => path))]
}

function filesOf(found: readonly FoundPath[], place: CallPlace | undefined): FileFacts {
  const { cwd = '', project = '', home = '', gate = [] } = place ?? {}
  const changed = found.filter(({ use }) => use !== 'reads')
  const ofGate = found.filter(({ path, use }) => isGatePath(path, use, gate))
  return {
    ...usedIn(found),
    secrets: pathsIn(found.filter(({ path }) => isSecretPath(path))),
    startup: pathsIn(changed.filter(({ path }) => isStartupPath(path))),
    gate: pathsIn(ofGate),
    unresolved: pathsIn(found.filter(({ isResolved }) => !isResolved)),
    cwd,
    project,
    home,
  }
}
