import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ShownEntry } from '../../src/cli/receipts/describe.ts'
import { openSpool } from '../../src/cli/receipts/pack-spool.ts'

// Sound: a spool copies entries and does not read their fields.
const entryOf = (index: number): ShownEntry =>
  ({
    index,
    id: `${index}`,
    receipt: { kind: 'recovery', because: 'ü\n'.repeat(50) },
  }) as unknown as ShownEntry

describe('a spool', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'spool-'))
    vi.stubEnv('TMPDIR', folder)
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })

  it.each([0, 1, 100, 20_000])('returns %i entries in order and leaves no file', (count) => {
    const spool = openSpool()
    const entries = Array.from({ length: count }, (_, index) => entryOf(index))
    for (const entry of entries) spool.add(entry)
    expect(readdirSync(folder)).toEqual([])
    expect(spool.count).toBe(count)
    expect([...spool.entries()]).toEqual(entries)
    spool.close()
  })

  it('that cannot create its file fails and loses nothing silently', () => {
    vi.stubEnv('TMPDIR', join(folder, 'missing'))
    const spool = openSpool()
    const fill = (): void => {
      for (let index = 0; index < 20_000; index++) spool.add(entryOf(index))
    }
    expect(fill).toThrow('ENOENT')
    spool.close()
  })
})
