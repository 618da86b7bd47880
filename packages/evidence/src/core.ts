// The exports that judging a call needs. Programs that only judge start faster with this entry point.

export { canonicalize } from './canonical.ts'
export { EvidenceError, type EvidenceErrorCode } from './error.ts'
export { sha256Hex } from './hash.ts'
export { copyJson, isList, isObject, parseJson, type Json, type JsonLimits, type JsonObject } from './json.ts'
export { importPublicKey, type PublicKey } from './keys.ts'
export {
  AUTHOR,
  DOORS,
  EFFECT_CLASSES,
  NEVER_OBSERVED,
  NO_HASH,
  OBSERVE_RULE,
  LADDER_STEPS,
  SCOPE_SOURCES,
  TIERS,
  type Commit,
  type Decision,
  type Door,
  type EffectClass,
  type Observe,
  type LadderStep,
  type TargetState,
  type Tier,
} from './kinds.ts'
export { isMadeSession, madeSession, memoryOf } from './made-session.ts'
export { adviceOf, reasonOf, VERDICTS, type Reason, type ReasonCode, type Verdict } from './reasons.ts'
