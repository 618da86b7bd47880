// L1: verdicts.

import assert from 'node:assert/strict'
import { at, textAt, type Fields } from '../reading.ts'
import { sha256 } from '../pack.ts'
import type { Caller } from '../caller.ts'
import type { Requirement, World } from '../requirement.ts'

/** The parts of an answer that a caller acts on. */
export function verdictOf({ verdict, reason_code, rung, rule }: Fields): Fields {
  return { verdict, reason_code, rung, rule }
}

/** The receipt of an answered decision, as the ledger has it. */
export async function receiptOf({ admin }: World, answer: Fields): Promise<unknown> {
  const { body } = await admin.get(`/v1/receipts/${textAt(answer, 'receipt')}`)
  return body.receipt
}

async function isDenied(agent: Caller, body: string | Buffer): Promise<void> {
  const { status, text, body: answer } = await agent.send('POST', '/v1/evaluate', body)
  if (status === 400) return
  assert.equal(`${status} ${String(answer.verdict)}`, '200 DENY', text)
  assert.equal(typeof answer.receipt, 'string', 'the denial has no receipt')
}

const call = (args: string): string => `{"tool":"note/any","arguments":${args}}`
const AMBIGUOUS: Readonly<Record<string, string | Buffer>> = {
  'the tool twice': '{"tool":"note/unruled","tool":"note/any"}',
  'the arguments twice': '{"tool":"note/any","arguments":{},"arguments":{"a":1}}',
  'a key twice': call('{"a":1,"a":2}'),
  'a key twice, once escaped': call('{"a":1,"\\u0061":2}'),
  'a deep key twice': call('{"x":[{"a":1,"a":2}]}'),
}
const UNREADABLE: Readonly<Record<string, string | Buffer>> = {
  'half a surrogate pair': call('{"a":"\\ud800"}'),
  'a number that is rounded': call('{"a":9007199254740993}'),
  'minus zero': call('{"a":-0}'),
  'a number without end': call('{"a":1e999}'),
  'a comment': call('{} /* */'),
  'text after the value': `${call('{}')} x`,
  'a byte that is not UTF-8': Buffer.concat([
    Buffer.from('{"tool":"note/any","arguments":{"a":"'),
    Buffer.from([0xff]),
    Buffer.from('"}}'),
  ]),
  'a byte-order mark': `\ufeff${call('{}')}`,
  'too many levels': call(`${'['.repeat(100)}${']'.repeat(100)}`),
  nothing: '',
}

