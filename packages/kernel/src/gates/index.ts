// The table of gates in the order of the ladder, and the detectors behind them. `guardian.ts` runs `policy` between the two lists.
// The table is constant: nothing registers at run time. A gate is one file, or one folder with its settings and state. Code that
// several gates use to read texts is in `text/` and `texts.ts`.

import { boundPage, browserOf, coversPage, pageInputOf } from './browser/page.ts'
import { browser, mayRead } from './browser/gate.ts'
import { compliance } from './compliance/gate.ts'
import { context } from './context.ts'
import { delegation } from './delegation/gate.ts'
import { egress } from './egress/gate.ts'
import { freeze, freezeReason } from './freeze.ts'
import type { Gate } from './gate.ts'
import { identity } from './identity.ts'
import { isPrivileged, privilege } from './privilege/gate.ts'
import { schema } from './schema/gate.ts'
import { scope } from './scope/gate.ts'
import { sessionRisk } from './session-risk/gate.ts'
import { taint } from './taint/gate.ts'
import { temporal } from './temporal/gate.ts'
import { threat } from './threat/gate.ts'
import { isTrusted, trust } from './trust/gate.ts'
import { appliedIds } from './compliance/compliance.ts'
import { chainOf, rootDelegator } from './delegation/delegations.ts'
import type { Detectors } from './detectors.ts'
import { destinationsOf, egressStatus, isNamed } from './egress/destinations.ts'
import { tierOf, elevationBy } from './privilege/tier.ts'
import { compileSchema } from './schema/schema.ts'
import { widenedBy } from './scope/holds.ts'
import { scopeText, scopeHash } from './scope/scope.ts'
import { factsOf } from './session-risk/facts.ts'
import {
  seenAfter,
  turnOrNothing,
  easedIf,
  historyAfter,
  suspectAfter,
  nextDenials,
  isTiringCall,
} from './session-risk/next.ts'
import { NO_MEMORY, EMPTY_LEAK, decimal } from './session-risk/risk.ts'
import { turnOf, uncounted, assessmentOf } from './session-risk/turn.ts'
import { NO_HISTORY, historyText } from './session-risk/history.ts'
import { flowOf } from './taint/flow.ts'
import { readUntrusted, seenWith, seenUnread, relays } from './taint/seen-values.ts'
import { inspect } from './taint/inspect.ts'
import { isVoiced } from './taint/named.ts'
import { addSeen, MAX_SEEN } from './taint/provenance.ts'
import { provenanceText, readProvenance } from './taint/record.ts'
import { NO_PROVENANCE, hashOf } from './taint/remembered.ts'
import { factsOfCall, pathsOfCall } from '../shell/call.ts'
import { gapDetail } from '../shell/gaps.ts'
import { spendingOf } from './temporal/spend.ts'
import { readTexts, readText, codesIn } from './texts.ts'
import { nextTrust, trustAfter } from './trust/next.ts'
import { NEW_TRUST, readTrust, trustText, trustAt } from './trust/trust.ts'

/** The gates that run before the policy. */
export const BEFORE_POLICY: readonly Gate[] = [
  freeze,
  schema,
  context,
  identity,
  browser,
  egress,
  taint,
  threat,
  delegation,
  sessionRisk,
  trust,
  privilege,
  scope,
]

/** The gates that run after the policy. */
export const AFTER_POLICY: readonly Gate[] = [temporal, compliance]

export { freeze } from './freeze.ts'

/** The detection code that the pipeline and the ledger use. */
export const DETECTORS: Detectors = {
  freeze: { reason: freezeReason },
  schema: { compile: compileSchema },
  browser: { page: browserOf, input: pageInputOf, bound: boundPage, readable: mayRead, covers: coversPage },
  egress: { destinations: destinationsOf, status: egressStatus, isNamed },
  texts: { read: readTexts, readOne: (text) => readText('', text), readUntrusted, codes: codesIn },
  taint: {
    none: NO_PROVENANCE,
    text: provenanceText,
    parse: readProvenance,
    addSeen,
    seenWith,
    seenUnread,
    seenAfter,
    relays,
    voiced: isVoiced,
    flow: flowOf,
    inspect,
    hash: hashOf,
    maxSeen: MAX_SEEN,
  },
  delegation: { chain: chainOf, root: rootDelegator },
  risk: {
    noMemory: NO_MEMORY,
    noLeak: EMPTY_LEAK,
    noHistory: NO_HISTORY,
    historyText,
    scoreText: decimal,
    counted: turnOf,
    uncounted,
    assess: assessmentOf,
    facts: factsOf,
    turnAfter: turnOrNothing,
    leakAfter: easedIf,
    historyAfter,
    suspectAfter,
    denialsAfter: nextDenials,
    isApprovalFatigue: isTiringCall,
  },
  trust: {
    new: NEW_TRUST,
    text: trustText,
    parse: readTrust,
    at: trustAt,
    afterDecision: nextTrust,
    afterEffect: trustAfter,
    suffices: isTrusted,
  },
  privilege: { tier: tierOf, elevationBy, suffices: isPrivileged },
  scope: { text: scopeText, hash: scopeHash, widenedBy },
  limits: { spending: spendingOf },
  compliance: { applied: appliedIds },
  shell: { facts: factsOfCall, paths: pathsOfCall, gaps: gapDetail },
}
