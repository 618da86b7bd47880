// The public surface. Whatever is exported here is API: named, documented, and kept.

export {
  activatePolicy,
  FLOOD_GUARD,
  pinTool,
  postObservation,
  setFreeze,
  unpinTool,
  type FreezeOrder,
} from './administer.ts'
export { answerRequest, needsReason, type AnswerOrder } from './answers.ts'
export {
  inputName,
  inputOf,
  MAX_SHOWN,
  pageName,
  type Answer,
  type ApprovalRequest,
  type Approvals,
} from './approvals.ts'
export {
  capture,
  NOBODY,
  SOURCE_CHANNELS,
  UNREADABLE,
  type BrowserCall,
  type Caller,
  type Context,
  type Demanded,
  type Intent,
  type Observation,
  type Source,
  type ToolCall,
} from './call.ts'
export {
  createCatalogue,
  definitionOf,
  type Catalogue,
  type Definition,
  type KnownTool,
  type Pinned,
} from './catalogue.ts'
export { readTexts, type Mark, type ReadText } from './content.ts'
export { registerDelegation, revokeDelegation, type HandedIn, type Registration } from './delegate.ts'
export { chainOf, isDelegateOnly, type Delegations, type RegisteredDelegation } from './delegations.ts'
export {
  closeAllExpired,
  closeExpired,
  openedAs,
  reportEffect,
  type EffectReport,
  type Reported,
} from './closing.ts'
export { inspectionIn, type Outcome } from './effects.ts'
export { DEFAULT_STORAGE, endStorageDays, EFFECT_RESERVE, STORAGE } from './storage.ts'
export {
  authorize,
  complete,
  enforce,
  type Authorization,
  type Dispatch,
  type Enforced,
  type Order,
  type Permit,
  type ToolAnswer,
} from './enforce.ts'
export { KernelError, type KernelErrorCode } from './error.ts'
export { ENTRY, isFrozen, refuseFrozen, type Entrant } from './entry.ts'
export type { Freezes, FreezeView } from './freezes.ts'
export type { Gate, Objection, Standing } from './gates/gate.ts'
export { foresee, type Foreseen } from './foresee.ts'
export { foundingBatch, type Founding } from './genesis.ts'
export { readPageInput, type PageInput } from './page.ts'
export { inspect, UNINSPECTED, type Inspection } from './inspect.ts'
export {
  decide,
  describeLadder,
  LADDER,
  ladderHash,
  subjectOf,
  type Judgement,
  type RungStanding,
} from './guardian.ts'
export type { Decided } from './judge.ts'
export {
  NO_POLICY,
  openForLooking,
  openKernel,
  policyOf,
  standings,
  type Host,
  type Kernel,
  type KernelOptions,
  type ReadableStore,
} from './kernel.ts'
export type { Appended, Ledger } from './ledger.ts'
export { KEPT, keptName, readKeptCall, SEALED, whyUnreadable, type KeptCall } from './kept.ts'
export { leftOf } from './limits.ts'
export { createMemoryStore, type MemoryStore } from './memory-store.ts'
export { setObserve, type Observed, type ObserveOrder, type Observing } from './observing.ts'
export { isWithinBase } from './policy/cel/within.ts'
export { conditionEnvironment, type Condition, type ConditionEnvironment } from './policy/condition.ts'
export { explain, type Explained, type Match, type Subject } from './policy/evaluate.ts'
export {
  CONDITION_VARIABLES,
  parsePolicy,
  type Action,
  type ParsedPolicy,
  type Policy,
  type PolicyContext,
  type Rule,
  type ToolDeclaration,
} from './policy/parse.ts'
export { readYaml, type Mistake, type Place, type Reader } from './policy/read.ts'
export { REMARK_CODES, type Remark, type RemarkCode } from './policy/review/remark.ts'
export { reviewPolicy } from './policy/review/review.ts'
export type { GateSettings } from './policy/settings.ts'
export type { ComplianceRule, ComplianceSettings } from './policy/settings/compliance.ts'
export type { PrivilegeSettings } from './policy/settings/privilege.ts'
export type { ScopeSettings } from './policy/settings/scope.ts'
export type { TaintSettings } from './policy/settings/taint.ts'
export type { Limit, LimitScope, TemporalSettings } from './policy/settings/temporal.ts'
export type { ThreatSettings } from './policy/settings/threat.ts'
export type { TrustSettings } from './policy/settings/trust.ts'
export {
  principalName,
  provenanceName,
  readKeptProvenance,
  readPrincipal,
  readSession,
  readTrustState,
  sessionName,
  trustName,
  type KeptProvenance,
  type Owner,
} from './records.ts'
export {
  createReplay,
  STANDING,
  type JudgedAgain,
  type Looked,
  type Replay,
  type Replayed,
  type ReplayOptions,
} from './replay.ts'
export { closeSession, resetSession, resetTrust, type PardonOrder, type SessionPardon } from './pardon.ts'
export { closeSessions, type IdleSession } from './retention.ts'
export { assess, DEFAULT_RISK, ONE, remember, type Assessment, type Axes, type RiskSettings } from './risk.ts'
export {
  excessOf,
  isInside,
  isNarrower,
  type Excess,
  type Held,
  type OwnScope,
  type ScopedCall,
} from './scope/holds.ts'
export { scopeOf, setScope, type ScopeOrder, type ScopeSet } from './scope/open.ts'
export { MOST_SINKS, MOST_TOOLS, parseScope } from './scope/parse.ts'
export {
  proposalFor,
  proposeScope,
  type Proposal,
  type ProposedTool,
  type ProposeOptions,
} from './scope/propose.ts'
export {
  givenScope,
  scopeHash,
  shownScope,
  type HeldScope,
  type Scope,
  type Widening,
} from './scope/scope.ts'
export { compileSchema, problemsInSchema, type ArgumentsSchema } from './schema.ts'
export {
  NEW_PRINCIPAL,
  NEW_SESSION,
  NEW_TENANT,
  type Allowances,
  type Elevation,
  type PrincipalState,
  type SessionState,
  type TenantState,
} from './session.ts'
export { snapshotOf, type Snapshot, type World } from './snapshot.ts'
export type { Batch, Entry, Store, Stored } from './store.ts'
export { remembersData } from './policy/uses.ts'
export type { Provenance } from './taint/provenance.ts'
export {
  SEVERITIES,
  THREAT_CLASSES,
  THREAT_CODES,
  type Severity,
  type ThreatClass,
  type ThreatFinding,
} from './threat/finding.ts'
export { isHard } from './inspect.ts'
export { scanText } from './threat/scan.ts'
export { NEW_TRUST, POINT, trustAt, trustText, type TrustState } from './trust.ts'
export { tryCall, type Trial } from './trial.ts'
export type { TraceEntry } from './trace.ts'
export { conditionText } from './policy/condition-text.ts'
export { ITEM, waysOf, type Way, type Ways } from './policy/clues.ts'
export type { Clue } from './policy/clue.ts'
export {
  explainCall,
  matchOf,
  type Explanation,
  type Obstacle,
  type Reliance,
  type RungWord,
  type Word,
} from './explanation.ts'
export type { Examined, Look, Truth } from './policy/examine.ts'
export { valuesIn, type Value } from './taint/values.ts'
