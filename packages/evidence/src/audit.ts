// What must hold between the receipts of a ledger: keys, links, pairs of decision and effect, active policies. Receipts
// are taken in the order of their indexes; what cannot be seen from a part of the ledger is counted, not guessed.

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

/** Takes a finding about the receipt at `index`. */
type Accuse = (code: FindingCode, index: number, detail?: string) => void

/** A key of the ledger, as its receipts tell. */
interface LedgerKey {
  readonly note: NoteKey
  readonly role: 'ledger' | 'writer'
  /** The writer whose chain it signs. */
  readonly of: string | undefined
  retired: boolean
}

/** An approval that was granted: until when, and for which call, if that was seen. */
interface Grant {
  readonly approver: string | undefined
  readonly expires: string
  readonly asked: string | undefined
  /** What the approver was shown of a page. */
  readonly seen: string | undefined
}

/** A call that somebody was asked about. */
interface Asked {
  readonly principal: string
  readonly call: string
  /** What there was to be seen of its page. */
  readonly seen: string | undefined
}

// An approval that is not shown is taken to have been in order.
const ASSUMED: Grant = {
  approver: undefined,
  expires: '9999-12-31T23:59:59.999Z',
  asked: undefined,
  seen: undefined,
}

/** What could not be checked, because the pack does not show it. */
export interface Unseen {
  /** References to receipts that are not shown. */
  references: number
  /** Decisions whose policy may not have been the active one. */
  policies: number
}

// What is remembered of a receipt, in one byte: what it was, and what has been made of it since.
const WHAT = 7
const CAUSE = 0
const ALLOWED = 1
const DENIED = 2
const ESCALATED = 3
const GRANTED = 4
const REFUSED = 5
const CLOSED = 8 // effect recorded; approval used; escalation answered
const UNKNOWN = 16 // closed as UNKNOWN: one late effect may follow
const LATE = 32
const RANGED = 64 // it stands in the range, so whatever followed it there was seen

/** Checks the rules between receipts, one receipt at a time. */
export class Audit {
  readonly keys: Map<string, LedgerKey> = new Map<string, LedgerKey>()
  readonly policies: Set<string> = new Set<string>()
  readonly unseen: Unseen = { references: 0, policies: 0 }
  /** Allowed calls whose effect is not recorded yet. */
  open = 0
  /** Calls whose effect was closed as UNKNOWN, and no late one followed. */
  unknown = 0
  /** Whether the beginning of the ledger was seen. */
  genesis = false
  readonly #contents: Contents
  readonly #accuse: Accuse
  readonly #ids = new IdTable()
  readonly #writers = new Map<string, ChainHead & { readonly index: number }>()
  readonly #active = new Map<string, { readonly hash: string; readonly index: number }>()
  /** What receipts referred to and was not seen before them. */
  readonly #absent = new IdTable()
  /** Escalated calls that nobody has answered yet. */
  readonly #asked = new Map<Slot, Asked>()
  /** Approvals that were granted and not used yet. */
  readonly #grants = new Map<Slot, Grant>()
  /** The newest word on each delegation, by tenant and id. */
  readonly #delegations = new Map<string, Delegation>()

  constructor(contents: Contents, accuse: Accuse) {
    this.#contents = contents
    this.#accuse = accuse
  }

  /** Takes the next receipt; answers with the key its signature must hold under, if there is one. */
  take(index: number, { receipt, id }: Parsed): PublicKey | undefined {
    const key = this.#checkKey(index, receipt)
    this.#checkLink(index, receipt, id)
    if (this.#absent.size > 0) this.#arrive(id)
    const ranged = this.#inRange(index) ? RANGED : 0
    const slot = this.#ids.add(id, receipt.lamport_clock, whatIs(receipt) | ranged)
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
        break
    }
    return key
  }

