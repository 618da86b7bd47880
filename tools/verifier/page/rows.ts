// The receipts of a pack as rows of the table. A row is a claim: the report says how far it can be believed.

import type { Finding, Receipt } from '../../../packages/evidence/src/index.ts'
import type { Claim } from './messages.ts'

/** A row of the table. Texts are as the pack has them; an empty text means that there is none. */
export interface Row {
  readonly index: number
  readonly id: string
  /** The receipt as JSON; empty for an entry that could not be read. */
  readonly text: string
  readonly kind: string
  readonly time: string
  readonly principal: string
  readonly session: string
  readonly tool: string
  readonly verdict: string
  readonly reason: string
  /** The rule, or other words that explain the reason. */
  readonly rule: string
  /** The person behind it: who approved, refused or ordered it. Filled in when the answer comes later in the pack. */
  who: string
  /** How the person answered: `approved`, `refused`, `ordered`. */
  act: string
  /** Why, in the words of that person. */
  why: string
  findings: readonly Finding[]
}

type Cells = Partial<Omit<Row, 'index' | 'id' | 'text' | 'kind' | 'time' | 'findings'>>

// Each receipt takes some 2 KB of memory in the page.
const MAX_ROWS = 400_000

/** The rows of one pack. */
export class Rows {
  readonly all: Row[] = []
  /** Receipts that are verified but not listed, because there are too many. */
  left = 0
  readonly #byId = new Map<string, Row>()
  readonly #byIndex = new Map<number, Row>()
  /** For each receipt the later ones that name it. */
  readonly #followers = new Map<string, Row[]>()
  readonly #texts = new Map<string, string>()

  add({ index, id, text }: Claim): void {
    if (this.all.length >= MAX_ROWS) {
      this.left++
      return
    }
    // Sound: the verifier has parsed this receipt before it handed it out.
    const receipt = JSON.parse(text) as Receipt
    const row = this.#rowOf(index, id, text, receipt.kind, receipt.time, this.#cells(receipt))
    this.#insert(row)
    this.#byId.set(id, row)
    for (const named of namesIn(receipt)) this.#follow(named, row)
    if (receipt.kind === 'approval') this.#answer(receipt.decision, row)
  }

  /** Puts findings on the rows that they concern. An entry that could not be read gets a row of its own. */
  mark(findings: readonly Finding[]): void {
    for (const finding of findings) {
      if (finding.index === undefined) continue
      const row = this.#byIndex.get(finding.index) ?? this.#unreadable(finding.index)
      row.findings = [...row.findings, finding]
    }
    this.all.sort((a, b) => a.index - b.index)
  }

  byId(id: string): Row | undefined {
    return this.#byId.get(id)
  }

  byIndex(index: number): Row | undefined {
    return this.#byIndex.get(index)
  }

  /** The rows that name this one: its effect, its approval, the call that was made with it. */
  followersOf({ id }: Row): readonly Row[] {
    return this.#followers.get(id) ?? []
  }

