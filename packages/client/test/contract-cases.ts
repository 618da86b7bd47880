// The contract of a guarded tool as a table: one call, what goes wrong on the way, and what every client must make of it. The clients
// for TypeScript and for Python run the same table.

import type { Json, JsonObject } from '../../evidence/src/index.ts'
import type { Inspected } from './stand-in.ts'
import type { Fault } from './stand-in-faults.ts'

/** One call of a guarded tool. */
export interface ContractCase {
  readonly title: string
  /** Default: `fs/read_file`, which the stand-in allows. */
  readonly tool?: string
  /** What the tool does. By default it returns `RESULT`. */
  readonly does?: { readonly returns: Json } | { readonly throws: string }
  /** The faults of the requests to a path, in order. The last one stays, if the list ends with `always`. */
  readonly faults?: Readonly<Record<string, readonly (Fault | 'always')[]>>
  /** How the stand-in inspects outputs. */
  readonly inspected?: Inspected
  readonly retries?: number
  /** What a person answers to the request for approval. */
  readonly person?: 'approves' | 'denies'
  /** How long an escalated call waits, in milliseconds. */
  readonly wait?: number | false
  readonly onDenied?: 'return'
  readonly onUnreported?: 'return'
  /** `returned`, or the code of the error. */
  readonly ends: string
  /** How often the tool ran. */
  readonly runs: 0 | 1
  /** The status of the recorded effect. */
  readonly effect?: 'COMPLETED' | 'FAILED'
  /** The result, or members of the error. */
  readonly gives?: JsonObject
}

/** A text of a tool that must not reach the agent uninspected. */
export const SECRET = 'hunter2'
export const RESULT = { text: `the key is ${SECRET}` }
const REDACTED: Inspected = { delivery: 'redacted', labels: ['secret'], output: { text: 'removed' } }
const WITHHELD: Inspected = { delivery: 'withheld', labels: ['sealed'], findings: ['IGNORE_INSTRUCTIONS'] }
const ALLOWED = { ends: 'returned', runs: 1, effect: 'COMPLETED', gives: RESULT } as const

function answers(): ContractCase[] {
  const rows: readonly (readonly [string, Fault, string])[] = [
    ['is cut off', { kind: 'cut' }, 'gateway-unreachable'],
    ['is half an answer', { kind: 'half' }, 'answer-invalid'],
    ['has the type of a page', { kind: 'type', type: 'text/html' }, 'answer-invalid'],
    ['has no type', { kind: 'type', type: '' }, 'answer-invalid'],
    ['is empty', garbage(''), 'answer-invalid'],
    ['is a list', garbage('[]'), 'answer-invalid'],
    ['is only the word ALLOW', garbage('"ALLOW"'), 'answer-invalid'],
    ['says everything twice', garbage('{"verdict":"DENY","verdict":"ALLOW"}'), 'answer-invalid'],
    ['has a number that is none', garbage('{"verdict":NaN}'), 'answer-invalid'],
    ['is a redirect', { kind: 'redirect', to: '/v1/status' }, 'gateway-unreachable'],
    ['has status 500', { kind: 'status-after', status: 500 }, 'http-error'],
    ['has status 502', { kind: 'status-after', status: 502 }, 'http-error'],
    ['has status 503', { kind: 'status-after', status: 503 }, 'http-error'],
    ['has status 204', { kind: 'status-after', status: 204 }, 'http-error'],
    ['spells the verdict in lower case', members({ verdict: 'allow' }), 'answer-invalid'],
    ['misspells the verdict', members({ verdict: 'ALLOWED' }), 'answer-invalid'],
    ['has a verdict that is a list', members({ verdict: ['ALLOW'] }), 'answer-invalid'],
    ['has no verdict', members({ verdict: undefined }), 'answer-invalid'],
    ['allows without a receipt', members({ receipt: null }), 'answer-invalid'],
    ['allows with half a receipt', members({ receipt: 'abc' }), 'answer-invalid'],
    ['allows without an expiry', members({ expires: null }), 'answer-invalid'],
    ['allows with an invalid expiry', members({ expires: 'tomorrow' }), 'answer-invalid'],
    ['allowed until yesterday', members({ expires: '2020-01-01T00:00:00.000Z' }), 'decision-expired'],
    ['allows for a reason that denies', members({ reason_code: 'NO_RULE_MATCHED' }), 'answer-invalid'],
    ['allows with an unknown reason code', members({ reason_code: 'BECAUSE' }), 'answer-invalid'],
  ]
  return rows.map(([title, fault, ends]) => ({
    title: `nothing runs if the answer ${title}`,
    faults: { '/v1/evaluate': [fault] },
    retries: 0,
    ends,
    runs: 0,
  }))
}

