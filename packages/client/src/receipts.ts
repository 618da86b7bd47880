// Lists, fetches, streams and verifies receipts.

import { type Kind, type Trust, type Verdict } from '@tollgate/evidence'
import { jsonOf, invalidAnswer, textOf } from './answer.ts'
import { exchange } from './exchange.ts'
import { count, listOf, object, orNull, text } from './reading.ts'
import { streamReceipts } from './stream.ts'
import type { Connection } from './transport.ts'
import { verifyReceipt, type Proven, type VerifiedReceipt } from './verify.ts'
import { readEntry, type ReceiptEntry } from './entry.ts'

/** Selects receipts. All given members must match. */
export interface ReceiptFilter {
  readonly kind?: Kind
  readonly principal?: string
  readonly tool?: string
  readonly verdict?: Verdict
  readonly session?: string
  /** Id of a decision: selects it and its effects and approvals. */
  readonly decision?: string
}

/** A request for one page of the ledger. */
export interface PageRequest extends ReceiptFilter {
  /** `back` for newest first (default), `on` for oldest first. */
  readonly direction?: 'back' | 'on'
  /** The first index. */
  readonly from?: number
  /** Maximum number of entries, up to 1,000. Default 50. */
  readonly limit?: number
  readonly signal?: AbortSignal
}

/** Matching receipts and the start of the next page. */
export interface ReceiptPage {
  readonly receipts: readonly ReceiptEntry[]
  /** `from` of the next page; null on the last page. A short page can have a next one. */
  readonly next: number | null
}

/** A receipt with its exact envelope. */
export interface FullReceipt extends ReceiptEntry {
  readonly envelope: string
}

/** The options of `stream`. */
export interface StreamOptions extends ReceiptFilter {
  /** The first index. Default: only new entries. */
  readonly from?: number
  readonly signal?: AbortSignal
  /** Maximum number of reconnects in a row. Default 20, about 90 seconds. */
  readonly reconnects?: number
}

/** The options of `verify`. */
export interface VerifyOptions {
  /**
   * `check` (default) verifies the signature of the writer under a key that the ledger proves. `skip` is for tokens that may not
   * read key receipts. The inclusion in the ledger under the pinned key is always checked.
   */
  readonly signature?: 'check' | 'skip'
  readonly signal?: AbortSignal
}

/** The receipts of a gateway. An agent sees only its own. */
export interface Receipts {
  list(request?: PageRequest): Promise<ReceiptPage>
  get(id: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<FullReceipt>
  /** The inclusion proof of a receipt, as text (C2SP tlog-proof). Check it with `openProof`. */
  proof(id: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<string>
  /**
   * Yields receipts as they are recorded, each once and in order. Reconnects after a lost connection and continues there.
   *
   * @throws TollgateError if the gateway refuses or is unreachable for too long; the reason of the signal if it is aborted.
   */
  stream(options?: StreamOptions): AsyncGenerator<ReceiptEntry, void, undefined>
  /**
   * Fetches a receipt with its proof and verifies it locally under the keys of the trust file. Get the trust file through another
   * channel than the gateway.
   *
   * @throws TollgateError `receipt-unproven` if a check fails; EvidenceError `TRUST_MALFORMED`.
   */
  verify(id: string, trust: Trust | string, options?: VerifyOptions): Promise<VerifiedReceipt>
}

/** The receipts of the gateway of a connection. */
export function receiptsOf(connection: Connection): Receipts {
  const receipts: Receipts = {
    async list({ signal, ...query } = {}) {
      const answer = await exchange(connection, {
        method: 'GET',
        path: '/v1/receipts',
        query: { ...query },
        signal,
      })
      const page = object(jsonOf(answer), 'answer')
      return {
        receipts: listOf(readEntry)(page['receipts'], 'receipts'),
        next: orNull(count)(page['next'], 'next'),
      }
    },
    async get(wanted, { signal } = {}) {
      const answer = await exchange(connection, { method: 'GET', path: pathOf(wanted), signal })
      const value = object(jsonOf(answer), 'answer')
      const entry = readEntry(value, 'answer')
      if (entry.id !== wanted) throw invalidAnswer(answer.status, 'it is about another receipt')
      return { ...entry, envelope: text(value['envelope'], 'envelope') }
    },
    proof: async (wanted, { signal } = {}) =>
      textOf(await exchange(connection, { method: 'GET', path: `${pathOf(wanted)}/proof`, signal })),
    stream: (options = {}) => streamReceipts(connection, options),
    async verify(wanted, trust, { signature = 'check', signal } = {}) {
      const { index, envelope } = await receipts.get(wanted, { signal })
      const proof = await receipts.proof(wanted, { signal })
      const keys = signature === 'check' ? await fetchKeys(receipts, signal) : undefined
      return verifyReceipt({ envelope, proof, trust, id: wanted, index, ...(keys && { keys }) })
    },
  }
  return receipts
}

const MAX_KEYS = 1_000

/** Fetches the genesis receipt and all key receipts, with proofs. */
async function fetchKeys(receipts: Receipts, signal: AbortSignal | undefined): Promise<readonly Proven[]> {
  const found: Proven[] = []
  for (const kind of ['genesis', 'key'] as const) {
    let from: number | null = 0
    while (from !== null && found.length <= MAX_KEYS) {
      const page: ReceiptPage = await receipts.list({
        kind,
        direction: 'on',
        from,
        limit: 100,
        ...(signal && { signal }),
      })
      for (const { id } of page.receipts) {
        const { envelope } = await receipts.get(id, { signal })
        found.push({ envelope, proof: await receipts.proof(id, { signal }) })
      }
      // Each page must advance, or a wrong gateway could cause an endless loop.
      from = page.next !== null && page.next > from ? page.next : null
    }
  }
  return found
}

function pathOf(wanted: string): string {
  return `/v1/receipts/${encodeURIComponent(wanted)}`
}
