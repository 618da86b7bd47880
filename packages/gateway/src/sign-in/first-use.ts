// Writes a receipt when a subject of the issuer is used for the first time, and again when its rights have changed.

import { canonicalize, parseJson, sha256Hex, type TokenChange } from '@tollgate/evidence'
import type { Kernel } from '@tollgate/kernel'
import { Recent } from '../recent.ts'
import { tokenAnchor } from '../tokens.ts'
import type { Subject } from './subject.ts'

const MAX_REMEMBERED = 10_000

interface FirstUseOptions {
  readonly kernel: Kernel
  readonly issuer: string
  readonly tenant: string
}

/** The subjects that are on the ledger. */
export class FirstUse {
  readonly #options: FirstUseOptions
  readonly #written = new Recent<Promise<void>>(MAX_REMEMBERED)

  constructor(options: FirstUseOptions) {
    this.#options = options
  }

  /** Resolves when the receipt of a subject is durable. Writes it if there is none. */
  record(subject: Subject): Promise<void> {
    const hash = subjectHash(this.#options.issuer, subject)
    const known = this.#written.get(hash)
    if (known) return known
    const writing = this.#write(hash, subject)
    // Also while it is being written: two first calls at once give one receipt.
    this.#written.set(hash, writing)
    writing.catch(() => this.#written.delete(hash))
    return writing
  }

  async #write(hash: string, subject: Subject): Promise<void> {
    const { kernel, issuer, tenant } = this.#options
    const { role, principal, groups } = subject
    const [stored] = await kernel.store.load([tokenAnchor(hash)])
    // Sound: only token receipts anchor such names.
    const newest = stored?.anchor && (parseJson(stored.anchor) as unknown as TokenChange)
    if (newest?.op === 'issue' && newest.principal === principal && newest.role === role) return
    await kernel.ledger.append({
      reserved: true,
      run: (turn) =>
        turn.append({ anchors: [tokenAnchor(hash)] }, (header): TokenChange => ({
          ...header,
          ...{ kind: 'token', op: 'issue', tenant, token_hash: hash, role, principal },
          ...(groups.length > 0 && { groups }),
          by: issuer,
        })),
    })
  }
}

/** Identifies a subject with its rights. */
function subjectHash(issuer: string, { principal, role, groups, person }: Subject): string {
  return sha256Hex(canonicalize([issuer, principal, role, groups, person ?? null]))
}
