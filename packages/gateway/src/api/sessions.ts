// What is remembered of a session: how many decisions it has had, its risk, its data, and in whose name it acts.

import { memoryOf, parseJson, sha256Hex, TIERS, type Decision, type SessionChange } from '@tollgate/evidence'
import {
  policyOf,
  provenanceName,
  readKeptProvenance,
  readSession,
  readTrustState,
  sessionName,
  trustName,
  type Kernel,
  type KeptProvenance,
  type SessionState,
  type Stored,
} from '@tollgate/kernel'
import { ONE, trustAt, trustText } from '@tollgate/kernel/detection'
import { LINEAGE, lineageOf } from './lineage.ts'
import { Problem } from './problem.ts'
import { READERS, receiptOf } from './receipts.ts'
import { answered, json, kernelOf, queryIn, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import {
  COUNT,
  FLAG,
  HASH,
  list,
  NAME,
  object,
  orNull,
  said,
  TEXT,
  TIME,
  word,
  type ApiSchema,
} from './schema.ts'

/** Whose session, and which. */
interface SessionKey {
  readonly tenant: string
  readonly principal: string
  readonly session: string
}

/** What the ledger and its private records know of a session. */
interface KnownSession {
  /** Its newest decision and that one's id. */
  readonly newest: { readonly id: string; readonly decision: Decision }
  readonly session: SessionState
  readonly data: KeptProvenance
  /** How far its principal is trusted now; null where the policy has no use for it. */
  readonly trust: string | null
}

/** Reads a session as the kernel does; undefined if it has had no decision. */
export async function recall(question: ApiQuestion, key: SessionKey): Promise<KnownSession | undefined> {
  const kernel = kernelOf(question.options)
  const names = [sessionName(key, key.session), provenanceName(key, key.session), trustName(key)]
  const [session = NOTHING, data = NOTHING, trust = NOTHING] = await question.inTurn(() =>
    kernel.store.load(names),
  )
  const newest = await newestIn(question, key, session)
  if (!newest) return undefined
  return {
    newest,
    session: readSession(session),
    data: readKeptProvenance(data),
    trust: trustNow(kernel, key.tenant, trust),
  }
}

// How far back the newest decision of a session that several ids have is searched.
const MOST = 100
const NOTHING: Stored = { record: undefined, anchor: undefined }

async function newestIn(
  { options }: ApiQuestion,
  key: SessionKey,
  { anchor }: Stored,
): Promise<KnownSession['newest'] | undefined> {
  // Sound: only decisions, and the closing of a session, anchor such names.
  const last = anchor && (parseJson(anchor) as unknown as Decision | SessionChange)
  if (anchor && last?.kind === 'decision') return { id: sha256Hex(anchor), decision: last }
  const { tenant, principal } = key
  const memory = memoryOf(principal, key.session)
  // A principal's own session has decisions under the ids of all its processes.
  const isShared = memory === principal
  const filter = { tenant, principal, kind: 'decision', ...(!isShared && { session: memory }) } as const
  const { entries } = await options.view.page({ filter, direction: 'back', limit: isShared ? MOST : 1 })
  // Sound: the filter asks for decisions.
  const all = entries.map((entry) => ({ id: entry.id, decision: receiptOf(entry) as Decision }))
  return all.find(({ decision }) => memoryOf(principal, decision.session.id) === memory)
}

/** How far a principal is trusted now; null where the policy has no use for it. */
export function trustNow(kernel: Kernel, tenant: string, stored: Stored): string | null {
  const { trust } = policyOf(kernel, tenant).gates
  if (!trust) return null
  return trustText({ score: trustAt(readTrustState(stored), kernel.host.now(), trust.halfLife) })
}

async function show(question: ApiQuestion): Promise<Reply> {
  const { options, identity, params } = question
  const { tenant } = identity
  const principal = principalIn(question)
  const id = params['id'] ?? ''
  const known = await recall(question, { tenant, principal, session: id })
  if (!known) throw new Problem('not-found')
  const { newest, session, data, trust } = known
  const where = { kernel: kernelOf(options), view: options.view, tenant }
  return json(200, {
    id,
    principal,
    decisions: session.seq,
    broken: session.broken || data.broken,
    source: session.source,
    recent_denials: session.denials,
    labels: data.value.labels,
    elevated: elevationIn(session, where.kernel.host.now()),
    trust,
    risk: { ...riskIn(session), trajectory_risk_score: newest.decision.trajectory_risk_score },
    lineage: await lineageOf(where, newest.decision.delegation),
    last: { receipt: newest.id, time: newest.decision.time },
  })
}

/** Whose session is asked about. */
function principalIn(question: ApiQuestion): string {
  const { role, principal: own } = question.identity
  const principal = queryIn(question, 'principal') ?? (role === 'agent' ? own : undefined)
  if (principal === undefined) {
    throw new Problem('request-invalid', '`?principal` is missing', { remedy: 'Say whose session it is.' })
  }
  if (role === 'agent' && principal !== own) throw new Problem('not-found')
  return principal
}

function elevationIn({ elevated }: SessionState, now: number): { tier: string; until: string } | null {
  if (!elevated || elevated.until < now) return null
  return { tier: elevated.tier, until: new Date(elevated.until).toISOString() }
}

function riskIn({ risk }: SessionState): Readonly<Record<string, unknown>> {
  const [exfiltration, privilege, compliance] = risk.centroid
  return {
    turns: risk.turns,
    average: decimal(risk.average),
    sum: decimal(risk.leak.sum),
    exfiltration: decimal(exfiltration),
    privilege: decimal(privilege),
    compliance: decimal(compliance),
  }
}

function decimal(value: number): string {
  return (value / ONE).toFixed(4)
}

/** A number with four places. */
export const DECIMAL: ApiSchema = { type: 'string', pattern: '^[0-9]+\\.[0-9]{4}$' }

/** Sessions. */
export const sessionRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/sessions/{id}',
    id: 'showSession',
    about: 'What is remembered of a session. An agent sees its own; everybody else says whose it is.',
    roles: READERS,
    params: { id: NAME },
    query: { principal: NAME },
    answers: answered('The session as its newest durable decision left it.', {
      id: NAME,
      principal: NAME,
      decisions: COUNT,
      broken: said(FLAG, 'Its record was lost or changed: no side effect passes in it any more.'),
      source: said(FLAG, 'Something sensitive was read in it.'),
      recent_denials: said(COUNT, 'Turns since the last that no gate denied; at most 9.'),
      labels: said(list(TEXT), 'Classes of data that it has read, as far as the policy has them followed.'),
      elevated: orNull(
        said(
          object({ tier: word(...TIERS), until: TIME }),
          'The tier that a person has raised it to, while that lasts.',
        ),
      ),
      trust: orNull(
        said(DECIMAL, 'How far its principal is trusted now, of 1000; null where the policy does not ask.'),
      ),
      risk: object({
        turns: COUNT,
        trajectory_risk_score: said(TEXT, 'As the newest decision has it.'),
        average: DECIMAL,
        sum: DECIMAL,
        exfiltration: DECIMAL,
        privilege: DECIMAL,
        compliance: DECIMAL,
      }),
      lineage: said(
        LINEAGE,
        'The delegation that its newest decision was made under, and all that it hangs from, the root last; empty if there was none.',
      ),
      last: object({ receipt: HASH, time: TIME }),
    }),
    problems: ['gateway-needed'],
    answer: show,
  },
]
