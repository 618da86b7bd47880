// Replays the recorded history with the code that decided it: takes the ledger's entries one by one, with their kept calls, and
// recomputes the records.

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
import { readAnswer } from '../../open/resume.ts'
import type { Opening } from '../../road/openings.ts'
import { parsePolicy, type Policy } from '../../policy/parse/parse.ts'
import { remembersData } from '../../policy/uses.ts'
import { basisOf, namesAt, ownChain } from '../../road/recall.ts'
import { decidedOtherwise, differencesIn, wasOneTooMany } from './compare.ts'
import { ReplayMemory } from './memory.ts'
import { asOf, intentOf, replayKernel, ReplayTurn } from './moment.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import type { TraceEntry } from './trace.ts'

/** The inputs of a replay. */
export interface ReplayOptions {
  /** The texts of policies and definitions, by hash. */
  readonly texts: ReadonlyMap<string, string>
  /** Policies that are already parsed, by hash. */
  readonly policies?: ReadonlyMap<string, Policy>
  /** A policy to use for every call, instead of the recorded policies. */
  readonly policy?: Policy
}

/** A replayed decision. */
export interface Replayed {
  /** Id of the recorded decision. */
  readonly id: string
  /** The recorded decision. */
  readonly decision: Decision
  /** The call; undefined if it was not kept. */
  readonly intent: Intent | undefined
  readonly judged: JudgedAgain | undefined
  /** Fields of the receipt that differ; under another policy only the fields of the decision itself. */
  readonly differs: readonly string[]
  /** Why it could not be replayed. */
  readonly skipped: string | undefined
}

/** The replayed decision. */
export interface JudgedAgain {
  readonly verdict: Verdict
  readonly reason: ReasonCode
  readonly rung: LadderStep
  readonly rule: string | undefined
  readonly detail: string | undefined
}

/** A recorded call before it is decided. */
export interface Looked {
  readonly intent: Intent
  readonly snapshot: Snapshot
  readonly judgement: Judgement
}

/** A running replay. */
export interface Replay {
  /** Takes the next entry of the ledger. Returns a result for decisions only. */
  take(entry: TraceEntry): Replayed | undefined
  /**
   * Judges the call of a decision after everything taken so far, without counting it. Undefined if the call was not kept, the text
   * of its policy is missing, or the data of its session is unknown.
   */
  look(entry: TraceEntry): Looked | undefined
}

/** Kinds whose newest receipt stays in force. Before the first kept call, only these matter. */
export const STATEFUL_KINDS: ReadonlySet<Kind> = new Set(['policy', 'freeze', 'observe', 'pin'])

/** Starts a replay without any state. Take the entries of a ledger in order. */
export function createReplay(options: ReplayOptions): Replay {
  const replayer = new Replayer(options)
  return { take: (entry) => replayer.take(entry), look: (entry) => replayer.look(entry) }
}

/** Everything that a replay of a decision needs, or why it is not possible. */
type Ready =
  | { readonly kernel: Kernel; readonly intent: Intent; readonly kept: KeptCall }
  | { readonly skipped: string }

