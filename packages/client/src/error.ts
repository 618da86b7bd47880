// Every fault of the client. A gateway's problem keeps the gateway's own code; what the client finds has a code from here.

import type { JsonObject } from '@tollgate/evidence'

/** The codes of faults that the client itself finds. Any other code is the gateway's own, from its problem document. */
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
  | 'output-withheld'
  | 'receipt-unproven'

/** What else is known of a fault. */
export interface ErrorFacts {
  /** HTTP status, if the gateway answered. */
  readonly status?: number | undefined
  /** What to do about it. */
  readonly remedy?: string | undefined
  /** The gateway's whole problem document. */
  readonly problem?: JsonObject | undefined
  readonly cause?: unknown
}

/**
 * A fault: branch on `code`. The message and all members are safe to log: they never hold the token, nor a value of the
 * arguments.
 */
export class TollgateError extends Error {
  readonly code: string
  /** HTTP status, if the gateway answered. */
  readonly status: number | undefined
  /** What to do about it, if anybody said so. */
  readonly remedy: string | undefined
  /** The gateway's whole problem document, with what is particular to it, such as the `mistakes` of a policy. */
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

/** What a denial says; the same names as on the wire. */
export interface Denial {
  readonly reason_code: string
  readonly message: string
  readonly remedy: string
  readonly rung: string
  readonly rule: string | null
  readonly detail: string | null
  readonly receipt: string | null
}

/** The gateway said DENY, and nothing was run. Code `tool-denied`. */
export class ToolDenied extends TollgateError {
  readonly tool: string
  readonly reason_code: string
  readonly rung: string
  readonly rule: string | null
  /** What exactly, without any value of the arguments. */
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

  /** What a model may be told: the reason and the remedy, and no internals. */
  toJSON(): object {
    const { tool, reason_code, message, remedy, receipt } = this
    return { denied: true, tool, reason_code, message, remedy, receipt }
  }
}

/** A person has to be asked, and the caller did not want to wait for that. Nothing was run. Code `approval-required`. */
export class ApprovalRequired extends TollgateError {
  /** Id of the request: wait for it, then make the same call with it. Null if no request was opened. */
  readonly approval: string | null

  constructor(tool: string, approval: string | null) {
    super('approval-required', `a person must approve this call of \`${tool}\` first`, {
      remedy: 'Wait for the approval, then make the same call again with its id.',
    })
    this.name = 'ApprovalRequired'
    this.approval = approval
  }
}

/** Nobody answered within the time that the caller was ready to wait. Nothing was run. Code `approval-timed-out`. */
export class ApprovalTimedOut extends TollgateError {
  /** Id of the request. It may still be answered: make the same call with it then. */
  readonly approval: string

  constructor(approval: string, waited: number) {
    super('approval-timed-out', `nobody answered the request within ${Math.round(waited / 1000)} s`, {
      remedy: 'Wait longer, or make the same call again with the id of the request once it is approved.',
    })
    this.name = 'ApprovalTimedOut'
    this.approval = approval
  }
}

/**
 * The tool ran, and the gateway could not be told what it did. Code `effect-unreported`.
 *
 * It is thrown because the record is then incomplete: the gateway closes the call as UNKNOWN, and the caller must not take
 * silence for a complete trail. What the tool gave is not lost: it is in here. Do not run the tool again because of this.
 */
export class EffectUnreported extends TollgateError {
  /** Id of the decision that allowed the call. */
  readonly decision: string
  readonly outcome: 'COMPLETED' | 'FAILED'
  /** What the function returned, if it did. Uninspected: for the program, not for a model. Not enumerable. */
  declare readonly result: unknown
  /** The message of what the function threw, if it did. Uninspected, as `result`. Not enumerable. */
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
    super('effect-unreported', 'the tool ran, but the gateway could not be told what it did', {
      remedy:
        'Do not run it again. Report it later with `client.report`; the call is closed as UNKNOWN until then.',
      cause,
    })
    this.name = 'EffectUnreported'
    this.decision = decision
    this.outcome = ended.outcome
    // A framework that writes an error out for a model must not write these.
    Object.defineProperties(this, { result: { value: ended.result }, failure: { value: ended.failure } })
  }
}

/** What is known of an output that is not handed on. */
export interface WithheldOutput {
  /** Id of the effect's receipt; null if the answer that named it was lost. */
  readonly receipt: string | null
  /** Classes of data that were found in it, or that the tool is declared to return. */
  readonly labels: readonly string[]
  /** What the threat scanner found in it. */
  readonly findings: readonly string[]
}

/**
 * The tool ran and that is recorded, but what came out must not be handed on: the policy withholds it, or the answer that
 * said what may be handed on was lost. Code `output-withheld`.
 *
 * The output is not in here, so that this can be shown to a model. Do not run the tool again because of this.
 */
export class Withheld extends TollgateError implements WithheldOutput {
  readonly tool: string
  /** Id of the decision that allowed the call. */
  readonly decision: string
  readonly receipt: string | null
  readonly labels: readonly string[]
  readonly findings: readonly string[]

  constructor(tool: string, decision: string, { receipt, labels, findings }: WithheldOutput) {
    super('output-withheld', `\`${tool}\` ran, and its output is withheld`, {
      remedy: 'Do not run it again. The receipt says what was found; a person may look at the output itself.',
    })
    this.name = 'Withheld'
    this.tool = tool
    this.decision = decision
    this.receipt = receipt
    this.labels = labels
    this.findings = findings
  }

  /** What a model may be told. */
  toJSON(): object {
    const { tool, message, remedy, receipt, labels, findings } = this
    return { withheld: true, tool, message, remedy, receipt, labels, findings }
  }
}

/**
 * The tool threw, and that is recorded as FAILED. Code `tool-failed`.
 *
 * The message is what inspection leaves of the tool's own message. What was thrown is not in here, neither as `cause` nor in the
 * stack, so that this can be shown to a model. A program that needs the thrown error catches it inside of the tool.
 */
export class ToolFailed extends TollgateError implements WithheldOutput {
  readonly tool: string
  /** Id of the decision that allowed the call. */
  readonly decision: string
  /** Id of the effect's receipt; null if the report or its answer was lost. */
  readonly receipt: string | null
  readonly labels: readonly string[]
  readonly findings: readonly string[]
  /** Whether the tool's message is missing: the policy withholds it, or inspection could not be asked. */
  readonly withheld: boolean

  constructor(tool: string, decision: string, message: string | undefined, found?: WithheldOutput) {
    super('tool-failed', message ?? `\`${tool}\` failed, and its message is withheld`, {
      remedy:
        'The receipt says what was found in the message. The tool ran: look what it did before you run it again.',
    })
    this.name = 'ToolFailed'
    this.tool = tool
    this.decision = decision
    this.receipt = found?.receipt ?? null
    this.labels = found?.labels ?? []
    this.findings = found?.findings ?? []
    this.withheld = message === undefined
  }

  /** What a model may be told. */
  toJSON(): object {
    const { tool, message, receipt, labels, findings, withheld } = this
    return { failed: true, tool, message, receipt, labels, findings, withheld }
  }
}
