// Routes to export evidence: the signed checkpoint, and EvidencePacks that can be verified offline.

import { parseCheckpoint, parseReceipt, writePack, type LedgerReader, type Range } from '@tollgate/evidence'
import type { LedgerView } from '../view.ts'
import { unknownToken } from './auth.ts'
import { genesisOf } from './health.ts'
import { Problem } from './problem.ts'
import { findEntry } from './receipts.ts'
import { numberIn, plain, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import { COUNT, HASH, list, described, TEXT } from './schema.ts'

/** Selects what to export. Default: the whole ledger. */
interface ExportRequest {
  /** First index of the range. */
  readonly from?: number
  /** Index after the last of the range. */
  readonly to?: number
  /** Size of an earlier checkpoint. The pack then proves that the ledger has only grown since. */
  readonly since?: number
  /** Indexes of single receipts. Without `from` and `to`, only these are exported. */
  readonly receipts?: readonly number[]
}

/** A pack in progress and its file name. */
interface Export {
  readonly name: string
  readonly pack: AsyncGenerator<Uint8Array>
}

/**
 * Exports a part of a ledger under a checkpoint. Adds what the verifier needs: the genesis receipt, all keys, and the
 * policies in force at the start of the range.
 *
 * @throws EvidenceError `PACK_MALFORMED` while the pack is written, if the request cannot be met.
 */
async function exportPack(view: LedgerView, checkpoint: string, request: ExportRequest): Promise<Export> {
  const { origin, size } = parseCheckpoint(checkpoint)
  const { from, to, since, receipts = [] } = request
  const ranged = from !== undefined || to !== undefined || receipts.length === 0
  const range = ranged ? { start: from ?? 0, end: to ?? size } : undefined
  const needed = [
    ...(await view.indexesOf(['genesis', 'key'])),
    ...(range ? await policiesAt(view, range.start) : []),
  ]
  const selected = [...new Set([...needed, ...receipts])]
    .filter((index) => index < size && !(range && index >= range.start && index < range.end))
    .sort((a, b) => a - b)
  const { start, end } = range ?? { start: Math.min(...receipts), end: Math.max(...receipts) + 1 }
  return {
    name: `${origin.replace(/[^A-Za-z0-9._-]/g, '-')}-${start}-${end}.pack`,
    pack: writePack(readerOf(view, checkpoint), {
      selected,
      ...(range && { range }),
      ...(since !== undefined && { since }),
    }),
  }
}

/** The newest policy receipt of each tenant before an index. */
async function policiesAt(view: LedgerView, start: number): Promise<readonly number[]> {
  const newest = new Map<string, number>()
  for (const index of await view.indexesOf(['policy'])) {
    if (index >= start) break
    const [envelope] = await view.envelopes(index, index + 1)
    if (envelope) newest.set(parseReceipt(envelope).receipt.tenant, index)
  }
  return [...newest.values()]
}

function readerOf(view: LedgerView, checkpoint: string): LedgerReader {
  return {
    checkpoint,
    receipts: (start, end) => envelopesOf(view, { start, end }),
    node: view.node,
    async policy(hash) {
      const text = await view.record(`text\n${hash}`)
      return text === undefined ? undefined : Buffer.from(text)
    },
  }
}

const CHUNK = 1000

async function* envelopesOf(view: LedgerView, { start, end }: Range): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end; at += CHUNK) yield* await view.envelopes(at, Math.min(end, at + CHUNK))
}

async function download(question: ApiQuestion): Promise<Reply> {
  const { options, identity, query } = question
  const { view } = options
  const [from, to, since] = ['from', 'to', 'since'].map((name) => numberIn(question, name))
  const ids = query['receipt'] ?? []
  const ranged = from !== undefined || to !== undefined || ids.length === 0
  if (ranged && identity.tenant !== (await genesisOf(view)).tenant) {
    throw new Problem(
      'role-forbidden',
      'a range contains receipts of all tenants; only the tenant that runs the gateway may export it',
      {
        remedy: 'List the receipts with `receipt`.',
      },
    )
  }
  const receipts: number[] = []
  for (const id of ids) receipts.push((await findEntry(view, identity, id)).index)
  const { name, pack } = await exportPack(view, await options.checkpoint(), {
    receipts,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(since !== undefined && { since }),
  })
  // Produces the first chunk now, so that a bad request still gets an error answer.
  const first = await pack.next()
  const disposition = `attachment; filename="${name}"`
  return {
    status: 200,
    headers: { 'content-type': 'application/x-tar', 'content-disposition': disposition },
    body: first.done === true ? '' : whole(question, first.value, pack),
  }
}

async function* whole(
  question: ApiQuestion,
  first: Uint8Array,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield first
  for await (const piece of rest) {
    // Breaks off, so that the download is not taken for a complete pack.
    if (!question.stillKnown()) throw unknownToken()
    yield piece
  }
}

export const evidenceRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/checkpoint',
    id: 'showCheckpoint',
    about: 'Returns a signed checkpoint (C2SP tlog-checkpoint) of the newest durable head of the ledger.',
    roles: 'any role',
    answers: { 200: { about: 'The signed note.', type: 'text/plain; charset=utf-8', schema: TEXT } },
    answer: async ({ options }) => plain(await options.checkpoint()),
  },
  {
    method: 'GET',
    path: '/v1/evidence/export',
    id: 'exportEvidence',
    about:
      'Exports an EvidencePack: a range of the ledger, single receipts, or both, with everything needed to verify it offline. Without parameters, exports the whole ledger. A range contains receipts of all tenants, so only the tenant that runs the gateway may export one.',
    roles: ['auditor', 'admin'],
    query: {
      from: described(COUNT, 'First index of the range.'),
      to: described(COUNT, 'Index after the last of the range.'),
      since: described(
        COUNT,
        'Size of an earlier checkpoint. The pack then proves that the ledger has only grown since.',
      ),
      receipt: described(list(HASH, 100), 'The id of a single receipt. May be repeated.'),
    },
    answers: { 200: { about: 'The pack.', type: 'application/x-tar' } },
    problems: ['not-found'],
    answer: download,
  },
]
