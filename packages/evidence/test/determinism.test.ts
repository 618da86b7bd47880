import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { cosignCheckpoint, sha256Hex, writePack, type LedgerReader, type PackRequest } from '../src/index.ts'
import { digests, REQUESTS } from './determinism-export.ts'
import { collect, demoLedger, fixedKey } from './ledger.ts'
import { membersOf } from './pack-forge.ts'

interface Child {
  readonly offset: number
  readonly locale: string
  readonly digests: readonly string[]
}

/** Exports in a process with another environment. */
async function exportIn(env: Readonly<Record<string, string>>): Promise<Child> {
  const script = fileURLToPath(new URL('./determinism-export.ts', import.meta.url))
  const options = { env: { ...process.env, ...env }, cwd: fileURLToPath(new URL('./', import.meta.url)) }
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', script], options)
  return JSON.parse(stdout) as Child
}

async function digestOf(ledger: LedgerReader, request: PackRequest): Promise<string> {
  return sha256Hex(await collect(writePack(ledger, request)))
}

describe('the same range at the same tree size', () => {
  it('has the same bytes in any time zone and language', async () => {
    const here = await digests()
    const [kathmandu, newYork] = await Promise.all([
      exportIn({ TZ: 'Asia/Kathmandu', LANG: 'ne_NP.UTF-8', LC_ALL: 'ne_NP.UTF-8' }),
      exportIn({ TZ: 'America/New_York', LANG: 'tr_TR.UTF-8', LC_ALL: 'C' }),
    ])
    expect(kathmandu.offset).not.toBe(newYork.offset)
    expect(kathmandu.locale).not.toBe(newYork.locale)
    expect(kathmandu.digests).toEqual(here)
    expect(newYork.digests).toEqual(here)
  })

  it('has the same bytes when it is exported again', async () => {
    const ledger = await demoLedger()
    for (const request of REQUESTS) {
      expect(await digestOf(ledger, request)).toBe(await digestOf(ledger, request))
    }
  })

  it('has the same bytes from a slow store that answers out of order', async () => {
    const ledger = await demoLedger()
    for (const request of REQUESTS) {
      expect(await digestOf(slowly(ledger), request)).toBe(await digestOf(ledger, request))
    }
  })

  it('has the same bytes after the ledger has grown', async () => {
    const ledger = await demoLedger()
    const { checkpoint } = ledger
    const before = await digestOf(ledger, { range: { start: 0, end: 24 }, since: 5 })
    await ledger.append({ kind: 'freeze', scope: 'all', frozen: true, by: 'operator:bob' })
    ledger.useCheckpoint(checkpoint)
    expect(await digestOf(ledger, { range: { start: 0, end: 24 }, since: 5 })).toBe(before)
  })

  it('differs with cosignatures only in the checkpoint, the proofs that quote it, and the manifest', async () => {
    const ledger = await demoLedger()
    const request = { range: { start: 9, end: 20 }, selected: [0, 1, 3], since: 5 }
    const plain = await membersOf(await collect(writePack(ledger, request)))
    const witness = { name: 'witness.example', key: await fixedKey('witness') }
    ledger.useCheckpoint(await cosignCheckpoint(ledger.checkpoint, witness, 1_767_603_700))
    const cosigned = await membersOf(await collect(writePack(ledger, request)))
    expect(cosigned.map(({ name }) => name)).toEqual(plain.map(({ name }) => name))
    const differing = cosigned.filter(({ bytes }, i) => sha256Hex(bytes) !== sha256Hex(plain[i]?.bytes ?? ''))
    expect(differing.map(({ name }) => name)).toEqual([
      'checkpoint',
      'manifest.json',
      'proofs/0000000000000000.tlog-proof',
      'proofs/0000000000000001.tlog-proof',
      'proofs/0000000000000003.tlog-proof',
    ])
  })
})

/** The same ledger behind a store that can answer later requests first. */
function slowly(ledger: LedgerReader): LedgerReader {
  let turn = 0
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, (7 * turn++) % 4))
  return {
    checkpoint: ledger.checkpoint,
    async *receipts(start, end) {
      for await (const envelope of ledger.receipts(start, end)) {
        await pause()
        yield envelope
      }
    },
    async node(level, index) {
      await pause()
      return ledger.node(level, index)
    },
    async policy(hash) {
      await pause()
      return ledger.policy(hash)
    },
  }
}
