// Checks the rules between receipts: keys, links, effects and approvals of decisions, active policies. Receipts come in the order
// of their indexes. Rules that a partial pack cannot decide are counted in `Unseen`.

import { requireBase64 } from './bytes.ts'
import { canonicalize } from './canonical.ts'
import { linkFaults, type ChainHead } from './chain.ts'
import { codeOf } from './error.ts'
import type { FindingCode } from './findings.ts'
import { sha256Hex } from './hash.ts'
import { IdTable, type Slot } from './ids.ts'
import type { PublicKey } from './keys.ts'
import {
  NO_HASH,
  type Approval,
  type Decision,
  type Delegation,
  type Effect,
  type KeyChange,
  type Receipt,
} from './kinds.ts'
import { memoryOf } from './made-session.ts'
import type { Contents } from './manifest.ts'
import { introducedKey } from './pack.ts'
import type { NoteKey } from './note.ts'
import type { Parsed } from './receipt.ts'

/** Reports a finding about the receipt at `index`. */
type Accuse = (code: FindingCode, index: number, detail?: string) => void

/** A key of the ledger, from its receipts. */
interface AuditedKey {
  readonly note: NoteKey
  readonly role: 'ledger' | 'writer'
  /** The writer whose chain it signs. */
  readonly of: string | undefined
  retired: boolean
}

/** A granted approval. `asked` is the call, if its escalation is in the pack. */
interface Grant {
  readonly approver: string | undefined
  readonly expires: string
  readonly asked: string | undefined
  /** Hash of the page that the approver saw. */
  readonly seen: string | undefined
}

/** An escalated call. */
interface Asked {
  readonly principal: string
  readonly call: string
  /** Hash of its page. */
  readonly seen: string | undefined
}

// An approval outside the pack is assumed to be valid.
const ASSUMED: Grant = {
  approver: undefined,
  expires: '9999-12-31T23:59:59.999Z',
  asked: undefined,
  seen: undefined,
}

/** The number of checks that the pack has too little data for. */
export interface Unseen {
  /** References to receipts outside the pack. */
  references: number
  /** Decisions whose active policy is not known. */
  policies: number
}

// The marks of a receipt, one byte: its type in the low three bits, then flags.
const TYPE = 7
const CAUSE = 0
const ALLOWED = 1
const DENIED = 2
const ESCALATED = 3
const GRANTED = 4
const REFUSED = 5
const CLOSED = 8 // effect recorded; approval used; escalation answered
const UNKNOWN = 16 // closed as UNKNOWN: one late effect may follow
const LATE = 32
const RANGED = 64 // in the range, so all later receipts of the range were seen

/** Checks the rules between receipts, one receipt at a time. */
export class Audit {
  readonly keys: Map<string, AuditedKey> = new Map<string, AuditedKey>()
  readonly policies: Set<string> = new Set<string>()
  readonly unseen: Unseen = { references: 0, policies: 0 }
  /** Allowed calls whose effect is not recorded yet. */
  open = 0
  /** Calls whose effect is UNKNOWN and has no late effect. */
  unknown = 0
  /** Whether the genesis receipt was seen. */
  genesis = false
  readonly #contents: Contents
  readonly #accuse: Accuse
  readonly #ids = new IdTable()
  readonly #writers = new Map<string, ChainHead & { readonly index: number }>()
  readonly #active = new Map<string, { readonly hash: string; readonly index: number }>()
  /** Ids that receipts refer to and that were not seen before them. */
  readonly #absent = new IdTable()
  /** Escalated calls without an answer. */
  readonly #asked = new Map<Slot, Asked>()
  /** Granted approvals that are not used yet. */
  readonly #grants = new Map<Slot, Grant>()
  /** The newest receipt of each delegation, by tenant and id. */
  readonly #delegations = new Map<string, Delegation>()

  constructor(contents: Contents, accuse: Accuse) {
    this.#contents = contents
    this.#accuse = accuse
  }

