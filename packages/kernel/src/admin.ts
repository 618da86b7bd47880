// Acts of people on a running kernel: approvals, freezes, pins, delegations, scopes, pardons.

export { activatePolicy, pinTool, setFreeze, unpinTool } from './admin/administer.ts'
export { answerRequest, needsReason } from './admin/answers.ts'
export { inputName, inputOf, pageName, type ApprovalRequest } from './admin/approvals.ts'
export { createCatalogue, definitionOf, type Catalogue, type Definition } from './admin/catalogue.ts'
export { registerDelegation, revokeDelegation } from './admin/delegate.ts'
export { endRequest } from './admin/ending.ts'
export { FLOOD_GUARD, type FreezeOrder } from './admin/freezes.ts'
export { setObserve, type ObserveOrder } from './admin/observing.ts'
export {
  closeSession,
  resetSession,
  resetTrust,
  type PardonOrder,
  type SessionPardon,
} from './admin/pardon.ts'
export { scopeOf, setScope, type ScopeSet } from './admin/scopes.ts'
export { readPageInput, shownInput, type PageInput } from './gates/browser/page.ts'
export { chainOf, isDelegateOnly, type RegisteredDelegation } from './gates/delegation/delegations.ts'
export { plainName } from './spellings.ts'
