// Routes for approval requests and the answers to them.

import { performance } from 'node:perf_hooks'
import {
  EFFECT_CLASSES,
  parseJson,
  LADDER_STEPS,
  type Approval,
  type Browser,
  type Decision,
  type Json,
} from '@tollgate/evidence'
import type { Kernel } from '@tollgate/kernel'
import {
  answerRequest,
  inputName,
  inputOf,
  needsReason,
  pageName,
  readPageInput,
  shownInput,
  type ApprovalRequest,
} from '@tollgate/kernel/admin'
import type { Identity, Role } from '../tokens.ts'
import { APPROVAL_PAGE, type ShownBrowser } from './approval-page.ts'
import { maySee, unknownToken } from './auth.ts'
import { Problem } from './problem.ts'
import { READERS, receiptOf } from './receipts.ts'
import { answered, json, kernelOf, numberIn, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import {
  ANYTHING,
  FLAG,
  HASH,
  list,
  NAME,
  object,
  orNull,
  described,
  SENTENCE,
  TEXT,
  TIME,
  word,
  type ApiSchema,
} from './schema.ts'
import { createChangeSignal } from './stream.ts'

const STATUSES = ['waiting', 'granted', 'refused', 'timed_out', 'expired', 'used'] as const
type ApprovalStatus = (typeof STATUSES)[number]

/** A request as the API shows it. */
interface ShownApproval {
  readonly id: string
  readonly principal: string
  readonly session: string
  readonly tool: string
  readonly effect_class?: string
  readonly reason_code: string
  readonly rung: string
  readonly rule: string | null
  readonly asks: readonly string[]
  readonly args_hash: string
  /** The arguments, for people who can answer. */
  readonly arguments?: Json
  /** The page of a browser call. */
  readonly page?: ShownBrowser
  readonly delegation: string | null
  readonly approvers: readonly string[]
  /** Whether the answer needs a reason. */
  readonly reason_required: boolean
  readonly opened?: string
  readonly until: string | null
  readonly status: ApprovalStatus
  readonly approver: string | null
  readonly because: string | null
}

const APPROVAL: ApiSchema = object({
  id: described(HASH, 'The receipt id of the ESCALATE.'),
  principal: NAME,
  session: NAME,
  tool: NAME,
  'effect_class?': word(...EFFECT_CLASSES),
  reason_code: TEXT,
  rung: word(...LADDER_STEPS),
  rule: orNull(TEXT),
  asks: described(
    list(TEXT),
    'All objections that an approval overrides: each with its step, its reason and the details.',
  ),
  args_hash: HASH,
  'arguments?': described(
    ANYTHING,
    'The arguments of the call. Only the caller and people who may answer see them. If they are missing because they were erased, the request can only be denied.',
  ),
  'page?': described(
    APPROVAL_PAGE,
    'The page of a browser call. An approval is valid only for this page and plan, at the same or lower risk and without new findings.',
  ),
  delegation: orNull(described(HASH, 'The delegation of the call. Its delegators cannot answer.')),
  approvers: described(
    list(TEXT),
    'The people or groups that may answer. If empty, any operator except the requester.',
  ),
  reason_required: described(FLAG, 'Whether the policy requires `because` in the answer.'),
  'opened?': TIME,
  until: orNull(described(TIME, 'When the request expires or, once answered, when the answer expires.')),
  status: word(...STATUSES),
  approver: orNull(described(NAME, 'The person who answered.')),
  because: orNull(described(TEXT, 'The reason that the approver gave.')),
})

async function listWaiting(question: ApiQuestion): Promise<Reply> {
  const { options, identity } = question
  const kernel = kernelOf(options)
  const now = kernel.host.now()
  const waiting = kernel.approvals.list(now).filter((request) => maySee(identity, request))
  const approvals = await Promise.all(waiting.map((request) => shown(question, request, now)))
  return json(200, { approvals })
}

async function shown(question: ApiQuestion, request: ApprovalRequest, now: number): Promise<ShownApproval> {
  const { options, identity } = question
  const { view } = options
  const entry = await view.find(request.id)
  const input = mayRead(identity, request)
    ? inputOf(request, await view.record(inputName(request.id)))
    : undefined
  const page = request.page && (await shownPage(question, request, request.page))
  const { delegation } = request
  const { id, principal, session, tool, reason, rung, rule, asks, args, approvers, answer, until, lasts } =
    request
  return {
    ...{ id, principal, session, tool, rung, rule, asks, delegation, approvers },
    ...(page && { page }),
    reason_required: needsReason(kernelOf(options), request),
    // Sound: the id belongs to a decision. It cannot be read yet while its commit is in progress.
    ...(entry && { effect_class: (receiptOf(entry) as Decision).effect_class }),
    reason_code: reason,
    args_hash: args,
    ...(input !== undefined && { arguments: parseJson(input) }),
    opened: moment(until - lasts),
    until: moment(answer?.until ?? until),
    status: statusOf(request, now),
    approver: answer?.approver ?? null,
    because: answer?.because ?? null,
  }
}

async function shownPage(
  { options: { view }, identity }: ApiQuestion,
  request: ApprovalRequest,
  page: Browser,
): Promise<ShownBrowser> {
  if (!mayRead(identity, request)) return page
  const input = readPageInput(page, await view.record(pageName(request.id)))
  return input ? { ...shownInput(input), ...page } : page
}

/** Whether the caller may read the arguments: they are its own, or it can answer the request. */
function mayRead({ role, principal }: Identity, request: ApprovalRequest): boolean {
  return APPROVERS.includes(role) || request.principal === principal
}

function statusOf({ answer, until }: ApprovalRequest, now: number): ApprovalStatus {
  if (answer === null) return now <= until ? 'waiting' : 'timed_out'
  if (now > answer.until) return 'expired'
  return answer.granted ? 'granted' : 'refused'
}

function moment(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

async function show(question: ApiQuestion): Promise<Reply> {
  const kernel = kernelOf(question.options)
  const seconds = numberIn(question, 'wait') ?? 0
  const release = seconds > 0 ? question.mayWait() : (): void => undefined
  const end = performance.now() + 1000 * seconds
  const changes = createChangeSignal()
  const leave = [release, question.options.watch(() => changes.ring()), question.onEnd(() => changes.end())]
  try {
    while (true) {
      changes.close()
      const found = await find(question, kernel)
      const left = end - performance.now()
      if (found.status !== 'waiting' || left <= 0 || changes.ended) return json(200, found)
      // A request can also expire, which signals no change.
      await changes.wait(Math.min(left, 1000))
      if (!question.stillKnown()) throw unknownToken(question.asked)
    }
  } finally {
    for (const each of leave) each()
  }
}

/** A request that the caller may see. Used and expired requests are read from the ledger. */
async function find(question: ApiQuestion, kernel: Kernel): Promise<ShownApproval> {
  const { options, identity, params } = question
  const id = params['id'] ?? ''
  const request = kernel.approvals.find({ id })
  if (request && maySee(identity, request)) return shown(question, request, kernel.host.now())
  const entry = request ? undefined : await options.view.find(id)
  const decision = entry && receiptOf(entry)
  if (decision?.kind !== 'decision' || decision.verdict !== 'ESCALATE' || !maySee(identity, decision)) {
    throw new Problem('not-found')
  }
  return over(question, kernel, id, decision)
}

async function over(
  question: ApiQuestion,
  kernel: Kernel,
  id: string,
  decision: Decision,
): Promise<ShownApproval> {
  const { inTurn } = question
  // The newest receipt of a request is its answer, or the decision that used the answer.
  const [stored] = await inTurn(() => kernel.store.load([`answer\n${id}`]))
  // Sound: only approvals, and decisions that use them, anchor such names.
  const newest = stored?.anchor && (parseJson(stored.anchor) as unknown as Approval | Decision)
  const approval = await approvalIn(question, newest)
  const { principal, session, tool, effect_class, reason_code, rung, rule = null, args_hash, time } = decision
  return {
    ...{ id, principal, session: session.id, tool, effect_class, reason_code, rung, rule, args_hash },
    asks: decision.asks ?? [],
    ...(decision.browser && { page: decision.browser }),
    delegation: decision.delegation ?? null,
    approvers: [],
    reason_required: false,
    opened: time,
    until: approval?.expires ?? null,
    status: newest?.kind === 'decision' ? 'used' : 'expired',
    approver: approval?.approver ?? null,
    because: approval?.because ?? null,
  }
}

/** The answer to a request: the newest receipt, or the approval that the decision refers to. */
async function approvalIn(
  { options: { view } }: ApiQuestion,
  newest: Approval | Decision | undefined,
): Promise<Approval | undefined> {
  if (newest?.kind === 'approval') return newest
  const entry = newest?.approval === undefined ? undefined : await view.find(newest.approval)
  const receipt = entry && receiptOf(entry)
  return receipt?.kind === 'approval' ? receipt : undefined
}

async function answer({ options, identity, params, body }: ApiQuestion, granted: boolean): Promise<Reply> {
  const { tenant, principal: approver, groups } = identity
  const request = params['id'] ?? ''
  const widen = body['widen'] === true
  const because = typeof body['because'] === 'string' ? body['because'] : undefined
  const order = { tenant, request, granted, widen, approver, groups, because }
  const { id } = await answerRequest(kernelOf(options), order)
  options.log('info', 'a request was answered', { request, granted, by: approver })
  return json(200, { receipt: id, answer: granted ? 'GRANTED' : 'REFUSED' })
}

const APPROVERS: readonly Role[] = ['operator', 'admin']

const ANSWER = {
  'because?': described(
    SENTENCE,
    'The reason, in one line. It is stored permanently in the receipt, so text that looks like a secret is refused.',
  ),
}
const WIDEN = {
  'widen?': described(
    FLAG,
    'If true, the approval also adds this tool and the targets of this call to the scope of the session. Only for a call outside of the scope.',
  ),
}

function answerRoute(word: 'approve' | 'deny', about: string): ApiRoute {
  return {
    method: 'POST',
    path: `/v1/approvals/{id}/${word}`,
    id: `${word}Request`,
    about,
    roles: APPROVERS,
    params: { id: HASH },
    body: { schema: object({ ...ANSWER, ...(word === 'approve' && WIDEN) }), optional: true },
    answers: answered('Recorded.', {
      receipt: HASH,
      answer: { type: 'string', enum: ['GRANTED', 'REFUSED'] },
    }),
    problems: ['request-invalid', 'approval-refused', 'ledger-unavailable'],
    answer: (question) => answer(question, word === 'approve'),
  }
}

export const approvalRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/approvals',
    id: 'listApprovals',
    about: 'Lists the approval requests that wait for an answer, oldest first. An agent sees only its own.',
    roles: READERS,
    answers: answered('The requests.', { approvals: list(APPROVAL) }),
    problems: ['gateway-needed'],
    answer: listWaiting,
  },
  {
    method: 'GET',
    path: '/v1/approvals/{id}',
    id: 'showApproval',
    about:
      'Returns one approval request. With `wait`, the gateway responds as soon as a person has answered the approval request or it has expired, and at the latest after this number of seconds.',
    roles: READERS,
    params: { id: HASH },
    query: { wait: { type: 'integer', minimum: 0, maximum: 60, default: 0, description: 'Seconds.' } },
    answers: { 200: { about: 'The request.', schema: APPROVAL } },
    problems: ['gateway-needed', 'too-many-waiting'],
    answer: show,
  },
  answerRoute(
    'approve',
    'Approves exactly this call, once, until the approval expires. A principal cannot approve its own call.',
  ),
  answerRoute('deny', 'Denies the call.'),
]