  /** Checks the next receipt. Returns the key to verify its signature with, or undefined if the key is unknown. */
  take(index: number, { receipt, id }: Parsed): PublicKey | undefined {
    const key = this.#checkKey(index, receipt)
    this.#checkLink(index, receipt, id)
    if (this.#absent.size > 0) this.#arrive(id)
    const ranged = this.#inRange(index) ? RANGED : 0
    const slot = this.#ids.add(id, receipt.lamport_clock, typeOf(receipt) | ranged)
    if (slot === undefined) this.#accuse('RECEIPT_REPEATED', index)
    switch (receipt.kind) {
      case 'decision':
        this.#checkDecision(index, receipt, slot)
        break
      case 'effect':
        this.#checkEffect(index, receipt)
        break
      case 'approval':
        this.#checkApproval(index, receipt, slot)
        break
      case 'policy':
        this.#active.set(receipt.tenant, { hash: receipt.policy_hash, index })
        break
      case 'key':
        this.#changeKey(index, receipt)
        break
      case 'delegation':
        this.#delegations.set(`${receipt.tenant}\n${receipt.delegation_hash}`, receipt)
        break
      case 'genesis':
      case 'freeze':
      case 'pin':
      case 'token':
      case 'session':
      case 'observe':
      case 'recovery':
      case 'quota':
      case 'blocked':
        break
    }
    return key
  }

  /** Whether the pack contains every entry before `index`. */
  #seesAllBefore(index: number): boolean {
    const { range } = this.#contents
    return range?.start === 0 && index <= range.end
  }

