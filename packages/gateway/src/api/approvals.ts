// Requests that wait for a person, and the answers to them.

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
  type ApprovalRequest,
} from '@tollgate/kernel/admin'
import type { Identity, Role } from '../tokens.ts'
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
  said,
  SENTENCE,
  TEXT,
  TIME,
  word,
  type ApiSchema,
} from './schema.ts'
import { createChangeSignal } from './stream.ts'

const STATUSES = ['waiting', 'granted', 'refused', 'timed_out', 'expired', 'used'] as const
type ApprovalStatus = (typeof STATUSES)[number]

/** A request as it is shown. */
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
  /** What is asked for, for whoever is to decide. */
  readonly arguments?: Json
  /** The page of a browser call. */
  readonly page?: ShownBrowser
  readonly delegation: string | null
  readonly approvers: readonly string[]
  /** Whether an answer must have a reason. */
  readonly reason_required: boolean
  readonly opened?: string
  readonly until: string | null
  readonly status: ApprovalStatus
  readonly approver: string | null
  readonly because: string | null
}

/** What is shown of a page: what the receipt says of it and, for those who may decide, where it is. */
type ShownBrowser = Browser & { readonly url?: string | null; readonly destination?: string | null }

const PAGE: ApiSchema = object({
  'url?': said(orNull(TEXT), 'Where the page is, for those who may answer and for the caller.'),
  'destination?': said(orNull(TEXT), 'Where the action goes, if not to the page itself.'),
  'page_host?': TEXT,
  'destination_host?': TEXT,
  'dom_hash?': HASH,
  'visual_text_hash?': HASH,
  'planner_ref?': TEXT,
  'sentinel_risk?': { type: 'integer', minimum: 0, maximum: 100 },
  sentinel_findings: list(TEXT),
  'seen_hash?': said(
    HASH,
    'The hash of all of this: it is in the receipts of the decision and of its approval.',
  ),
})

const APPROVAL: ApiSchema = object({
  id: said(HASH, 'The receipt of the ESCALATE that asked.'),
  principal: NAME,
  session: NAME,
  tool: NAME,
  'effect_class?': word(...EFFECT_CLASSES),
  reason_code: TEXT,
  rung: word(...LADDER_STEPS),
  rule: orNull(TEXT),
  asks: said(
    list(TEXT),
    'Everything that stands in the way, which a yes would lift: of each objection its rung, its reason, and what exactly.',
  ),
  args_hash: HASH,
  'arguments?': said(
    ANYTHING,
    'What the call would be run with, for those who may answer and for the caller; missing if it was erased: then the request cannot be approved.',
  ),
  'page?': said(
    PAGE,
    'The page of a browser call. A yes holds for this page and plan, at no higher risk and without new findings.',
  ),
  delegation: orNull(said(HASH, 'The delegation that the call is made under; its delegators cannot answer.')),
  approvers: said(list(TEXT), 'Who may answer: people or groups; empty if anybody with the role may.'),
  reason_required: said(FLAG, 'Whether the policy in force accepts no answer without `because`.'),
  'opened?': TIME,
  until: orNull(said(TIME, 'Until when it can be answered or, once it is, until when the answer holds.')),
  status: word(...STATUSES),
  approver: orNull(said(NAME, 'Who answered.')),
  because: orNull(said(TEXT, 'Why, in the words of who answered.')),
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
    // Sound: the id is that of a decision. It may not be readable yet, for as long as its commit takes.
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
  return input ? { url: input.url, destination: input.destination, ...page } : page
}

/** Whether the arguments are for the caller to see: they are its own, or it may have to decide on them. */
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
      // It can also end by itself; nobody wait then.
      await changes.wait(Math.min(left, 1000))
      if (!question.stillKnown()) throw unknownToken()
    }
  } finally {
    for (const each of leave) each()
  }
}

/** A request that the caller may see. One that is used up or long over is told from the ledger. */
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
  // The newest word on a request is its answer, or the decision that used it up.
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

/** The answer to a request: the newest word on it, or what the decision that used it names. */
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
  'because?': said(
    SENTENCE,
    'Why, in one line. It is in the receipt for ever: a text that looks like a secret is refused.',
  ),
}
const WIDEN = {
  'widen?': said(
    FLAG,
    'Using the approval also widens the scope of the session: by this tool, with what this call acts on. Only for a call outside of it.',
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

/** Approvals. */
export const approvalRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/approvals',
    id: 'listApprovals',
    about: 'Requests that wait for a person, oldest first. An agent sees its own.',
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
      'One request. With `wait`, the answer comes when the request no longer waits, or when the time is up.',
    roles: READERS,
    params: { id: HASH },
    query: { wait: { type: 'integer', minimum: 0, maximum: 60, default: 0, description: 'Seconds.' } },
    answers: { 200: { about: 'The request.', schema: APPROVAL } },
    problems: ['gateway-needed', 'too-many-waiting'],
    answer: show,
  },
  answerRoute(
    'approve',
    'Lets exactly this call pass, once, while the approval lasts. Nobody approves their own.',
  ),
  answerRoute('deny', 'Refuses the call.'),
]
