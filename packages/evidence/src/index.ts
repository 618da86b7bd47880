// The public API of this package.

export { canonicalBytes, canonicalize, type CanonicalLimits } from './canonical.ts'
export {
  chainHead,
  linkFaults,
  nextPlace,
  type ChainHead,
  type LinkContext,
  type LinkFault,
  type Place,
} from './chain.ts'
export {
  cosignCheckpoint,
  openCheckpoint,
  parseCheckpoint,
  sealCheckpoint,
  type Checkpoint,
  type CheckpointKeys,
  type Cosignature,
  type Head,
  type LedgerKey,
} from './checkpoint.ts'
export { fromBase64, fromHex, toBase64, toHex } from './bytes.ts'
export {
  DELEGATION_PAYLOAD_TYPE,
  MAX_DELEGATION_DEPTH,
  openDelegation,
  signDelegation,
  type DelegationStatement,
  type OpenedDelegation,
  type SignedDelegation,
} from './delegation.ts'
export { EvidenceError, type EvidenceErrorCode } from './error.ts'
export {
  FINDINGS,
  STAGES,
  type Finding,
  type FindingCode,
  type FindingRule,
  type Severity,
  type Stage,
} from './findings.ts'
export { saltedHash, sha256, sha256Hex, type CommitmentLabel } from './hash.ts'
export {
  copyJson,
  isList,
  isObject,
  MAX_VALUES,
  parseJson,
  type Json,
  type JsonLimits,
  type JsonObject,
} from './json.ts'
export {
  importPublicKey,
  importSigningKey,
  verifySignature,
  type PublicKey,
  type SigningKey,
} from './keys.ts'
export {
  AUTHOR,
  DOORS,
  EFFECT_CLASSES,
  MAX_BLOCKED_HOSTS,
  NEVER_OBSERVED,
  NO_HASH,
  OBSERVE_RULE,
  LADDER_STEPS,
  SCOPE_SOURCES,
  TARGET_STATES,
  TIERS,
  type Approval,
  type Blocked,
  type Browser,
  type Commit,
  type Common,
  type Decision,
  type Delegation,
  type Door,
  type Effect,
  type EffectClass,
  type Freeze,
  type Genesis,
  type KeyChange,
  type Kind,
  type Observe,
  type Pin,
  type PolicyActivation,
  type Receipt,
  type Quota,
  type Recovery,
  type LadderStep,
  type ScopeShown,
  type ScopeSource,
  type SessionChange,
  type TargetState,
  type Tier,
  type TokenChange,
} from './kinds.ts'
export { KINDS } from './shapes.ts'
export type { Contents, ListedMember, Manifest, Range } from './manifest.ts'
export {
  consistencyProof,
  createTree,
  EMPTY_ROOT,
  inclusionProof,
  leafHash,
  nodeHash,
  subtrees,
  verifyConsistency,
  verifyInclusion,
  type Frontier,
  type ReadNode,
  type Tree,
  type TreeNode,
} from './merkle.ts'
export { formatVkey, noteKey, parseVkey, type NoteAlgorithm, type NoteKey } from './note.ts'
export {
  readPack,
  writePack,
  type ConsistencyProof,
  type LedgerReader,
  type PackRequest,
  type Part,
  type Payload,
  type RangeProof,
} from './pack.ts'
export { formatProof, openProof, parseProof, type Proof } from './proof.ts'
export { isMadeSession, madeSession, memoryOf } from './made-session.ts'
export {
  adviceOf,
  REASONS,
  reasonOf,
  VERDICTS,
  type Reason,
  type ReasonCode,
  type Verdict,
} from './reasons.ts'
export {
  encodeReceipt,
  formatEnvelope,
  MAX_PAYLOAD_BYTES,
  openReceipt,
  parseReceipt,
  PAYLOAD_TYPE,
  sealEncoded,
  sealReceipt,
  type Encoded,
  type Parsed,
  type Sealed,
} from './receipt.ts'
export type { ExitCode, Level, Report, Summary } from './report.ts'
export type { ByteSource, Member } from './tar.ts'
export { formatTrust, parseTrust, type Trust } from './trust.ts'
export {
  verifyPack,
  type Entry,
  type Progress,
  type SignatureChecker,
  type SignatureJob,
  type VerifyOptions,
} from './verify.ts'
