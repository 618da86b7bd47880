// The records that recorded decisions rest on, folded anew. What is not known begins with what was kept beside the call.

import type { Decision } from '@tollgate/evidence'
import { NOBODY } from '../../names.ts'
import type { KeptCall } from '../../road/kept.ts'
import type { SessionOf } from '../../road/openings.ts'
import type { Policy } from '../../policy/parse/parse.ts'
import { remembersData } from '../../policy/uses.ts'
import {
  principalName,
  provenanceName,
  sessionName,
  trustName,
  type KeptProvenance,
  type Owner,
  type RecordNames,
  principalFrom,
} from '../../ledger/records.ts'
import { scopeHash } from '../../gates/scope/scope.ts'
import {
  keepPrincipal,
  keepTenant,
  NEW_PRINCIPAL,
  NEW_SESSION,
  NEW_TENANT,
  type Kept,
  type PrincipalState,
  type SessionState,
  type State,
  type TenantState,
} from '../../ledger/session.ts'
import { NO_PROVENANCE } from '../../gates/taint/provenance.ts'
import { readProvenance } from '../../gates/taint/record.ts'
import { NEW_TRUST } from '../../gates/trust/trust.ts'

/** What is remembered while a history is decided again. */
export class ReplayMemory {
  readonly #records = new Map<string, unknown>()
  /** Records of which something is missing: they are not what they were. */
  readonly #lost = new Set<string>()
  /** Sessions that were seen from their beginning on, by the name of their data. */
  readonly #begun = new Set<string>()

  get(name: string): unknown {
    return this.#records.get(name)
  }

  set(name: string, value: unknown): void {
    this.#records.set(name, value)
  }

  /**
   * Fills in what a call rests on and is not known here, from what was kept beside it. Whether all of it is known; `lenient`
   * takes data that nobody knows of for none.
   */
  seed(names: RecordNames, kept: KeptCall, decision: Decision, lenient: boolean): boolean {
    const data = dataName(decision)
    if (decision.session.seq === 0) this.#begun.add(data)
    const [own = '', principal = '', tenant = '', lineage = ''] = kept.state.split('\n')
    // A record that was lost or damaged is no entry of the ledger: only what was kept knows of it.
    if (kept.state.includes('"broken":true')) this.#forget(names)
    if (kept.data === null && names.provenance !== undefined) this.#records.delete(names.provenance)
    this.#seed(names.session, () => sessionIn(own))
    this.#scope(names.session, own)
    this.#seed(names.principal, () => principalIn(principal))
    this.#seed(names.tenant, () => tenantIn(tenant))
    this.#seed(names.lineage, () => principalIn(lineage))
    this.#seed(names.trust, () => (kept.trust ? { score: kept.trust[0], at: kept.trust[1] } : NEW_TRUST))
    if (names.trust !== undefined) this.#lost.delete(names.trust)
    if (names.provenance === undefined || this.#records.has(data)) return true
    if (kept.data === undefined && !this.#isNew(data) && !lenient) return false
    this.#lost.delete(data)
    this.#records.set(data, dataIn(kept.data))
    return true
  }

  /** The scope of a session is set from outside, so what was kept beside the call knows it best. */
  #scope(name: string, own: string): void {
    // Sound: under such a name only the two are kept, see `stateIn` in `judge.ts`.
    const known = this.#records.get(name) as State | SessionState
    const before = 'session' in known ? known.session : known
    if (before.scope === null && !own.includes('"scope":')) return
    const { scope } = sessionIn(own)
    const same = before.scope && scope && scopeHash(before.scope) === scopeHash(scope)
    if (!same) this.#records.set(name, { ...before, scope })
  }

  /** Whether nothing can have been remembered of a session's data before now, unless it is known. */
  #isNew(data: string): boolean {
    return this.#begun.has(data) && !this.#lost.has(data)
  }

  #seed(name: string | undefined, make: () => unknown): void {
    if (name !== undefined && !this.#records.has(name)) this.#records.set(name, make())
  }

