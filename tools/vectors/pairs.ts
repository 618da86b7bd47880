// Crimes between receipts that belong together: decisions and their effects, escalations and their approvals, delegations and
// the calls under them.

import {
  answer,
  APPROVED_UNTIL,
  approved,
  ASKED,
  AT,
  DENIED,
  entryOf,
  POLICY,
} from '../../packages/evidence/test/audit-story.ts'
import {
  decision,
  effect,
  hash,
  unknownEffect,
  type Draft,
  type TestLedger,
} from '../../packages/evidence/test/ledger.ts'
import { ADDED, fails, sealedCrime, type Made, type Plan } from './plan.ts'

/** Receipts that follow each other after the open decision of the story; each may rest on the one before it. */
function followed(...steps: readonly ((open: string, previous: string) => Draft)[]): () => Promise<Made> {
  return sealedCrime(async (ledger) => {
    const open = entryOf(ledger, AT.read).id
    let previous = open
    for (const step of steps) previous = (await ledger.append(step(open, previous))).id
  })
}

/** A call that is asked about and answered, and what is then made of the answer. */
function answered(
  given: 'GRANTED' | 'REFUSED',
  use: (ledger: TestLedger, approval: string) => Promise<unknown>,
) {
  return sealedCrime(async (ledger) => {
    const { id } = await ledger.append(ASKED)
    const { id: approval } = await ledger.append(answer(id, given))
    await use(ledger, approval)
  })
}

/** A delegation to the agent of the story. */
const GRANT = {
  kind: 'delegation',
  op: 'grant',
  delegation_hash: hash('delegation'),
  delegator: 'agent:planner',
  delegate: 'agent:ci',
  expires: '2026-02-01T00:00:00.000Z',
  by: 'agent:planner',
} as const

/** A call that was allowed under it. */
function delegated(): Draft {
  return decision(POLICY, { delegation: GRANT.delegation_hash })
}

function delegation(changes: Partial<Record<keyof typeof GRANT, string>>): ReturnType<typeof sealedCrime> {
  return sealedCrime(async (ledger) => {
    await ledger.append({ ...GRANT, ...changes } as Draft)
    await ledger.append(delegated())
  })
}

const AFTER_EXPIRY = APPROVED_UNTIL.replace('00.000Z', '00.001Z')