  /** Whether the pack holds everything that stands before `index`. */
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
        this.#accuse('KEY_ROLE_WRONG', index, 'it adds a key that had a place already')
      else this.keys.set(note.key.id, { note, role, of, retired: false })
    } catch (fault) {
      // That this host cannot use keys is no fault of the key.
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

  /** A delegation, and all that it hangs from, must have been given and must still hold. One that is not shown is taken to. */
  #checkDelegation(index: number, { tenant, principal, time }: Decision, id: string): void {
    let delegate = principal
    let next: string | undefined = id
    for (let links = 0; next !== undefined; links++) {
      const word = this.#delegations.get(`${tenant}\n${next}`)
      if (!word && !this.#seesAllBefore(index)) return
      const holds = word?.op === 'grant' && word.delegate === delegate && word.expires >= time
      if (!holds || links === MAX_LINKS) return this.#accuse('DELEGATION_NOT_GRANTED', index)
      delegate = word.delegator
      next = word.parent
    }
  }

  /** Only what a range shows without a gap tells which policy was active; elsewhere others may have come and gone. */
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
    else if ((marks & WHAT) !== GRANTED || !grant || decision.time > grant.expires) {
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
    // The UNKNOWN that a late effect ends may have been in a part that is not shown.
    else if (effect.late === true && (marks & UNKNOWN) !== 0) this.unknown--
    table.mark(slot, marks | CLOSED | unknown | (effect.late === true ? LATE : 0))
  }

  /** The receipt that another one rests on: it must be among its causes, and where it is not shown, one of this kind. */
  #lookUp(index: number, id: string, { causes }: Receipt, what: number): ReceiptSlot | undefined {
    if (!causes.includes(id)) {
      this.#accuse(missing(what), index)
      return undefined
    }
    const slot = this.#ids.find(id)
    if (slot !== undefined) return { table: this.#ids, slot, marks: this.#ids.marks(slot) }
    return this.#assume(index, id, what)
  }

  /**
   * A receipt that is referred to and not shown. If all before was shown it does not exist; otherwise it is taken to be
   * what it must be, and remembered, so that it is neither used twice nor turns up later.
   */
  #assume(index: number, id: string, what: number): ReceiptSlot | undefined {
    if (this.#seesAllBefore(index)) {
      this.#accuse(missing(what), index)
      return undefined
    }
    // Whatever is referred to is also a cause, so it is counted there.
    if (what === CAUSE) this.unseen.references++
    const slot = this.#absent.find(id) ?? this.#remember(index, id)
    if (slot === undefined) return undefined
    const marks = this.#absent.marks(slot) || what
    this.#absent.mark(slot, marks)
    return { table: this.#absent, slot, marks }
  }

  #remember(index: number, id: string): Slot | undefined {
    if (this.#absent.size < MAX_ABSENT) return this.#absent.add(id, index, CAUSE)
    this.#accuse('REFERENCES_TOO_MANY', index)
    return undefined
  }

  /** A receipt comes that an earlier one referred to. */
  #arrive(id: string): void {
    const slot = this.#absent.find(id)
    if (slot === undefined) return
    // The clock of an absent receipt is the index of the first that referred to it.
    const index = this.#absent.clock(slot)
    const what = this.#absent.marks(slot) & WHAT
    for (const code of new Set([missing(CAUSE), missing(what)])) this.#accuse(code, index)
  }
}

/** A receipt that another one rests on; `table` tells whether it was seen itself. */
interface ReceiptSlot {
  readonly table: IdTable
  readonly slot: Slot
  readonly marks: number
}

// A chain of delegations is no longer than this, see `MAX_DELEGATION_DEPTH`.
const MAX_LINKS = 9

// In an honest pack few references lead outside of it. Remembering more would let a forger choose how much memory we use.
const MAX_ABSENT = 200_000

/** What is said of a receipt that refers to something that is not there. */
function missing(what: number): FindingCode {
  if (what === ALLOWED) return 'EFFECT_WITHOUT_DECISION'
  if (what === GRANTED) return 'APPROVAL_NOT_GRANTED'
  return what === ESCALATED ? 'APPROVAL_WITHOUT_ESCALATION' : 'CAUSE_UNKNOWN'
}

/** What is wrong with an effect of a decision with these marks; `between` tells whether all between the two was seen. */
function effectFault(marks: number, { late }: Effect, between: boolean): FindingCode | undefined {
  const what = marks & WHAT
  if (what === DENIED || what === ESCALATED) return 'EFFECT_NOT_ALLOWED'
  if (what !== ALLOWED) return 'EFFECT_WITHOUT_DECISION'
  if ((marks & LATE) !== 0) return 'EFFECT_REPEATED'
  if (late === true) {
    const unknownSeen = (marks & UNKNOWN) !== 0
    return unknownSeen || (!between && (marks & CLOSED) === 0) ? undefined : 'EFFECT_LATE_WRONG'
  }
  if ((marks & UNKNOWN) !== 0) return 'EFFECT_LATE_WRONG'
  return (marks & CLOSED) === 0 ? undefined : 'EFFECT_REPEATED'
}

/** What an approval is bound to. A salted hash differs from call to call, so it cannot be compared. */
function callOf(decision: Decision): string {
  const { tenant, principal, session, tool, effect_class, definition_hash = '', commit, args_hash } = decision
  return sha256Hex(
    canonicalize([
      tenant,
      principal,
      // A process that was started again may use what its principal was given.
      memoryOf(principal, session.id),
      tool,
      effect_class,
      definition_hash,
      commit === 'salted' ? '' : args_hash,
      decision.author ?? '',
      ...pageOf(decision),
    ]),
  )
}

/** What of its page must be the same for an approval to hold. Version 0.1.0, which knows no `seen_hash`, did not look at it. */
function pageOf({ browser }: Decision): readonly string[] {
  if (browser?.seen_hash === undefined) return []
  const { dom_hash, visual_text_hash, planner_ref, page_host, destination_host } = browser
  return [dom_hash, visual_text_hash, planner_ref, page_host, destination_host].map((part) => part ?? '')
}

function whatIs(receipt: Receipt): number {
  if (receipt.kind === 'approval') return receipt.answer === 'GRANTED' ? GRANTED : REFUSED
  if (receipt.kind !== 'decision') return 0
  return { ALLOW: ALLOWED, DENY: DENIED, ESCALATE: ESCALATED }[receipt.verdict]
}
