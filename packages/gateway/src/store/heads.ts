// Compares a ledger with heads that were signed before: a ledger that is older than one of them, or differs, must not be signed.

import { noteKey, openCheckpoint, toHex, type PublicKey } from '@tollgate/evidence'
import { GatewayError } from '../error.ts'

/** The ledger as it was opened. */
interface HeadCheck {
  readonly origin: string
  readonly keys: readonly PublicKey[]
  readonly size: number
  readonly rootAt: (size: number) => Uint8Array | Promise<Uint8Array>
}

/**
 * Checks that the ledger contains everything below a signed head. `where` says where the head was kept.
 *
 * @throws GatewayError `LEDGER_ROLLED_BACK` if it does not, `LEDGER_DAMAGED` if the head is not signed by the ledger.
 */
export async function checkGrown(note: string, where: string, ledger: HeadCheck): Promise<void> {
  const { size, root } = await openOwn(note, where, ledger)
  if (size <= ledger.size && toHex(await ledger.rootAt(size)) === toHex(root)) return
  throw rolledBack(ledger.size, size, where)
}

/** Opens a checkpoint that this ledger must have signed. @throws GatewayError `LEDGER_DAMAGED`. */
export async function openOwn(
  note: string,
  where: string,
  { origin, keys }: Pick<HeadCheck, 'origin' | 'keys'>,
): Promise<{ readonly size: number; readonly root: Uint8Array }> {
  try {
    return await openCheckpoint(note, { ledger: keys.map((key) => noteKey(origin, key, 1)) })
  } catch (cause) {
    throw new GatewayError('LEDGER_DAMAGED', `the checkpoint in ${where} is not signed by this ledger`, {
      cause,
      hints: ['find out who changed it before you continue'],
    })
  }
}

/** The newest entries of a ledger are inconsistent. */
export function damaged(what: string, cause?: unknown): GatewayError {
  return new GatewayError('LEDGER_DAMAGED', `the ledger is damaged: ${what}`, {
    cause,
    hints: [
      'run `tollgate fsck` to see all problems',
      'restore the newest backup that matches the signed checkpoints',
    ],
  })
}

/** The ledger is older than a head that was signed before, or differs from it. */
export function rolledBack(size: number, signed: number, where: string): GatewayError {
  const found =
    size < signed
      ? `the ledger has ${size} entries, but a head with ${signed} entries was signed before`
      : `the ledger differs from the one whose head with ${signed} entries was signed before`
  return new GatewayError('LEDGER_ROLLED_BACK', `${found} (${where})`, {
    hints: [
      'this is an old or different copy: signing it would create two histories, so the gateway refuses to start',
      'restore the newest copy of the data directory; if it is lost, create a new ledger with `tollgate init`',
    ],
  })
}
