// Delegations: one principal's signed word that another may act for it, within limits. Canonical JSON in a DSSE envelope
// of a type of its own, so that no receipt can be taken for one. Signing and opening stand side by side.

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
} from './fields.ts'
import { sha256Hex } from './hash.ts'
import { isList, type Json } from './json.ts'
import type { PublicKey, SigningKey } from './keys.ts'
import { EFFECT_CLASSES, type EffectClass } from './kinds.ts'

/** The DSSE payload type of a delegation; the version of the format is part of it. */
export const DELEGATION_PAYLOAD_TYPE = 'application/vnd.tollgate.delegation+json;v=1'

/** Most delegations that may hang below one another under a first one. */
export const MAX_DELEGATION_DEPTH = 8

/** What a delegator signs. It grants nothing by itself: it says within what limits the delegate acts for the delegator. */
export interface DelegationStatement {
  readonly v: 1
  /** Origin of the ledger it is for. */
  readonly ledger: string
  readonly tenant: string
  readonly delegator: string
  readonly delegate: string
  /** Names of tools, exact or with `*`. */
  readonly tools: readonly string[]
  /** What those tools may do; left out for anything. */
  readonly effects?: readonly EffectClass[]
  /** The last moment it holds. */
  readonly until: string
  /** How many further delegations may hang below it. */
  readonly depth: number
  /** Id of the delegation that it narrows; null if the delegator acts in its own name. */
  readonly parent: string | null
  /** The only session it holds in; left out for any. */
  readonly session?: string
  /** Anything that was not used before: two delegations that say the same are told apart by it. */
  readonly nonce: string
}

/** A delegation that its delegator has signed. */
export interface SignedDelegation {
  /** SHA-256 of the payload: the name of the delegation. */
  readonly id: string
  readonly envelope: Uint8Array
  readonly statement: DelegationStatement
}

/** A delegation whose form and signature hold. Whether it is in force is a ledger's to say. */
export interface OpenedDelegation {
  readonly id: string
  readonly statement: DelegationStatement
  /** Id of the key that signed it. */
  readonly keyId: string
  /** The envelope as text, to the byte. */
  readonly envelope: string
}

const FORM = envelopeForm(DELEGATION_PAYLOAD_TYPE)
const MAX_PAYLOAD = 16 * 1024
const MAX_ENVELOPE = 4 * Math.ceil(MAX_PAYLOAD / 3) + 400

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
const SHAPE = shape(fields)
const STATEMENT: PayloadForm = { maxBytes: MAX_PAYLOAD, write, explain }

/**
 * Signs a delegation. The statement is the caller's own plain data: it must not change while it is read.
 *
 * @throws EvidenceError `DELEGATION_MALFORMED`, or as `canonicalize` does.
 */
export async function signDelegation(
  statement: DelegationStatement,
  key: SigningKey,
): Promise<SignedDelegation> {
  // Plain data, as `write` will say if it is not.
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
 * Opens a delegation: checks its form to the byte, and its signature under the key that `keyOf` knows of its delegator.
 * Whom the envelope says it is from counts for nothing. What `keyOf` throws is thrown on.
 *
 * @throws EvidenceError `DELEGATION_MALFORMED`, a `JSON_…` code for its payload, `KEY_UNAVAILABLE` if there is no such key,
 * `DELEGATION_SIGNATURE_WRONG`.
 */
export async function openDelegation(
  envelope: Uint8Array | string,
  keyOf: (statement: DelegationStatement) => PublicKey | undefined,
): Promise<OpenedDelegation> {
  const { payload, keyId, signature, envelope: spelled } = openEnvelope(envelope)
  // Sound: only a statement is written as one.
  const statement = readPayload(payload, STATEMENT) as unknown as DelegationStatement
  const key = keyOf(statement)
  if (!key) throw new EvidenceError('KEY_UNAVAILABLE', 'no key of the delegator is known here')
  // The id of the key is not signed: it must be right all the same, or one delegation would have many spellings.
  if (keyId !== key.id || !(await isSignedBy(key, FORM, { payload, signature }))) {
    throw new EvidenceError(
      'DELEGATION_SIGNATURE_WRONG',
      'the delegation is not signed by its delegator’s key',
    )
  }
  return { id: sha256Hex(payload), statement, keyId, envelope: spelled }
}

function openEnvelope(envelope: Uint8Array | string): Enveloped & { readonly envelope: string } {
  if (envelope.length > MAX_ENVELOPE) throw malformed(`its envelope is larger than ${MAX_ENVELOPE} bytes`)
  // A copy: what was checked cannot change while its signature is.
  const bytes = typeof envelope === 'string' ? utf8(envelope) : Uint8Array.from(envelope)
  const opened = FORM.open(bytes)
  if (opened === 'not of this form') throw malformed('its envelope is not in canonical form')
  if (opened === 'not base64') throw malformed('its envelope is not base64 where it should be')
  return { ...opened, envelope: latin1(bytes) }
}

function write(value: Json): string | undefined {
  return writeShape(value, SHAPE)
}

/** Says why a value is not a statement. */
function explain(value: Json): never {
  throw malformed(problemWith(value, SHAPE) ?? 'it changes')
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
