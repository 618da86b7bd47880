// Everything a verification can find, in the order in which it looks. `docs/findings.md` is made from this table.

/** What a finding says of the pack: that it cannot be read, or that it can and is not true. */
export type Severity = 'malformed' | 'false'

/** The stages of a verification, in order. */
export const STAGES = [
  'archive',
  'trust',
  'checkpoint',
  'leaves',
  'parse',
  'signatures',
  'chain',
  'pairing',
  'policy',
] as const
/** A stage of verification. */
export type Stage = (typeof STAGES)[number]

/** A row of the table. */
export interface FindingRule {
  readonly stage: Stage
  readonly severity: Severity
  readonly sentence: string
}

/** The code of a finding. */
export type FindingCode =
  | 'ARCHIVE_MALFORMED'
  | 'ARCHIVE_TOO_LARGE'
  | 'PACK_MALFORMED'
  | 'MEMBER_MISSING'
  | 'MEMBER_UNEXPECTED'
  | 'MEMBER_CHANGED'
  | 'MANIFEST_WRONG'
  | 'TRUST_LEDGER_WRONG'
  | 'CHECKPOINT_MALFORMED'
  | 'CHECKPOINT_UNSIGNED'
  | 'CHECKPOINT_SIGNATURE_WRONG'
  | 'CHECKPOINT_KEY_FOREIGN'
  | 'CHECKPOINT_INCONSISTENT'
  | 'CHECKPOINT_OLDER'
  | 'CONSISTENCY_MISSING'
  | 'WITNESS_QUORUM_MISSED'
  | 'PROOF_MALFORMED'
  | 'RECEIPT_COUNT_WRONG'
  | 'LEAVES_WRONG'
  | 'INCLUSION_WRONG'
  | 'RECEIPT_MALFORMED'
  | 'RECEIPT_VERSION_UNKNOWN'
  | 'RECEIPT_KIND_UNKNOWN'
  | 'RECEIPT_FOREIGN'
  | 'GENESIS_MISSING'
  | 'GENESIS_MISPLACED'
  | 'SIGNATURE_WRONG'
  | 'KEY_UNKNOWN'
  | 'KEY_RETIRED'
  | 'KEY_ROLE_WRONG'
  | 'KEY_WEAK'
  | 'KEY_FILE_WRONG'
  | 'CHAIN_BROKEN'
  | 'CHAIN_GAP'
  | 'CHAIN_FORKED'
  | 'LAMPORT_WRONG'
  | 'TIME_REWOUND'
  | 'RECEIPT_REPEATED'
  | 'CAUSE_UNKNOWN'
  | 'REFERENCES_TOO_MANY'
  | 'EFFECT_WITHOUT_DECISION'
  | 'EFFECT_NOT_ALLOWED'
  | 'EFFECT_REPEATED'
  | 'EFFECT_LATE_WRONG'
  | 'APPROVAL_WITHOUT_ESCALATION'
  | 'APPROVAL_NOT_GRANTED'
  | 'APPROVAL_REUSED'
  | 'APPROVAL_FOR_ANOTHER_CALL'
  | 'APPROVAL_BY_REQUESTER'
  | 'DELEGATION_NOT_GRANTED'
  | 'POLICY_CHANGED'
  | 'POLICY_NOT_ACTIVE'
  | 'PAYLOAD_CHANGED'
  | 'PAYLOAD_UNREFERENCED'

