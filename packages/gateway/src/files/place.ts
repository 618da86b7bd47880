// Room: the files of the agent, as far as the gateway sees them.
//
// Finds the place of a call: its directories, and the real paths of the paths that it names.

import { setTimeout, clearTimeout } from 'node:timers'
import type { Kernel, ToolCall } from '@tollgate/kernel'
import { pathsNamed, type CallPlace } from '@tollgate/kernel/detection'
import { DISK, realPathOf, type FileSystem } from './real-path.ts'

/** The directories of a call, as its door knows them. */
export interface Directories {
  readonly cwd?: string | undefined
  /** The directory that the agent works in. */
  readonly project?: string | undefined
  readonly home?: string | undefined
  /** Directories and files of the gateway itself. */
  readonly gate?: readonly string[]
}

/** How the disk is asked. */
interface Asking {
  readonly files?: FileSystem
  /** Milliseconds for all paths of a call. A path that takes longer stays unresolved. */
  readonly patience?: number
}

const PATIENCE = 1000
// A question that gets no answer occupies one of the few threads that Node has for files.
const MAX_HANGING = 3
let hanging = 0

/**
 * Returns the place of a call. Give it to the kernel as `place` of the same call. Call it only where the gateway sees the same files as the
 * agent: elsewhere leave the place out, and every path of the call is unresolved. Never throws because of a path; a path that cannot be
 * resolved in time is unresolved.
 */
export async function placeOf(
  kernel: Kernel,
  call: ToolCall,
  { cwd, project, home, gate = [] }: Directories,
  asking: Asking = {},
): Promise<CallPlace> {
  const ask = asker(asking)
  const [atCwd, atProject, atHome, ...own] = await ask([cwd, project, home, ...gate])
  const directories = {
    ...(typeof atCwd === 'string' && { cwd: atCwd }),
    ...(typeof atProject === 'string' && { project: atProject }),
    ...(typeof atHome === 'string' && { home: atHome }),
    ...(own.length > 0 && { gate: own.filter((path) => typeof path === 'string') }),
  }
  const named = pathsNamed(kernel, { ...call, place: directories })
  const real = await ask(named)
  return { ...directories, paths: Object.fromEntries(named.map((path, i) => [path, real[i] ?? null])) }
}

type AskDisk = (paths: readonly (string | undefined)[]) => Promise<readonly (string | null)[]>

/** Returns a function that finds real paths within the time of one call. */
function asker({ files = DISK, patience = PATIENCE }: Asking): AskDisk {
  const until = performance.now() + patience
  let slow: readonly string[] | undefined
  const known = new Map<string, string | null>()
  const look = async (path: string): Promise<string | null> => {
    if (!path.startsWith('/') || hanging >= MAX_HANGING) return null
    slow ??= await within(until, files.slowMounts())
    return slow ? ((await within(until, realPathOf(path, files, slow))) ?? null) : null
  }
  return async (paths) => {
    const found: (string | null)[] = []
    for (const path of paths) {
      // The working directory is often the project as well.
      const real = path === undefined ? null : (known.get(path) ?? (await look(path)))
      if (path !== undefined) known.set(path, real)
      found.push(real)
    }
    return found
  }
}

/** Returns the value of a promise, or undefined if it takes too long. */
async function within<Value>(until: number, promise: Promise<Value>): Promise<Value | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), Math.max(0, until - performance.now()))
  })
  try {
    const first = await Promise.race([promise, late])
    if (first !== LATE) return first
    hanging++
    void promise.catch(() => undefined).then(() => hanging--)
    return undefined
  } finally {
    clearTimeout(timer)
  }
}

const LATE = Symbol('late')
