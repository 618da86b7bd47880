// The contract of a store, as tests. Every store runs the same ones; a skip needs a reason.

import { chainHead, encodeReceipt, nextPlace, type ChainHead, type Encoded } from '@tollgate/evidence'
import { describe, expect, it } from 'vitest'
import { foundingBatch, type Batch, type Store } from '../../src/index.ts'
import { fixedKey, ORIGIN, START, WRITER } from '../rig.ts'

/** A store, and how to open it again as after a crash. */
export interface StoreUnderTest {
  readonly store: Store
  readonly reopen: () => Promise<Store>
}

/** The setup of the tests for one store. */
export interface ContractOptions {
  readonly name: string
  /** Returns a new, empty store that signs with the keys `ledger` and `writer` of the rig. */
  readonly create: () => Promise<StoreUnderTest>
  /** Tests to skip, each with the reason. */
  readonly skip?: Readonly<Record<string, string>>
}

export function storeContract({ name, create, skip = {} }: ContractOptions): void {
  const fact = (title: string, run: (under: StoreUnderTest) => Promise<void>): void => {
    const reason = skip[title]
    if (reason === undefined) it(title, async () => run(await create()))
    else it.skip(`${title} (${reason})`, () => undefined)
  }

  describe(`${name}: a store`, () => {
    fact('is empty at first', async ({ store }) => {
      expect(await store.head()).toBeUndefined()
      expect(await namesIn(store)).toEqual([])
      expect(await store.load(['a'])).toEqual([{ record: undefined, anchor: undefined }])
    })

    fact('has a batch after it was written, also after a crash', async (under) => {
      const batch = await written(under.store)
      for await (const store of beforeAndAfter(under)) {
        expect((await store.head())?.id).toBe(batch.entries.at(-1)?.encoded.id)
      }
    })

    fact('keeps records by name, replaces and removes them', async (under) => {
      const first = await written(under.store)
      await under.store.write(records(first, { a: '1', 'b\nx': '2', b: '3' }))
      await under.store.write(records(first, { a: '4', b: undefined, never: undefined }))
      for await (const store of beforeAndAfter(under)) {
        const loaded = await store.load(['b', 'a', 'b\nx'])
        expect(loaded.map(({ record }) => record)).toEqual([undefined, '4', '2'])
        expect(await store.list('b', 'records')).toEqual(['b\nx'])
        expect(await store.list('', 'records')).toEqual(['a', 'b\nx'])
      }
    })

    fact('keeps records of any text', async (under) => {
      const first = await written(under.store)
      const texts = { empty: '', 'näme\n☃': '{"ä":"\u0000\u2028😀"}', long: 'x'.repeat(100_000) }
      await under.store.write(records(first, texts))
      const store = await under.reopen()
      for (const [each, text] of Object.entries(texts)) {
        expect((await store.load([each]))[0]?.record).toBe(text)
      }
    })

    fact('names the newest entry that anchors a record', async (under) => {
      const first = await written(under.store)
      const one = await recoveryReceipt(first.entries.at(-1)?.encoded, 'one')
      const two = await recoveryReceipt(one, 'two')
      await under.store.write({
        after: idOf(first),
        entries: [
          { encoded: one, anchors: ['p', 'q'] },
          { encoded: two, anchors: ['p'] },
        ],
        records: new Map(),
      })
      for await (const store of beforeAndAfter(under)) {
        const [p, q] = await store.load(['p', 'q'])
        expect(text(p?.anchor)).toBe(text(two.payload))
        expect(text(q?.anchor)).toBe(text(one.payload))
        expect(await store.list('', 'anchors')).toEqual(['genesis', 'p', 'q'])
      }
    })

    fact(
      'refuses a batch that does not follow its newest receipt, and stores nothing of it',
      async (under) => {
        const first = await written(under.store)
        const next = await recoveryReceipt(first.entries.at(-1)?.encoded, 'next')
        for (const after of [undefined, 'ab'.repeat(32)]) {
          const stale: Batch = {
            after,
            entries: [{ encoded: next, anchors: ['p'] }],
            records: new Map([['r', '1']]),
          }
          await expect(under.store.write(stale)).rejects.toThrow()
        }
        const store = await under.reopen()
        expect((await store.head())?.id).toBe(idOf(first))
        expect(await namesIn(store)).toEqual(['genesis'])
      },
    )

    fact('accepts a second batch before the first has returned, and writes both in order', async (under) => {
      const first = await written(under.store)
      let newest = first.entries.at(-1)?.encoded
      const batches: Batch[] = []
      for (const size of [40, 1, 40]) {
        const after = newest?.id
        const entries = []
        for (let i = 0; i < size; i++) {
          newest = await recoveryReceipt(newest, `entry ${i}`)
          entries.push({ encoded: newest, anchors: ['p'] })
        }
        batches.push({ after, entries, records: new Map([['r', String(size)]]) })
      }
      await Promise.all(batches.map((batch) => under.store.write(batch)))
      for await (const store of beforeAndAfter(under)) {
        expect((await store.head())?.id).toBe(newest?.id)
        const [p, r] = await store.load(['p', 'r'])
        expect(text(p?.anchor)).toBe(text(newest?.payload))
        expect(r?.record).toBe('40')
      }
    })

    fact('writes nothing after a batch that fails', async (under) => {
      const first = await written(under.store)
      const good = await recoveryReceipt(first.entries.at(-1)?.encoded, 'good')
      const foreign = encodeReceipt({ ...good.receipt, key: 'cd'.repeat(32) })
      const behind = await recoveryReceipt(foreign, 'behind')
      const batch = (after: string | undefined, encoded: Encoded): Batch => {
        return { after, entries: [{ encoded, anchors: [] }], records: new Map([['r', '1']]) }
      }
      const [one, two] = await Promise.allSettled([
        under.store.write(batch(idOf(first), foreign)),
        under.store.write(batch(foreign.id, behind)),
      ])
      expect([one.status, two.status]).toEqual(['rejected', 'rejected'])
      const store = await under.reopen()
      expect((await store.head())?.id).toBe(idOf(first))
      expect(await store.list('r', 'records')).toEqual([])
    })

    fact('writes all of a batch or nothing', async (under) => {
      const first = await written(under.store)
      const good = await recoveryReceipt(first.entries.at(-1)?.encoded, 'good')
      const foreign = encodeReceipt({ ...good.receipt, key: 'cd'.repeat(32) })
      const batch: Batch = {
        after: idOf(first),
        entries: [
          { encoded: good, anchors: ['p'] },
          { encoded: foreign, anchors: [] },
        ],
        records: new Map([['r', '1']]),
      }
      await expect(under.store.write(batch)).rejects.toThrow()
      const store = await under.reopen()
      expect((await store.head())?.id).toBe(idOf(first))
      expect(await namesIn(store)).toEqual(['genesis'])
    })
  })
}