function askedAgain(): ContractCase[] {
  const again: readonly (readonly [string, readonly Fault[]])[] = [
    ['lost answers', [{ kind: 'drop-after' }, { kind: 'cut' }]],
    ['status 502', [{ kind: 'status', status: 502 }]],
    ['status 503', [{ kind: 'status', status: 503 }]],
    ['status 504', [{ kind: 'status', status: 504 }]],
    ['status 429 with `Retry-After`', [{ kind: 'status', status: 429, retryAfter: '0' }]],
  ]
  const never: readonly (readonly [string, Fault])[] = [
    ['429 without `Retry-After`', { kind: 'status', status: 429 }],
    ['429 for an hour', { kind: 'status', status: 429, retryAfter: '3600' }],
    ['500', { kind: 'status', status: 500 }],
    ['400', { kind: 'status', status: 400 }],
  ]
  return [
    ...again.map(([title, faults]) => ({
      title: `the client asks again after ${title}, and the tool runs once`,
      faults: { '/v1/evaluate': faults },
      ...ALLOWED,
    })),
    // A second request would be allowed.
    ...never.map(([title, fault]) => ({
      title: `the client does not ask again after status ${title}`,
      faults: { '/v1/evaluate': [fault] },
      ends: 'http-error',
      runs: 0 as const,
    })),
    {
      title: 'the client stops asking after its retries',
      faults: { '/v1/evaluate': [{ kind: 'drop-after' }, 'always'] },
      ends: 'gateway-unreachable',
      runs: 0,
    },
  ]
}

function reports(): ContractCase[] {
  const lost: readonly (readonly [string, readonly Fault[]])[] = [
    ['was lost on the way', [{ kind: 'drop-before' }]],
    ['arrived and its answer was lost', [{ kind: 'drop-after' }, { kind: 'drop-before' }]],
    ['arrived and its answer was cut off', [{ kind: 'cut' }]],
    ['arrived and its answer was garbage', [garbage('ok')]],
    ['arrived and its answer has no delivery', [members({ delivery: undefined })]],
    ['arrived and its answer has an unknown delivery', [members({ delivery: 'FULL' })]],
    ['arrived and its answer has an output too many', [members({ output: 'x' })]],
    ['arrived and was answered with status 500', [{ kind: 'status-after', status: 500 }]],
    ['arrived and a proxy sent it twice', [{ kind: 'drop-before' }, { kind: 'twice' }]],
  ]
  const unreported = { '/v1/effects': [{ kind: 'drop-before' }, 'always'] } as const
  return [
    ...lost.map(([title, faults]) => ({
      title: `a report that ${title} is recorded once, and the result that the ledger has as \`full\` is forwarded`,
      faults: { '/v1/effects': faults },
      ...ALLOWED,
    })),
    {
      title: 'a report that fails is an error with the result, and the tool does not run again',
      faults: unreported,
      ends: 'effect-unreported',
      runs: 1,
      gives: { outcome: 'COMPLETED', result: RESULT },
    },
    {
      title: 'a report that fails can be ignored',
      faults: unreported,
      onUnreported: 'return',
      ends: 'returned',
      runs: 1,
      gives: RESULT,
    },
  ]
}

