// Deciding the recorded history again, by the same code that decided it first: the ledger's entries one by one, with what was
// kept beside them, on records that are folded anew.

import type {
  Approval,
  Decision,
  Effect,
  Kind,
  Pin,
  PolicyActivation,
  ReasonCode,
  LadderStep,
  SessionChange,
  Verdict,
} from '@tollgate/evidence'
import { NO_HASH, parseJson, type JsonObject } from '@tollgate/evidence'
import type { Intent } from '../../road/capture.ts'
import { definitionOf } from '../../admin/catalogue.ts'
import { recordEffect, type Outcome } from '../../road/effects.ts'
import { decide, type Judgement } from '../../road/guardian.ts'
import { judge, takeSnapshot } from '../../road/judge.ts'
import { policyOf, type Kernel } from '../../kernel.ts'
import {
  readKeptCall,
  readKeptEffect,
  whyUnreadable,
  type KeptCall,
  type KeptEffect,
} from '../../road/kept.ts'
import type { Opening } from '../../road/openings.ts'
import { parsePolicy, type Policy } from '../../policy/parse/parse.ts'
import { remembersData } from '../../policy/uses.ts'
import { basisOf, namesAt, ownChain } from '../../road/recall.ts'
import { decidedOtherwise, differencesIn, wasOneTooMany } from './compare.ts'
import { ReplayMemory } from './memory.ts'
import { asOf, intentOf, replayKernel, ReplayTurn } from './moment.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import type { TraceEntry } from './trace.ts'

/** What a history is decided again with. */
export interface ReplayOptions {
  /** The texts of policies and definitions, by hash. */
  readonly texts: ReadonlyMap<string, string>
  /** Policies that have been read already, by hash. */
  readonly policies?: ReadonlyMap<string, Policy>
  /** In force for every call, instead of the policies that were. */
  readonly policy?: Policy
}

/** A decision that was made again. */
export interface Replayed {
  /** Id of the recorded decision. */
  readonly id: string
  /** As it was recorded. */
  readonly decision: Decision
  /** The call; undefined if it was not kept. */
  readonly intent: Intent | undefined
  readonly judged: JudgedAgain | undefined
  /** Fields of the receipt that came out different; under another policy only those that say what was decided. */
  readonly differs: readonly string[]
  /** Why it could not be decided again. */
  readonly skipped: string | undefined
}

/** What was decided this time. */
export interface JudgedAgain {
  readonly verdict: Verdict
  readonly reason: ReasonCode
  readonly rung: LadderStep
  readonly rule: string | undefined
  readonly detail: string | undefined
}

/** A recorded call as it stood before its ladder. */
export interface Looked {
  readonly intent: Intent
  readonly snapshot: Snapshot
  readonly judgement: Judgement
}

/** A history that is being decided again. */
export interface Replay {
  /** Takes the next entry of the ledger; answers for decisions only. */
  take(entry: TraceEntry): Replayed | undefined
  /**
   * The call of a decision as it would be judged after everything that was taken so far; nothing of it counts. Undefined if it
   * was not kept, the text of its policy is gone, or what its session remembered is not known.
   */
  look(entry: TraceEntry): Looked | undefined
}

/** Kinds whose newest word stands until another comes: of what lies before the first call that was kept, only these are of use. */
export const STANDING: ReadonlySet<Kind> = new Set(['policy', 'freeze', 'observe', 'pin'])

/** Begins with nothing: the entries of a ledger follow in their order. */
export function createReplay(options: ReplayOptions): Replay {
  const replayer = new Replayer(options)
  return { take: (entry) => replayer.take(entry), look: (entry) => replayer.look(entry) }
}

/** Everything that a recorded decision is made again from, or why it cannot be. */
type Ready =
  | { readonly kernel: Kernel; readonly intent: Intent; readonly kept: KeptCall }
  | { readonly skipped: string }

