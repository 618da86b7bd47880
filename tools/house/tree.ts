// The code of the tree, read once: each file with its imports, and the file that each of them leads to.

import { posix } from 'node:path'
import { readTree, type Source } from '../check-rooms.ts'
import { bringsValues, importsIn, type Taken } from '../imports.ts'

/** A file of code. */
export interface CodeFile extends Source {
  readonly lines: number
  readonly links: readonly Link[]
}

/** An import that leads to another file of the tree. */
export interface Link {
  readonly to: string
  /** Whether anything but types comes over. */
  readonly values: boolean
  /** Loaded only when it is needed. */
  readonly lazy: boolean
  /** The names that are taken; undefined if it may be any of them. */
  readonly taken: readonly Taken[] | undefined
}

/** A way into a package from outside. */
export interface Entry {
  /** As it is imported: `@tollgate/kernel/policy`. */
  readonly name: string
  readonly path: string
}

/** The code of the tree. */
export interface Tree {
  readonly files: ReadonlyMap<string, CodeFile>
  readonly entries: readonly Entry[]
}

/** Reads the tree under a folder. */
export function readCode(root: string): Tree {
  return codeOf(readTree(root))
}

/** The same, of files that are at hand. */
export function codeOf(sources: readonly Source[]): Tree {
  const entries = sources.flatMap(entriesIn)
  const code = sources.filter(({ path }) => /\.[cm]?[jt]sx?$/.test(path))
  const paths = new Set(code.map(({ path }) => path))
  const byName = new Map(entries.map(({ name, path }) => [name, path]))
  const files = code.map((source): [string, CodeFile] => [
    source.path,
    { ...source, lines: linesIn(source.text), links: linksOf(source, paths, byName) },
  ])
  return { files: new Map(files), entries }
}

/** What ships: the source of the packages, without tests. */
export function isShipped(path: string): boolean {
  return /^packages\/[^/]+\/(?:src|node|bin)\//.test(path)
}

function linksOf(
  { path, text }: Source,
  paths: ReadonlySet<string>,
  byName: ReadonlyMap<string, string>,
): readonly Link[] {
  return importsIn(path, text).flatMap((found) => {
    const { name, taken, lazy } = found
    if (name === undefined) return []
    const to = name.startsWith('.') ? fileAt(posix.join(posix.dirname(path), name)) : byName.get(name)
    return to !== undefined && paths.has(to) ? [{ to, values: bringsValues(found), lazy, taken }] : []
  })
}

/** The source of a file, also where what was built from it is named. */
function fileAt(path: string): string {
  return path.replace('/dist/', '/').replace(/\.js$/, '.ts')
}

function entriesIn({ path, text }: Source): readonly Entry[] {
  const [, folder] = /^(packages\/[^/]+)\/package\.json$/.exec(path) ?? []
  if (folder === undefined) return []
  // Sound: npm refuses a manifest of any other shape before this runs.
  const { name, exports = {} } = JSON.parse(text) as {
    readonly name: string
    readonly exports?: Readonly<Record<string, { readonly default: string }>>
  }
  return Object.entries(exports).map(([at, { default: file }]) => ({
    name: posix.join(name, at),
    path: fileAt(posix.join(folder, file)),
  }))
}

function linesIn(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}