function deliveries(): ContractCase[] {
  const lost: readonly Fault[] = [{ kind: 'drop-after' }]
  const withheld = { ends: 'output-withheld', runs: 1, effect: 'COMPLETED' } as const
  return [
    { title: 'a result is forwarded if it is delivered in full', ...ALLOWED },
    {
      title: 'a result is replaced by its redacted form',
      inspected: REDACTED,
      ...ALLOWED,
      gives: { text: 'removed' },
    },
    {
      title: 'a result that is withheld is an error without it',
      inspected: WITHHELD,
      ...withheld,
      gives: { labels: ['sealed'], findings: ['IGNORE_INSTRUCTIONS'] },
    },
    {
      title: 'a withheld result is not forwarded after a lost answer',
      inspected: WITHHELD,
      faults: { '/v1/effects': lost },
      ...withheld,
      gives: { labels: ['sealed'] },
    },
    {
      title: 'a redacted result is not forwarded after a lost answer, because its redacted form is lost',
      inspected: REDACTED,
      faults: { '/v1/effects': lost },
      ...withheld,
      gives: { labels: ['secret'] },
    },
    {
      title: 'a result is not forwarded if the ledger cannot be read after a lost answer',
      faults: { '/v1/effects': lost, '/v1/receipts': [{ kind: 'status', status: 500 }, 'always'] },
      ...withheld,
    },
  ]
}

function failures(): ContractCase[] {
  const failed = { ends: 'tool-failed', runs: 1, effect: 'FAILED' } as const
  const does = { throws: `bad password ${SECRET}` }
  const message = '`fs/read_file` failed, but its message is withheld'
  return [
    {
      title: 'the message of an error is forwarded if it is delivered in full',
      does: { throws: 'no such note' },
      ...failed,
      gives: { message: 'no such note', withheld: false },
    },
    {
      title: 'the message of an error is forwarded in its redacted form',
      does,
      inspected: { delivery: 'redacted', output: 'bad password removed' },
      ...failed,
      gives: { message: 'bad password removed', withheld: false },
    },
    {
      title: 'the message of an error is missing if it is withheld',
      does,
      inspected: WITHHELD,
      ...failed,
      gives: { message, withheld: true },
    },
    {
      title: 'the message of an error is missing if its redacted form is no text',
      does,
      inspected: { delivery: 'redacted', output: { a: SECRET } },
      ...failed,
      gives: { message, withheld: true },
    },
    {
      title: 'the message of an error is missing if it cannot be reported',
      does,
      faults: { '/v1/effects': [{ kind: 'drop-before' }, 'always'] },
      onUnreported: 'return',
      ends: 'tool-failed',
      runs: 1,
      gives: { message, withheld: true },
    },
    {
      title: 'the message of an error is kept for the program if it cannot be reported',
      does,
      faults: { '/v1/effects': [{ kind: 'drop-before' }, 'always'] },
      ends: 'effect-unreported',
      runs: 1,
      gives: { outcome: 'FAILED', failure: does.throws },
    },
  ]
}

function verdicts(): ContractCase[] {
  const tool = 'mail/send'
  return [
    {
      title: 'a denied call has a reason and a remedy',
      tool: 'fs/delete',
      ends: 'tool-denied',
      runs: 0,
      gives: {
        tool: 'fs/delete',
        reason_code: 'NO_RULE_MATCHED',
        message: 'No rule of the policy matches this call.',
      },
    },
    {
      title: 'a denial can be returned',
      tool: 'fs/delete',
      onDenied: 'return',
      ends: 'returned',
      runs: 0,
      gives: { denied: true, reason_code: 'NO_RULE_MATCHED' },
    },
    { title: 'an escalated call runs after a person approved it', tool, person: 'approves', ...ALLOWED },
    {
      title: 'an escalated call is denied if the person denies it',
      tool,
      person: 'denies',
      ends: 'tool-denied',
      runs: 0,
      gives: { reason_code: 'APPROVAL_REFUSED' },
    },
    {
      title: 'an escalated call does not run without an answer in time',
      tool,
      wait: 150,
      ends: 'approval-timed-out',
      runs: 0,
    },
    {
      title: 'an escalated call is an error at once without a wait',
      tool,
      wait: false,
      ends: 'approval-required',
      runs: 0,
    },
  ]
}

function garbage(text: string): Fault {
  return { kind: 'garbage', text }
}

function members(replaced: Readonly<Record<string, unknown>>): Fault {
  return { kind: 'members', members: replaced }
}

/** All cases. */
export const CONTRACT: readonly ContractCase[] = [
  ...answers(),
  ...askedAgain(),
  ...reports(),
  ...deliveries(),
  ...failures(),
  ...verdicts(),
]
