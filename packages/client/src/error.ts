// The errors of the client. Problems of the gateway keep their code; the client's own codes are below.

import type { JsonObject } from '@tollgate/evidence'

/** The codes of the client. Any other code comes from a problem document of the gateway. */
export type ClientErrorCode =
  | 'gateway-unreachable'
  | 'gateway-timeout'
  | 'answer-invalid'
  | 'http-error'
  | 'arguments-invalid'
  | 'decision-expired'
  | 'decision-spent'
  | 'tool-denied'
  | 'tool-failed'
  | 'approval-required'
  | 'approval-timed-out'
  | 'effect-unreported'
  | 'page-changed'
  | 'page-unreadable'
  | 'output-withheld'
  | 'receipt-unproven'
  | 'target-unresolved'

/** Further facts of an error. */
export interface ErrorFacts {
  /** HTTP status, if the gateway answered. */
  readonly status?: number | undefined
  /** The remedy. */
  readonly remedy?: string | undefined
  /** The whole problem document of the gateway. */
  readonly problem?: JsonObject | undefined
  readonly cause?: unknown
}

/**
 * An error of the client or the gateway. Branch on `code`. The message and all members are safe to log: they never contain the
 * token or a value of the arguments.
 */
export class TollgateError extends Error {
  readonly code: string
  /** HTTP status, if the gateway answered. */
  readonly status: number | undefined
  /** The remedy, if known. */
  readonly remedy: string | undefined
  /** The whole problem document of the gateway, for example with the `mistakes` of a policy. */
  readonly problem: JsonObject | undefined

  constructor(code: string, message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.name = 'TollgateError'
    this.code = code
    this.status = facts.status
    this.remedy = facts.remedy
    this.problem = facts.problem
  }
}

/** The content of a denial, with the member names of the wire. */
export interface Denial {
  readonly reason_code: string
  readonly message: string
  readonly remedy: string
  readonly rung: string
  readonly rule: string | null
  readonly detail: string | null
  readonly receipt: string | null
}

/** The gateway denied the call. The tool did not run. Code `tool-denied`. */
export class ToolDenied extends TollgateError {
  readonly tool: string
  readonly reason_code: string
  readonly rung: string
  readonly rule: string | null
  /** Details, without any value of the arguments. */
  readonly detail: string | null
  /** Id of the decision's receipt; null if none could be written. */
  readonly receipt: string | null

  constructor(tool: string, denial: Denial) {
    super('tool-denied', denial.message, { remedy: denial.remedy })
    this.name = 'ToolDenied'
    this.tool = tool
    this.reason_code = denial.reason_code
    this.rung = denial.rung
    this.rule = denial.rule
    this.detail = denial.detail
    this.receipt = denial.receipt
  }

  /** The part that a model may see: the reason and the remedy, no internals. */
  toJSON(): object {
    const { tool, reason_code, message, remedy, receipt } = this
    return { denied: true, tool, reason_code, message, remedy, receipt }
  }
}

/** The call needs approval, and the caller chose not to wait. The tool did not run. Code `approval-required`. */
export class ApprovalRequired extends TollgateError {
  /** Id of the request for approval; null if none was opened. Make the same call with it after the approval. */
  readonly approval: string | null

  constructor(tool: string, approval: string | null) {
    super('approval-required', `a person must approve this call of \`${tool}\``, {
      remedy: 'Wait for the approval, then make the same call again with the id of the request.',
    })
    this.name = 'ApprovalRequired'
    this.approval = approval
  }
}

/** The request for approval had no answer within the timeout of the caller. The tool did not run. Code `approval-timed-out`. */
export class ApprovalTimedOut extends TollgateError {
  /** Id of the request. After a later approval, make the same call with it. */
  readonly approval: string

  constructor(approval: string, waited: number) {
    super(
      'approval-timed-out',
      `the request for approval had no answer within ${Math.round(waited / 1000)} s`,
      {
        remedy: 'Wait longer. After the approval, make the same call again with the id of the request.',
      },
    )
    this.name = 'ApprovalTimedOut'
    this.approval = approval
  }
}

/**
 * The tool ran, but its effect could not be reported. Code `effect-unreported`.
 *
 * The record is incomplete: the gateway closes the call as UNKNOWN. The result of the tool is in `result` or `failure`. Do not run
 * the tool again because of this error.
 */
