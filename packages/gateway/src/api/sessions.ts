// The route that shows a session: its decisions, risk, data labels and delegations.

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
  described,
  TEXT,
  TIME,
  word,
  type ApiSchema,
} from './schema.ts'

interface SessionKey {
  readonly tenant: string
  readonly principal: string
  readonly session: string
}

/** The state of a session in the ledger and its private records. */
interface KnownSession {
  /** Its newest decision and the receipt id of it. */
  readonly newest: { readonly id: string; readonly decision: Decision }
  readonly session: SessionState
  readonly data: KeptProvenance
  /** The current trust of its principal; null if the policy does not use trust. */
  readonly trust: string | null
}

/** Reads a session as the kernel does; undefined if it has no decision. */
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

// How many decisions are searched for the newest one of a session that is shared by several ids.
const MAX_SEARCHED = 100
const NOTHING: Stored = { record: undefined, anchor: undefined }

async function newestIn(
  { options }: ApiQuestion,
  key: SessionKey,
  { anchor }: Stored,
): Promise<KnownSession['newest'] | undefined> {
  // Sound: only decisions, and the closing of a session, anchor these names.
  const last = anchor && (parseJson(anchor) as unknown as Decision | SessionChange)
  if (anchor && last?.kind === 'decision') return { id: sha256Hex(anchor), decision: last }
  const { tenant, principal } = key
  const memory = memoryOf(principal, key.session)
  // The default session of a principal has decisions under the ids of all its processes.
  const isShared = memory === principal
  const filter = { tenant, principal, kind: 'decision', ...(!isShared && { session: memory }) } as const
  const { entries } = await options.view.page({
    filter,
    direction: 'back',
    limit: isShared ? MAX_SEARCHED : 1,
  })
  // Sound: the filter selects decisions.
  const all = entries.map((entry) => ({ id: entry.id, decision: receiptOf(entry) as Decision }))
  return all.find(({ decision }) => memoryOf(principal, decision.session.id) === memory)
}

/** The current trust of a principal; null if the policy does not use trust. */
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

/** The principal of the requested session. */
function principalIn(question: ApiQuestion): string {
  const { role, principal: own } = question.identity
  const principal = queryIn(question, 'principal') ?? (role === 'agent' ? own : undefined)
  if (principal === undefined) {
    throw new Problem('request-invalid', '`?principal` is missing', {
      remedy: 'Name the principal of the session.',
    })
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

/** A number with four decimal places. */
export const DECIMAL: ApiSchema = { type: 'string', pattern: '^[0-9]+\\.[0-9]{4}$' }

export const sessionRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/sessions/{id}',
    id: 'showSession',
    about: 'Returns the state of a session. An agent sees only its own. Other roles must name the principal.',
    roles: READERS,
    params: { id: NAME },
    query: { principal: NAME },
    answers: answered('The session after its newest durable decision.', {
      id: NAME,
      principal: NAME,
      decisions: COUNT,
      broken: described(
        FLAG,
        'Whether the record of the session was lost or modified. The gateway then denies every call with a side effect.',
      ),
      source: described(FLAG, 'Whether the session has read sensitive data.'),
      recent_denials: described(COUNT, 'Consecutive denials by gates; at most 9.'),
      labels: described(
        list(TEXT),
        'Labels of the data that the session has read, if the policy tracks labels.',
      ),
      elevated: orNull(
        described(
          object({ tier: word(...TIERS), until: TIME }),
          'The higher tier that an approval gave the session, and until when.',
        ),
      ),
      trust: orNull(
        described(
          DECIMAL,
          'The current trust of the principal, from 0 to 1000; null if the policy does not use trust.',
        ),
      ),
      risk: object({
        turns: COUNT,
        trajectory_risk_score: described(TEXT, 'The value in the newest decision.'),
        average: DECIMAL,
        sum: DECIMAL,
        exfiltration: DECIMAL,
        privilege: DECIMAL,
        compliance: DECIMAL,
      }),
      lineage: described(
        LINEAGE,
        'The delegation of the newest decision and all delegations above this delegation, the root last; empty if there is none.',
      ),
      last: object({ receipt: HASH, time: TIME }),
    }),
    problems: ['gateway-needed'],
    answer: show,
  },
]
