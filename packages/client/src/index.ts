// The public API of this package.

export type { Answered, ApprovalRequest, Approvals, ApprovalStatus, WaitOptions } from './approvals.ts'
export type { BrowserPart, PageObservation } from './browser-part.ts'
export { createClient, type Client, type ClientOptions } from './client.ts'
export type { DelegationLink, Delegations, RegisteredDelegation } from './delegations.ts'
export {
  ApprovalRequired,
  ApprovalTimedOut,
  EffectUnreported,
  PageChanged,
  ToolDenied,
  ToolFailed,
  TollgateError,
  Withheld,
  type ClientErrorCode,
  type Denial,
  type ErrorFacts,
  type WithheldOutput,
} from './error.ts'
export type { Allowed, Denied, Escalated, Evaluation, Source, ToolCall } from './evaluate.ts'
export type { ApprovalOptions, CallOptions, GuardOptions, Guarded, Run, Tool } from './guard.ts'
export type { Fetch } from './host.ts'
export type {
  Activated,
  ActivePolicy,
  FreezeOrder,
  Frozen,
  GatewayStatus,
  Operations,
  Policies,
} from './operate.ts'
export type {
  FullReceipt,
  PageRequest,
  ReceiptFilter,
  ReceiptPage,
  Receipts,
  StreamOptions,
  VerifyOptions,
} from './receipts.ts'
export type { ReceiptEntry } from './entry.ts'
export type { EffectReport, Reported } from './report.ts'
export type { OpenedSession, Scope, SessionOrder } from './sessions.ts'
export { verifyReceipt, type Proven, type ReceiptEvidence, type VerifiedReceipt } from './verify.ts'
