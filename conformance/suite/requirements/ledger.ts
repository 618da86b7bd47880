// L2: the ledger and its evidence.

import assert from 'node:assert/strict'
import { badSignatures, chainProblems, entriesOf, sha256 } from '../pack.ts'
import { at, isFields, listAt, textAt, type Fields } from '../reading.ts'
import { receiptOf } from './verdicts.ts'
import type { Requirement, World } from '../requirement.ts'

/** A few decisions of every kind. */
async function someCalls({ caller }: World): Promise<readonly string[]> {
  const agent = await caller('agent')
  const receipts: string[] = []
  for (const tool of ['note/any', 'note/unruled', 'ask/write', 'order/read']) {
    const { receipt } = await agent.evaluate({ tool })
    receipts.push(String(receipt))
    if (tool !== 'note/any') continue
    await agent.post('/v1/effects', { decision: receipt, status: 'COMPLETED', output: 'x' })
  }
  return receipts
}

/** All receipts that the HTTP door lists, page by page. */
async function listed({ admin }: World): Promise<readonly Fields[]> {
  const found: Fields[] = []
  for (let from = 0; !Number.isNaN(from);) {
    const { body } = await admin.get(`/v1/receipts?direction=on&limit=100&from=${from}`)
    found.push(...listAt(body, 'receipts').filter(isFields))
    from = typeof body.next === 'number' ? body.next : Number.NaN
  }
  return found
}

/** The pack with one byte changed, in the content of a receipt: the base64 of `"ALLOW"` and others stays base64. */
function withFlippedPayload(pack: Buffer): Buffer {
  const copy = Buffer.from(pack)
  const place = copy.indexOf('{"payload":"', copy.length >> 1) + 200
  copy[place] = copy[place] === 0x41 ? 0x42 : 0x41
  return copy
}

/** The pack without one line of a bundle: the others move up. The size of the member stays, and zeros fill it. */
function withoutOneReceipt(pack: Buffer): Buffer {
  const copy = Buffer.from(pack)
  const begin = copy.indexOf('{"payload":"', copy.length >> 1)
  const end = copy.indexOf('\n', begin) + 1
  const last = copy.indexOf('\0', end)
  copy.copy(copy, begin, end, last)
  copy.fill(0, last - (end - begin), last)
  return copy
}

