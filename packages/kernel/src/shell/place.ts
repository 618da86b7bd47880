// Where a call acts, as its door knows it: directories, and the real paths of the paths that the call names.

/** The directories of a call, and the real path of each path that it names. It comes from the door and is trusted. */
export interface CallPlace {
  /** The working directory. */
  readonly cwd?: string
  /** The directory that the agent works in. */
  readonly project?: string
  /** The home directory of the agent's user. */
  readonly home?: string
  /** Directories and files of the gateway itself. */
  readonly gate?: readonly string[]
  /** By path as `pathsNamed` returns it: the real path, or null if it cannot be resolved. */
  readonly paths?: Readonly<Record<string, string | null>>
}

const DIRECTORIES = ['cwd', 'project', 'home'] as const
/** Maximum paths of one call. */
export const MAX_PATHS = 256
// Longer than any path that a system accepts.
const MAX_PATH_LENGTH = 4096

/** Copies the place of a call. @throws TypeError if the door gives a path that is not plain and absolute. */
export function capturePlace(place: CallPlace | undefined): CallPlace | undefined {
  if (place === undefined) return undefined
  const { gate = [], paths = {} } = place
  const entries = Object.entries(paths)
  const real = [...gate, ...entries.flatMap(([, path]) => (path === null ? [] : [path]))]
  const directories = DIRECTORIES.flatMap((name) => {
    const path = place[name]
    return path === undefined ? [] : [[name, path] as const]
  })
  if (entries.length > MAX_PATHS || ![...real, ...directories.map(([, path]) => path)].every(isRealPath)) {
    throw new TypeError('a place has plain absolute paths, at most 256')
  }
  return {
    ...Object.fromEntries(directories),
    ...(gate.length > 0 && { gate: [...gate] }),
    paths: Object.fromEntries(entries),
  }
}

/** Returns whether a path is absolute and has no part that leads elsewhere. */
export function isRealPath(path: string): boolean {
  if (path === '/') return true
  if (!path.startsWith('/') || path.length > MAX_PATH_LENGTH || path.includes('\0')) return false
  return path
    .slice(1)
    .split('/')
    .every((name) => name !== '' && name !== '.' && name !== '..')
}

/** The directories when a command starts. */
export interface Start {
  /** Undefined if it is not known. */
  readonly cwd: string | undefined
  readonly home: string | undefined
}

/** Returns the start of a call in a place. */
export function startAt(place: CallPlace | undefined): Start {
  return { cwd: place?.cwd, home: place?.home }
}
