// L3: approvals of people.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { textAt, type Fields } from '../reading.ts'
import type { Answer, Call, Caller } from '../caller.ts'
import type { Requirement } from '../requirement.ts'

const CALL: Call = { tool: 'ask/write', arguments: { text: 'a' }, session_id: 's1' }

/** Sends a call that needs an approval and returns the id of the request. */
async function asked(agent: Caller, call: Call = CALL): Promise<string> {
  const answer = await agent.evaluate(call)
  assert.equal(answer.verdict, 'ESCALATE')
  return textAt(answer, 'approval')
}

function answer(person: Caller, id: string, how: 'approve' | 'deny' = 'approve'): Promise<Answer> {
  return person.post(`/v1/approvals/${id}/${how}`, {})
}

async function approved(agent: Caller, person: Caller, call: Call = CALL): Promise<string> {
  const id = await asked(agent, call)
  assert.equal((await answer(person, id)).status, 200)
  return id
}

async function verdict(agent: Caller, call: Fields): Promise<unknown> {
  // Sound: every caller below spreads a `Call`.
  return (await agent.evaluate(call as Call)).verdict
}

export const APPROVALS: readonly Requirement[] = [
  {
    id: 'P1',
    level: 'L3',
    claims: ['H12'],
    says: 'An approval allows the call once.',
    async test({ caller }) {
      const [agent, person] = [await caller('agent'), await caller('operator')]
      const approval = await approved(agent, person)
      assert.equal(await verdict(agent, { ...CALL, approval }), 'ALLOW')
      assert.equal(await verdict(agent, { ...CALL, approval }), 'DENY')
      assert.equal(await verdict(agent, CALL), 'ESCALATE')
    },
  },
  {
    id: 'P2',
    level: 'L3',
    claims: [],
    says: 'Of equal calls at the same time, one approval allows exactly one.',
    async test({ caller }) {
      const [agent, person] = [await caller('agent'), await caller('operator')]
      const approval = await approved(agent, person)
      const verdicts = await Promise.all(
        Array.from({ length: 10 }, () => verdict(agent, { ...CALL, approval })),
      )
      assert.equal(verdicts.filter((each) => each === 'ALLOW').length, 1)
    },
  },
  {
    id: 'P3',
    level: 'L3',
    claims: [],
    says: 'An approval is bound to the arguments.',
    async test({ caller }) {
      const [agent, person] = [await caller('agent'), await caller('operator')]
      const approval = await approved(agent, person)
      const other = { ...CALL, arguments: { text: 'b' } }
      assert.equal(await verdict(agent, { ...other, approval }), 'DENY')
      assert.equal(await verdict(agent, other), 'ESCALATE')
    },
  },
  {
    id: 'P4',
    level: 'L3',
    claims: [],
    says: 'An approval is bound to the session and the principal.',
    async test({ caller }) {
      const [agent, person, thief] = [await caller('agent'), await caller('operator'), await caller('agent')]
      const approval = await approved(agent, person)
      assert.equal(await verdict(agent, { ...CALL, session_id: 's2', approval }), 'DENY')
      assert.equal(await verdict(thief, { ...CALL, approval }), 'DENY')
      assert.equal(await verdict(agent, { ...CALL, session_id: 's2' }), 'ESCALATE')
      assert.equal(await verdict(thief, CALL), 'ESCALATE')
      assert.equal(await verdict(agent, { ...CALL, approval }), 'ALLOW')
    },
  },
  {
    id: 'P5',
    level: 'L3',
    claims: [],
    says: 'The requester cannot approve the call.',
    async test({ caller }) {
      const principal = 'agent:both'
      const agent = await caller('agent', { principal })
      const person = await caller('operator', { principal })
      const id = await asked(agent)
      assert.equal((await answer(person, id)).status, 409)
      assert.equal(await verdict(agent, CALL), 'ESCALATE')
    },
  },
  {
    id: 'P6',
    level: 'L3',
    claims: [],
    says: 'An approval expires.',
    async test({ caller }) {
      const [agent, person] = [await caller('agent'), await caller('operator')]
      const call = { ...CALL, tool: 'ask/soon' }
      const approval = await approved(agent, person, call)
      await sleep(1100)
      assert.equal(await verdict(agent, { ...call, approval }), 'DENY')
      assert.equal(await verdict(agent, call), 'ESCALATE')
    },
  },
  {
    id: 'P7',
    level: 'L3',
    claims: [],
    says: 'A refused call is denied.',
    async test({ caller }) {
      const [agent, person] = [await caller('agent'), await caller('operator')]
      const id = await asked(agent)
      assert.equal((await answer(person, id, 'deny')).status, 200)
      assert.equal(await verdict(agent, { ...CALL, approval: id }), 'DENY')
      assert.equal(await verdict(agent, CALL), 'DENY')
    },
  },
  {
    id: 'P8',
    level: 'L3',
    claims: [],
    says: 'A request is answered once: a refusal cannot become an approval.',
    async test({ caller }) {
      const [agent, person] = [await caller('agent'), await caller('operator')]
      const id = await asked(agent)
      await answer(person, id, 'deny')
      assert.equal((await answer(person, id)).status, 409)
      assert.equal(await verdict(agent, { ...CALL, approval: id }), 'DENY')
    },
  },
  {
    id: 'P9',
    level: 'L3',
    claims: [],
    says: 'Only the approvers that the rule names can approve.',
    async test({ caller }) {
      const [agent, person] = [await caller('agent'), await caller('operator')]
      const judge = await caller('operator', { groups: ['judges'] })
      const id = await asked(agent, { ...CALL, tool: 'ask/group' })
      assert.equal((await answer(person, id)).status, 409)
      assert.equal((await answer(judge, id)).status, 200)
    },
  },
  {
    id: 'P10',
    level: 'L3',
    claims: [],
    says: 'A made-up approval allows nothing.',
    async test({ caller }) {
      const agent = await caller('agent')
      assert.equal(await verdict(agent, { ...CALL, approval: 'f'.repeat(64) }), 'DENY')
      assert.notEqual(await verdict(agent, CALL), 'ALLOW')
    },
  },
]
