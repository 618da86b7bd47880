// Holds the selected receipts of a pack until its verification has ended: in memory up to a limit, then in a temporary file.

import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ShownEntry } from './describe.ts'

const MAX_HELD = 1 << 20
const CHUNK = 1 << 18

/** Receipts that wait. They come back in the order in which they were added. */
export interface Spool {
  readonly count: number
  /** Adds a receipt. @throws what the file system throws, for example if the disk is full. */
  add(entry: ShownEntry): void
  /** Returns the receipts. Call it once, after the last `add`. */
  entries(): Generator<ShownEntry>
  close(): void
}

/** Opens an empty spool. Its file has no name, so that nothing remains after a crash or Ctrl-C. */
export function openSpool(): Spool {
  let held: string[] = []
  let [heldLength, count] = [0, 0]
  let file: number | undefined

  function flush(): void {
    const bytes = Buffer.from(held.join(''))
    file ??= namelessFile()
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
    held = []
    heldLength = 0
  }

  return {
    get count() {
      return count
    },
    add(entry) {
      const line = `${JSON.stringify(entry)}\n`
      held.push(line)
      heldLength += line.length
      count++
      if (heldLength >= MAX_HELD) flush()
    },
    *entries() {
      if (file !== undefined) for (const line of linesIn(file)) yield parsed(line)
      for (const line of held) yield parsed(line)
    },
    close() {
      if (file !== undefined) closeSync(file)
      file = undefined
    },
  }
}

function namelessFile(): number {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-pack-'))
  try {
    return openSync(join(folder, 'receipts'), 'wx+', 0o600)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function* linesIn(file: number): Generator<string> {
  const chunk = Buffer.alloc(CHUNK)
  let rest = Buffer.alloc(0)
  let position = 0
  while (true) {
    const length = readSync(file, chunk, 0, CHUNK, position)
    if (length === 0) return
    position += length
    let bytes = Buffer.concat([rest, chunk.subarray(0, length)])
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10)) {
      yield bytes.subarray(0, end).toString()
      bytes = bytes.subarray(end + 1)
    }
    rest = bytes
  }
}

function parsed(line: string): ShownEntry {
  // Sound: `add` wrote the line from an entry, and no other program can open the file.
  return JSON.parse(line) as ShownEntry
}
