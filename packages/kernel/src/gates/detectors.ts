// The interfaces of the detection code behind the gates. The pipeline and the ledger depend on these and on the table in `index.ts`,
// never on an implementation. If a detector throws, its gate fails and the call is denied.

import type { Browser, Json, ReasonCode, Tier } from '@tollgate/evidence'
import type { Policy, Rule } from '../policy/parse/parse.ts'
import type { FreezeView } from '../admin/freezes.ts'
import type { ApprovalRequest } from '../admin/approvals.ts'
import type { Destination } from '../destinations/find.ts'
import type { Allowances, Elevation } from '../ledger/session.ts'
import type { BrowserCall, Intent } from '../road/capture.ts'
import type { Outcome } from '../road/effects.ts'
import type { Inspection } from '../road/inspect.ts'
import type { Observation } from '../road/observation.ts'
import type { Settled } from '../road/settle.ts'
import type { Snapshot } from '../road/snapshot.ts'
import type { PageFacts, PageInput } from './browser/page.ts'
import type { Delegations, RegisteredDelegation } from './delegation/delegations.ts'
import type { ArgumentsSchema } from './schema/schema.ts'
import type { HeldScope } from './scope/scope.ts'
import type { RiskFacts } from './session-risk/facts.ts'
import type { Assessment, Leak, RiskMemory } from './session-risk/risk.ts'
import type { RiskTurn } from './session-risk/turn.ts'
import type { RiskHistory } from './session-risk/history.ts'
import type { Flow } from './taint/flow.ts'
import type { Inspecting } from './taint/inspect.ts'
import type { SeenValues } from './taint/provenance.ts'
import type { Hashed, Provenance, Spoken } from './taint/remembered.ts'
import type { ReadText } from './texts.ts'
import type { TrustSettings } from './trust/settings.ts'
import type { TrustState } from './trust/trust.ts'
import type { CallFacts, FactArguments } from '../shell/facts.ts'
import type { CallPlace } from '../shell/place.ts'

/** All detectors, by topic. */
export interface Detectors {
  readonly freeze: FreezeDetector
  readonly schema: SchemaDetector
  readonly browser: BrowserDetector
  readonly egress: EgressDetector
  readonly texts: TextDetector
  readonly taint: TaintDetector
  readonly delegation: DelegationDetector
  readonly risk: RiskDetector
  readonly trust: TrustDetector
  readonly privilege: PrivilegeDetector
  readonly scope: ScopeDetector
  readonly limits: LimitDetector
  readonly compliance: ComplianceDetector
  readonly shell: ShellDetector
}

/** Reads shell commands and paths. */
interface ShellDetector {
  /** Returns why a rule does not allow a call whose facts may be incomplete; undefined if it does. */
  gaps(rule: Rule, facts: CallFacts): string | undefined
  /** Returns what a call does to files, hosts and processes. Never throws. */
  facts(from: FactArguments | undefined, args: Json, place: CallPlace | undefined): CallFacts
  /** Returns the paths that the door resolves for a call. Never throws. */
  paths(from: FactArguments | undefined, args: Json, place: CallPlace | undefined): readonly string[]
}

/** Checks whether a freeze applies to a call. */
interface FreezeDetector {
  reason(freezes: FreezeView, intent: Intent): ReasonCode | undefined
}

/** Compiles schemas of arguments. */
interface SchemaDetector {
  /** @throws KernelError `SCHEMA_REFUSED`. */
  compile(schema: Json): ArgumentsSchema
}

/** Describes the page of a browser call. */
interface BrowserDetector {
  page(intent: Intent, facts: PageFacts): Browser | undefined
  input(browser: BrowserCall | undefined, observation: Observation | undefined): PageInput
  bound(browser: BrowserCall, observation: Observation | undefined): unknown[]
  /** Whether an agent may read the page with this URL. */
  readable(url: string, policy: Policy): boolean
  /** Whether an approval of one page also covers another. */
  covers(asked: Browser | null, now: Browser | undefined): boolean
}

/** Finds the destinations of a call. */
interface EgressDetector {
  destinations(intent: Intent, snapshot: Snapshot): readonly Destination[]
  status(destinations: readonly Destination[], snapshot: Snapshot): 'inside' | 'ask' | 'outside'
  /** Whether the policy names every hostname exactly, without `*`. */
  isNamed(destinations: readonly Destination[], snapshot: Snapshot): boolean
}

/** Reads each text once for all gates. */
interface TextDetector {
  read(value: Json): readonly ReadText[]
  readOne(text: string): ReadText
  /** The texts from tools and pages that came with a call. */
  readUntrusted(intent: Intent): readonly ReadText[]
  /** Codes of the findings, sorted and without duplicates. */
  codes(texts: readonly ReadText[]): readonly string[]
}

