// Receipts: pages of them, one, its proof, and the check that the gateway did not make it up.

import { type Kind, type Trust, type Verdict } from '@tollgate/evidence'
import { jsonOf, strange, textOf } from './answer.ts'
import { exchange } from './exchange.ts'
import { count, listOf, object, orNull, text } from './reading.ts'
import { streamReceipts } from './stream.ts'
import type { Connection } from './transport.ts'
import { verifyReceipt, type Proven, type VerifiedReceipt } from './verify.ts'
import { readEntry, type ReceiptEntry } from './entry.ts'

/** Which receipts are wanted. All that is given must hold. */
export interface ReceiptFilter {
  readonly kind?: Kind
  readonly principal?: string
  readonly tool?: string
  readonly verdict?: Verdict
  readonly session?: string
  /** Id of a decision: itself, and the effects and approvals that name it. */
  readonly decision?: string
}

/** One page of the ledger. */
export interface PageRequest extends ReceiptFilter {
  /** `back` from the newest to older ones (default), `on` from older to newer ones. */
  readonly direction?: 'back' | 'on'
  /** The first index that is looked at. */
  readonly from?: number
  /** Most entries, at most 1,000. Default 50. */
  readonly limit?: number
  readonly signal?: AbortSignal
}

/** Receipts that fit, and where to go on. */
export interface ReceiptPage {
  readonly receipts: readonly ReceiptEntry[]
  /** `from` of the next page; null if there is nothing beyond. A page may be short and still have a next one. */
  readonly next: number | null
}

/** A receipt with its exact envelope. */
export interface FullReceipt extends ReceiptEntry {
  readonly envelope: string
}

/** How to follow the ledger. */
export interface StreamOptions extends ReceiptFilter {
  /** The first index that is looked at; from now on if not given. */
  readonly from?: number
  readonly signal?: AbortSignal
  /** How often in a row a lost connection is made anew. Default 20, which is about a minute and a half. */
  readonly reconnects?: number
}

/** How to verify. */
export interface VerifyOptions {
  /**
   * `check` (default) the signature of the writer under its key, which the ledger must prove; or `skip` it, for a token that
   * may not read the receipts of keys. The ledger's own word, under the pinned key, is checked in any case.
   */
  readonly signature?: 'check' | 'skip'
  readonly signal?: AbortSignal
}

/** The receipts of a gateway. An agent sees its own. */
export interface Receipts {
  list(request?: PageRequest): Promise<ReceiptPage>
  get(id: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<FullReceipt>
  /** The proof that a receipt is in the ledger, as text (C2SP tlog-proof). Proves nothing until it is opened. */
  proof(id: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<string>
  /**
   * Receipts as they are recorded, each once and in order. A lost connection is made anew, from where it broke off.
   *
   * @throws TollgateError if the gateway refuses, or is lost for too long; the signal's reason if it is aborted.
   */
  stream(options?: StreamOptions): AsyncGenerator<ReceiptEntry, void, undefined>
  /**
   * Fetches a receipt with what proves it, and verifies it here. The gateway supplies the evidence, and is believed in
   * nothing: what counts are the keys of the trust file, which must have come by another way.
   *
   * @throws TollgateError `receipt-unproven` if anything does not hold; EvidenceError `TRUST_MALFORMED`.
   */
  verify(id: string, trust: Trust | string, options?: VerifyOptions): Promise<VerifiedReceipt>
}

/** The receipts at the other end of a connection. */
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
      if (entry.id !== wanted) throw strange(answer.status, 'it is about another receipt')
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

const MOST_KEYS = 1_000

/** Everything the gateway has to show about keys: the beginning of the ledger, and what changed since. */
async function fetchKeys(receipts: Receipts, signal: AbortSignal | undefined): Promise<readonly Proven[]> {
  const found: Proven[] = []
  for (const kind of ['genesis', 'key'] as const) {
    let from: number | null = 0
    while (from !== null && found.length <= MOST_KEYS) {
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
      // Pages lead on, or an odd gateway could send us round in circles.
      from = page.next !== null && page.next > from ? page.next : null
    }
  }
  return found
}

function pathOf(wanted: string): string {
  return `/v1/receipts/${encodeURIComponent(wanted)}`
}