  #forget({ session, principal, tenant, lineage }: RecordNames): void {
    for (const name of [session, principal, tenant, lineage])
      if (name !== undefined) this.#records.delete(name)
  }

  /** Whether the records that an effect changes are known; what nobody has used yet is new, and what is not known is forgotten. */
  readyFor(opening: SessionOf, policy: Policy): boolean {
    const data = provenanceName(opening, opening.session)
    if (policy.gates.trust) this.#seed(trustName(opening), () => NEW_TRUST)
    if (!remembersData(policy)) return true
    if (this.#isNew(data)) this.#seed(data, () => dataIn(''))
    if (this.#records.has(data)) return true
    this.#lost.add(data)
    this.forgetTrust(opening)
    return false
  }

  /** Forgets all that a decision which could not be made again has changed. */
  forget(decision: Decision): void {
    const { tenant, session, delegation } = decision
    // Who it was delegated by is not known: anybody's sum may have changed.
    if (delegation !== undefined) this.forgetAll('principal')
    const owner = ownerOf(decision)
    for (const name of [sessionName(owner, session.id), principalName(owner), `tenant\n${tenant}`]) {
      this.#records.delete(name)
    }
    this.forgetOutcome(decision)
  }

  /** Forgets what the effect of a decision has changed. */
  forgetOutcome(decision: Decision): void {
    const owner = ownerOf(decision)
    this.forgetTrust(owner)
    this.forgetData({ ...owner, session: decision.session.id })
  }

  /** Forgets the risk of a session and of every principal, one of which it counted for; the next call of each says so. */
  forgetRisk(owner: Owner, session: string): void {
    this.#records.delete(sessionName(owner, session))
    this.forgetAll('principal')
  }

  /** Forgets how far a principal is trusted; the next call of it says so. */
  forgetTrust(owner: Owner): void {
    this.#records.delete(trustName(owner))
    this.#lost.add(trustName(owner))
  }

  /** After an effect: what it made of a trust that nobody knew is not known either. */
  settleTrust(owner: Owner): void {
    if (this.#lost.has(trustName(owner))) this.forgetTrust(owner)
  }

  /** Forgets what is remembered of a session's data: something of it is missing. */
  forgetData(of: Owner & { readonly session: string }): void {
    const name = provenanceName(of, of.session)
    this.#records.delete(name)
    this.#lost.add(name)
  }

  /** Forgets all records of a kind: something that nobody knows of has changed one of them. */
  forgetAll(kind: 'principal' | 'trust' | 'provenance'): void {
    for (const name of this.#records.keys()) {
      if (!name.startsWith(`${kind}\n`)) continue
      this.#records.delete(name)
      if (kind !== 'principal') this.#lost.add(name)
    }
  }

  /** Takes note of a session that was closed after so many decisions. */
  close(owner: Owner, session: string, seq: number): void {
    const data = provenanceName(owner, session)
    this.#records.set(sessionName(owner, session), { ...NEW_SESSION, seq })
    this.#lost.delete(data)
    this.#begun.add(data)
    this.#records.set(data, dataIn(''))
  }
}

function dataName(decision: Decision): string {
  return provenanceName(ownerOf(decision), decision.session.id)
}

function ownerOf({ tenant, principal }: Decision): Owner & { readonly principal: string | undefined } {
  return { tenant, principal: principal === NOBODY ? undefined : principal }
}

function sessionIn(text: string): SessionState {
  // Sound: only `stateText` makes what is kept of a state, here and in the two below.
  return text === '' ? NEW_SESSION : { ...NEW_SESSION, ...(JSON.parse(text) as SessionState) }
}

function principalIn(text: string): Kept<PrincipalState> {
  return keepPrincipal(text === '' ? NEW_PRINCIPAL : principalFrom(text))
}

function tenantIn(text: string): Kept<TenantState> {
  return keepTenant(text === '' ? NEW_TENANT : (JSON.parse(text) as TenantState))
}

function dataIn(text: string | null | undefined): KeptProvenance {
  if (text === null) return { value: NO_PROVENANCE, broken: true }
  return { value: text === undefined || text === '' ? NO_PROVENANCE : readProvenance(text), broken: false }
}