class Replayer {
  readonly #options: ReplayOptions
  readonly #kernel: Kernel = replayKernel()
  readonly #memory = new ReplayMemory()
  readonly #policies: Map<string, Policy | undefined>
  readonly #lostPins = new Set<string>()
  /** Requests that were opened in what was taken: others are older. */
  readonly #requests = new Set<string>()
  /** Requests by the approval that answers them. */
  readonly #answers = new Map<string, string>()
  /** Allowed calls whose effect is still to come. */
  readonly #allowed = new Set<string>()
  /** Allowed calls that could not be decided again, by id: what came of them is not known either. */
  readonly #unfollowed = new Map<string, Decision>()
  /** Calls that were closed as UNKNOWN, and may be followed by a late effect. */
  readonly #late = new Map<string, Opening>()

  constructor(options: ReplayOptions) {
    this.#options = options
    this.#policies = new Map(options.policies)
  }

  take(entry: TraceEntry): Replayed | undefined {
    const { receipt } = entry
    switch (receipt.kind) {
      case 'decision':
        return this.#decideOrSkip(entry, receipt)
      case 'effect':
        this.#followOrForget(entry, receipt)
        return undefined
      case 'approval':
        this.#answer(entry.id, receipt)
        return undefined
      case 'freeze':
        this.#kernel.freezes.apply(receipt)
        return undefined
      case 'observe':
        this.#kernel.observing.apply(receipt)
        return undefined
      case 'pin':
        this.#pin(receipt)
        return undefined
      case 'session':
        this.#close(receipt)
        return undefined
      case 'policy':
        this.#activate(receipt)
        return undefined
      case 'genesis':
      case 'key':
      case 'token':
      case 'delegation':
      case 'recovery':
      case 'quota':
        return undefined
    }
  }

  look(entry: TraceEntry): Looked | undefined {
    try {
      return entry.receipt.kind === 'decision' ? this.#look(entry, entry.receipt) : undefined
    } catch {
      // What was kept of it is damaged.
      return undefined
    }
  }

  #look(entry: TraceEntry, decision: Decision): Looked | undefined {
    const ready = this.#prepare(entry, decision)
    if ('skipped' in ready) return undefined
    const { kernel, intent, kept } = ready
    const turn = new ReplayTurn(entry.id, decision, this.#memory)
    const names = this.#names(kernel, intent, turn.time)
    if (!this.#memory.seed(names, kept, decision, !this.#remembered(decision, kernel))) return undefined
    const snapshot = takeSnapshot(kernel, intent, { names, turn })
    return { intent, snapshot, judgement: decide(intent, snapshot, kernel.ladder) }
  }

  /** Whether the policy that was in force had data remembered. */
  #remembered({ policy_hash, tenant }: Decision, kernel: Kernel): boolean {
    return remembersData(this.#recordedPolicy(policy_hash) ?? policyOf(kernel, tenant))
  }

  #decideOrSkip(entry: TraceEntry, decision: Decision): Replayed {
    try {
      return this.#decide(entry, decision)
    } catch {
      // What was kept is read as it was written; whatever else stands there, nothing can be said of this call.
      return this.#skip(entry.id, decision, 'what was kept of it is damaged')
    }
  }

