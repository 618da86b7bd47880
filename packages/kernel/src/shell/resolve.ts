// Finds the real paths of named paths in the place of a call. The door has resolved them; a path that it did not resolve is unresolved.

import type { NamedPath } from './facts.ts'
import { isRealPath, MAX_PATHS, type CallPlace } from './place.ts'

/** A named path with the real path that it has, as far as it is known. */
export interface FoundPath {
  readonly use: NamedPath['use']
  /** The real path; if it is unresolved, the path as named. */
  readonly path: string
  readonly isResolved: boolean
}

/** The part of a path that the door resolves, and the part after it. */
interface Asked {
  /** The path to resolve. */
  readonly key: string
  /** The names after it that are not resolved. */
  readonly rest: string
}

/** Returns the paths that the door resolves, without duplicates. */
export function pathsToResolve(named: readonly NamedPath[]): readonly string[] {
  const keys = named.flatMap((each) => {
    const asked = askedFor(each)
    return asked ? [asked.key] : []
  })
  return [...new Set(keys)].slice(0, MAX_PATHS)
}

/** Returns the real path of a named path. */
export function findPath(named: NamedPath, place: CallPlace | undefined): FoundPath {
  const { use, path } = named
  const asked = askedFor(named)
  const paths = place?.paths ?? {}
  const real = asked && Object.hasOwn(paths, asked.key) ? paths[asked.key] : undefined
  if (asked === undefined || typeof real !== 'string') return { use, path, isResolved: false }
  return { use, path: joined(real, asked.rest), isResolved: true }
}

function joined(real: string, rest: string): string {
  if (rest === '') return real
  return real === '/' ? `/${rest}` : `${real}/${rest}`
}

const PATTERN = /[*?[]/

/** Returns the path to resolve; undefined if it cannot be resolved in any place. */
function askedFor({ use, path, kind }: NamedPath): Asked | undefined {
  if (!path.startsWith('/') || kind === 'unknown') return undefined
  const names = path.split('/').slice(1)
  // A deletion removes a link, not what it points to, so only the folder is resolved.
  const open = kind === 'pattern' ? names.findIndex((name) => PATTERN.test(name)) : -1
  const last = use === 'deletes' ? names.length - 1 : names.length
  const end = open >= 0 ? Math.min(open, last) : last
  if (kind === 'pattern' && open < 0) return undefined
  const rest = names.slice(end)
  if (rest.length > 0 && !isRealPath(`/${rest.join('/')}`)) {
    // `rm -r folder/..` and `rm -r link/` act on what the whole path means.
    return kind === 'pattern' ? undefined : { key: path, rest: '' }
  }
  return { key: `/${names.slice(0, end).join('/')}`, rest: rest.join('/') }
}