  #insert(row: Row): void {
    this.all.push(row)
    this.#byIndex.set(row.index, row)
  }

  #unreadable(index: number): Row {
    const row = this.#rowOf(index, '', '', this.left > 0 ? 'not listed' : 'unreadable', '', {})
    this.#insert(row)
    return row
  }

  #rowOf(index: number, id: string, text: string, kind: string, time: string, cells: Cells): Row {
    const { principal, session, tool, verdict, reason, rule, who, act, why } = cells
    const keep = (value: string | undefined): string => this.#keep(value ?? '')
    return {
      index,
      id,
      text,
      kind,
      time,
      principal: keep(principal),
      session: keep(session),
      tool: keep(tool),
      verdict: keep(verdict),
      reason: keep(reason),
      rule: keep(rule),
      who: keep(who),
      act: act ?? '',
      why: keep(why),
      findings: [],
    }
  }

  /** One copy of each text: most rows have the same names. */
  #keep(text: string): string {
    const kept = this.#texts.get(text)
    if (kept !== undefined) return kept
    this.#texts.set(text, text)
    return text
  }

  #follow(id: string, row: Row): void {
    const known = this.#followers.get(id)
    if (known) known.push(row)
    else this.#followers.set(id, [row])
  }

  /** Tells the call that waited who has answered. */
  #answer(decision: string, approval: Row): void {
    const asked = this.#byId.get(decision)
    if (asked?.verdict !== 'ESCALATE') return
    asked.who = approval.who
    asked.act = approval.act
    asked.why = approval.why
  }

  #cells(receipt: Receipt): Cells {
    switch (receipt.kind) {
      case 'decision':
        return {
          principal: receipt.principal,
          session: receipt.session.id,
          tool: receipt.tool,
          verdict: receipt.verdict,
          reason: receipt.reason_code,
          ...(receipt.rule !== undefined && { rule: receipt.rule }),
          ...this.#personOf(receipt.approval),
        }
      case 'effect': {
        const { principal, session, tool, who, act, why } = this.#byId.get(receipt.decision) ?? {}
        const call = { principal, session, tool, who, act, why }
        const reason = receipt.cause ?? (receipt.delivery === 'full' ? '' : receipt.delivery)
        return { ...given(call), verdict: receipt.status, reason }
      }
      case 'approval': {
        const { principal, session, tool } = this.#byId.get(receipt.decision) ?? {}
        const act = receipt.answer === 'GRANTED' ? 'approved' : 'refused'
        const person = { who: receipt.approver, act, why: receipt.because }
        return { ...given({ principal, session, tool, ...person }), verdict: receipt.answer }
      }
      case 'freeze':
        return {
          verdict: receipt.frozen ? 'FROZEN' : 'LIFTED',
          reason: receipt.scope === 'all' ? 'all agents' : receipt.scope,
          ...(receipt.target !== undefined && { [receipt.scope]: receipt.target }),
          ...ordered(receipt.by, receipt.because),
        }
      case 'policy':
        return { reason: receipt.name, ...ordered(receipt.by) }
      case 'pin':
        return { tool: receipt.tool, reason: receipt.op, ...ordered(receipt.by) }
      case 'token':
        return {
          ...given({ principal: receipt.principal }),
          reason: `${receipt.op} ${receipt.role}`,
          ...ordered(receipt.by),
        }
      case 'delegation':
        return {
          principal: receipt.delegate,
          reason: `${receipt.op}, from ${receipt.delegator}`,
          ...ordered(receipt.by),
        }
      case 'session':
        return {
          principal: receipt.principal,
          session: receipt.session,
          reason: receipt.op,
          ...ordered(receipt.by, receipt.because),
        }
      case 'observe':
        return {
          reason: `${receipt.scope} ${receipt.target} ${receipt.on ? 'on' : 'off'}`,
          ...ordered(receipt.by),
        }
      case 'recovery':
        return { reason: `${receipt.closed} closed`, why: receipt.because }
      case 'quota':
        return { principal: receipt.principal, reason: `${receipt.denials} denied on ${receipt.day}` }
      case 'blocked':
        return {
          principal: receipt.principal,
          session: receipt.session,
          reason: `${receipt.requests} blocked: ${receipt.hosts.join(', ')}`,
        }
      case 'key':
        return {
          reason: `${receipt.op} ${receipt.role}${receipt.of === undefined ? '' : ` of ${receipt.of}`}`,
        }
      case 'genesis':
        return { reason: receipt.succeeds ? `succeeds ${receipt.succeeds.ledger}` : '' }
    }
  }

  /** The person whose approval a call was made with. */
  #personOf(approval: string | undefined): Cells {
    if (approval === undefined) return {}
    const { who, act, why } = this.#byId.get(approval) ?? {}
    // The approval may be outside of the pack.
    return who === undefined ? { who: 'not in this pack', act: 'approved' } : given({ who, act, why })
  }
}

function ordered(by: string | undefined, because?: string): Cells {
  return by === undefined ? given({ why: because }) : given({ who: by, act: 'ordered', why: because })
}

/** The cells that have a text. */
function given(cells: Readonly<Record<string, string | undefined>>): Cells {
  return Object.fromEntries(Object.entries(cells).filter(([, text]) => text !== undefined))
}

/** The ids of the receipts that a receipt names. */
function namesIn(receipt: Receipt): ReadonlySet<string> {
  const names = new Set(receipt.causes)
  if (receipt.kind === 'effect' || receipt.kind === 'approval') names.add(receipt.decision)
  if (receipt.kind === 'decision' && receipt.approval !== undefined) names.add(receipt.approval)
  return names
}
