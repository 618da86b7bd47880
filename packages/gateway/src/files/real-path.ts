// Finds the real path of a path, also if the file does not exist yet. It follows links itself, so that a dangling link counts as what
// it points to, and asks about no path on a network mount, because the answer could take forever.

import { lstat, readFile, readlink, realpath } from 'node:fs/promises'

/** The functions of the file system that the resolver uses. */
export interface FileSystem {
  /** Returns the target of a link; undefined if the path is no link; null if nothing is there. @throws if it cannot be known. */
  linkAt(path: string): Promise<string | undefined | null>
  /** Returns the spelling of an existing path on the disk. */
  spelling(path: string): Promise<string>
  /** Returns the folders at which file systems that may not answer are mounted. */
  slowMounts(): Promise<readonly string[]>
}

const MAX_LINKS = 40
const MAX_NAMES = 256
// The path means something else for the gateway than for the agent.
const OWN_VIEW = ['/proc', '/dev/fd']

/** Returns the real path of an absolute path; null if it cannot be known. */
export async function realPathOf(
  path: string,
  files: FileSystem,
  slow: readonly string[],
): Promise<string | null> {
  try {
    return await follow(path, files, slow)
  } catch {
    // No permission, a loop of links, or a fault of the disk.
    return null
  }
}

async function follow(path: string, files: FileSystem, slow: readonly string[]): Promise<string | null> {
  const rest = namesIn(path)
  let real = ''
  let links = 0
  let exists = true
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (rest.length > MAX_NAMES) return null
    if (name === '..') {
      // The system refuses `missing/..`, so the meaning is not known.
      if (!exists) return null
      real = real.slice(0, real.lastIndexOf('/'))
      continue
    }
    const next = `${real}/${name}`
    if ([...OWN_VIEW, ...slow].some((mount) => next === mount || next.startsWith(`${mount}/`))) return null
    const link = exists ? await files.linkAt(next) : null
    if (link === null) exists = false
    if (link === null || link === undefined) {
      real = next
      continue
    }
    if (++links > MAX_LINKS) return null
    if (link.startsWith('/')) real = ''
    rest.unshift(...namesIn(link))
  }
  return exists && real !== '' ? files.spelling(real) : real === '' ? '/' : real
}

function namesIn(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.')
}

/** The file system of this machine. */
export const DISK: FileSystem = {
  async linkAt(path) {
    try {
      return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined
    } catch (fault) {
      if (isMissing(fault)) return null
      throw fault
    }
  },
  // On a disk that ignores case, this is the name as it was created.
  spelling: (path) => realpath(path),
  async slowMounts() {
    try {
      return slowMountsIn(await readFile('/proc/self/mountinfo', 'utf8'))
    } catch {
      // Only Linux has this file. Elsewhere the time limit applies alone.
      return []
    }
  },
}

function isMissing(fault: unknown): boolean {
  return fault instanceof Error && 'code' in fault && (fault.code === 'ENOENT' || fault.code === 'ENOTDIR')
}

const SLOW_TYPE =
  /^(?:nfs\d?|cifs|smb\d?|smbfs|ncpfs|afs|ceph|9p|autofs|sshfs|davfs|glusterfs|lustre|fuse(?:\..*)?|fuseblk)$/

/** Returns the folders of mounts whose server may not answer, from the text of `mountinfo`. */
export function slowMountsIn(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ')
    const folder = before.split(' ')[4]
    if (folder === undefined || folder === '/' || !SLOW_TYPE.test(after.split(' ')[0] ?? '')) return []
    return [folder.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)))]
  })
}
