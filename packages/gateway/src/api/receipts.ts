// Routes to read receipts: pages, a single receipt, and its inclusion proof.

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
import {
  COUNT,
  HASH,
  list,
  NAME,
  object,
  orNull,
  described,
  TEXT,
  TIME,
  word,
  type ApiSchema,
} from './schema.ts'

/** Roles that may read receipts. */
export const READERS: readonly Role[] = ['agent', 'operator', 'admin', 'auditor']

/** Query parameters that select receipts. */
export const FILTERS: Readonly<Record<string, ApiSchema>> = {
  kind: word(...KINDS),
  principal: described(NAME, 'Principal of a decision, and of the effects and approvals that belong to it.'),
  tool: NAME,
  verdict: word(...VERDICTS),
  session: NAME,
  decision: described(HASH, 'A decision, with its effects and approvals.'),
}

/** The period of the wanted receipts, as query parameters. */
export const PERIOD: Readonly<Record<string, ApiSchema>> = {
  since: described(TIME, 'Only receipts of this time or later.'),
  until: described(TIME, 'Only receipts before this time.'),
}

const RECEIPT: ApiSchema = {
  type: 'object',
  description: 'A receipt, exactly as signed. Its members depend on its kind.',
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

const ENTRY: Readonly<Record<string, ApiSchema>> = {
  index: described(COUNT, 'Its index in the ledger.'),
  id: described(HASH, 'SHA-256 of the receipt, exactly as signed.'),
  receipt: RECEIPT,
}

/** An entry as JSON text. The payload is inserted unchanged, so it stays byte for byte as signed. */
export function entryText({ index, id, payload }: LedgerEntry): string {
  return `"index":${index},"id":"${id}","receipt":${Buffer.from(payload).toString()}`
}

/** The filter of a request, restricted to what the caller may see; undefined if that is nothing. */
export function filterOf(question: ApiQuestion): EntryFilter | undefined {
  const { identity } = question
  const [kind, verdict] = [queryIn(question, 'kind'), queryIn(question, 'verdict')]
  // Every reader needs the keys to verify signatures.
  if (kind === 'genesis' || kind === 'key') return { kind, ...periodOf(question) }
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
    ...periodOf(question),
  }
}

function periodOf(question: ApiQuestion): Pick<EntryFilter, 'since' | 'until'> {
  const [since, until] = [timeIn(question, 'since'), timeIn(question, 'until')]
  return { ...(since !== undefined && { since }), ...(until !== undefined && { until }) }
}

function timeIn(question: ApiQuestion, name: string): number | undefined {
  const text = queryIn(question, name)
  const time = text === undefined ? 0 : Date.parse(text)
  // The pattern also allows days and hours that do not exist.
  if (Number.isNaN(time)) throw new Problem('request-invalid', `\`${name}\` is not a time`)
  return text === undefined ? undefined : time
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

/** The visible entries whose ids begin with these digits. */
async function alike({ options, identity }: ApiQuestion, begins: string): Promise<readonly LedgerEntry[]> {
  const seen: LedgerEntry[] = []
  for (const entry of await options.view.begins(begins)) {
    if (await isVisible(options.view, identity, receiptOf(entry))) seen.push(entry)
  }
  return seen
}

/** The receipt of an entry. */
export function receiptOf({ payload }: LedgerEntry): Receipt {
  // Sound: a ledger contains only receipts, each checked when it was appended.
  return parseJson(payload) as unknown as Receipt
}

/** An entry that the caller may see. @throws Problem `not-found` for every other id, whether it exists or not. */
export async function findEntry(view: LedgerView, identity: Identity, id: string): Promise<LedgerEntry> {
  const entry = await view.find(id)
  if (entry && (await isVisible(view, identity, receiptOf(entry)))) return entry
  throw new Problem('not-found')
}

/** Everyone sees the genesis and key receipts. Agents see their own receipts, other roles those of their tenant. */
async function isVisible(view: LedgerView, identity: Identity, receipt: Receipt): Promise<boolean> {
  const { tenant } = receipt
  if (receipt.kind === 'genesis' || receipt.kind === 'key') return true
  if (identity.role !== 'agent') return tenant === identity.tenant
  const principal = await ownerOf(view, receipt)
  return principal !== undefined && maySee(identity, { tenant, principal })
}

/** The principal of a decision, or of the decision that an effect or approval belongs to. */
async function ownerOf(view: LedgerView, receipt: Receipt): Promise<string | undefined> {
  if (receipt.kind === 'decision') return receipt.principal
  if (receipt.kind !== 'effect' && receipt.kind !== 'approval') return undefined
  const entry = await view.find(receipt.decision)
  // Sound: `decision` is the id of a decision, and the ledger is append-only.
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
  // Taken after the entry was found, so that it covers the entry.
  const checkpoint = await options.checkpoint()
  const hashes = await inclusionProof(index, parseCheckpoint(checkpoint).size, view.node)
  return plain(formatProof({ index, hashes, checkpoint }))
}

export const receiptRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/receipts',
    id: 'listReceipts',
    about:
      'Lists receipts. An agent sees the decisions on its own calls with their effects and approvals. Other roles see all receipts of the tenant of the token.',
    roles: READERS,
    query: {
      ...FILTERS,
      ...PERIOD,
      begins: described(
        { type: 'string', pattern: '^[0-9a-f]{8,64}$' },
        'Only receipts whose id begins with these digits; at most ten. Other filters are ignored.',
      ),
      direction: {
        ...described(word('back', 'on'), '`back`: newest receipts first. `on`: oldest receipts first.'),
        default: 'back',
      },
      from: described(COUNT, 'The first index to examine: `next` of the previous page.'),
      limit: { type: 'integer', minimum: 1, maximum: 1000, default: 50 },
    },
    answers: answered('A page. A short page can still have a next page.', {
      receipts: list(object(ENTRY)),
      next: orNull(COUNT),
    }),
    answer: page,
  },
  {
    method: 'GET',
    path: '/v1/receipts/{id}',
    id: 'showReceipt',
    about: 'Returns one receipt with its signed envelope.',
    roles: READERS,
    params: { id: HASH },
    answers: answered('The receipt.', {
      ...ENTRY,
      envelope: described(TEXT, 'The exact text of the DSSE envelope.'),
    }),
    answer: show,
  },
  {
    method: 'GET',
    path: '/v1/receipts/{id}/proof',
    id: 'proveReceipt',
    about: 'Returns a proof (C2SP tlog-proof) that the receipt is in the ledger, with a new checkpoint.',
    roles: READERS,
    params: { id: HASH },
    answers: { 200: { about: 'The proof.', type: 'text/plain; charset=utf-8', schema: TEXT } },
    answer: prove,
  },
]
