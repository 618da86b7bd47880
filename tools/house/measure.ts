// The measures of the house, as data: `tools/house.ts` prints them.

import { exportsIn, typesIn } from '../exports.ts'
import { closure, knots, valueGraph, type Graph, type Knot } from './graph.ts'
import { cycleRoom, placeOf, roomName } from './rooms.ts'
import { longFunctions, type SizedFunction } from './sizes.ts'
import { isShipped, type CodeFile, type Tree } from './tree.ts'
import { findUnused, type Unused } from './unused-names.ts'

/** How much code there is somewhere. */
export interface Amount {
  readonly files: number
  readonly lines: number
}

/** Code that one file cannot do without. */
export interface Core extends Amount {
  readonly rooms: Readonly<Record<string, Amount>>
}

/** A type name that a package declares in several files. */
export interface SharedName {
  readonly package: string
  readonly name: string
  readonly files: readonly string[]
}

/** All that is measured without running anything. */
export interface House {
  readonly rooms: Readonly<Record<string, Amount>>
  readonly core: Core
  readonly coreWithGates: Core
  readonly surface: Readonly<Record<string, readonly string[]>>
  readonly typeNames: { readonly all: number; readonly shared: readonly SharedName[] }
  /** With `Later`, imports that are loaded only when they are needed count too. */
  readonly cycles: Readonly<Record<'files' | 'filesLater' | 'rooms' | 'roomsLater', readonly Knot[]>>
  readonly unused: Unused
  readonly long: { readonly files: readonly LongFile[]; readonly functions: readonly SizedFunction[] }
}

/** A file that is too long to have one subject. */
export interface LongFile {
  readonly path: string
  readonly lines: number
}

/** Past these there are two subjects. */
export const LIMITS = { file: 350, function: 70 } as const

const ROAD = 'packages/kernel/src/road/enforce.ts'

/** Measures a tree. */
export function measureHouse(tree: Tree): House {
  const shipped = [...tree.files.values()].filter(({ path }) => isShipped(path))
  const inKernel = (path: string): string | undefined =>
    path.startsWith('packages/kernel/src/') ? path : undefined
  return {
    rooms: byRoom(shipped),
    core: coreOf(
      tree,
      valueGraph(tree, (path) => (isGateItem(path) ? undefined : inKernel(path))),
    ),
    coreWithGates: coreOf(tree, valueGraph(tree, inKernel)),
    surface: surfaceOf(tree),
    typeNames: typeNamesOf(shipped),
    cycles: cyclesOf(tree),
    unused: findUnused(tree),
    long: {
      files: [...tree.files.values()]
        .filter(({ lines }) => lines > LIMITS.file)
        .map(({ path, lines }) => ({ path, lines })),
      functions: shipped.flatMap((file) => longFunctions(file, LIMITS.function)),
    },
  }
}

function cyclesOf(tree: Tree): House['cycles'] {
  const file = (path: string): string | undefined => (isShipped(path) ? path : undefined)
  return {
    files: knots(valueGraph(tree, file, { atStart: true })),
    filesLater: knots(valueGraph(tree, file)),
    rooms: knots(valueGraph(tree, cycleRoom, { atStart: true })),
    roomsLater: knots(valueGraph(tree, cycleRoom)),
  }
}

/** Detection code: the reader of commands, and all of the gates but what they have in common. */
function isGateItem(path: string): boolean {
  return /^packages\/kernel\/src\/(?:shell\/(?!place)|gates\/(?!(?:gate|index)\.ts$))/.test(path)
}

function coreOf({ files }: Tree, graph: Graph): Core {
  const reached = closure(graph, ROAD).flatMap((path) => files.get(path) ?? [])
  return { ...amountOf(reached), rooms: byRoom(reached) }
}

function amountOf(files: readonly CodeFile[]): Amount {
  return { files: files.length, lines: files.reduce((sum, { lines }) => sum + lines, 0) }
}

function byRoom(files: readonly CodeFile[]): Readonly<Record<string, Amount>> {
  const groups = new Map<string, CodeFile[]>()
  for (const file of files) {
    const place = placeOf(file.path)
    const room = place ? roomName(place) : file.path
    groups.set(room, [...(groups.get(room) ?? []), file])
  }
  const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(sorted.map(([room, inside]) => [room, amountOf(inside)]))
}

function surfaceOf({ entries, files }: Tree): House['surface'] {
  return Object.fromEntries(
    entries.map(({ name, path }) => [
      name,
      exportsIn(path, files.get(path)?.text ?? '').map((each) => each.name),
    ]),
  )
}

function typeNamesOf(files: readonly CodeFile[]): House['typeNames'] {
  const places = new Map<string, Set<string>>()
  for (const { path, text } of files) {
    const home = placeOf(path)?.package ?? ''
    for (const { name } of typesIn(path, text)) {
      const key = `${home} ${name}`
      places.set(key, (places.get(key) ?? new Set()).add(path))
    }
  }
  const shared = [...places].filter(([, inside]) => inside.size > 1)
  return {
    all: places.size,
    shared: shared.map(([key, inside]) => {
      const [home = '', name = ''] = key.split(' ')
      return { package: home, name, files: [...inside] }
    }),
  }
}
