// Recomputes the records that recorded decisions depend on. Unknown records start with the state that was kept with the call.

import type { Decision, Effect } from '@tollgate/evidence'
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

/** The records of a replay. */
export class ReplayMemory {
  readonly #records = new Map<string, unknown>()
  /** Records with missing updates: they are not valid. */
  readonly #lost = new Set<string>()
  /** Sessions that were seen from their start, by the name of their data. */
  readonly #begun = new Set<string>()

  get(name: string): unknown {
    return this.#records.get(name)
  }

  set(name: string, value: unknown): void {
    this.#records.set(name, value)
  }

  /**
   * Fills in unknown records of a call from its kept state. Returns whether all records are known; with `lenient`, unknown data
   * counts as empty.
   */
  seed(names: RecordNames, kept: KeptCall, decision: Decision, lenient: boolean): boolean {
    const data = dataName(decision)
    if (decision.session.seq === 0) this.#begun.add(data)
    const [own = '', principal = '', tenant = '', lineage = ''] = kept.state.split('\n')
    // A lost or damaged record has no receipt: only the kept state shows it.
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

  /** The scope of a session is set from outside, so the kept state is authoritative. */
  #scope(name: string, own: string): void {
    // Safe cast: only these two are kept under such a name, see `stateIn` in `judge.ts`.
    const known = this.#records.get(name) as State | SessionState
    const before = 'session' in known ? known.session : known
    if (before.scope === null && !own.includes('"scope":')) return
    const { scope } = sessionIn(own)
    const same = before.scope && scope && scopeHash(before.scope) === scopeHash(scope)
    if (!same) this.#records.set(name, { ...before, scope })
  }

  /** Returns whether the session has no earlier data. */
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

  /** Returns whether the records that an effect changes are known. Unused records are new, and unknown ones are dropped. */
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

  /** Drops everything that a skipped decision changed. */
  forget(decision: Decision): void {
    const { tenant, session, delegation } = decision
    // The delegators are unknown, so any principal may have changed.
    if (delegation !== undefined) this.forgetAll('principal')
    const owner = ownerOf(decision)
    for (const name of [sessionName(owner, session.id), principalName(owner), `tenant\n${tenant}`]) {
      this.#records.delete(name)
    }
    this.forgetTrust(owner)
    this.forgetData({ ...owner, session: session.id })
  }

  /** Drops everything that an effect changed, as its receipt says. Without a change, the records stay known. */
  forgetChanges(decision: Decision, { trust, provenance_hash }: Effect): void {
    const owner = ownerOf(decision)
    if (trust !== undefined) this.forgetTrust(owner)
    if (provenance_hash !== undefined) this.forgetData({ ...owner, session: decision.session.id })
  }

  /** Drops the risk of a session, and of every principal that it may have counted for. The next call restores it. */
  forgetRisk(owner: Owner, session: string): void {
    this.#records.delete(sessionName(owner, session))
    this.forgetAll('principal')
  }

  /** Drops the trust of a principal. The next call restores it. */
  forgetTrust(owner: Owner): void {
    this.#records.delete(trustName(owner))
    this.#lost.add(trustName(owner))
  }

  /** After an effect: the result of an effect on an unknown trust is unknown, too. */
  settleTrust(owner: Owner): void {
    if (this.#lost.has(trustName(owner))) this.forgetTrust(owner)
  }

  /** Drops the data of a session, because a part of it is missing. */
  forgetData(of: Owner & { readonly session: string }): void {
    const name = provenanceName(of, of.session)
    this.#records.delete(name)
    this.#lost.add(name)
  }

  /** Drops all records of a kind, because an unknown one of them changed. */
  forgetAll(kind: 'principal' | 'trust' | 'provenance'): void {
    for (const name of this.#records.keys()) {
      if (!name.startsWith(`${kind}\n`)) continue
      this.#records.delete(name)
      if (kind !== 'principal') this.#lost.add(name)
    }
  }

  /** Records that a session was closed after `seq` decisions. */
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
  // Safe cast, here and in the two below: only `stateText` makes the kept state.
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