export class EffectUnreported extends TollgateError {
  /** Id of the decision that allowed the call. */
  readonly decision: string
  readonly outcome: 'COMPLETED' | 'FAILED'
  /** The return value of the function, if it returned. Uninspected: do not show it to a model. Not enumerable. */
  declare readonly result: unknown
  /** The message of the error, if the function threw. Uninspected, like `result`. Not enumerable. */
  declare readonly failure: string | undefined

  constructor(
    decision: string,
    ended: {
      readonly outcome: 'COMPLETED' | 'FAILED'
      readonly result?: unknown
      readonly failure?: string
    },
    cause: unknown,
  ) {
    super('effect-unreported', 'the tool ran, but its effect could not be reported to the gateway', {
      remedy:
        'Do not run it again. Report the effect later with `client.report`. Until then the call counts as UNKNOWN.',
      cause,
    })
    this.name = 'EffectUnreported'
    this.decision = decision
    this.outcome = ended.outcome
    // Not enumerable, so that a framework does not show them to a model.
    Object.defineProperties(this, { result: { value: ended.result }, failure: { value: ended.failure } })
  }
}

/** The facts about an output that is not forwarded. */
export interface WithheldOutput {
  /** Id of the effect's receipt; null if the answer of the gateway was lost. */
  readonly receipt: string | null
  /** Labels of the data in it, found or declared for the tool. */
  readonly labels: readonly string[]
  /** Findings of the threat scanner in it. */
  readonly findings: readonly string[]
}

/**
 * The tool ran and its effect is recorded, but its output is withheld: by the policy, or because the answer of the gateway was
 * lost. Code `output-withheld`.
 *
 * It does not contain the output, so a model may see it. Do not run the tool again because of this error.
 */
export class Withheld extends TollgateError implements WithheldOutput {
  readonly tool: string
  /** Id of the decision that allowed the call. */
  readonly decision: string
  readonly receipt: string | null
  readonly labels: readonly string[]
  readonly findings: readonly string[]

  constructor(tool: string, decision: string, { receipt, labels, findings }: WithheldOutput) {
    super('output-withheld', `\`${tool}\` ran, but its output is withheld`, {
      remedy: 'Do not run it again. The receipt lists the findings. A person can check the output.',
    })
    this.name = 'Withheld'
    this.tool = tool
    this.decision = decision
    this.receipt = receipt
    this.labels = labels
    this.findings = findings
  }

  /** The part that a model may see. */
  toJSON(): object {
    const { tool, message, remedy, receipt, labels, findings } = this
    return { withheld: true, tool, message, remedy, receipt, labels, findings }
  }
}

/**
 * The tool threw, and that is recorded as FAILED. Code `tool-failed`.
 *
 * The message is the inspected message of the tool. The thrown error itself is not included, neither as `cause` nor in the stack,
 * so a model may see it. A program that needs the error must catch it inside the tool.
 */
export class ToolFailed extends TollgateError implements WithheldOutput {
  readonly tool: string
  /** Id of the decision that allowed the call. */
  readonly decision: string
  /** Id of the effect's receipt; null if the report or its answer was lost. */
  readonly receipt: string | null
  readonly labels: readonly string[]
  readonly findings: readonly string[]
  /** Whether the message of the tool is missing: the policy withholds it, or it could not be inspected. */
  readonly withheld: boolean

  constructor(tool: string, decision: string, message: string | undefined, found?: WithheldOutput) {
    super('tool-failed', message ?? `\`${tool}\` failed, but its message is withheld`, {
      remedy:
        'The tool ran: check what it did before you run it again. The receipt lists the findings in its message.',
    })
    this.name = 'ToolFailed'
    this.tool = tool
    this.decision = decision
    this.receipt = found?.receipt ?? null
    this.labels = found?.labels ?? []
    this.findings = found?.findings ?? []
    this.withheld = message === undefined
  }

  /** The part that a model may see. */
  toJSON(): object {
    const { tool, message, receipt, labels, findings, withheld } = this
    return { failed: true, tool, message, receipt, labels, findings, withheld }
  }
}

/**
 * The page or the target of an action is no longer what the gateway judged, so the action was not executed. The decision is recorded
 * as FAILED. Code `page-changed`. Look at the page and repeat the call.
 */
export class PageChanged extends TollgateError {
  /** Id of the decision that allowed the call. */
  readonly decision: string

  constructor(decision: string) {
    super('page-changed', 'the page has changed since the decision; the action was not executed', {
      remedy: 'Look at the page again. If the action is still right, repeat the call.',
    })
    this.name = 'PageChanged'
    this.decision = decision
  }
}
