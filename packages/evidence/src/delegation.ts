// Signs and opens delegations: canonical JSON in a DSSE envelope. The payload type differs from that of receipts, so neither can
// replace the other.

import { latin1, utf8, utf8Length } from './bytes.ts'
import { isOrigin } from './checkpoint.ts'
import { envelopeForm, isSignedBy, readPayload, type Enveloped, type PayloadForm } from './dsse.ts'
import { EvidenceError } from './error.ts'
import {
  count,
  hash,
  list,
  moment,
  only,
  optional,
  problemWith,
  shape,
  text,
  textThat,
  word,
  writeShape,
  type Field,
  type Shape,
} from './fields.ts'
import { sha256Hex } from './hash.ts'
import { isList, type Json } from './json.ts'
import type { PublicKey, SigningKey } from './keys.ts'
import { EFFECT_CLASSES, type EffectClass } from './kinds.ts'

/** The DSSE payload type of a delegation, with the version of the format. */
export const DELEGATION_PAYLOAD_TYPE = 'application/vnd.tollgate.delegation+json;v=1'

/** Maximum number of further delegations in a chain below the first one. */
export const MAX_DELEGATION_DEPTH = 8

/** The statement that a delegator signs: the limits within which the delegate acts for the delegator. */
export interface DelegationStatement {
  readonly v: 1
  /** Origin of the ledger it is for. */
  readonly ledger: string
  readonly tenant: string
  readonly delegator: string
  readonly delegate: string
  /** Names of tools, exact or with `*`. */
  readonly tools: readonly string[]
  /** Allowed effect classes; all if missing. */
  readonly effects?: readonly EffectClass[]
  /** When it expires. */
  readonly until: string
  /** Number of further delegations allowed below it. */
  readonly depth: number
  /** Id of the parent delegation; null if the delegator acts in its own name. */
  readonly parent: string | null
  /** The only session in which it is valid; any if missing. */
  readonly session?: string
  /** A unique text. It makes otherwise equal delegations different. */
  readonly nonce: string
}

/** A signed delegation. */
export interface SignedDelegation {
  /** SHA-256 of the payload: the id of the delegation. */
  readonly id: string
  readonly envelope: Uint8Array
  readonly statement: DelegationStatement
}

/** A delegation with a valid form and signature. Only the ledger says whether it is in force. */
export interface OpenedDelegation {
  readonly id: string
  readonly statement: DelegationStatement
  /** Id of the key that signed it. */
  readonly keyId: string
  /** The envelope as text, byte for byte. */
  readonly envelope: string
}

const FORM = envelopeForm(DELEGATION_PAYLOAD_TYPE)
/** Maximum size of a statement in bytes. */
export const MAX_PAYLOAD: number = 16 * 1024
/** Maximum size of its envelope in bytes. */
export const MAX_ENVELOPE: number = 4 * Math.ceil(MAX_PAYLOAD / 3) + 400

const name = text(256)
const fields = {
  v: only(1),
  ledger: textThat('the name of a ledger', isOrigin),
  tenant: name,
  delegator: name,
  delegate: name,
  tools: notEmpty(list(name, 64)),
  effects: optional(notEmpty(list(word(...EFFECT_CLASSES), EFFECT_CLASSES.length))),
  until: moment,
  depth: count(MAX_DELEGATION_DEPTH),
  parent: orNull(hash),
  session: optional(name),
  nonce: text(64),
} satisfies Readonly<Record<keyof DelegationStatement, Field>>
/** The shape of a statement. */
export const DELEGATION: Shape = shape(fields)
const STATEMENT: PayloadForm = { maxBytes: MAX_PAYLOAD, write, explain }

/**
 * Signs a delegation. The statement must be plain data that does not change during this call.
 *
 * @throws EvidenceError `DELEGATION_MALFORMED`, or as `canonicalize` does.
 */
export async function signDelegation(
  statement: DelegationStatement,
  key: SigningKey,
): Promise<SignedDelegation> {
  // `write` rejects anything but plain data.
  const written = write(statement as unknown as Json) ?? explain(statement as unknown as Json)
  const length = utf8Length(written)
  if (length > MAX_PAYLOAD) throw malformed(`it is larger than ${MAX_PAYLOAD} bytes; name fewer tools`)
  const message = utf8(FORM.head(length) + written)
  const payload = message.subarray(message.length - length)
  const signature = await key.sign(message)
  return {
    id: sha256Hex(payload),
    envelope: FORM.format(payload, key.publicKey.id, signature),
    statement,
  }
}

/**
 * Opens a delegation: checks its canonical form, and its signature under the key of its delegator that `keyOf` returns.
 *
 * @throws EvidenceError `DELEGATION_MALFORMED`, a `JSON_…` code for its payload, `KEY_UNAVAILABLE` without a key,
 * `DELEGATION_SIGNATURE_WRONG`; and any error of `keyOf`.
 */
export async function openDelegation(
  envelope: Uint8Array | string,
  keyOf: (statement: DelegationStatement) => PublicKey | undefined,
): Promise<OpenedDelegation> {
  const { payload, keyId, signature, envelope: text } = openEnvelope(envelope)
  // Sound: `write` writes only statements.
  const statement = readPayload(payload, STATEMENT) as unknown as DelegationStatement
  const key = keyOf(statement)
  if (!key) throw new EvidenceError('KEY_UNAVAILABLE', 'no key of the delegator is known')
  // The key id is not signed, but must be right, or one delegation would have many envelopes.
  if (keyId !== key.id || !(await isSignedBy(key, FORM, { payload, signature }))) {
    throw new EvidenceError(
      'DELEGATION_SIGNATURE_WRONG',
      'the delegation is not signed with the key of its delegator',
    )
  }
  return { id: sha256Hex(payload), statement, keyId, envelope: text }
}

function openEnvelope(envelope: Uint8Array | string): Enveloped & { readonly envelope: string } {
  if (envelope.length > MAX_ENVELOPE) throw malformed(`its envelope is larger than ${MAX_ENVELOPE} bytes`)
  // A copy, so that the bytes cannot change while the signature is checked.
  const bytes = typeof envelope === 'string' ? utf8(envelope) : Uint8Array.from(envelope)
  const opened = FORM.open(bytes)
  if (opened === 'not of this form') throw malformed('its envelope is not in canonical form')
  if (opened === 'not base64') throw malformed('its payload or signature is not base64')
  return { ...opened, envelope: latin1(bytes) }
}

function write(value: Json): string | undefined {
  return writeShape(value, DELEGATION)
}

/** Throws the reason why a value is not a statement. */
function explain(value: Json): never {
  throw malformed(problemWith(value, DELEGATION) ?? 'it changed while it was read')
}

function notEmpty(items: Field): Field {
  const filled = (value: Json): boolean => isList(value) && value.length > 0
  return {
    ...items,
    expected: `${items.expected}, at least one`,
    write: (value) => (filled(value) ? items.write(value) : undefined),
  }
}

function orNull(field: Field): Field {
  return {
    ...field,
    expected: `${field.expected}, or null`,
    write: (value) => (value === null ? 'null' : field.write(value)),
  }
}

function malformed(problem: string): EvidenceError {
  return new EvidenceError('DELEGATION_MALFORMED', `not a delegation: ${problem}`)
}
