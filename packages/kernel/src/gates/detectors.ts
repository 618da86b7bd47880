// The interfaces behind which detection code works: one for each gate that finds out more than it checks. The road and the ledger know
// these and the table in `index.ts`, and no implementation. A detector that throws makes its gate fail, and the call is denied.

import type { Browser, Json, ReasonCode, Tier } from '@tollgate/evidence'
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

/** Every detector, by what it is asked about. */
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
}

/** Whether a freeze concerns a call. */
interface FreezeDetector {
  reason(freezes: FreezeView, intent: Intent): ReasonCode | undefined
}

/** Schemas of arguments. */
interface SchemaDetector {
  /** @throws KernelError `SCHEMA_REFUSED`. */
  compile(schema: Json): ArgumentsSchema
}

/** The page that a browser call is on. */
interface BrowserDetector {
  page(intent: Intent, facts: PageFacts): Browser | undefined
  input(browser: BrowserCall | undefined, observation: Observation | undefined): PageInput
  bound(browser: BrowserCall, observation: Observation | undefined): unknown[]
  /** Whether an approval that showed one page holds for another. */
  covers(asked: Browser | null, now: Browser | undefined): boolean
}

/** Where the data of a call would go. */
interface EgressDetector {
  destinations(intent: Intent, snapshot: Snapshot): readonly Destination[]
  standing(destinations: readonly Destination[], snapshot: Snapshot): 'inside' | 'ask' | 'outside'
  /** Whether the policy names every one of the hosts itself. */
  isNamed(destinations: readonly Destination[], snapshot: Snapshot): boolean
}

/** Texts, each read once for all gates. */
interface TextDetector {
  read(value: Json): readonly ReadText[]
  readOne(text: string): ReadText
  /** The texts from tools and pages that came with a call. */
  readUntrusted(intent: Intent): readonly ReadText[]
  /** Codes of findings, each once, in order. */
  codes(texts: readonly ReadText[]): readonly string[]
}

/** Where data comes from, and what a session remembers of it. */
interface TaintDetector {
  readonly none: Provenance
  text(provenance: Provenance): string
  /** @throws KernelError `STATE_MALFORMED`. */
  parse(text: string): Provenance
  hear(before: Provenance, key: () => string, heard: readonly SeenValues[]): Provenance
  /** What a session hears with a call, in its order. */
  seenWith(intent: Intent, snapshot: Snapshot): readonly SeenValues[]
  /** What a session hears of an answer that was not inspected. */
  seenUnread(returns: readonly string[]): readonly SeenValues[]
  /** What a session remembers once a call is decided. */
  seenAfter(intent: Intent, snapshot: Snapshot, approved: boolean): Provenance | undefined
  /** Whether a text holds a value that untrusted text named first. */
  relays(text: ReadText, snapshot: Snapshot): boolean
  voiced(provenance: Provenance): boolean
  flow(intent: Intent, snapshot: Snapshot): Flow
  inspect(content: Json, of: Inspecting): Inspection
  hash(key: string, value: Spoken | Hashed): string
  readonly mostHeard: number
}

/** Delegations, from the one that a call names up to its root. */
interface DelegationDetector {
  chain(
    delegations: Delegations,
    tenant: string,
    delegation: string,
  ): readonly RegisteredDelegation[] | undefined
  root(chain: readonly RegisteredDelegation[]): string | undefined
}

/** How risky a session becomes, call by call. */
interface RiskDetector {
  readonly noMemory: RiskMemory
  readonly noLeak: Leak
  readonly noWatch: RiskHistory
  historyText(watch: RiskHistory): string
  scoreText(score: number): string
  counted(intent: Intent, snapshot: Snapshot): RiskTurn
  uncounted(turn: RiskTurn, snapshot: Snapshot): RiskTurn
  assess(intent: Intent, snapshot: Snapshot): Assessment
  facts(intent: Intent, snapshot: Snapshot): RiskFacts | undefined
  /** The turn's part in the memory of risk; where that cannot be worked out, the memory as it was. */
  turnAfter(snapshot: Snapshot, request: ApprovalRequest | undefined, isServers: boolean): RiskTurn
  /** The sum after a call; a person who agreed to it halves what was before. */
  leakAfter(settled: Settled, before: Leak, counted: Leak, snapshot: Snapshot): Leak
  historyAfter(watch: RiskHistory, intent: Intent, snapshot: Snapshot, settled: Settled): RiskHistory
  suspectAfter(since: number, snapshot: Snapshot, settled: Settled): number
  denialsAfter(denials: number, settled: Settled): number
  /** Whether people were asked too much to be asked once more. */
  isApprovalFatigue(tool: string, snapshot: Snapshot): boolean
}

/** How far principals are trusted. */
interface TrustDetector {
  readonly new: TrustState
  text(state: Pick<TrustState, 'score'>): string
  parse(text: string): number
  at(state: TrustState, time: number, halfLife: number): number
  /** After a decision; undefined if that changes nothing. */
  afterDecision(snapshot: Snapshot, settled: Settled): TrustState | undefined
  /** After an effect; undefined if that changes nothing. */
  afterEffect(
    before: TrustState,
    status: Outcome['status'],
    time: number,
    settings: TrustSettings,
  ): TrustState | undefined
}

/** Tiers of principals. */
interface PrivilegeDetector {
  tier(principal: string, snapshot: Snapshot): Tier
  /** The elevation that an approval brings. */
  elevationBy(settled: Settled, snapshot: Snapshot): Elevation | undefined
}

/** The scope of a session. */
interface ScopeDetector {
  text(scope: HeldScope): string
  hash(scope: HeldScope): string
  /** The scope once a person has widened it by this call. */
  widenedBy(settled: Settled, intent: Intent, snapshot: Snapshot): HeldScope | undefined
}

/** How a call is taken from the limits that a record keeps. */
export type Spend = (record: 'session' | 'principal' | 'tenant', before: Allowances) => Allowances

/** Limits by time. */
interface LimitDetector {
  spending(intent: Intent, snapshot: Snapshot, settled: Settled): Spend
}

/** Compliance rules. */
interface ComplianceDetector {
  /** Ids of the rules that apply to a call. */
  applied(intent: Intent, snapshot: Snapshot): readonly string[]
}
