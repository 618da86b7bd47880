// Receipts for reading: pages of them, one, and the proof that one is in the ledger.

import {
  formatProof,
  inclusionProof,
  KINDS,
  parseCheckpoint,
  parseJson,
  VERDICTS,
  type Decision,
  type Kind,
  type Receipt,
  type Verdict,
} from '@tollgate/evidence'
import type { Identity, Role } from '../tokens.ts'
import type { EntryFilter, LedgerEntry, LedgerView } from '../view.ts'
import { maySee } from './auth.ts'
import { Problem } from './problem.ts'
import {
  answered,
  jsonText,
  numberIn,
  plain,
  queryIn,
  type ApiQuestion,
  type Reply,
  type ApiRoute,
} from './route.ts'
import { COUNT, HASH, list, NAME, object, orNull, said, TEXT, TIME, word, type ApiSchema } from './schema.ts'

/** Roles that may read receipts. */
export const READERS: readonly Role[] = ['agent', 'operator', 'admin', 'auditor']

/** Which receipts are wanted, as query parameters. */
export const FILTERS: Readonly<Record<string, ApiSchema>> = {
  kind: word(...KINDS),
  principal: said(NAME, 'Principal of a decision, and of the effects and approvals that belong to it.'),
  tool: NAME,
  verdict: word(...VERDICTS),
  session: NAME,
  decision: said(HASH, 'A decision, with its effects and approvals.'),
}

const RECEIPT: ApiSchema = {
  type: 'object',
  description: 'A receipt, field by field as it was signed; which fields there are depends on its kind.',
  properties: {
    v: { type: 'integer', enum: [1] },
    kind: word(...KINDS),
    ledger: TEXT,
    tenant: NAME,
    writer: TEXT,
    seq: COUNT,
    lamport_clock: COUNT,
    prev_receipt_hash: HASH,
    causes: list(HASH, 16),
    time: TIME,
    key: HASH,
  },
  required: [
    'v',
    'kind',
    'ledger',
    'tenant',
    'writer',
    'seq',
    'lamport_clock',
    'prev_receipt_hash',
    'causes',
    'time',
    'key',
  ],
}

/** A receipt and its place. */
const ENTRY: Readonly<Record<string, ApiSchema>> = {
  index: said(COUNT, 'Its place in the ledger.'),
  id: said(HASH, 'SHA-256 of its payload.'),
  receipt: RECEIPT,
}

/** An entry as JSON text. The payload is JSON already, and stays byte for byte what was signed. */
export function entryText({ index, id, payload }: LedgerEntry): string {
  return `"index":${index},"id":"${id}","receipt":${Buffer.from(payload).toString()}`
}

/** What the caller may see of what was asked for; undefined if that is nothing. */
export function filterOf(question: ApiQuestion): EntryFilter | undefined {
  const { identity } = question
  const [kind, verdict] = [queryIn(question, 'kind'), queryIn(question, 'verdict')]
  // Everybody who may read at all may check signatures, and for that needs the keys.
  if (kind === 'genesis' || kind === 'key') return { kind }
  const asked = queryIn(question, 'principal')
  const own = identity.role === 'agent' ? identity.principal : asked
  if (asked !== undefined && own !== asked) return undefined
  const [tool, session, decision] = ['tool', 'session', 'decision'].map((name) => queryIn(question, name))
  return {
    tenant: identity.tenant,
    ...(own !== undefined && { principal: own }),
    // Sound: the schemas allow the words of these two tables only.
    ...(kind !== undefined && { kind: kind as Kind }),
    ...(verdict !== undefined && { verdict: verdict as Verdict }),
    ...(tool !== undefined && { tool }),
    ...(session !== undefined && { session }),
    ...(decision !== undefined && { decision }),
  }
}

async function page(question: ApiQuestion): Promise<Reply> {
  const filter = filterOf(question)
  if (!filter) return jsonText(200, '{"receipts":[],"next":null}')
  const begins = queryIn(question, 'begins')
  if (begins !== undefined) return pageOf(await alike(question, begins), undefined)
  const from = numberIn(question, 'from')
  const { entries, next } = await question.options.view.page({
    filter,
    direction: queryIn(question, 'direction') === 'on' ? 'on' : 'back',
    ...(from !== undefined && { from }),
    limit: numberIn(question, 'limit') ?? 50,
  })
  return pageOf(entries, next)
}

function pageOf(entries: readonly LedgerEntry[], next: number | undefined): Reply {
  const receipts = entries.map((entry) => `{${entryText(entry)}}`).join(',')
  return jsonText(200, `{"receipts":[${receipts}],"next":${next ?? null}}`)
}