class Replayer {
  readonly #options: ReplayOptions
  readonly #kernel: Kernel = replayKernel()
  readonly #memory = new ReplayMemory()
  readonly #policies: Map<string, Policy | undefined>
  readonly #lostPins = new Set<string>()
  /** Requests that were opened during the replay; others are older. */
  readonly #requests = new Set<string>()
  /** Requests by the approval that answers them. */
  readonly #answers = new Map<string, string>()
  /** Allowed calls without an effect so far. */
  readonly #allowed = new Set<string>()
  /** Allowed calls that could not be replayed, by id: their outcome is unknown, too. */
  readonly #unfollowed = new Map<string, Decision>()
  /** Calls that were closed as UNKNOWN; a late effect may follow. */
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
      case 'blocked':
        return undefined
    }
  }

  look(entry: TraceEntry): Looked | undefined {
    try {
      return entry.receipt.kind === 'decision' ? this.#look(entry, entry.receipt) : undefined
    } catch {
      // The kept call is damaged.
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

  /** Returns whether the policy in force kept data. */
  #remembered({ policy_hash, tenant }: Decision, kernel: Kernel): boolean {
    return remembersData(this.#recordedPolicy(policy_hash) ?? policyOf(kernel, tenant))
  }

  #decideOrSkip(entry: TraceEntry, decision: Decision): Replayed {
    try {
      return this.#decide(entry, decision)
    } catch {
      // The kept call does not parse or is inconsistent.
      return this.#skip(entry.id, decision, 'the kept call is damaged')
    }
  }

  #followOrForget(entry: TraceEntry, effect: Effect): void {
    try {
      this.#follow(entry, effect)
    } catch {
      // The kept effect is damaged, and its owner is unknown.
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
      return this.#skip(entry.id, decision, 'its approval request is older than the kept calls')
    }
    const turn = new ReplayTurn(entry.id, decision, this.#memory)
    const names = this.#names(kernel, intent, turn.time)
    if (!this.#memory.seed(names, kept, decision, !this.#remembered(decision, kernel))) {
      return this.#skip(entry.id, decision, 'the data of its session is unknown')
    }
    const { decided } = judge(kernel, intent, names, turn)
    if (!this.#options.policy && wasOneTooMany(decision, decided.verdict)) {
      return this.#skip(entry.id, decision, 'requests that waited at the time are older than the kept calls')
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
    if (!this.#activate(decision)) return { skipped: 'the text of its policy is missing' }
    if (this.#lostPins.has(decision.definition_hash ?? ''))
      return { skipped: 'the pinned definition is missing' }
    this.#dropStale(Date.parse(decision.time))
    return { kernel: asOf(this.#kernel, kept, decision), intent: intentOf(decision, kept), kept }
  }

  /** Activates the policy in the receipt, or the given one. Returns whether it is available. */
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

  /** Skips a decision and drops the records that it changed. The next call restores them. */
  #skip(id: string, decision: Decision, skipped: string): Replayed {
    this.#memory.forget(decision)
    this.#useUp(id, decision)
    if (decision.verdict === 'ALLOW') this.#unfollowed.set(id, decision)
    return { id, decision, intent: undefined, judged: undefined, differs: [], skipped }
  }

  /** Uses up the approval of a skipped call. */
  #useUp(id: string, { approval = '' }: Decision): void {
    const { approvals } = this.#kernel
    // A request that was just opened for it is removed.
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
    if (lost) this.#memory.forgetChanges(lost, receipt)
    const seen = readKeptEffect(kept)
    const opening =
      openings.get(receipt.decision) ?? this.#late.get(receipt.decision) ?? this.#older(receipt, seen)
    if (receipt.status !== 'UNKNOWN') {
      this.#allowed.delete(receipt.decision)
      this.#unfollowed.delete(receipt.decision)
    }
    // It was not allowed in the replay, or its owner is unknown.
    if (!opening) return
    openings.remove(opening.id)
    this.#late.delete(opening.id)
    if (receipt.status === 'UNKNOWN') this.#late.set(opening.id, opening)
    const policy = policyOf(this.#kernel, opening.tenant)
    // Most effects change no records.
    if (!policy.gates.trust && !remembersData(policy)) {
      this.#settle(opening, receipt, undefined)
      return
    }
    if (seen === undefined && receipt.provenance_hash !== undefined) this.#memory.forgetData(opening)
    if (!this.#memory.readyFor(opening, policy)) return
    const turn = new ReplayTurn(effect, receipt, this.#memory)
    const circumstances = { reportedBy: receipt.reported_by, late: receipt.late ?? false }
    const kernel = asOf(this.#kernel, seen, undefined)
    recordEffect(kernel, turn, { opening, policy }, outcomeOf(receipt, seen?.heard ?? []), circumstances)
    this.#settle(opening, receipt, turn.made)
  }

  /** If an effect differs from the recorded one, for example around a change of policy, its changes are unknown. */
  #settle(opening: Opening, recorded: Effect, made: Decision | Effect | undefined): void {
    this.#memory.settleTrust(opening)
    if (this.#options.policy) return
    if (recorded.provenance_hash !== made?.provenance_hash) this.#memory.forgetData(opening)
    if (recorded.trust !== made?.trust) this.#memory.forgetTrust(opening)
  }

  /** Returns the opening of an effect whose decision is older than the replay. */
  #older({ decision, trust, provenance_hash }: Effect, seen: KeptEffect | undefined): Opening | undefined {
    if (this.#allowed.has(decision)) return undefined
    if (trust !== undefined) this.#memory.forgetAll('trust')
    if (provenance_hash !== undefined && !seen) this.#memory.forgetAll('provenance')
    return (
      seen && {
        ...seen.of,
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
    const { decision } = approval
    const request = this.#kernel.approvals.find({ id: decision })
    if (!request) return
    this.#answers.set(id, decision)
    this.#kernel.approvals.set({ ...request, answer: readAnswer(approval, id) })
  }

  #pin({ op, tool, definition_hash: hash }: Pin): void {
    const { catalogue } = this.#kernel
    const text = this.#options.texts.get(hash)
    // Safe cast: a definition's canonical text is that of an object.
    try {
      const definition = text === undefined ? undefined : definitionOf(parseJson(text) as JsonObject)
      if (op === 'pin' && definition?.hash !== hash) this.#lostPins.add(hash)
      else catalogue.setPin(tool, op === 'pin' && definition ? catalogue.prepare(definition) : undefined)
    } catch {
      // A damaged definition counts as missing.
      this.#lostPins.add(hash)
    }
  }

  #close({ op, tenant, principal, session, decisions = 0 }: SessionChange): void {
    const owner = { tenant, principal }
    if (op === 'close') this.#memory.close(owner, session, decisions)
    if (op === 'reset') this.#memory.forgetRisk(owner, session)
    if (op === 'trust') this.#memory.forgetTrust(owner)
  }

  /** As a running kernel does with each call. */
  #dropStale(time: number): void {
    const { approvals } = this.#kernel
    if (!approvals.hasStale(time)) return
    for (const request of approvals.stale(time, 100)) approvals.remove(request)
  }
}

const NO_OUTPUT = new Uint8Array()

/** Returns the outcome of an effect, as far as it changes records. */
function outcomeOf(
  { status, cause, delivery, labels = [], findings = [] }: Effect,
  heard: KeptEffect['heard'],
): Outcome {
  if (status === 'UNKNOWN') return { status, cause: cause ?? 'lost' }
  if (status === 'CANCELLED') return { status }
  const inspection = { labels, findings, heard, delivery, content: undefined }
  return { status, output: NO_OUTPUT, delivery, inspection }
}