/** Yields the store, and then the reopened store. Some media allow only one open store. */
async function* beforeAndAfter({ store, reopen }: StoreUnderTest): AsyncGenerator<Store> {
  yield store
  yield await reopen()
}

async function written(store: Store): Promise<Batch> {
  const batch = foundingBatch({
    origin: ORIGIN,
    writer: WRITER,
    ledgerKey: (await fixedKey('ledger')).publicKey,
    writerKey: (await fixedKey('writer')).publicKey,
    time: START,
  })
  await store.write(batch)
  return batch
}

function records(after: Batch, texts: Readonly<Record<string, string | undefined>>): Batch {
  return { after: idOf(after), entries: [], records: new Map(Object.entries(texts)) }
}

function idOf(batch: Batch): string | undefined {
  return batch.entries.at(-1)?.encoded.id
}

async function recoveryReceipt(after: Encoded | undefined, name: string): Promise<Encoded> {
  const head: ChainHead | undefined = after && chainHead(after)
  return encodeReceipt({
    v: 1,
    kind: 'recovery',
    ledger: ORIGIN,
    tenant: 'default',
    writer: WRITER,
    ...nextPlace(head, []),
    causes: [],
    time: new Date(START).toISOString(),
    key: (await fixedKey('writer')).publicKey.id,
    closed: 0,
    because: name,
  })
}

function text(bytes: Uint8Array | undefined): string {
  return new TextDecoder().decode(bytes)
}

async function namesIn(store: Store): Promise<readonly string[]> {
  return [...(await store.list('', 'records')), ...(await store.list('', 'anchors'))]
}
