// What is remembered of a session: how many decisions it has had, and its risk.

import { parseJson, sha256Hex, type Decision, type SessionChange } from '@tollgate/evidence'
import { NEW_PRINCIPAL, NEW_SESSION, ONE, type PrincipalState, type SessionState } from '@tollgate/kernel'
import type { LedgerView } from '../view.ts'
import { Problem } from './problem.ts'
import { READERS, receiptOf } from './receipts.ts'
import { json, queryIn, type Question, type Reply, type Route } from './route.ts'
import { COUNT, FLAG, HASH, NAME, object, said, TEXT, TIME, type Schema } from './schema.ts'

/** Whose session, and which. */
export interface SessionKey {
  readonly tenant: string
  readonly principal: string
  readonly session: string
}

/** What the ledger and its private records know of a session. */
export interface KnownSession {
  /** Its newest decision and that one's id; undefined if it has had none. */
  readonly newest: { readonly id: string; readonly decision: Decision } | undefined
  readonly session: SessionState
  readonly principal: PrincipalState
}

/** Reads a session. A record that is not what its newest decision left behind counts as broken, as it does on the road. */
export async function readSession(question: Question, key: SessionKey): Promise<KnownSession> {
  const { view } = question.options
  const owner = `${key.tenant}\n${key.principal}`
  const { record, last, decided } = await readRecord(question, key, `session\n${owner}\n${key.session}`)
  const whole = await view.record(`principal\n${owner}`)
  const own = whole?.split('\n')[1]
  return {
    newest: decided,
    session: stateIn(record, last),
    // Sound: only the kernel's own texts are stored under such a name.
    principal: own === undefined ? NEW_PRINCIPAL : (JSON.parse(own) as PrincipalState),
  }
}

/** What is stored of a session, and what the ledger last says of it. */
interface Found {
  readonly record: string | undefined
  readonly last: Decision | SessionChange | undefined
  readonly decided: KnownSession['newest']
}

/** With a kernel, as the kernel finds it; where the ledger is only read, by looking through its newest entries. */
async function readRecord({ options, inTurn }: Question, key: SessionKey, name: string): Promise<Found> {
  const { view, kernel } = options
  const [stored] = kernel ? await inTurn(() => kernel.store.load([name])) : []
  if (!stored?.anchor) {
    const decided = await newestOf(view, key)
    return { record: stored ? stored.record : await view.record(name), last: decided?.decision, decided }
  }
  // Sound: only decisions, and the closing of a session, anchor such names.
  const last = parseJson(stored.anchor) as unknown as Decision | SessionChange
  const decided =
    last.kind === 'decision' ? { id: sha256Hex(stored.anchor), decision: last } : await newestOf(view, key)
  return { record: stored.record, last, decided }
}

async function newestOf(view: LedgerView, key: SessionKey): Promise<KnownSession['newest']> {
  const { entries } = await view.page({
    filter: { ...key, kind: 'decision' },
    direction: 'back',
    limit: 1,
  })
  // Sound: the filter asks for decisions.
  return entries[0] && { id: entries[0].id, decision: receiptOf(entries[0]) as Decision }
}

function stateIn(text: string | undefined, last: Found['last']): SessionState {
  if (text === undefined && last === undefined) return NEW_SESSION
  // Closed on the record: what was remembered of it is gone for good, and nothing is missing.
  if (text === undefined && last?.kind === 'session') return { ...NEW_SESSION, seq: last.decisions ?? 0 }
  const newest = last?.kind === 'decision' ? last : undefined
  const sound = text !== undefined && sha256Hex(text.toWellFormed()) === newest?.next_state_hash
  if (!sound) return { ...NEW_SESSION, seq: (newest?.session.seq ?? -1) + 1, broken: true }
  // Sound: only the kernel makes texts with such a hash.
  return JSON.parse(text.split('\n')[0] ?? '') as SessionState
}

async function show(question: Question): Promise<Reply> {
  const { identity, params } = question
  const { tenant, role } = identity
  const principal = queryIn(question, 'principal') ?? (role === 'agent' ? identity.principal : undefined)
  if (principal === undefined) {
    throw new Problem('request-invalid', '`?principal` is missing', { remedy: 'Say whose session it is.' })
  }
  if (role === 'agent' && principal !== identity.principal) throw new Problem('not-found')
  const id = params['id'] ?? ''
  const { newest, session } = await readSession(question, { tenant, principal, session: id })
  if (!newest) throw new Problem('not-found')
  const [exfiltration, privilege, compliance] = session.risk.centroid
  return json(200, {
    id,
    principal,
    decisions: session.seq,
    broken: session.broken,
    source: session.source,
    recent_denials: session.denials,
    risk: {
      turns: session.risk.turns,
      trajectory_risk_score: newest.decision.trajectory_risk_score,
      average: decimal(session.risk.average),
      sum: decimal(session.risk.leak.sum),
      exfiltration: decimal(exfiltration),
      privilege: decimal(privilege),
      compliance: decimal(compliance),
    },
    last: { receipt: newest.id, time: newest.decision.time },
  })
}

function decimal(value: number): string {
  return (value / ONE).toFixed(4)
}

const DECIMAL: Schema = { type: 'string', pattern: '^[0-9]+\\.[0-9]{4}$' }

/** Sessions. */
export const sessionRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/v1/sessions/{id}',
    id: 'showSession',
    about: 'What is remembered of a session. An agent sees its own; everybody else says whose it is.',
    roles: READERS,
    params: { id: NAME },
    query: { principal: NAME },
    answers: {
      200: {
        about: 'The session as its newest durable decision left it.',
        schema: object({
          id: NAME,
          principal: NAME,
          decisions: COUNT,
          broken: said(FLAG, 'Its record was lost or changed: no side effect passes in it any more.'),
          source: said(FLAG, 'Something sensitive was read in it.'),
          recent_denials: said(COUNT, 'Turns since the last that no gate denied; at most 9.'),
          risk: object({
            turns: COUNT,
            trajectory_risk_score: said(TEXT, 'As the newest decision has it.'),
            average: DECIMAL,
            sum: DECIMAL,
            exfiltration: DECIMAL,
            privilege: DECIMAL,
            compliance: DECIMAL,
          }),
          last: object({ receipt: HASH, time: TIME }),
        }),
      },
    },
    answer: show,
  },
]
