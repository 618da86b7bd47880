// Names that a file exports and no other file takes.

import { exportsIn } from '../exports.ts'
import { isShipped, type CodeFile, type Tree } from './tree.ts'

/** An exported name that nothing outside of its file needs. */
export interface UnusedName {
  readonly path: string
  readonly line: number
  readonly name: string
}

/** The names nothing takes, and apart from them those that only tests take. */
export interface Unused {
  readonly names: readonly UnusedName[]
  readonly onlyTests: readonly UnusedName[]
}

type User = 'code' | 'test'

/** All unused names of the packages' source. What an entry point exports is used: by people we do not know. */
export function findUnused(tree: Tree): Unused {
  const entries = new Set(tree.entries.map(({ path }) => path))
  const uses = usesIn(tree)
  const names: UnusedName[] = []
  const onlyTests: UnusedName[] = []
  for (const { path, text } of tree.files.values()) {
    if (!isShipped(path) || entries.has(path)) continue
    for (const { name, line } of exportsIn(path, text)) {
      const users = new Set([...(uses.get(`${path} ${name}`) ?? []), ...(uses.get(`${path} *`) ?? [])])
      if (users.size === 0) names.push({ path, line, name })
      else if (!users.has('code')) onlyTests.push({ path, line, name })
    }
  }
  return { names, onlyTests }
}

/** Who takes each name: `path name` to its users, `path *` where any name may be taken. */
function usesIn({ files }: Tree): ReadonlyMap<string, ReadonlySet<User>> {
  const uses = new Map<string, Set<User>>()
  for (const file of files.values()) {
    for (const { to, name } of takenBy(file)) {
      const key = `${to} ${name}`
      uses.set(key, (uses.get(key) ?? new Set()).add(isTest(file.path) ? 'test' : 'code'))
    }
  }
  return uses
}

function takenBy({ path, links }: CodeFile): readonly { to: string; name: string }[] {
  return links
    .filter(({ to }) => to !== path)
    .flatMap(({ to, taken }) => (taken ?? [{ name: '*' }]).map(({ name }) => ({ to, name })))
}

function isTest(path: string): boolean {
  return /(?:^|\/)test\//.test(path)
}