  #inRange(index: number): boolean {
    const { range } = this.#contents
    return range !== undefined && index >= range.start && index < range.end
  }

  #checkKey(index: number, receipt: Receipt): PublicKey | undefined {
    if (receipt.kind === 'genesis') this.genesis = true
    if ((receipt.kind === 'genesis') !== (index === 0)) this.#accuse('GENESIS_MISPLACED', index)
    else if (receipt.kind === 'genesis') this.#addKey(index, receipt, 'ledger', undefined)
    const key = this.keys.get(receipt.key)
    if (!key) {
      this.#accuse('KEY_UNKNOWN', index)
      return undefined
    }
    const ledgers = receipt.kind === 'genesis' || receipt.kind === 'key'
    const fits = ledgers ? key.role === 'ledger' : key.role === 'writer' && key.of === receipt.writer
    if (!fits)
      this.#accuse(
        'KEY_ROLE_WRONG',
        index,
        `a ${key.role} key signed a ${receipt.kind} receipt of \`${receipt.writer}\``,
      )
    if (key.retired) this.#accuse('KEY_RETIRED', index)
    return key.note.key
  }

  #changeKey(index: number, receipt: KeyChange): void {
    if (receipt.op === 'add') return this.#addKey(index, receipt, receipt.role, receipt.of)
    const known = this.keys.get(sha256Hex(requireBase64(receipt.public_key, 32, 'a key')))
    const fits = known?.role === receipt.role && known.of === receipt.of && !known.retired
    if (known && fits) known.retired = true
    else this.#accuse('KEY_UNKNOWN', index, 'it retires a key that was not in service')
  }

  #addKey(index: number, receipt: Receipt, role: 'ledger' | 'writer', of: string | undefined): void {
    try {
      const note = introducedKey(receipt)
      if (!note) return
      if (this.keys.has(note.key.id))
        this.#accuse('KEY_ROLE_WRONG', index, 'it adds a key that was already added')
      else this.keys.set(note.key.id, { note, role, of, retired: false })
    } catch (fault) {
      // A runtime without Ed25519 says nothing about the key.
      if (codeOf(fault) === 'KEY_UNAVAILABLE') throw fault
      this.#accuse('KEY_WEAK', index)
    }
  }

  #checkLink(index: number, receipt: Receipt, id: string): void {
    const head = this.#writers.get(receipt.writer)
    const causes: number[] = []
    for (const cause of receipt.causes) {
      const slot = this.#ids.find(cause)
      if (slot !== undefined) causes.push(this.#ids.clock(slot))
      else this.#assume(index, cause, CAUSE)
    }
    const since = this.#contents.range?.start ?? 0
    const faults = linkFaults(receipt, {
      head,
      causes,
      allCauses: causes.length === receipt.causes.length,
      gapless: this.#inRange(index) && (head ? head.index >= since : since === 0),
    })
    for (const fault of faults) this.#accuse(fault, index)
    const { seq, lamport_clock, time } = receipt
    this.#writers.set(receipt.writer, { id, seq, lamport_clock, time, index })
  }

  #checkDecision(index: number, decision: Decision, own: Slot | undefined): void {
    if (decision.verdict === 'ESCALATE' && own !== undefined) {
      const { principal, browser } = decision
      this.#asked.set(own, { principal, call: callOf(decision), seen: browser?.seen_hash })
    }
    if (decision.verdict === 'ALLOW') this.open++
    if (decision.approval !== undefined) this.#useApproval(index, decision, decision.approval)
    if (decision.verdict === 'ALLOW' && decision.delegation !== undefined) {
      this.#checkDelegation(index, decision, decision.delegation)
    }
    if (decision.policy_hash !== NO_HASH) this.policies.add(decision.policy_hash)
    this.#checkPolicy(index, decision)
  }

  /** A delegation and all its parents must be granted and not expired. A delegation outside the pack is assumed to be valid. */
  #checkDelegation(index: number, { tenant, principal, time }: Decision, id: string): void {
    let delegate = principal
    let next: string | undefined = id
    for (let links = 0; next !== undefined; links++) {
      const known = this.#delegations.get(`${tenant}\n${next}`)
      if (!known && !this.#seesAllBefore(index)) return
      const holds = known?.op === 'grant' && known.delegate === delegate && known.expires >= time
      if (!holds || links === MAX_LINKS) return this.#accuse('DELEGATION_NOT_GRANTED', index)
      delegate = known.delegator
      next = known.parent
    }
  }

  /** The active policy is known only inside the range: elsewhere an activation may be missing. */
  #checkPolicy(index: number, { tenant, policy_hash }: Decision): void {
    const since = this.#contents.range?.start ?? 0
    const active = this.#active.get(tenant) ?? { hash: NO_HASH, index: 0 }
    if (!this.#inRange(index) || active.index < since) this.unseen.policies++
    else if (active.hash !== policy_hash) this.#accuse('POLICY_NOT_ACTIVE', index)
  }

  #useApproval(index: number, decision: Decision, approval: string): void {
    const place = this.#lookUp(index, approval, decision, GRANTED)
    if (!place) return
    const { table, slot, marks } = place
    const grant = table === this.#ids ? this.#grants.get(slot) : ASSUMED
    if ((marks & CLOSED) !== 0) this.#accuse('APPROVAL_REUSED', index)
    else if ((marks & TYPE) !== GRANTED || !grant || decision.time > grant.expires) {
      this.#accuse('APPROVAL_NOT_GRANTED', index)
    } else if (grant.asked === undefined && grant.approver === decision.principal) {
      this.#accuse('APPROVAL_BY_REQUESTER', index)
    } else if (grant !== ASSUMED && grant.seen !== decision.browser?.approved_hash) {
      this.#accuse('APPROVAL_FOR_ANOTHER_CALL', index)
    } else if (grant.asked !== undefined && grant.asked !== callOf(decision)) {
      this.#accuse('APPROVAL_FOR_ANOTHER_CALL', index)
    }
    table.mark(slot, marks | CLOSED)
    if (table === this.#ids) this.#grants.delete(slot)
  }

  #checkApproval(index: number, approval: Approval, own: Slot | undefined): void {
    const place = this.#lookUp(index, approval.decision, approval, ESCALATED)
    const asked = place?.table === this.#ids ? this.#asked.get(place.slot) : undefined
    if (own !== undefined && approval.answer === 'GRANTED') {
      const { approver, expires, seen_hash: seen } = approval
      this.#grants.set(own, { approver, expires, asked: asked?.call, seen })
    }
    if (!place) return
    if (asked?.principal === approval.approver) this.#accuse('APPROVAL_BY_REQUESTER', index)
    if (asked?.seen !== undefined && asked.seen !== approval.seen_hash) {
      this.#accuse('APPROVAL_FOR_ANOTHER_CALL', index)
    }
    const { table, slot, marks } = place
    if ((marks & ~RANGED) === ESCALATED) table.mark(slot, marks | CLOSED)
    else this.#accuse('APPROVAL_WITHOUT_ESCALATION', index)
    if (asked) this.#asked.delete(slot)
  }

  #checkEffect(index: number, effect: Effect): void {
    const place = this.#lookUp(index, effect.decision, effect, ALLOWED)
    if (!place) return
    const { table, slot, marks } = place
    const between = (marks & RANGED) !== 0 && this.#inRange(index)
    const fault = effectFault(marks, effect, between)
    if (fault) return this.#accuse(fault, index)
    if (table === this.#ids && (marks & CLOSED) === 0) this.open--
    const unknown = effect.status === 'UNKNOWN' ? UNKNOWN : 0
    if (unknown !== 0) this.unknown++
    // The UNKNOWN before a late effect can be outside the pack.
    else if (effect.late === true && (marks & UNKNOWN) !== 0) this.unknown--
    table.mark(slot, marks | CLOSED | unknown | (effect.late === true ? LATE : 0))
  }

  /** Finds the receipt that another one refers to. It must be among the causes; outside the pack it is assumed to be of `type`. */
  #lookUp(index: number, id: string, { causes }: Receipt, type: number): ReceiptSlot | undefined {
    if (!causes.includes(id)) {
      this.#accuse(missing(type), index)
      return undefined
    }
    const slot = this.#ids.find(id)
    if (slot !== undefined) return { table: this.#ids, slot, marks: this.#ids.marks(slot) }
    return this.#assume(index, id, type)
  }

  /**
   * Handles a reference to a receipt that was not seen. If the pack has all earlier entries, the receipt does not exist.
   * Otherwise it is assumed to be of `type` and recorded, so that it cannot be used twice or appear later.
   */
  #assume(index: number, id: string, type: number): ReceiptSlot | undefined {
    if (this.#seesAllBefore(index)) {
      this.#accuse(missing(type), index)
      return undefined
    }
    // Every reference is also a cause, so it is counted only once.
    if (type === CAUSE) this.unseen.references++
    const slot = this.#absent.find(id) ?? this.#remember(index, id)
    if (slot === undefined) return undefined
    const marks = this.#absent.marks(slot) || type
    this.#absent.mark(slot, marks)
    return { table: this.#absent, slot, marks }
  }

  #remember(index: number, id: string): Slot | undefined {
    if (this.#absent.size < MAX_ABSENT) return this.#absent.add(id, index, CAUSE)
    this.#accuse('REFERENCES_TOO_MANY', index)
    return undefined
  }

  /** Reports a receipt that comes after one that refers to it. */
  #arrive(id: string): void {
    const slot = this.#absent.find(id)
    if (slot === undefined) return
    // The clock of an absent receipt is the index of the first reference to it.
    const index = this.#absent.clock(slot)
    const type = this.#absent.marks(slot) & TYPE
    for (const code of new Set([missing(CAUSE), missing(type)])) this.#accuse(code, index)
  }
}

