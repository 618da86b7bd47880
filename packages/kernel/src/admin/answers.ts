// Records the answers of people to approval requests. Each is a receipt and takes effect in its turn of the ledger.

import { canonicalize, type Approval } from '@tollgate/evidence'
import {
  answerName,
  statusOf,
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
  /** Tenant of the approver, who can only answer requests of this tenant. */
  readonly tenant: string
  /** Id of the request: the receipt of the ESCALATE decision. */
  readonly request: string
  readonly granted: boolean
  /** If granted, using the approval adds this call to the scope of the session: its tool and its targets. */
  readonly widen?: boolean
  /** The person who answers, authenticated by the door. */
  readonly approver: string
  /** The reason: one line of at most 500 characters. The receipt contains it. */
  readonly because?: string | undefined
  /** Groups the approver belongs to. */
  readonly groups?: readonly string[]
}

/**
 * Answers a request, once. Exactly the call that it was opened for can then use the approval, once, before it expires.
 *
 * @throws KernelError `APPROVAL_REFUSED` if there is no such request, it was answered or has expired, this person may not answer
 * it, the call cannot be shown, or the policy requires a reason and none was given; `REQUEST_INVALID` if the reason is not valid
 * in a receipt.
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
  'the stored arguments or page of the call are missing or damaged, so it cannot be approved; deny it, or let it expire and send the call again'

/** Returns whether the call can be shown completely. A person can only approve a call that they were able to see. */
async function canBeShown({ approvals, store }: Kernel, id: string): Promise<boolean> {
  const request = approvals.find({ id })
  if (!request) return false
  const [input, page] = await store.load([inputName(id), pageName(id)])
  if (inputOf(request, input?.record) === undefined) return false
  return request.page === null || readPageInput(request.page, page?.record) !== undefined
}

const NO_REASON = 'the policy requires a reason; give one with `--because`'

/** Returns whether the policy in force requires a reason with every answer. */
export function needsReason(kernel: Kernel, { tenant }: Pick<ApprovalRequest, 'tenant'>): boolean {
  return policyOf(kernel, tenant).approvals.reason === 'required'
}

function mayAnswer(kernel: Kernel, order: AnswerOrder, time: number): ApprovalRequest {
  const request = kernel.approvals.find({ id: order.request })
  if (request?.tenant !== order.tenant)
    throw refuse('there is no such request; it may already have been used or have expired')
  if (request.answer !== null) throw refuse('the request was already answered')
  if (statusOf(request, time) !== 'waiting') throw refuse('the request has expired; send the call again')
  if (order.approver === request.principal)
    throw refuse('you cannot approve your own call; another person must answer')
  refuseDelegators(kernel, request, order.approver)
  if (order.approver === request.person && request.approvers.includes(OTHERS))
    throw refuse('the call acts for you, and the rule wants the answer of another person')
  const named = request.approvers.filter((name) => name !== OTHERS)
  const may =
    named.length === 0 || [order.approver, ...(order.groups ?? [])].some((name) => named.includes(name))
  if (!may) throw refuse('the rule does not list you as an approver; one of its approvers must answer')
  return request
}

/** Among the approvers of a rule: not the person behind the agent. By itself it names no approver. */
const OTHERS = 'others'

/** A delegated call also belongs to everyone in its delegation chain, so none of them may approve it. */
function refuseDelegators(
  { delegations }: Kernel,
  { tenant, delegation }: ApprovalRequest,
  approver: string,
): void {
  if (delegation === null) return
  const chain = chainOf(delegations, tenant, delegation)
  if (!chain)
    throw refuse('the delegation of the call has ended; send the call again under another delegation')
  if (chain.some(({ statement }) => [statement.delegator, statement.delegate].includes(approver))) {
    throw refuse('the call acts on your behalf; another person must answer')
  }
}

/** Returns whether the answer widens a scope. Only a request about a call outside the scope can. */
function mayWiden({ asks }: ApprovalRequest, { granted, widen = false }: AnswerOrder): boolean {
  if (!widen) return false
  if (!granted) throw refuse('a denial cannot widen the scope; approve the call or leave out `widen`')
  const about = asks.find((ask) => ask.startsWith(SCOPE_ASKED))?.slice(SCOPE_ASKED.length)
  if (about === undefined) throw refuse('the call is not outside the scope, so there is nothing to widen')
  if (about === 'none') throw refuse('the session has no scope; open it with one')
  if (about === 'until')
    throw refuse('the scope has expired; open another session, or approve this call without widening')
  return true
}

const SCOPE_ASKED = 'scope TASK_SCOPE_EXCEEDED '

function refuse(message: string): KernelError {
  return new KernelError('APPROVAL_REFUSED', message)
}