  #followOrForget(entry: TraceEntry, effect: Effect): void {
    try {
      this.#follow(entry, effect)
    } catch {
      // As above; whose memory it has changed is not known either.
      this.#memory.forgetAll('trust')
      this.#memory.forgetAll('provenance')
    }
  }

  #decide(entry: TraceEntry, decision: Decision): Replayed {
    if (decision.verdict === 'ALLOW') this.#allowed.add(entry.id)
    const ready = this.#prepare(entry, decision)
    if ('skipped' in ready) return this.#skip(entry.id, decision, ready.skipped)
    const { kernel, intent, kept } = ready
    if (kept.asked !== undefined && !this.#requests.has(kept.asked)) {
      return this.#skip(entry.id, decision, 'the request it rests on is older than what was kept')
    }
    const turn = new ReplayTurn(entry.id, decision, this.#memory)
    const names = this.#names(kernel, intent, turn.time)
    if (!this.#memory.seed(names, kept, decision, !this.#remembered(decision, kernel))) {
      return this.#skip(entry.id, decision, 'what was remembered of its session’s data is not known')
    }
    const { decided } = judge(kernel, intent, names, turn)
    if (!this.#options.policy && wasOneTooMany(decision, decided.verdict)) {
      return this.#skip(entry.id, decision, 'requests that waited then are older than what was kept')
    }
    if (decision.verdict === 'ESCALATE') this.#requests.add(entry.id)
    const { verdict, reason, rung, rule, detail } = decided
    const differs = this.#differences(decision, turn.made)
    return {
      id: entry.id,
      decision,
      intent,
      judged: { verdict, reason, rung, rule, detail },
      differs,
      skipped: undefined,
    }
  }

  #names(kernel: Kernel, intent: Intent, time: number): ReturnType<typeof namesAt> {
    return namesAt(ownChain(kernel, intent), basisOf(kernel, intent).names, time)
  }

  #prepare({ kept: text }: TraceEntry, decision: Decision): Ready {
    const kept = readKeptCall(text)
    if (!kept) return { skipped: whyUnreadable(text) ?? 'the call was not kept' }
    if (!this.#activate(decision)) return { skipped: 'the text of its policy is gone' }
    if (this.#lostPins.has(decision.definition_hash ?? ''))
      return { skipped: 'the pinned definition is gone' }
    this.#dropStale(Date.parse(decision.time))
    return { kernel: asOf(this.#kernel, kept, decision), intent: intentOf(decision, kept), kept }
  }

  /** Puts the policy in force that the receipt names, or the one that was given. Whether it could. */
  #activate({ tenant, policy_hash }: Decision | PolicyActivation): boolean {
    const { policies } = this.#kernel
    const { policy = this.#recordedPolicy(policy_hash) } = this.#options
    if (policy) policies.set(tenant, policy)
    else policies.delete(tenant)
    return policy !== undefined || policy_hash === NO_HASH
  }

  #recordedPolicy(hash: string): Policy | undefined {
    if (!this.#policies.has(hash)) {
      const text = this.#options.texts.get(hash)
      const parsed = text === undefined ? undefined : parsePolicy(text)
      this.#policies.set(hash, parsed?.ok === true && parsed.policy.hash === hash ? parsed.policy : undefined)
    }
    return this.#policies.get(hash)
  }

  /** What can no longer be folded is forgotten; the next call of it brings its own. */
  #skip(id: string, decision: Decision, skipped: string): Replayed {
    this.#memory.forget(decision)
    this.#useUp(id, decision)
    if (decision.verdict === 'ALLOW') this.#unfollowed.set(id, decision)
    return { id, decision, intent: undefined, judged: undefined, differs: [], skipped }
  }

  /** What was granted to a call that could not be decided again is used up all the same. */
  #useUp(id: string, { approval = '' }: Decision): void {
    const { approvals } = this.#kernel
    // And a request that was opened for it just now was never there.
    for (const each of [this.#answers.get(approval) ?? '', id]) {
      const request = approvals.find({ id: each })
      if (request) approvals.remove(request)
    }
  }

  #differences(recorded: Decision, made: Decision | Effect | undefined): readonly string[] {
    if (made?.kind !== 'decision') return ['kind']
    return this.#options.policy ? decidedOtherwise(recorded, made) : differencesIn(recorded, made)
  }

  #follow({ id: effect, kept }: TraceEntry, receipt: Effect): void {
    const { openings } = this.#kernel
    const lost = this.#unfollowed.get(receipt.decision)
    if (lost) this.#memory.forgetOutcome(lost)
    const heard = readKeptEffect(kept)
    const opening =
      openings.get(receipt.decision) ?? this.#late.get(receipt.decision) ?? this.#older(receipt, heard)
    if (receipt.status !== 'UNKNOWN') {
      this.#allowed.delete(receipt.decision)
      this.#unfollowed.delete(receipt.decision)
    }
    // It was not allowed this time, or nobody knows whose it is.
    if (!opening) return
    openings.remove(opening.id)
    this.#late.delete(opening.id)
    if (receipt.status === 'UNKNOWN') this.#late.set(opening.id, opening)
    const policy = policyOf(this.#kernel, opening.tenant)
    // Most effects change nothing that anybody remembers.
    if (!policy.gates.trust && !remembersData(policy)) {
      this.#settle(opening, receipt, undefined)
      return
    }
    if (heard === undefined && receipt.provenance_hash !== undefined) this.#memory.forgetData(opening)
    if (!this.#memory.readyFor(opening, policy)) return
    const turn = new ReplayTurn(effect, receipt, this.#memory)
    const circumstances = { reportedBy: receipt.reported_by, late: receipt.late ?? false }
    const kernel = asOf(this.#kernel, heard, undefined)
    recordEffect(kernel, turn, { opening, policy }, outcomeOf(receipt, heard?.heard ?? []), circumstances)
    this.#settle(opening, receipt, turn.made)
  }

  /** Where an effect came out otherwise than recorded (another policy was about to come, say), what it changed is not known. */
  #settle(opening: Opening, recorded: Effect, made: Decision | Effect | undefined): void {
    this.#memory.settleTrust(opening)
    if (this.#options.policy) return
    if (recorded.provenance_hash !== made?.provenance_hash) this.#memory.forgetData(opening)
    if (recorded.trust !== made?.trust) this.#memory.forgetTrust(opening)
  }

  /** Whose effect it is, if its decision is older than what was taken. */
  #older({ decision, trust, provenance_hash }: Effect, heard: KeptEffect | undefined): Opening | undefined {
    if (this.#allowed.has(decision)) return undefined
    if (trust !== undefined) this.#memory.forgetAll('trust')
    if (provenance_hash !== undefined && !heard) this.#memory.forgetAll('provenance')
    return (
      heard && {
        ...heard.of,
        id: decision,
        clock: 0,
        tool: '',
        assurance: 'enforced',
        expires: null,
        salted: false,
      }
    )
  }

  #answer(id: string, approval: Approval): void {
    const { decision, answer, widen, approver, because = null, expires, lamport_clock } = approval
    const request = this.#kernel.approvals.find({ id: decision })
    if (!request) return
    const said = {
      id,
      clock: lamport_clock,
      granted: answer === 'GRANTED',
      widen: widen === true,
      approver,
      because,
      until: Date.parse(expires),
    }
    this.#answers.set(id, decision)
    this.#kernel.approvals.set({ ...request, answer: said })
  }

  #pin({ op, tool, definition_hash: hash }: Pin): void {
    const { catalogue } = this.#kernel
    const text = this.#options.texts.get(hash)
    // Sound: a definition's canonical text is that of an object.
    try {
      const definition = text === undefined ? undefined : definitionOf(parseJson(text) as JsonObject)
      if (op === 'pin' && definition?.hash !== hash) this.#lostPins.add(hash)
      else catalogue.setPin(tool, op === 'pin' && definition ? catalogue.prepare(definition) : undefined)
    } catch {
      // Damaged, however it came about: as good as lost.
      this.#lostPins.add(hash)
    }
  }

  #close({ op, tenant, principal, session, decisions = 0 }: SessionChange): void {
    const owner = { tenant, principal }
    if (op === 'close') this.#memory.close(owner, session, decisions)
    if (op === 'reset') this.#memory.forgetRisk(owner, session)
    if (op === 'trust') this.#memory.forgetTrust(owner)
  }

  /** As a running kernel does in passing. */
  #dropStale(time: number): void {
    const { approvals } = this.#kernel
    if (!approvals.hasStale(time)) return
    for (const request of approvals.stale(time, 100)) approvals.remove(request)
  }
}

const NO_OUTPUT = new Uint8Array()

/** What is known of an effect, as far as it changes what is remembered. */
function outcomeOf(
  { status, cause, delivery, labels = [], findings = [] }: Effect,
  heard: KeptEffect['heard'],
): Outcome {
  if (status === 'UNKNOWN') return { status, cause: cause ?? 'lost' }
  if (status === 'CANCELLED') return { status }
  const inspection = { labels, findings, heard, delivery, content: undefined }
  return { status, output: NO_OUTPUT, delivery, inspection }
}