/** A receipt that another one refers to. `table` is `#ids` if it was seen, else `#absent`. */
interface ReceiptSlot {
  readonly table: IdTable
  readonly slot: Slot
  readonly marks: number
}

/** The longest chain of delegations, see `MAX_DELEGATION_DEPTH`. */
export const MAX_LINKS = 9

/** Bounds the memory that a forged pack can use. An honest pack has few references to entries outside it. */
export const MAX_ABSENT = 200_000

/** The finding for a reference to a missing receipt of this type. */
function missing(type: number): FindingCode {
  if (type === ALLOWED) return 'EFFECT_WITHOUT_DECISION'
  if (type === GRANTED) return 'APPROVAL_NOT_GRANTED'
  return type === ESCALATED ? 'APPROVAL_WITHOUT_ESCALATION' : 'CAUSE_UNKNOWN'
}

/** The finding for an effect of a decision with these marks, if any. `between`: every entry between the two was seen. */
function effectFault(marks: number, { late }: Effect, between: boolean): FindingCode | undefined {
  const type = marks & TYPE
  if (type === DENIED || type === ESCALATED) return 'EFFECT_NOT_ALLOWED'
  if (type !== ALLOWED) return 'EFFECT_WITHOUT_DECISION'
  if ((marks & LATE) !== 0) return 'EFFECT_REPEATED'
  if (late === true) {
    const unknownSeen = (marks & UNKNOWN) !== 0
    return unknownSeen || (!between && (marks & CLOSED) === 0) ? undefined : 'EFFECT_LATE_WRONG'
  }
  if ((marks & UNKNOWN) !== 0) return 'EFFECT_LATE_WRONG'
  return (marks & CLOSED) === 0 ? undefined : 'EFFECT_REPEATED'
}

/** The hash that an approval is bound to. Salted hashes are left out: they differ from call to call. */
export function callOf(decision: Decision): string {
  const { tenant, principal, session, tool, effect_class, definition_hash = '', commit, args_hash } = decision
  return sha256Hex(
    canonicalize([
      tenant,
      principal,
      // A restarted process may use the approvals of its principal.
      memoryOf(principal, session.id),
      tool,
      effect_class,
      definition_hash,
      commit === 'salted' ? '' : args_hash,
      decision.author ?? '',
      ...pageOf(decision),
      ...(decision.person === undefined ? [] : ['person', decision.person]),
    ]),
  )
}

/** The parts of the page that an approval is bound to. Receipts of version 0.1.0 have no `seen_hash` and are not bound to a page. */
function pageOf({ browser }: Decision): readonly string[] {
  if (browser?.seen_hash === undefined) return []
  const { dom_hash, visual_text_hash, planner_ref, page_host, destination_host, target_hash } = browser
  const parts = [dom_hash, visual_text_hash, planner_ref, page_host, destination_host, target_hash]
  return parts.map((part) => part ?? '')
}

function typeOf(receipt: Receipt): number {
  if (receipt.kind === 'approval') return receipt.answer === 'GRANTED' ? GRANTED : REFUSED
  if (receipt.kind !== 'decision') return 0
  return { ALLOW: ALLOWED, DENY: DENIED, ESCALATE: ESCALATED }[receipt.verdict]
}