export const PAIRS: readonly Plan[] = [
  fails(
    'effect-without-decision',
    'an effect of a decision that never was',
    [`CAUSE_UNKNOWN at ${ADDED}`, `EFFECT_WITHOUT_DECISION at ${ADDED}`],
    followed(() => effect(hash('nothing'))),
  ),
  fails(
    'effect-of-something-else',
    'an effect of a receipt that is no decision',
    [`EFFECT_WITHOUT_DECISION at ${ADDED}`],
    sealedCrime((ledger) => ledger.append(effect(entryOf(ledger, AT.policy).id))),
  ),
  fails(
    'effect-without-its-cause',
    'an effect that does not name its decision as its cause',
    [`EFFECT_WITHOUT_DECISION at ${ADDED}`],
    followed((open) => effect(open, { causes: [] })),
  ),
  fails(
    'effect-of-a-denied-call',
    'a call that was denied has an effect',
    [`EFFECT_NOT_ALLOWED at ${ADDED + 1}`],
    followed(
      () => DENIED,
      (_, denied) => effect(denied),
    ),
  ),
  fails(
    'effect-of-an-escalated-call',
    'a call that was escalated has an effect, and no approval',
    [`EFFECT_NOT_ALLOWED at ${ADDED + 1}`],
    followed(
      () => ASKED,
      (_, asked) => effect(asked),
    ),
  ),
  fails(
    'effect-repeated',
    'a decision has two effects',
    [`EFFECT_REPEATED at ${ADDED + 1}`],
    followed(
      (open) => effect(open),
      (open) => effect(open),
    ),
  ),
  fails(
    'effect-late-without-unknown',
    'an effect is marked late, and nothing was closed as unknown',
    [`EFFECT_LATE_WRONG at ${ADDED}`],
    followed((open) => effect(open, { late: true })),
  ),
  fails(
    'effect-late-after-the-end',
    'a late effect contradicts one that was known',
    [`EFFECT_LATE_WRONG at ${ADDED + 1}`],
    followed(
      (open) => effect(open),
      (open) => effect(open, { late: true, status: 'FAILED' }),
    ),
  ),
  fails(
    'effect-late-twice',
    'two late effects after one that was unknown',
    [`EFFECT_REPEATED at ${ADDED + 2}`],
    followed(
      (open) => unknownEffect(open),
      (open) => effect(open, { late: true }),
      (open) => effect(open, { late: true, status: 'FAILED' }),
    ),
  ),
  fails(
    'effect-after-unknown-not-late',
    'an effect after one that was unknown, as if nothing had been recorded',
    [`EFFECT_LATE_WRONG at ${ADDED + 1}`],
    followed(
      (open) => unknownEffect(open),
      (open) => effect(open),
    ),
  ),
  fails(
    'approval-without-escalation',
    'an approval of a decision that asked for none',
    [`APPROVAL_WITHOUT_ESCALATION at ${ADDED}`],
    followed((open) => answer(open)),
  ),
  fails(
    'approval-after-a-refusal',
    'a person refused, and another one was asked until the answer fitted',
    [`APPROVAL_WITHOUT_ESCALATION at ${ADDED + 2}`],
    sealedCrime(async (ledger) => {
      const { id } = await ledger.append(ASKED)
      await ledger.append(answer(id, 'REFUSED'))
      await ledger.append(answer(id))
    }),
  ),
  fails(
    'approval-used-twice',
    'two calls rest on one approval',
    [`APPROVAL_REUSED at ${ADDED + 3}`],
    answered('GRANTED', async (ledger, approval) => {
      await ledger.append(approved(approval))
      await ledger.append(approved(approval))
    }),
  ),
  fails(
    'approval-refused-but-used',
    'a call rests on an answer that was a refusal',
    [`APPROVAL_NOT_GRANTED at ${ADDED + 2}`],
    answered('REFUSED', (ledger, approval) => ledger.append(approved(approval))),
  ),
  fails(
    'approval-expired',
    'a call rests on an approval that had ended a millisecond before',
    [`APPROVAL_NOT_GRANTED at ${ADDED + 2}`],
    answered('GRANTED', (ledger, approval) => ledger.append({ ...approved(approval), time: AFTER_EXPIRY })),
  ),
  fails(
    'approval-unknown',
    'a call rests on an approval that never was',
    [`CAUSE_UNKNOWN at ${ADDED}`, `APPROVAL_NOT_GRANTED at ${ADDED}`],
    followed(() => approved(hash('nothing'))),
  ),
  fails(
    'approval-that-is-none',
    'a call rests on a receipt that is no approval',
    [`APPROVAL_NOT_GRANTED at ${ADDED}`],
    followed((open) => approved(open)),
  ),
  fails(
    'approval-without-its-cause',
    'a call does not name the approval it rests on as its cause',
    [`APPROVAL_NOT_GRANTED at ${ADDED + 2}`],
    answered('GRANTED', (ledger, approval) => ledger.append({ ...approved(approval), causes: [] })),
  ),
  fails(
    'approval-of-another-call',
    'a person approved a mail, and a payment was allowed because of it',
    [`APPROVAL_FOR_ANOTHER_CALL at ${ADDED + 2}`],
    answered('GRANTED', (ledger, approval) =>
      ledger.append({
        ...approved(approval),
        tool: 'bank/pay',
        effect_class: 'pay',
        args_hash: hash('a million'),
      } as Draft),
    ),
  ),
  fails(
    'approval-of-other-arguments',
    'a person approved a mail, and another mail was sent because of it',
    [`APPROVAL_FOR_ANOTHER_CALL at ${ADDED + 2}`],
    answered('GRANTED', (ledger, approval) =>
      ledger.append({ ...approved(approval), args_hash: hash('to everybody') } as Draft),
    ),
  ),
  fails(
    'approval-of-another-session',
    'a person approved a mail in one session, and it was sent in another',
    [`APPROVAL_FOR_ANOTHER_CALL at ${ADDED + 2}`],
    answered('GRANTED', (ledger, approval) =>
      ledger.append({ ...approved(approval), session: { id: 's-other', seq: 0 } } as Draft),
    ),
  ),
  fails(
    'approval-of-another-page',
    'a person approved a page, and the call was made on what they were not shown',
    [`APPROVAL_FOR_ANOTHER_CALL at ${ADDED + 2}`],
    sealedCrime(async (ledger) => {
      const { id } = await ledger.append(ASKED)
      const seen_hash = hash('what was shown')
      const { id: approval } = await ledger.append({ ...answer(id), seen_hash } as Draft)
      const browser = { sentinel_findings: [], approved_hash: hash('what was not') }
      await ledger.append({ ...approved(approval), browser } as Draft)
    }),
  ),
  fails(
    'approval-for-another-principal',
    'a person approved a call of one agent, and another agent made it',
    [`APPROVAL_FOR_ANOTHER_CALL at ${ADDED + 2}`],
    answered('GRANTED', (ledger, approval) =>
      ledger.append({ ...approved(approval), principal: 'agent:other' } as Draft),
    ),
  ),
  fails(
    'approval-by-its-requester',
    'an agent approved its own call',
    [`APPROVAL_BY_REQUESTER at ${ADDED + 1}`],
    sealedCrime(async (ledger) => {
      const { id } = await ledger.append(ASKED)
      const { id: approval } = await ledger.append({ ...answer(id), approver: 'agent:ci' } as Draft)
      await ledger.append(approved(approval))
    }),
  ),
  fails(
    'delegation-unknown',
    'a call was allowed under a delegation that nobody gave',
    [`DELEGATION_NOT_GRANTED at ${ADDED}`],
    followed(() => delegated()),
  ),
  fails(
    'delegation-of-another',
    'a call was allowed under a delegation that was given to another agent',
    [`DELEGATION_NOT_GRANTED at ${ADDED + 1}`],
    delegation({ delegate: 'agent:other' }),
  ),
  fails(
    'delegation-expired',
    'a call was allowed under a delegation that had ended',
    [`DELEGATION_NOT_GRANTED at ${ADDED + 1}`],
    delegation({ expires: '2026-01-05T00:00:00.000Z' }),
  ),
  fails(
    'delegation-of-a-revoked-one',
    'a call was allowed under a delegation that hangs from one that was revoked',
    [`DELEGATION_NOT_GRANTED at ${ADDED + 3}`],
    sealedCrime(async (ledger) => {
      const first = {
        ...GRANT,
        delegation_hash: hash('first'),
        delegate: GRANT.delegator,
        delegator: 'user:olga',
      }
      await ledger.append(first)
      await ledger.append({ ...GRANT, parent: hash('first') })
      await ledger.append({ ...first, op: 'revoke' })
      await ledger.append(delegated())
    }),
  ),
]