/** Tracks where the data of a session comes from. */
interface TaintDetector {
  readonly none: Provenance
  text(provenance: Provenance): string
  /** @throws KernelError `STATE_MALFORMED`. */
  parse(text: string): Provenance
  addSeen(before: Provenance, key: () => string, seen: readonly SeenValues[]): Provenance
  /** The values that arrive with a call, in order. */
  seenWith(intent: Intent, snapshot: Snapshot): readonly SeenValues[]
  /** The values of a result that was not inspected. */
  seenUnread(returns: readonly string[]): readonly SeenValues[]
  /** The provenance of the session after the decision. */
  seenAfter(intent: Intent, snapshot: Snapshot, settled: Settled): Provenance | undefined
  /** Whether a text contains a value that untrusted text introduced. */
  relays(text: ReadText, snapshot: Snapshot): boolean
  /** Whether the session has a message of its user. */
  voiced(provenance: Provenance): boolean
  flow(intent: Intent, snapshot: Snapshot): Flow
  inspect(content: Json, of: Inspecting): Inspection
  hash(key: string, value: Spoken | Hashed): string
  readonly maxSeen: number
}

/** Follows delegations from the one that a call names up to its root. */
interface DelegationDetector {
  chain(
    delegations: Delegations,
    tenant: string,
    delegation: string,
  ): readonly RegisteredDelegation[] | undefined
  root(chain: readonly RegisteredDelegation[]): string | undefined
}

/** Measures the risk of a session, call by call. */
interface RiskDetector {
  readonly noMemory: RiskMemory
  readonly noLeak: Leak
  readonly noHistory: RiskHistory
  historyText(history: RiskHistory): string
  scoreText(score: number): string
  counted(intent: Intent, snapshot: Snapshot): RiskTurn
  uncounted(turn: RiskTurn, snapshot: Snapshot): RiskTurn
  assess(intent: Intent, snapshot: Snapshot): Assessment
  facts(intent: Intent, snapshot: Snapshot): RiskFacts | undefined
  /** The risk memory after this turn; unchanged if it cannot be computed. */
  turnAfter(snapshot: Snapshot, request: ApprovalRequest | undefined, isServers: boolean): RiskTurn
  /** The sum after a call. An approval halves the sum from before the call. */
  leakAfter(settled: Settled, before: Leak, counted: Leak, snapshot: Snapshot): Leak
  historyAfter(history: RiskHistory, intent: Intent, snapshot: Snapshot, settled: Settled): RiskHistory
  suspectAfter(since: number, snapshot: Snapshot, settled: Settled): number
  denialsAfter(denials: number, settled: Settled): number
  /** Whether people received too many approval requests to get another one. */
  isApprovalFatigue(tool: string, snapshot: Snapshot): boolean
}

/** Computes the trust score of principals. */
interface TrustDetector {
  readonly new: TrustState
  text(state: Pick<TrustState, 'score'>): string
  parse(text: string): number
  at(state: TrustState, time: number, halfLife: number): number
  /** The trust after a decision; undefined if unchanged. */
  afterDecision(snapshot: Snapshot, settled: Settled): TrustState | undefined
  /** The trust after an effect; undefined if unchanged. */
  afterEffect(
    before: TrustState,
    status: Outcome['status'],
    time: number,
    settings: TrustSettings,
  ): TrustState | undefined
  /** Whether the trust is high enough for the effect class, also if the class is a guess. */
  suffices(snapshot: Snapshot): boolean
}

/** Determines the tier of a principal. */
interface PrivilegeDetector {
  tier(principal: string, snapshot: Snapshot): Tier
  /** The elevation that an approval grants. */
  elevationBy(settled: Settled, snapshot: Snapshot): Elevation | undefined
  /** Whether the tier is high enough for the effect class, also if the class is a guess. */
  suffices(snapshot: Snapshot): boolean
}

/** Writes and widens the scope of a session. */
interface ScopeDetector {
  text(scope: HeldScope): string
  hash(scope: HeldScope): string
  /** The scope if a person widened it for this call; otherwise undefined. */
  widenedBy(settled: Settled, intent: Intent, snapshot: Snapshot): HeldScope | undefined
}

/** Deducts a call from the limits of a record. */
export type Spend = (record: 'session' | 'principal' | 'tenant', before: Allowances) => Allowances

/** Applies rates, bursts and budgets. */
interface LimitDetector {
  spending(intent: Intent, snapshot: Snapshot, settled: Settled): Spend
}

/** Finds the compliance rules of a call. */
interface ComplianceDetector {
  /** The ids of the rules that apply to a call. */
  applied(intent: Intent, snapshot: Snapshot): readonly string[]
}
