// The public surface. Whatever is exported here is API: named, documented, and kept.

export {
  activatePolicy,
  answerRequest,
  FLOOD_GUARD,
  pinTool,
  postObservation,
  setFreeze,
  unpinTool,
  type AnswerOrder,
  type FreezeOrder,
} from './administer.ts'
export { inputName, type Answer, type ApprovalRequest, type Approvals } from './approvals.ts'
export {
  capture,
  NOBODY,
  UNREADABLE,
  type BrowserCall,
  type Caller,
  type Context,
  type Intent,
  type Observation,
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
export { closeExpired, reportEffect, type EffectReport, type Outcome } from './effects.ts'
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
export type { Freezes, FreezeView } from './freezes.ts'
export type { Gate, Objection, Standing } from './gates/gate.ts'
export { foundingBatch, type Founding } from './genesis.ts'
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
  openKernel,
  policyOf,
  standings,
  type Host,
  type Kernel,
  type KernelOptions,
} from './kernel.ts'
export type { Appended, Ledger } from './ledger.ts'
export { createMemoryStore, type MemoryStore } from './memory-store.ts'
export { explain, type Explained, type Match, type Subject } from './policy/evaluate.ts'
export {
  CONDITION_VARIABLES,
  parsePolicy,
  TIERS,
  type Action,
  type ParsedPolicy,
  type Policy,
  type PolicyContext,
  type Rule,
  type Tier,
  type ToolDeclaration,
} from './policy/parse.ts'
export type { Mistake } from './policy/read.ts'
export type { GateSettings, Rate } from './policy/settings.ts'
export { closeSessions, type IdleSession } from './retention.ts'
export { assess, DEFAULT_RISK, ONE, remember, type Assessment, type Axes, type RiskSettings } from './risk.ts'
export { problemsInSchema } from './schema.ts'
export { NEW_PRINCIPAL, NEW_SESSION, type PrincipalState, type SessionState } from './session.ts'
export { snapshotOf, type Snapshot, type World } from './snapshot.ts'
export type { Batch, Entry, Store, Stored } from './store.ts'
