// The kernel: the pipeline from an agent to a tool, its ledger, and how to open it. The other parts have their own entry points:
// `@tollgate/kernel/admin` for acts of people, `/policy` for the policy language, `/workbench` for policy tools, `/detection` for
// scanners and scopes.

export { KernelError, type KernelErrorCode } from './error.ts'
export type { Gate, Objection, Standing } from './gates/gate.ts'
export { policyOf, type Host, type Kernel } from './kernel.ts'
export { foundingBatch } from './ledger/genesis.ts'
export type { Appended } from './ledger/ledger.ts'
export { createMemoryStore, type MemoryStore } from './ledger/memory-store.ts'
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
} from './ledger/records.ts'
export { closeSessions, type IdleSession } from './ledger/retention.ts'
export { NEW_PRINCIPAL, NEW_SESSION, type PrincipalState, type SessionState } from './ledger/session.ts'
export { DEFAULT_STORAGE, endStorageDays } from './ledger/storage.ts'
export type { Batch, Changes, Entry, Store, Stored } from './ledger/store.ts'
export { NOBODY, UNREADABLE } from './names.ts'
export { openForLooking, openKernel, standings, type KernelOptions, type ReadableStore } from './open/open.ts'
export { recordBlocked } from './road/blocked.ts'
export {
  SOURCE_CHANNELS,
  capture,
  type BrowserCall,
  type Caller,
  type Context,
  type Demanded,
  type Intent,
  type Source,
  type ToolCall,
} from './road/capture.ts'
export { closeAllExpired, openedAs, reportEffect, type EffectReport, type Reported } from './road/closing.ts'
export type { Outcome } from './road/effects.ts'
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
} from './road/enforce.ts'
export { ENTRY, isFrozen, refuseFrozen, type Entrant } from './road/entry.ts'
export { LADDER, describeLadder, subjectOf, type StepStatus } from './road/guardian.ts'
export { UNINSPECTED, inspectionIn, type Inspection } from './road/inspect.ts'
export type { Decided } from './road/judge.ts'
export { KEPT, SEALED, keptName, readKeptCall, whyUnreadable, type KeptCall } from './road/kept.ts'
export { postObservation, type Observation } from './road/observation.ts'
export { snapshotOf, type Snapshot, type World } from './road/snapshot.ts'