/** The entries whose ids begin so, as far as the caller may see them. */
async function alike({ options, identity }: ApiQuestion, begins: string): Promise<readonly LedgerEntry[]> {
  const seen: LedgerEntry[] = []
  for (const entry of await options.view.begins(begins)) {
    if (await isVisible(options.view, identity, receiptOf(entry))) seen.push(entry)
  }
  return seen
}

/** The receipt of an entry. */
export function receiptOf({ payload }: LedgerEntry): Receipt {
  // Sound: a ledger holds receipts, each checked when it was appended.
  return parseJson(payload) as unknown as Receipt
}

/** An entry that the caller may see. @throws Problem `not-found` for every other, whether it exists or not. */
export async function findEntry(view: LedgerView, identity: Identity, id: string): Promise<LedgerEntry> {
  const entry = await view.find(id)
  if (entry && (await isVisible(view, identity, receiptOf(entry)))) return entry
  throw new Problem('not-found')
}

/** Everybody sees what the ledger as a whole rests on, its beginning and its keys; who is no agent, what its tenant has. */
async function isVisible(view: LedgerView, identity: Identity, receipt: Receipt): Promise<boolean> {
  const { tenant } = receipt
  if (receipt.kind === 'genesis' || receipt.kind === 'key') return true
  if (identity.role !== 'agent') return tenant === identity.tenant
  const principal = await ownerOf(view, receipt)
  return principal !== undefined && maySee(identity, { tenant, principal })
}

/** The principal that a receipt belongs to: its own if it is a decision, else that of the decision it is about. */
async function ownerOf(view: LedgerView, receipt: Receipt): Promise<string | undefined> {
  if (receipt.kind === 'decision') return receipt.principal
  if (receipt.kind !== 'effect' && receipt.kind !== 'approval') return undefined
  const entry = await view.find(receipt.decision)
  // Sound: `decision` names a decision, and the ledger is append-only.
  return entry && (receiptOf(entry) as Decision).principal
}

async function show({ options, identity, params }: ApiQuestion): Promise<Reply> {
  const entry = await findEntry(options.view, identity, params['id'] ?? '')
  const envelope = JSON.stringify(Buffer.from(entry.envelope).toString())
  return jsonText(200, `{${entryText(entry)},"envelope":${envelope}}`)
}

async function prove({ options, identity, params }: ApiQuestion): Promise<Reply> {
  const { view } = options
  const { index } = await findEntry(view, identity, params['id'] ?? '')
  // Taken after the entry was found, so it covers it.
  const checkpoint = await options.checkpoint()
  const hashes = await inclusionProof(index, parseCheckpoint(checkpoint).size, view.node)
  return plain(formatProof({ index, hashes, checkpoint }))
}

/** Receipts. */
export const receiptRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/receipts',
    id: 'listReceipts',
    about:
      'Receipts, newest first. An agent sees the decisions on its own calls, with their effects and approvals; everybody else what belongs to the tenant of the token.',
    roles: READERS,
    query: {
      ...FILTERS,
      begins: said(
        { type: 'string', pattern: '^[0-9a-f]{8,64}$' },
        'Only receipts whose id begins so, whatever else is asked for; at most ten.',
      ),
      direction: { ...word('back', 'on'), default: 'back' },
      from: said(COUNT, 'The first index that is looked at; `next` of the page before.'),
      limit: { type: 'integer', minimum: 1, maximum: 1000, default: 50 },
    },
    answers: answered('A page. It may be short and still have a next one.', {
      receipts: list(object(ENTRY)),
      next: orNull(COUNT),
    }),
    answer: page,
  },
  {
    method: 'GET',
    path: '/v1/receipts/{id}',
    id: 'showReceipt',
    about: 'One receipt, with the envelope that was signed.',
    roles: READERS,
    params: { id: HASH },
    answers: answered('The receipt.', {
      ...ENTRY,
      envelope: said(TEXT, 'The exact text of the DSSE envelope.'),
    }),
    answer: show,
  },
  {
    method: 'GET',
    path: '/v1/receipts/{id}/proof',
    id: 'proveReceipt',
    about: 'A proof (C2SP tlog-proof) that the receipt is in the ledger, under a fresh checkpoint.',
    roles: READERS,
    params: { id: HASH },
    answers: { 200: { about: 'The proof.', type: 'text/plain; charset=utf-8', schema: TEXT } },
    answer: prove,
  },
]