async function deniesAll(world: World, bodies: Readonly<Record<string, string | Buffer>>): Promise<void> {
  const agent = await world.caller('agent')
  assert.equal((await agent.evaluate({ tool: 'note/any' })).verdict, 'ALLOW')
  for (const [name, body] of Object.entries(bodies)) {
    await isDenied(agent, body).catch((cause: unknown) => {
      throw new Error(`${name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    })
  }
}

export const VERDICTS: readonly Requirement[] = [
  {
    id: 'V1',
    level: 'L1',
    claims: ['H11', 'H13'],
    says: 'A call that no rule allows is denied, with a reason and a receipt.',
    async test({ caller }) {
      const answer = await (await caller('agent')).evaluate({ tool: 'note/unruled' })
      assert.equal(answer.verdict, 'DENY')
      assert.equal(answer.reason_code, 'NO_RULE_MATCHED')
      assert.match(textAt(answer, 'receipt'), /^[0-9a-f]{64}$/)
    },
  },
  {
    id: 'V2',
    level: 'L1',
    claims: ['H10'],
    says: 'The first rule that matches decides, whether it allows or denies.',
    async test({ caller }) {
      const agent = await caller('agent')
      const read = verdictOf(await agent.evaluate({ tool: 'order/read' }))
      assert.deepEqual([read.verdict, read.rule], ['ALLOW', 'first'])
      const write = verdictOf(await agent.evaluate({ tool: 'order/write' }))
      assert.deepEqual([write.verdict, write.rule], ['DENY', 'closed'])
    },
  },
  {
    id: 'V3',
    level: 'L1',
    claims: ['H19'],
    says: 'A tool that the policy does not know is denied.',
    async test({ caller }) {
      const agent = await caller('agent')
      for (const tool of ['note/unknown', 'Note/any', 'note/any ', 'own/nothing']) {
        assert.equal((await agent.evaluate({ tool })).verdict, 'DENY', tool)
      }
    },
  },
  {
    id: 'V4',
    level: 'L1',
    claims: ['H8', 'H19'],
    says: 'Arguments that break the schema of the tool are denied before any rule.',
    async test({ caller }) {
      const agent = await caller('agent')
      const fits = await agent.evaluate({ tool: 'note/read', arguments: { text: 'a' } })
      assert.equal(fits.verdict, 'ALLOW')
      for (const args of [{}, { text: 1 }, { text: 'a', more: true }, ['a'], 'a', null]) {
        const answer = await agent.evaluate({ tool: 'note/read', arguments: args })
        assert.deepEqual([answer.verdict, answer.rung], ['DENY', 'schema'], JSON.stringify(args))
      }
    },
  },
  {
    id: 'V5',
    level: 'L1',
    claims: ['H19'],
    says: 'A call on which the policy fails is denied.',
    async test({ caller }) {
      const agent = await caller('agent')
      const evaluate = (args: unknown): Promise<Fields> =>
        agent.evaluate({ tool: 'note/condition', arguments: args })
      assert.equal((await evaluate({ name: 'ab' })).verdict, 'ALLOW')
      for (const args of [{}, { name: 7 }]) assert.equal((await evaluate(args)).verdict, 'DENY')
    },
  },
  {
    id: 'V6',
    level: 'L1',
    claims: ['H22'],
    says: 'A body with the same key twice is not allowed.',
    test: (world) => deniesAll(world, AMBIGUOUS),
  },
  {
    id: 'V7',
    level: 'L1',
    claims: ['H22'],
    says: 'A body that two parsers could read differently is not allowed.',
    test: (world) => deniesAll(world, UNREADABLE),
  },
  {
    id: 'V8',
    level: 'L1',
    claims: [],
    says: 'A body with an unknown member is refused, and not decided without it.',
    async test({ caller }) {
      const agent = await caller('agent')
      const { status, body } = await agent.post('/v1/evaluate', { tool: 'note/any', verdict: 'ALLOW' })
      assert.equal(status, 400)
      assert.notEqual(body.verdict, 'ALLOW')
    },
  },
  {
    id: 'V9',
    level: 'L1',
    claims: ['H9', 'H21'],
    says: 'Equal calls get the same verdict, reason and rule.',
    async test({ caller }) {
      for (const tool of ['note/any', 'note/unruled', 'order/write', 'ask/write']) {
        const answers = new Set<string>()
        for (let run = 0; run < 5; run++) {
          const agent = await caller('agent')
          answers.add(JSON.stringify(verdictOf(await agent.evaluate({ tool, arguments: { text: 'a' } }))))
        }
        assert.equal(answers.size, 1, [...answers].join(' or '))
      }
    },
  },
  {
    id: 'V10',
    level: 'L1',
    claims: ['H17', 'H22'],
    says: 'The receipt has the SHA-256 of the canonical arguments, in whatever order and spelling they come.',
    async test(world) {
      const agent = await world.caller('agent')
      const expected = sha256('{"a":1,"b":["\u20ac",true],"c":{"x":null}}')
      const spellings = [
        '{"a":1,"b":["\u20ac",true],"c":{"x":null}}',
        ' { "c" : {"x":null}, "b":["\\u20ac",true], "a":1.0 }',
        '{"b":["\\u20AC",true],"a":1e0,"c":{"x":null}}',
      ]
      for (const args of spellings) {
        const { body } = await agent.send('POST', '/v1/evaluate', call(args))
        assert.equal(at(await receiptOf(world, body), 'args_hash'), expected)
      }
    },
  },
  {
    id: 'V11',
    level: 'L1',
    claims: ['H3', 'H12'],
    says: 'The receipt of a decision has the verdict, reason, tool and session that were answered.',
    async test(world) {
      const agent = await world.caller('agent')
      for (const tool of ['note/any', 'note/unruled', 'ask/write', 'note/unknown']) {
        const answer = await agent.evaluate({ tool, session_id: 's-v11' })
        const receipt = await receiptOf(world, answer)
        assert.equal(at(receipt, 'tool'), tool)
        assert.equal(at(receipt, 'session', 'id'), 's-v11')
        assert.equal(at(receipt, 'verdict'), answer.verdict)
        assert.equal(at(receipt, 'reason_code'), answer.reason_code)
      }
    },
  },
  {
    id: 'V12',
    level: 'L1',
    claims: ['H6'],
    says: 'The principal comes from the token. A call that claims another principal is denied.',
    async test(world) {
      const agent = await world.caller('agent')
      const own = await agent.evaluate({ tool: 'note/any' })
      assert.equal(at(await receiptOf(world, own), 'principal'), agent.principal)
      const other = await agent.evaluate({ tool: 'note/any', principal: 'agent:other' })
      assert.equal(other.verdict, 'DENY')
      assert.equal(at(await receiptOf(world, other), 'principal'), agent.principal)
    },
  },
  {
    id: 'V13',
    level: 'L1',
    claims: [],
    says: 'A call that names two different sessions is denied.',
    async test({ caller }) {
      const agent = await caller('agent')
      const context = { session_id: 's2' }
      const answer = await agent.evaluate({ tool: 'note/any', session_id: 's1', context })
      assert.equal(answer.verdict, 'DENY')
    },
  },
  {
    id: 'V14',
    level: 'L1',
    claims: [],
    says: 'An ALLOW that the caller acts on expires after at most a minute.',
    async test({ caller }) {
      const answer = await (await caller('agent')).evaluate({ tool: 'note/any' })
      const left = Date.parse(textAt(answer, 'expires')) - Date.now()
      assert.ok(left <= 61_000, `it expires in ${left} ms`)
    },
  },
]
