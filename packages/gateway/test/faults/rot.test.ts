// A sample of the bytes; `rot.deep.ts` has every one.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { beforeAll, describe, expect, it } from 'vitest'
import { fsckLedger } from '../../src/open.ts'
import { readySite, settle } from './kill.ts'
import { createSpecimen, rot, type Rot, type Specimen } from './rot.ts'
import { randomFrom, startLoad, tell } from './rig.ts'

// In the records of a token and of an open call, in the text of a policy, and in a trigger.
const RECORDED = [
  '"groups":[],"issued":1',
  '"assurance":"advised","expires":1',
  '- { id: notes',
  'BEFORE UPDATE ON head WHEN NEW.size <',
]
const EVIDENCE = ['entries', 'tiles', 'ids', 'head', 'checkpoint']

describe('one changed byte of a stopped ledger', () => {
  const rots: Rot[] = []

  beforeAll(async () => {
    const random = randomFrom(7)
    for (const [calls, count] of [
      [12, 40],
      [150, 5],
    ] as const) {
      const specimen = await createSpecimen(calls)
      if (calls === 12) await spoil(specimen, RECORDED)
      const step = specimen.bytes.length / count
      for (let i = 0; i < count; i++) {
        const offset = Math.floor((i + random()) * step)
        rots.push(await rot(specimen, offset, 1 + Math.floor(random() * 255), i % 10 === 0))
      }
    }
    const hidden = rots.filter((each) => each.hidden.length > 0).length
    const found = rots.filter((each) => each.found).length
    tell('bit rot', { bytes: rots.length, found, 'without a meaning': rots.length - found - hidden, hidden })
  }, 240_000)

  /** Changes a letter wherever one of these texts occurs in the file. */
  async function spoil(specimen: Specimen, texts: readonly string[]): Promise<void> {
    for (const text of texts) {
      const offset = Buffer.from(specimen.bytes).indexOf(text)
      expect(offset).toBeGreaterThan(0)
      rots.push(await rot(specimen, offset + text.length - 1, 1, false))
    }
  }

  it('is refused with a code or is harmless: only correct content is ever signed', () => {
    expect(rots.flatMap(({ violations }) => violations)).toEqual([])
    expect(rots.filter(({ found }) => found).length).toBeGreaterThan(15)
  })

  it('is found by fsck in all evidence', () => {
    expect(rots.filter(({ hidden }) => hidden.some((table) => EVIDENCE.includes(table)))).toEqual([])
  })

  it('is found by fsck in private records, anchors and the tables themselves', () => {
    expect(rots.filter(({ hidden }) => hidden.some((table) => !EVIDENCE.includes(table)))).toEqual([])
  })
})

describe('an entry newer than every checkpoint', () => {
  it.each(['payload', 'signature'])(
    'is not signed after its %s has changed: opening is refused',
    async (column) => {
      const site = await readySite()
      const load = startLoad(site, { mode: 'storm', held: true })
      await load.said('here')
      load.child.stdin?.write('go\n')
      await load.said('open')
      await sleep(100)
      load.child.kill('SIGKILL')
      await load.ended
      settle(site)
      const file = join(site.config.data, 'ledger.sqlite')
      const db = new DatabaseSync(file)
      const row: unknown = db
        .prepare(`SELECT ${column} AS bytes FROM entries ORDER BY idx DESC LIMIT 1`)
        .get()
      db.close()
      const bytes = readFileSync(file)
      // Sound: the tables are strict, and these columns contain bytes.
      const offset = bytes.indexOf((row as { readonly bytes: Uint8Array }).bytes)
      expect(offset).toBeGreaterThan(0)
      bytes[offset + 20] = (bytes[offset + 20] ?? 0) ^ 1
      writeFileSync(file, bytes)
      await expect(site.open().then((gateway) => gateway.close())).rejects.toMatchObject({
        code: 'LEDGER_DAMAGED',
      })
      expect((await fsckLedger(site.config, () => undefined)).ok).toBe(false)
    },
  )
})
