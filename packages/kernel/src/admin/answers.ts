// Answers of people to requests. Each is a receipt, and in force from its turn on.

import { canonicalize, type Approval } from '@tollgate/evidence'
import {
  answerName,
  bearingOf,
  inputName,
  inputOf,
  pageName,
  requestName,
  type Answer,
  type ApprovalRequest,
} from './approvals.ts'
import { readBecause } from './because.ts'
import { chainOf } from '../gates/delegation/delegations.ts'
import { KernelError } from '../error.ts'
import { policyOf, type Kernel } from '../kernel.ts'
import type { Appended } from '../ledger/ledger.ts'
import { readPageInput } from '../gates/browser/page.ts'

/** A person's answer to a request. */
interface AnswerOrder {
  /** Tenant of the approver: nobody answers for another. */
  readonly tenant: string
  /** Id of the request: the receipt of the ESCALATE decision. */
  readonly request: string
  readonly granted: boolean
  /** Using the grant widens the scope of the session by this call: its tool, and what it acts on. */
  readonly widen?: boolean
  /** Who answers, as the door has made sure of it. */
  readonly approver: string
  /** Why, in a line of at most 500 characters. It is in the receipt. */
  readonly because?: string | undefined
  /** Groups the approver belongs to. */
  readonly groups?: readonly string[]
}

/**
 * Answers a request, once. A grant can then be used by exactly the call it was asked for, once, while it lasts.
 *
 * @throws KernelError `APPROVAL_REFUSED` if there is no such request, it was answered or ended, this person may not answer it,
 * what is to be approved cannot be shown, or the policy asks for a reason and there is none; `REQUEST_INVALID` if the reason cannot
 * stand in a receipt.
 */
export async function answerRequest(kernel: Kernel, order: AnswerOrder): Promise<Appended> {
  const because = readBecause(order.because)
  const shown = order.granted && (await canBeShown(kernel, order.request))
  return kernel.ledger.append({
    reserved: true,
    run: (turn) => {
      const request = mayAnswer(kernel, order, turn.time)
      if (order.granted && !shown) throw refuse(NOT_SHOWN)
      if (because === undefined && needsReason(kernel, request)) throw refuse(NO_REASON)
      const until = turn.time + request.lasts
      const widen = mayWiden(request, order)
      const appended = turn.append(
        { causes: [request], anchors: [answerName(request.id)] },
        (header): Approval => ({
          ...header,
          kind: 'approval',
          tenant: request.tenant,
          decision: request.id,
          answer: order.granted ? 'GRANTED' : 'REFUSED',
          ...(widen && { widen }),
          approver: order.approver,
          ...(because !== undefined && { because }),
          ...(request.page?.seen_hash !== undefined && { seen_hash: request.page.seen_hash }),
          expires: new Date(until).toISOString(),
        }),
      )
      const { approver, granted } = order
      const answer: Answer = { ...appended, granted, widen, approver, because: because ?? null, until }
      const answered: ApprovalRequest = { ...request, answer }
      turn.put(requestName(request.id), canonicalize(answered))
      kernel.approvals.set(answered)
      return appended
    },
  })
}

const NOT_SHOWN =
  'the arguments of the call, or its page, are lost or damaged, so it cannot be approved; deny it, or wait until it ends and have the call sent again'

/** Whether all that is to be approved can be shown: what an approver cannot have seen, they cannot say yes to. */
async function canBeShown({ approvals, store }: Kernel, id: string): Promise<boolean> {
  const request = approvals.find({ id })
  if (!request) return false
  const [input, page] = await store.load([inputName(id), pageName(id)])
  if (inputOf(request, input?.record) === undefined) return false
  return request.page === null || readPageInput(request.page, page?.record) !== undefined
}

const NO_REASON = 'the policy asks for a reason; give one with `--because`'

/** Whether the policy in force wants a reason with every answer. */
export function needsReason(kernel: Kernel, { tenant }: Pick<ApprovalRequest, 'tenant'>): boolean {
  return policyOf(kernel, tenant).approvals.reason === 'required'
}

function mayAnswer(kernel: Kernel, order: AnswerOrder, time: number): ApprovalRequest {
  const request = kernel.approvals.find({ id: order.request })
  if (request?.tenant !== order.tenant)
    throw refuse('there is no such request; it may have been used or have ended')
  if (request.answer !== null) throw refuse('the request has been answered')
  if (bearingOf(request, time) !== 'waiting')
    throw refuse('the request has ended; the call must be sent again')
  if (order.approver === request.principal) throw refuse('nobody approves their own call')
  refuseDelegators(kernel, request, order.approver)
  const may =
    request.approvers.length === 0 ||
    [order.approver, ...(order.groups ?? [])].some((name) => request.approvers.includes(name))
  if (!may) throw refuse('the rule names other approvers')
  return request
}

/** A call that was delegated is also that of everybody who delegated it: none of them approves it. */
function refuseDelegators(
  { delegations }: Kernel,
  { tenant, delegation }: ApprovalRequest,
  approver: string,
): void {
  if (delegation === null) return
  const chain = chainOf(delegations, tenant, delegation)
  if (!chain) throw refuse('the delegation of the call has ended; the call must be sent again under another')
  if (chain.some(({ statement }) => [statement.delegator, statement.delegate].includes(approver))) {
    throw refuse('the call acts for this person; another must answer')
  }
}

/** Whether the answer widens a scope. Only what was asked about as being outside of it can. */
function mayWiden({ asks }: ApprovalRequest, { granted, widen = false }: AnswerOrder): boolean {
  if (!widen) return false
  if (!granted) throw refuse('a refusal widens nothing')
  const about = asks.find((ask) => ask.startsWith(SCOPE_ASKED))?.slice(SCOPE_ASKED.length)
  if (about === undefined) throw refuse('the call is not outside of a scope, so there is nothing to widen')
  if (about === 'none') throw refuse('the session has no scope; open it with one')
  if (about === 'until') throw refuse('the scope has ended; open another session, or approve this once')
  return true
}

const SCOPE_ASKED = 'scope TASK_SCOPE_EXCEEDED '

function refuse(message: string): KernelError {
  return new KernelError('APPROVAL_REFUSED', message)
}
