// Routes to export evidence: the signed checkpoint, and EvidencePacks that can be verified offline.

import { parseCheckpoint, parseReceipt, writePack, type LedgerReader, type Range } from '@tollgate/evidence'
import type { LedgerView } from '../view.ts'
import { unknownToken } from './auth.ts'
import { genesisOf } from './health.ts'
import { Problem } from './problem.ts'
import { FILTERS, findEntry, PERIOD } from './receipts.ts'
import { numberIn, plain, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import { COUNT, HASH, list, described, TEXT } from './schema.ts'
import { hasFilters, selectedBy } from './selection.ts'

/** Selects what to export. Default: the whole ledger. */
interface ExportRequest {
  /** First index of the range. */
  readonly from?: number
  /** Index after the last of the range. */
  readonly to?: number
  /** Size of an earlier checkpoint: the pack then proves that the ledger has only grown since. */
  readonly continues?: number
  /** Indexes of single receipts. */
  readonly receipts?: readonly number[]
  /** The range is left out: only `receipts` are wanted. */
  readonly selection?: { readonly tenant: string }
}

/** A pack in progress and its file name. */
interface Export {
  readonly name: string
  readonly pack: AsyncGenerator<Uint8Array>
}

/**
 * Exports a part of a ledger under a checkpoint. Adds what the verifier needs: the genesis receipt, all keys, and the
 * policies in force where the range begins and at each selected receipt.
 *
 * @throws EvidenceError `PACK_MALFORMED` while the pack is written, if the request cannot be met.
 */
async function exportPack(view: LedgerView, checkpoint: string, request: ExportRequest): Promise<Export> {
  const { origin, size } = parseCheckpoint(checkpoint)
  const { from, to, continues, receipts = [], selection } = request
  const range = selection ? undefined : { start: from ?? 0, end: to ?? size }
  const needed = [
    ...(await view.indexesOf(['genesis', 'key'])),
    ...(await policiesAt(view, range ? [range.start] : receipts, selection?.tenant)),
  ]
  const selected = [...new Set([...needed, ...receipts])]
    .filter((index) => index < size && !(range && index >= range.start && index < range.end))
    .sort((a, b) => a - b)
  const { start, end } = range ?? { start: receipts[0] ?? 0, end: (receipts.at(-1) ?? 0) + 1 }
  return {
    name: `${origin.replace(/[^A-Za-z0-9._-]/g, '-')}-${start}-${end}.pack`,
    pack: writePack(readerOf(view, checkpoint), {
      selected,
      ...(range && { range }),
      ...(continues !== undefined && { since: continues }),
    }),
  }
}

/** Where the policy of each tenant, or of one, was last activated before each of these indexes, which ascend. */
async function policiesAt(
  view: LedgerView,
  indexes: readonly number[],
  tenant?: string,
): Promise<ReadonlySet<number>> {
  const [newest, needed] = [new Map<string, number>(), new Set<number>()]
  const activations = await view.indexesOf(['policy'])
  let next = 0
  for (const index of indexes) {
    for (let at = activations[next]; at !== undefined && at < index; at = activations[++next]) {
      const [envelope] = await view.envelopes(at, at + 1)
      const owner = envelope && parseReceipt(envelope).receipt.tenant
      if (owner !== undefined && (tenant === undefined || owner === tenant)) newest.set(owner, at)
    }
    for (const activation of newest.values()) needed.add(activation)
  }
  return needed
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
  const [from, to, continues] = ['from', 'to', 'continues'].map((name) => numberIn(question, name))
  const ids = query['receipt'] ?? []
  const filtered = hasFilters(question)
  const ranged = !filtered && (from !== undefined || to !== undefined || ids.length === 0)
  if (ranged && identity.tenant !== (await genesisOf(view)).tenant) {
    throw new Problem(
      'role-forbidden',
      'a range contains receipts of all tenants; only a token of the tenant of the ledger may export it',
      {
        remedy: 'Name the receipts with `receipt`, or select them with filters.',
      },
    )
  }
  const receipts: number[] = filtered ? [...(await selectedBy(question))] : []
  for (const id of ids) receipts.push((await findEntry(view, identity, id)).index)
  receipts.sort((a, b) => a - b)
  const { name, pack } = await exportPack(view, await options.checkpoint(), {
    receipts,
    ...(!ranged && { selection: { tenant: identity.tenant } }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(continues !== undefined && { continues }),
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
    if (!question.stillKnown()) throw unknownToken(question.asked)
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
      'Returns an EvidencePack: a range of the ledger, single receipts, or both, with everything that offline verification needs. Without parameters, the pack contains the whole ledger. With filters, it contains only the receipts that match, each with its proof; `from` and `to` then limit the search. A range contains the receipts of all tenants, so only a token of the tenant of the ledger (`default`) can export a range.',
    roles: ['auditor', 'admin'],
    query: {
      from: described(COUNT, 'First index of the range.'),
      to: described(COUNT, 'Index after the last of the range.'),
      continues: described(
        COUNT,
        'Size of an earlier checkpoint. The pack then proves that since this checkpoint the ledger has only grown.',
      ),
      receipt: described(list(HASH, 100), 'A single receipt; may be repeated.'),
      ...FILTERS,
      ...PERIOD,
    },
    answers: { 200: { about: 'The pack.', type: 'application/x-tar' } },
    problems: ['not-found'],
    answer: download,
  },
]
