// Replaces the contents of a user's file in one step. A reader sees the old bytes or the new ones, never a part.

import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import process from 'node:process'
import { syncPath } from '../../directory.ts'

/** Replaces the contents. Mode and owner stay, and a symbolic link still leads to the same file. @throws if nothing was changed. */
export function replaceFile(file: string, bytes: Uint8Array): void {
  // A rename would replace the link instead of the file behind it.
  const real = realpathSync(file)
  const { mode, uid, gid } = statSync(real)
  writeAside(real, bytes, mode & 0o7777, { uid, gid })
}

/** Creates a file or replaces it in one step. Only this user can read it. */
export function writePrivate(file: string, text: string): void {
  writeAside(file, Buffer.from(text), 0o600)
}

/** Creates a file, and the folders above it. @throws if something is there already. */
export function createFile(file: string, bytes: Uint8Array, mode = 0o600): void {
  mkdirSync(dirname(file), { recursive: true, mode: (mode & 0o044) === 0 ? 0o700 : 0o755 })
  if (lstatSync(file, { throwIfNoEntry: false })) throw new Error(`\`${file}\` exists already`)
  writeAside(file, bytes, mode)
}

/** Copies a file to a new name with its mode. @throws if the new name is taken. */
export function copyAside(file: string, copy: string): void {
  copyFileSync(realpathSync(file), copy, constants.COPYFILE_EXCL)
  syncPath(copy)
}

interface Owner {
  readonly uid: number
  readonly gid: number
}

function writeAside(file: string, bytes: Uint8Array, mode: number, owner?: Owner): void {
  const aside = `${file}.tollgate-${process.pid}`
  rmSync(aside, { force: true })
  try {
    const opened = openSync(aside, 'wx', 0o600)
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(opened, bytes, at)
      if (owner && owner.uid !== process.getuid?.()) keepOwner(opened, owner)
      fchmodSync(opened, mode)
      fsyncSync(opened)
    } finally {
      closeSync(opened)
    }
    renameSync(aside, file)
  } catch (fault) {
    rmSync(aside, { force: true })
    throw fault
  }
}

/** Root can edit the file of another user, who must still be able to use it. */
function keepOwner(opened: number, { uid, gid }: Owner): void {
  if (process.getuid?.() === 0) fchownSync(opened, uid, gid)
}