export const LEDGER: readonly Requirement[] = [
  {
    id: 'E1',
    level: 'L2',
    claims: ['H7', 'H18', 'H23', 'H24'],
    says: 'The receipts of a pack are chained, with rising numbers, Lamport clocks and times.',
    async test(world) {
      await someCalls(world)
      const entries = entriesOf(await world.pack())
      assert.ok(entries.length > 5)
      assert.equal(entries[0]?.receipt.kind, 'genesis')
      assert.deepEqual(chainProblems(entries), [])
    },
  },
  {
    id: 'E2',
    level: 'L2',
    claims: ['H15', 'H25'],
    says: 'Each receipt has a valid Ed25519 signature of a key that the ledger added before.',
    async test(world) {
      await someCalls(world)
      assert.deepEqual(badSignatures(entriesOf(await world.pack())), [])
    },
  },
  {
    id: 'E3',
    level: 'L2',
    claims: ['H3'],
    says: 'Each answered decision and effect is in the pack.',
    async test(world) {
      await someCalls(world)
      const ids = new Set(entriesOf(await world.pack()).map(({ id }) => id))
      const answered = world.answers.flatMap(([, { body }]) =>
        typeof body.receipt === 'string' ? [body.receipt] : [],
      )
      assert.ok(answered.length > 3)
      const lost = answered.filter((id) => !ids.has(id))
      assert.deepEqual(lost, [])
    },
  },
  {
    id: 'E4',
    level: 'L2',
    claims: ['H23'],
    says: 'The list of receipts is complete and equal to the pack.',
    async test(world) {
      await someCalls(world)
      const entries = entriesOf(await world.pack())
      const found = (await listed(world)).slice(0, entries.length)
      assert.deepEqual(
        found.map(({ index, id }) => [index, id]),
        entries.map(({ id }, index) => [index, id]),
      )
    },
  },
  {
    id: 'E5',
    level: 'L2',
    claims: ['H15'],
    says: 'The id of a receipt is the SHA-256 of exactly what was signed.',
    async test(world) {
      const [id = ''] = await someCalls(world)
      const { body } = await world.admin.get(`/v1/receipts/${id}`)
      const payload = Buffer.from(textAt(JSON.parse(textAt(body, 'envelope')), 'payload'), 'base64')
      assert.equal(sha256(payload), id)
      assert.deepEqual(JSON.parse(payload.toString()), body.receipt)
    },
  },
  {
    id: 'E6',
    level: 'L2',
    claims: ['H4'],
    says: 'The pack verifies offline with the trust file.',
    async test(world) {
      await someCalls(world)
      const { level, exit, findings } = await world.verify(await world.pack(), await world.running.trust())
      assert.deepEqual({ level, exit, findings }, { level: 'verified', exit: 0, findings: [] })
    },
  },
  {
    id: 'E7',
    level: 'L2',
    claims: ['H4'],
    says: 'Without a trust file, the pack is whole, and its ledger is not proved.',
    async test(world) {
      const { level, exit } = await world.verify(await world.pack())
      assert.deepEqual({ level, exit }, { level: 'integrity only', exit: 3 })
    },
  },
  {
    id: 'E8',
    level: 'L2',
    claims: ['H23', 'H25'],
    says: 'A changed or removed receipt of the pack is found.',
    async test(world) {
      await someCalls(world)
      const [pack, trust] = [await world.pack(), await world.running.trust()]
      for (const tampered of [withFlippedPayload(pack), withoutOneReceipt(pack)]) {
        assert.notDeepEqual(tampered, pack)
        const { exit } = await world.verify(tampered, trust)
        assert.ok(exit === 1 || exit === 2, `the verifier ended with ${exit}`)
      }
    },
  },
  {
    id: 'E9',
    level: 'L2',
    claims: ['H5', 'H14', 'S15'],
    says: 'Receipts and packs have no arguments and no outputs, only hashes.',
    async test({ caller, pack }) {
      const agent = await caller('agent')
      const marks = ['a-mark-of-the-arguments', 'a-mark-of-the-output']
      const { receipt } = await agent.evaluate({ tool: 'note/any', arguments: { [`${marks[0]}`]: marks[0] } })
      await agent.post('/v1/effects', { decision: receipt, status: 'COMPLETED', output: marks[1] })
      const payloads = JSON.stringify(entriesOf(await pack()).map((entry) => entry.receipt))
      for (const mark of marks) assert.ok(!payloads.includes(mark), mark)
    },
  },
  {
    id: 'E10',
    level: 'L2',
    claims: ['S13', 'S14'],
    says: 'Freezes, answers of people, tokens and policies have receipts that name the person.',
    async test(world) {
      const [agent, person] = [await world.caller('agent'), await world.caller('operator')]
      const { approval } = await agent.evaluate({ tool: 'ask/write' })
      const answered = await person.post(`/v1/approvals/${String(approval)}/approve`, {})
      assert.equal(at(await receiptOf(world, answered.body), 'approver'), person.principal)
      const frozen = await person.post('/v1/freeze', { scope: 'session', target: 's-e10', frozen: true })
      assert.equal(at(await receiptOf(world, frozen.body), 'by'), person.principal)
      const kinds = entriesOf(await world.pack()).map(({ receipt }) => receipt.kind)
      for (const kind of ['policy', 'token', 'pin']) assert.ok(kinds.includes(kind), kind)
    },
  },
  {
    id: 'E11',
    level: 'L2',
    claims: ['H3'],
    says: 'A stream delivers each receipt once and in order, and continues where it was left.',
    async test(world) {
      const wanted = entriesOf(await world.pack()).length
      const first = await streamed(world, wanted - 2, '?from=0')
      const rest = await streamed(world, 2, '', { 'last-event-id': first.at(-1) ?? '' })
      const expected = Array.from({ length: wanted }, (_, index) => String(index))
      assert.deepEqual([...first, ...rest], expected)
    },
  },
  {
    id: 'E12',
    level: 'L2',
    claims: ['H4'],
    says: 'A later pack proves that the ledger has only grown since an earlier one.',
    async test(world) {
      const before = entriesOf(await world.pack())
      await someCalls(world)
      const grown = await world.admin.bytes(`/v1/evidence/export?continues=${before.length}`)
      const { exit } = await world.verify(grown, await world.running.trust())
      assert.equal(exit, 0)
      const after = entriesOf(await world.pack())
      assert.deepEqual(
        after.slice(0, before.length).map(({ envelope }) => envelope),
        before.map(({ envelope }) => envelope),
      )
    },
  },
  {
    id: 'K1',
    level: 'L2',
    claims: ['H3'],
    says: 'Each decision that was answered before a kill is in the ledger after the restart.',
    async test(world) {
      const agent = await world.caller('agent')
      const answered: string[] = []
      const calls = Array.from({ length: 40 }, async () => {
        const { receipt } = await agent.evaluate({ tool: 'note/any' })
        answered.push(String(receipt))
        if (answered.length === 20) await world.running.kill()
      })
      await Promise.allSettled(calls)
      await world.running.restart()
      assert.ok(answered.length >= 20)
      const ids = new Set(entriesOf(await world.pack()).map(({ id }) => id))
      assert.deepEqual(
        answered.filter((id) => !ids.has(id)),
        [],
      )
    },
  },
  {
    id: 'K2',
    level: 'L2',
    claims: ['H16', 'H20'],
    says: 'A call that runs during a kill was decided before, and is closed as UNKNOWN after the restart.',
    async test(world) {
      const agent = await world.caller('agent')
      const call = await agent.mcp('own')
      world.recorder.during(() => world.running.kill())
      await call('read', { text: 'x' }).catch(() => undefined)
      await world.running.restart()
      const entries = entriesOf(await world.pack())
      const decision = entries.find(
        ({ receipt }) => receipt.kind === 'decision' && receipt.principal === agent.principal,
      )
      assert.equal(decision?.receipt.verdict, 'ALLOW')
      const effect = entries.find(({ receipt }) => receipt.decision === decision.id)
      assert.deepEqual([effect?.receipt.status, effect?.receipt.cause], ['UNKNOWN', 'crash'])
    },
  },
  {
    id: 'K3',
    level: 'L2',
    claims: ['H7', 'H18'],
    says: 'After a kill the chain continues, and the pack still verifies.',
    async test(world) {
      await someCalls(world)
      const before = entriesOf(await world.pack())
      await world.killAndRestart()
      await someCalls(world)
      const pack = await world.pack()
      const after = entriesOf(pack)
      assert.deepEqual(
        after.slice(0, before.length).map(({ id }) => id),
        before.map(({ id }) => id),
      )
      assert.deepEqual(chainProblems(after), [])
      assert.equal((await world.verify(pack, await world.running.trust())).exit, 0)
    },
  },
  {
    id: 'K4',
    level: 'L2',
    claims: ['S1'],
    says: 'Freezes, used approvals and rates survive a kill.',
    async test(world) {
      const [agent, frozen] = [await world.caller('agent'), await world.caller('agent')]
      const person = await world.caller('operator')
      await person.post('/v1/freeze', { scope: 'principal', target: frozen.principal, frozen: true })
      const { approval } = await agent.evaluate({ tool: 'ask/write', session_id: 's1' })
      await person.post(`/v1/approvals/${String(approval)}/approve`, {})
      const used = { tool: 'ask/write', session_id: 's1', approval }
      assert.equal((await agent.evaluate(used)).verdict, 'ALLOW')
      for (let call = 0; call < 5; call++) await agent.evaluate({ tool: 'rate/call' })
      await world.killAndRestart()
      assert.equal((await frozen.evaluate({ tool: 'note/any' })).verdict, 'DENY')
      assert.notEqual((await agent.evaluate(used)).verdict, 'ALLOW')
      assert.equal((await agent.evaluate({ tool: 'rate/call' })).verdict, 'DENY')
    },
  },
]

/** The ids of the first events of a stream. */
async function streamed(
  { admin }: World,
  wanted: number,
  query: string,
  headers: Fields = {},
): Promise<readonly string[]> {
  const stop = new AbortController()
  const ids: string[] = []
  let text = ''
  for await (const chunk of await admin.stream(`/v1/receipts/stream${query}`, stop.signal, headers)) {
    text += Buffer.from(chunk).toString()
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    ids.push(...events.flatMap((event) => /^id: ?(\d+)$/m.exec(event)?.[1] ?? []))
    if (ids.length >= wanted) break
  }
  stop.abort()
  return ids.slice(0, wanted)
}