/** The table. */
export const FINDINGS: Readonly<Record<FindingCode, FindingRule>> = {
  ARCHIVE_MALFORMED: malformed('archive', 'The archive is not in the one form a pack can have.'),
  ARCHIVE_TOO_LARGE: malformed('archive', 'A part of the archive is larger than its limit.'),
  PACK_MALFORMED: malformed('archive', 'A part of the pack cannot be read.'),
  MEMBER_MISSING: malformed('archive', 'A member that should be there is missing.'),
  MEMBER_UNEXPECTED: malformed('archive', 'The pack holds a member that does not belong in it.'),
  MEMBER_CHANGED: wrong('archive', 'A member is not the one the manifest was made for.'),
  MANIFEST_WRONG: wrong('archive', 'The manifest contradicts the checkpoint.'),
  TRUST_LEDGER_WRONG: wrong('trust', 'The pack is of another ledger than the trust file names.'),
  CHECKPOINT_MALFORMED: malformed('checkpoint', 'The checkpoint cannot be read.'),
  CHECKPOINT_UNSIGNED: wrong(
    'checkpoint',
    'No key that is trusted here has signed the checkpoint: it is forged, or this is not the trust file for it.',
  ),
  CHECKPOINT_SIGNATURE_WRONG: wrong('checkpoint', 'A signature under the checkpoint is wrong.'),
  CHECKPOINT_KEY_FOREIGN: wrong(
    'checkpoint',
    'The key that signed the checkpoint is not a key of this ledger.',
  ),
  CHECKPOINT_INCONSISTENT: wrong(
    'checkpoint',
    'The ledger is not a continuation of the head seen earlier: history was rewritten or forked.',
  ),
  CHECKPOINT_OLDER: wrong(
    'checkpoint',
    'The pack is older than the head seen earlier, or the tail of the ledger was cut off.',
  ),
  CONSISTENCY_MISSING: wrong(
    'checkpoint',
    'The pack does not prove that it continues the head seen earlier.',
  ),
  WITNESS_QUORUM_MISSED: wrong('checkpoint', 'Fewer witnesses have cosigned than the trust file demands.'),
  PROOF_MALFORMED: malformed('leaves', 'A proof cannot be read.'),
  RECEIPT_COUNT_WRONG: wrong('leaves', 'A bundle does not hold as many receipts as the manifest says.'),
  LEAVES_WRONG: wrong(
    'leaves',
    'The receipts do not lead to the root of the checkpoint: one was changed, removed, added or moved.',
  ),
  INCLUSION_WRONG: wrong('leaves', 'The proof of a receipt does not lead to the root of the checkpoint.'),
  RECEIPT_MALFORMED: malformed('parse', 'A receipt is not in canonical form or has a wrong field.'),
  RECEIPT_VERSION_UNKNOWN: malformed('parse', 'A receipt has a version that is not known here.'),
  RECEIPT_KIND_UNKNOWN: malformed('parse', 'A receipt is of a kind that is not known here.'),
  RECEIPT_FOREIGN: wrong('parse', 'A receipt belongs to another ledger.'),
  GENESIS_MISSING: wrong(
    'parse',
    'The first entry of the ledger is not in the pack, so its keys are unknown.',
  ),
  GENESIS_MISPLACED: wrong(
    'parse',
    'A genesis receipt stands elsewhere than at the beginning, or something else stands there.',
  ),
  SIGNATURE_WRONG: wrong('signatures', 'The signature of a receipt is wrong.'),
  KEY_UNKNOWN: wrong(
    'signatures',
    'A receipt is signed by a key that was never added to the ledger before it.',
  ),
  KEY_RETIRED: wrong('signatures', 'A receipt is signed by a key that had been retired before it.'),
  KEY_ROLE_WRONG: wrong('signatures', 'A key signed or was added for what it may not do.'),
  KEY_WEAK: wrong('signatures', 'A key of the ledger is not a strong Ed25519 key.'),
  KEY_FILE_WRONG: wrong('signatures', 'The keys shown in the pack are not those of the ledger.'),
  CHAIN_BROKEN: wrong('chain', "A receipt does not link to its writer's previous one."),
  CHAIN_GAP: wrong('chain', "A receipt of a writer's chain is missing before this one."),
  CHAIN_FORKED: wrong('chain', 'A writer used the same place in its chain twice.'),
  LAMPORT_WRONG: wrong(
    'chain',
    'The Lamport clock of a receipt does not follow from its causes and its predecessor.',
  ),
  TIME_REWOUND: wrong('chain', "A receipt is dated before its writer's previous one."),
  RECEIPT_REPEATED: wrong('chain', 'The same receipt stands in the ledger twice.'),
  CAUSE_UNKNOWN: wrong('chain', 'A receipt names a cause that does not stand before it.'),
  REFERENCES_TOO_MANY: malformed(
    'chain',
    'The receipts refer to more entries outside of the pack than can be followed.',
  ),
  EFFECT_WITHOUT_DECISION: wrong('pairing', 'An effect belongs to no decision that it names as its cause.'),
  EFFECT_NOT_ALLOWED: wrong('pairing', 'An effect belongs to a decision that did not allow it.'),
  EFFECT_REPEATED: wrong('pairing', 'A decision has more than one effect.'),
  EFFECT_LATE_WRONG: wrong(
    'pairing',
    'An effect is marked late, or is not, against what was recorded before.',
  ),
  APPROVAL_WITHOUT_ESCALATION: wrong(
    'pairing',
    'An approval answers a decision that asked for none, or was answered already.',
  ),
  APPROVAL_NOT_GRANTED: wrong(
    'pairing',
    'A decision rests on an approval that was not granted before it, or had expired.',
  ),
  APPROVAL_REUSED: wrong('pairing', 'An approval was used more than once.'),
  APPROVAL_FOR_ANOTHER_CALL: wrong(
    'pairing',
    'An approval was used for another call than the one that was asked about.',
  ),
  APPROVAL_BY_REQUESTER: wrong('pairing', 'A principal approved its own request.'),
  DELEGATION_NOT_GRANTED: wrong(
    'pairing',
    'A call was allowed under a delegation that was not given to its principal, had ended, or was revoked.',
  ),
  POLICY_CHANGED: wrong('policy', 'A policy text is not the one its digest names.'),
  POLICY_NOT_ACTIVE: wrong('policy', 'A decision was made under a policy that was not active.'),
  PAYLOAD_CHANGED: wrong('policy', 'A disclosed payload is not the one its digest names.'),
  PAYLOAD_UNREFERENCED: wrong('policy', 'No receipt of the pack refers to a disclosed payload.'),
}

/** One thing that is wrong. */
export interface Finding {
  readonly code: FindingCode
  /** Index of the receipt in the ledger, if it is about one. */
  readonly index?: number
  /** Name of the member, if it is about one. */
  readonly member?: string
  readonly sentence: string
}

function malformed(stage: Stage, sentence: string): FindingRule {
  return { stage, severity: 'malformed', sentence }
}

function wrong(stage: Stage, sentence: string): FindingRule {
  return { stage, severity: 'false', sentence }
}
