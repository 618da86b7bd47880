// All findings of the verifier, in the order of its checks. `npm run docs` generates `docs/findings.md` from this table.

/** `malformed`: the pack cannot be read. `false`: it can be read, but a check failed. */
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

/** The stage, severity and sentence of each code. */
export const FINDINGS: Readonly<Record<FindingCode, FindingRule>> = {
  ARCHIVE_MALFORMED: malformed('archive', 'The file is not an archive in the exact form of a pack.'),
  ARCHIVE_TOO_LARGE: malformed('archive', 'A part of the archive exceeds its size limit.'),
  PACK_MALFORMED: malformed('archive', 'A part of the pack cannot be read.'),
  MEMBER_MISSING: malformed('archive', 'A required file is missing in the pack.'),
  MEMBER_UNEXPECTED: malformed('archive', 'The pack contains a file that does not belong in it.'),
  MEMBER_CHANGED: wrong(
    'archive',
    'A file in the pack does not have the size or digest that the manifest states.',
  ),
  MANIFEST_WRONG: wrong('archive', 'The manifest contradicts the checkpoint.'),
  TRUST_LEDGER_WRONG: wrong(
    'trust',
    'The pack is from another ledger than the trust file names. Use the trust file of this ledger.',
  ),
  CHECKPOINT_MALFORMED: malformed('checkpoint', 'The checkpoint cannot be read.'),
  CHECKPOINT_UNSIGNED: wrong(
    'checkpoint',
    'No key in your trust file signed the checkpoint. The pack is forged, or your trust file is old: ask the operator, by another channel, for the current one.',
  ),
  CHECKPOINT_SIGNATURE_WRONG: wrong('checkpoint', 'A signature under the checkpoint is invalid.'),
  CHECKPOINT_KEY_FOREIGN: wrong(
    'checkpoint',
    'The key that signed the checkpoint is not an active key of this ledger.',
  ),
  CHECKPOINT_INCONSISTENT: wrong(
    'checkpoint',
    'The ledger does not continue the checkpoint in the trust file: its history was rewritten or forked.',
  ),
  CHECKPOINT_OLDER: wrong(
    'checkpoint',
    'The pack is older than the checkpoint in the trust file, or the end of the ledger was cut off. Ask for a newer pack.',
  ),
  CONSISTENCY_MISSING: wrong(
    'checkpoint',
    'The pack does not prove that it continues the checkpoint in the trust file. Ask the operator to export it with `--continues N`, where N is the size of that checkpoint.',
  ),
  WITNESS_QUORUM_MISSED: wrong('checkpoint', 'Fewer witnesses cosigned than the trust file requires.'),
  PROOF_MALFORMED: malformed(
    'leaves',
    'A proof cannot be read, or the consistency proof does not match the ledger.',
  ),
  RECEIPT_COUNT_WRONG: wrong('leaves', 'A bundle contains more or fewer receipts than the manifest states.'),
  LEAVES_WRONG: wrong(
    'leaves',
    'The receipts do not match the root of the checkpoint: at least one was changed, removed, added or moved.',
  ),
  INCLUSION_WRONG: wrong(
    'leaves',
    'The inclusion proof of a receipt does not match the root of the checkpoint.',
  ),
  RECEIPT_MALFORMED: malformed(
    'parse',
    'A receipt is not in canonical form, or one of its fields is invalid.',
  ),
  RECEIPT_VERSION_UNKNOWN: malformed(
    'parse',
    'This verifier does not know the version of a receipt. Use a newer verifier.',
  ),
  RECEIPT_KIND_UNKNOWN: malformed(
    'parse',
    'This verifier does not know the kind of a receipt. Use a newer verifier.',
  ),
  RECEIPT_FOREIGN: wrong('parse', 'A receipt belongs to another ledger.'),
  GENESIS_MISSING: wrong(
    'parse',
    'The first entry of the ledger is not in the pack, so its keys are unknown.',
  ),
  GENESIS_MISPLACED: wrong('parse', 'Entry 0 is not a genesis receipt, or a later entry is one.'),
  SIGNATURE_WRONG: wrong('signatures', 'The signature of a receipt is invalid.'),
  KEY_UNKNOWN: wrong('signatures', 'A receipt uses a key that the ledger did not add before it.'),
  KEY_RETIRED: wrong('signatures', 'A receipt is signed by a key that was already retired.'),
  KEY_ROLE_WRONG: wrong(
    'signatures',
    'A key was used in a way that its role (ledger, writer or witness) forbids, or it was added twice.',
  ),
  KEY_WEAK: wrong('signatures', 'A key of the ledger is not a strong Ed25519 key.'),
  KEY_FILE_WRONG: wrong(
    'signatures',
    'The files in `keys/` are not exactly the keys that the receipts in the pack add.',
  ),
  CHAIN_BROKEN: wrong('chain', 'A receipt does not link to the previous receipt of its writer.'),
  CHAIN_GAP: wrong('chain', 'A receipt is missing before this one in the chain of its writer.'),
  CHAIN_FORKED: wrong('chain', 'A writer used the same position in its chain twice.'),
  LAMPORT_WRONG: wrong(
    'chain',
    'The Lamport clock of a receipt does not follow from its causes and its predecessor.',
  ),
  TIME_REWOUND: wrong('chain', 'A receipt is dated before the previous receipt of its writer.'),
  RECEIPT_REPEATED: wrong('chain', 'The same receipt is in the ledger twice.'),
  CAUSE_UNKNOWN: wrong('chain', 'A receipt names a cause that is not before it in the ledger.'),
  REFERENCES_TOO_MANY: malformed(
    'chain',
    'The receipts refer to more entries outside the pack than the verifier can track.',
  ),
  EFFECT_WITHOUT_DECISION: wrong('pairing', 'An effect does not name an earlier decision as its cause.'),
  EFFECT_NOT_ALLOWED: wrong('pairing', 'An effect belongs to a decision that did not allow the call.'),
  EFFECT_REPEATED: wrong(
    'pairing',
    'A decision has more than one effect. After UNKNOWN, one late effect is permitted.',
  ),
  EFFECT_LATE_WRONG: wrong(
    'pairing',
    'An effect has the mark `late`, but no UNKNOWN was recorded before it. Or an effect after UNKNOWN does not have this mark.',
  ),
  APPROVAL_WITHOUT_ESCALATION: wrong(
    'pairing',
    'An approval answers a decision that was not escalated or is already answered.',
  ),
  APPROVAL_NOT_GRANTED: wrong(
    'pairing',
    'A decision uses an approval that was not granted before it, or that had expired.',
  ),
  APPROVAL_REUSED: wrong('pairing', 'An approval was used more than once.'),
  APPROVAL_FOR_ANOTHER_CALL: wrong('pairing', 'An approval was used for another call than the approver saw.'),
  APPROVAL_BY_REQUESTER: wrong('pairing', 'A principal approved its own request.'),
  DELEGATION_NOT_GRANTED: wrong(
    'pairing',
    'A call was allowed under a delegation that its principal did not have, or that was expired or revoked.',
  ),
  POLICY_CHANGED: wrong('policy', 'A policy text does not match its digest.'),
  POLICY_NOT_ACTIVE: wrong('policy', 'A decision was made under a policy that was not active.'),
  PAYLOAD_CHANGED: wrong(
    'policy',
    'The pack contains contents, such as arguments, that do not match their digest.',
  ),
  PAYLOAD_UNREFERENCED: wrong('policy', 'The pack contains contents that no receipt in it refers to.'),
}

/** A failed check of one pack. */
export interface Finding {
  readonly code: FindingCode
  /** Index of the receipt in the ledger, if the finding is about a receipt. */
  readonly index?: number
  /** Name of the member, if the finding is about a member. */
  readonly member?: string
  readonly sentence: string
}

function malformed(stage: Stage, sentence: string): FindingRule {
  return { stage, severity: 'malformed', sentence }
}

function wrong(stage: Stage, sentence: string): FindingRule {
  return { stage, severity: 'false', sentence }
}
