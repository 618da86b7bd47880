// The message about a call that waits for an approval: everything that a person needs to decide.

import { REASONS, type Json, type JsonObject } from '@tollgate/evidence'
import type { Kernel } from '@tollgate/kernel'
import {
  inputName,
  inputOf,
  needsReason,
  pageName,
  readPageInput,
  shownInput,
  type ApprovalRequest,
} from '@tollgate/kernel/admin'
import type { LedgerView } from '../view.ts'
import type { WebhookMessage, Outbox } from './outbox.ts'
import { quoted } from './quoted.ts'

/** The requests that are not yet in the outbox of a receiver. */
export interface Requests {
  /** Adds a durable request. The id of another decision is ignored. */
  add(id: string): void
  /** Puts into the outbox what did not fit before. */
  retry(): void
}

/** Makes the link to a request that expires at a time in milliseconds. */
export type LinkTo = (id: string, until: number) => string

/** Puts each request into the outbox once, beginning with those that wait already. */
export function requestsTo(outbox: Outbox, kernel: Kernel, view: LedgerView, linkTo?: LinkTo): Requests {
  const unsent = new Set<string>()
  const isSettled = (id: string): boolean => {
    const request = kernel.approvals.find({ id })
    return request === undefined || outbox.put(requestMessage(kernel, view, request, linkTo))
  }
  const retry = (): void => {
    for (const id of unsent) if (isSettled(id)) unsent.delete(id)
  }
  const requests = {
    add(id: string): void {
      if (!isSettled(id)) unsent.add(id)
    },
    retry,
  }
  for (const { id } of kernel.approvals.list(kernel.host.now())) requests.add(id)
  return requests
}

/** Returns the message about a request. It is wanted until the request is answered or expires. */
function requestMessage(
  kernel: Kernel,
  view: LedgerView,
  request: ApprovalRequest,
  linkTo?: LinkTo,
): WebhookMessage {
  const { id, until } = request
  const link = linkTo?.(id, until)
  return {
    id,
    type: 'approval.requested',
    isWanted: () => kernel.host.now() <= until && kernel.approvals.find({ id })?.answer === null,
    read: async (withArguments) => ({
      data: {
        ...dataOf(kernel, request),
        ...(link !== undefined && { link }),
        ...(withArguments ? await privateOf(view, request) : request.page && { page: { ...request.page } }),
      },
      lines: linesOf(request),
      ...(link !== undefined && { link }),
    }),
  }
}

function dataOf(kernel: Kernel, request: ApprovalRequest): JsonObject {
  const { id, principal, session, tool, reason, rung, rule, asks, args, approvers, until } = request
  const { sentence, remedy } = REASONS[reason]
  return {
    id,
    principal,
    session,
    tool,
    reason_code: reason,
    message: sentence,
    remedy,
    rung,
    rule,
    asks,
    args_hash: args,
    delegation: request.delegation,
    approvers,
    reason_required: needsReason(kernel, request),
    until: new Date(until).toISOString(),
    answer: `tollgate approvals approve ${id}`,
  }
}

/** The arguments of the call, and the page with its address. */
async function privateOf(view: LedgerView, request: ApprovalRequest): Promise<JsonObject> {
  const { id, page } = request
  const input = inputOf(request, await recordOf(view, inputName(id)))
  const seen = page && readPageInput(page, await recordOf(view, pageName(id)))
  const { target, ...shown } = seen ? shownInput(seen) : {}
  return {
    // Sound: the stored input is canonical JSON.
    ...(input !== undefined && { arguments: JSON.parse(input) as Json }),
    ...(page && { page: { ...shown, ...(target && { target: { ...target } }), ...page } }),
  }
}

function recordOf(view: LedgerView, name: string): Promise<string | undefined> {
  return view.record(name).catch(() => undefined)
}

function linesOf({ id, principal, tool, reason, rule, until }: ApprovalRequest): readonly string[] {
  return [
    `A call of ${quoted(principal)} waits for an approval: ${quoted(tool)}.`,
    `${REASONS[reason].sentence}${rule === null ? '' : ` Rule: ${quoted(rule)}.`}`,
    `Answer it before ${new Date(until).toISOString()}: \`tollgate approvals show ${id}\``,
  ]
}
