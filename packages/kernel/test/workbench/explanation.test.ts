import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { explainCall, foresee, tryCall, type Explanation } from '../../src/workbench.ts'
import { LADDER, type ToolCall } from '../../src/index.ts'
import { setFreeze } from '../../src/admin.ts'
import { conditionEnvironment, type ConditionValue } from '../../src/policy/condition.ts'
import type { Examined } from '../../src/policy/examine.ts'
import { createRig, policyOf, START } from '../rig.ts'
import { runs } from '../../../evidence/test/runs.ts'

const CALL: ToolCall = {
  caller: { tenant: 'default', principal: 'agent:ci' },
  door: 'http',
  assurance: 'advised',
  tool: 'a',
  args: {},
}

function explained(policy: string, fields: Partial<ToolCall> = {}): Explanation {
  const { intent, snapshot } = tryCall(policyOf(policy), { ...CALL, ...fields }, START)
  return explainCall(intent, snapshot)
}

const OPEN = 'tools: { a: { effect: write, destinations: [to] } }\nrules: [{ id: all, allow: "*" }]\n'

/** A policy and a call that one step objects to. */
const OBJECTIONS: readonly (readonly [
  rung: string,
  reason: string,
  policy: string,
  call: Partial<ToolCall>,
])[] = [
  ['capture', 'AMBIGUOUS_INPUT', OPEN, { tool: '' }],
  ['schema', 'DENY_TOOL_NOT_FOUND', OPEN, { tool: 'b' }],
  ['context', 'CONTEXT_MISMATCH', `${OPEN}context: { environments: [prod] }`, {}],
  ['identity', 'IDENTITY_ISOLATION_VIOLATION', OPEN, { principal: 'agent:other' }],
  ['browser', 'COGNITIVE_FIREWALL_INVALID_URL', OPEN, { door: 'browser' }],
  ['egress', 'DATA_EGRESS_BLOCKED', OPEN, { args: { to: 'https://evil.test' } }],
  [
    'taint',
    'TAINTED_DATA_EGRESS_DENY',
    `tools: { a: { effect: write, destinations: [to], takes: { text: secret-plans } } }
rules: [{ id: all, allow: "*" }]
gates: { egress: { allow: ["*"] }, taint: { deny: [secret-plans] } }`,
    { args: { to: 'https://example.com', text: 'x' } },
  ],
  [
    'threat',
    'COMMAND_ATTACK_DETECTED',
    `${OPEN}gates: { threat: {} }`,
    { args: { text: '; rm -rf / --no-preserve-root' } },
  ],
  [
    'delegation',
    'DELEGATION_INVALID',
    `${OPEN}principals: { "agent:ci": { tier: standard, delegate-only: true } }`,
    {},
  ],
  ['trust', 'TRUST_INSUFFICIENT', `${OPEN}gates: { trust: { needs: { write: 900 } } }`, {}],
  ['privilege', 'INSUFFICIENT_PRIVILEGE', `${OPEN}gates: { privilege: {} }`, {}],
  ['policy', 'NO_RULE_MATCHED', 'tools: { a: { effect: read } }\nrules: []', {}],
  ['temporal', 'OUTSIDE_HOURS', `${OPEN}gates: { temporal: { hours: { "*": "sat 10:00-11:00" } } }`, {}],
]

describe('an explanation', () => {
  test.each(OBJECTIONS)('shows the objection of %s: %s', (rung, reason, policy, call) => {
    const { judgement, rungs, obstacles } = explained(policy, call)
    expect(judgement).toMatchObject({ verdict: 'DENY', rung, reason })
    expect(rungs.find((each) => each.rung === rung)).toMatchObject({
      asked: true,
      word: { verdict: 'DENY', reason },
    })
    expect(obstacles[0]).toMatchObject({ rung, reason })
  })

  it('has every step in the order of the ladder, after the capture', () => {
    expect(explained(OPEN).rungs.map(({ rung }) => rung)).toEqual([
      'capture',
      ...LADDER.map(({ name }) => name),
    ])
  })

  it('shows the objections after the first, marked as not reached', () => {
    const policy = `tools: { a: { effect: write, destinations: [to] } }
rules: [{ id: no, deny: "*", because: never }]
gates: { temporal: { hours: { "*": "sat 10:00-11:00" } } }`
    const { judgement, rungs, obstacles } = explained(policy, {
      principal: 'agent:other',
      args: { to: 'https://evil.test' },
    })
    expect(judgement.rung).toBe('identity')
    const objections = rungs.filter(({ word }) => word).map(({ rung, asked }) => [rung, asked])
    expect(objections).toEqual([
      ['identity', true],
      ['egress', false],
      ['policy', false],
      ['temporal', false],
    ])
    expect(obstacles.map(({ rung, reason }) => `${rung} ${reason}`)).toEqual([
      'identity IDENTITY_ISOLATION_VIOLATION',
      'egress DATA_EGRESS_BLOCKED',
      'policy POLICY_VIOLATION',
      'policy NO_RULE_MATCHED',
      'temporal OUTSIDE_HOURS',
    ])
    expect(obstacles[1]?.goes).toMatchObject([{ at: '/to', host: 'evil.test' }])
  })

  it('shows every rule that would object after the first', () => {
    const { obstacles } = explained(`tools: { a: { effect: read } }
rules:
  - { id: first, deny: "a" }
  - { id: fails, allow: "a", when: 'args.missing == 1' }
  - { id: asks, require: "a", approvers: [olga] }
  - { id: late, deny: "a" }`)
    expect(obstacles.map(({ rule, verdict, reason }) => [rule?.id, verdict, reason])).toEqual([
      ['first', 'DENY', 'POLICY_VIOLATION'],
      ['fails', 'DENY', 'POLICY_EVALUATION_ERROR'],
      ['asks', 'ESCALATE', 'APPROVAL_REQUIRED'],
    ])
  })

  it('stops at the first rule that would allow', () => {
    const { obstacles } = explained(`tools: { a: { effect: read } }
rules: [{ id: no, deny: "a" }, { id: yes, allow: "a" }, { id: never, deny: "a" }]`)
    expect(obstacles.map(({ rule }) => rule?.id)).toEqual(['no'])
  })

  it('names the rules that are nearest to allowing the call, and the part that does not match', () => {
    const { obstacles } = explained(
      `tools: { a: { effect: read } }
rules:
  - { id: others, allow: "a", principal: "user:*" }
  - { id: elsewhere, allow: "b" }
  - { id: paths, allow: "a", when: 'has(args.path) && args.path.startsWith("/srv") && door == "http"' }
  - { id: no, deny: "a", when: 'door == "mcp"' }`,
      { args: { path: '/etc/passwd' } },
    )
    const near = obstacles[0]?.near ?? []
    expect(near.map(({ rule }) => rule.id)).toEqual(['paths', 'others'])
    const parts = near[0]?.condition?.parts ?? []
    expect(parts.filter(({ truth }) => truth !== true)).toEqual([
      {
        text: 'args.path.startsWith("/srv")',
        truth: false,
        fault: undefined,
        joins: undefined,
        parts: [],
        looks: [{ name: 'args.path', value: '"/etc/passwd"', missing: false }],
      },
    ])
  })

  it('names the rule of an ALLOW, and the rule that would decide without it', () => {
    const { relies, obstacles, rules } = explained(`tools: { a: { effect: read } }
rules:
  - { id: yes, allow: "a" }
  - { id: other, deny: "b" }
  - { id: then, deny: "a" }`)
    expect(obstacles).toEqual([])
    expect(relies?.rule.id).toBe('yes')
    expect(relies?.next?.rule.id).toBe('then')
    expect(rules.map(({ match, would }) => [match, would])).toEqual([
      ['matched', undefined],
      ['not reached', 'other tool'],
      ['not reached', 'matched'],
    ])
    expect(explained(OPEN).relies?.next).toBeUndefined()
  })

  it('asks no step about an unreadable call', () => {
    const { rungs, rules, obstacles } = explained(OPEN, { args: () => 0 })
    expect(rungs.filter(({ asked }) => asked).map(({ rung }) => rung)).toEqual(['capture'])
    expect(rules).toEqual([])
    expect(obstacles.map(({ reason }) => reason)).toEqual(['AMBIGUOUS_INPUT'])
  })

  it('never throws, and shows a step that does', () => {
    const { intent, snapshot } = tryCall(policyOf(OPEN), CALL, START)
    const broken = LADDER.map((rung) =>
      rung.name === 'egress' || rung.name === 'temporal'
        ? {
            ...rung,
            check: (): never => {
              throw new Error('broken')
            },
          }
        : rung,
    )
    const { judgement, obstacles } = explainCall(intent, snapshot, broken)
    expect(judgement.reason).toBe('GATE_FAILED')
    expect(obstacles.map(({ rung, reason }) => [rung, reason])).toEqual([
      ['egress', 'GATE_FAILED'],
      ['temporal', 'GATE_FAILED'],
    ])
  })

  it('splits only a limited number of conditions', () => {
    const rules = Array.from({ length: 250 }, (_, i) => `{ id: r${i}, allow: a, when: 'args.x == ${i}' }`)
    const { rules: found } = explained(`tools: { a: { effect: read } }\nrules: [${rules.join(', ')}]`, {
      args: { x: 'none' },
    })
    expect(found.filter(({ condition }) => condition)).toHaveLength(200)
    expect(found).toHaveLength(250)
  })
})

describe('a preview', () => {
  it('is explained with the session state, and counts nothing', async () => {
    const rig = await createRig({ policy: OPEN })
    await rig.authorize({ tool: 'a' })
    await setFreeze(rig.kernel, {
      scope: 'session',
      target: 's1',
      frozen: true,
      by: 'user:olga',
      because: 'a test',
    })
    const size = rig.receipts().length
    const { explanation } = await foresee(rig.kernel, rig.call({ tool: 'a', args: { to: 'x.test' } }))
    expect(explanation.obstacles.map(({ reason }) => reason)).toEqual([
      'SESSION_FROZEN',
      'DATA_EGRESS_BLOCKED',
    ])
    expect(rig.receipts()).toHaveLength(size)
    expect(rig.kernel.openings.size).toBe(1)
  })
})

describe('the parts of a condition', () => {
  const VARIABLES = { args: 'dyn', door: 'string', risk: 'double', time: 'timestamp' } as const
  const shown = new Set(['args', 'door', 'time'])

  function examined(source: string, values: Record<string, ConditionValue>): Examined {
    const condition = conditionEnvironment(VARIABLES).compile(source)
    if (!('test' in condition)) throw new Error(condition.message)
    return condition.examine(values, shown)
  }

  it('keep their source text and brackets', () => {
    const source =
      '((args.a || args.b) && (args.c ? true : !(args.d in [1, ")"]))) && (has(args.e) || ("(" == door))'
    const texts = (part: Examined): unknown =>
      part.parts.length === 0 ? part.text : { [part.joins ?? '']: part.parts.map(texts) }
    expect(texts(examined(source, { args: {}, door: 'http' }))).toEqual({
      all: [
        { any: ['args.a', 'args.b'] },
        'args.c ? true : !(args.d in [1, ")"])',
        { any: ['has(args.e)', '"(" == door'] },
      ],
    })
  })

  it('name the values that they use, and not loop variables', () => {
    const names = (source: string): readonly string[] =>
      examined(source, { args: {}, door: 'http', risk: 0, time: { ms: START } }).looks.map(({ name }) => name)
    expect(names('args.to.all(x, x.host == door)')).toEqual(['args.to', 'door'])
    expect(names('args["odd key"].list[0] == args.n')).toEqual(['args["odd key"].list[0]', 'args.n'])
    expect(names('args[door] == 1')).toEqual(['args', 'door'])
    expect(names('risk > 0.5 ? args.a : args.a')).toEqual(['risk', 'args.a'])
  })

  it('show only values from the caller, shortened', () => {
    const values = {
      args: { long: 'x'.repeat(500), deep: { a: { b: { c: { d: 1 } } } }, list: [1, null] },
      door: 'http',
      risk: 0.5,
      time: { ms: START },
    }
    const look = (source: string): unknown => examined(source, values).looks[0]
    expect(look('args.long == ""')).toMatchObject({ value: `"${'x'.repeat(78)}…`, missing: false })
    expect(look('args.deep == 1')).toMatchObject({ value: '{"a": {"b": {"c": …}}}' })
    expect(look('args.list == 1')).toMatchObject({ value: '[1, null]' })
    expect(look('args.none == 1')).toMatchObject({ value: undefined, missing: true })
    expect(look('risk > 1.0')).toEqual({ name: 'risk', value: undefined, missing: false })
    expect(look('time.getHours() > 3')).toMatchObject({ value: '"2026-01-05T09:00:00.000Z"' })
  })

  it('give no access to inherited properties', () => {
    expect(examined('args.constructor == 1', { args: {} }).looks).toEqual([
      { name: 'args.constructor', value: undefined, missing: true },
    ])
  })

  const leaf = fc.constantFrom(
    'true',
    'false',
    'args.yes',
    'args.no',
    'args.gone',
    'args.text == "a"',
    'args.n > 2.0',
    'args.list.all(x, x > 1.0)',
    '!args.yes',
    '(args.n > 1.0 ? args.yes : args.gone)',
  )
  const sources = fc.letrec<{ source: string }>((tie) => ({
    source: fc.oneof(
      { maxDepth: 5 },
      leaf,
      fc
        .tuple(tie('source'), fc.constantFrom('&&', '||'), tie('source'), fc.boolean())
        .map(([a, op, b, bare]) => (bare ? `${a} ${op} ${b}` : `(${a} ${op} ${b})`)),
      tie('source').map((each) => `!(${each})`),
    ),
  })).source
  const values = fc.record({
    yes: fc.oneof(fc.boolean(), fc.constant('no bool')),
    no: fc.boolean(),
    text: fc.constantFrom('a', 'b', 1),
    n: fc.constantFrom(0, 2, 3),
    list: fc.array(fc.constantFrom(0, 2, 'x'), { maxLength: 3 }),
  })

  /** Returns the truth of a whole from its parts: a part that decides does so regardless of the others. */
  function joined({ joins, parts, truth }: Examined): Examined['truth'] {
    if (joins === undefined) return truth
    const decisive = joins === 'any'
    if (parts.some((part) => joined(part) === decisive)) return decisive
    return parts.some((part) => joined(part) === 'failed') ? 'failed' : !decisive
  }

  function outcome(test: () => boolean): Examined['truth'] {
    try {
      return test()
    } catch {
      return 'failed'
    }
  }

  it('together have the truth of the whole, which is that of the condition', () => {
    const environment = conditionEnvironment(VARIABLES)
    fc.assert(
      fc.property(sources, values, (source, args) => {
        const condition = environment.compile(source)
        if (!('test' in condition)) throw new Error(`${source}: ${condition.message}`)
        const whole = condition.examine({ args }, shown)
        expect(whole.truth, source).toBe(outcome(() => condition.test({ args })))
        expect(joined(whole), source).toBe(whole.truth)
        expect(whole.text.replaceAll(/[()]/g, ''), source).toBe(source.replaceAll(/[()]/g, ''))
      }),
      { numRuns: runs(500) },
    )
  })

  it('can be parsed again: the text of each part is a condition with the same truth', () => {
    const environment = conditionEnvironment(VARIABLES)
    const check = (part: Examined, args: ConditionValue): void => {
      const alone = environment.compile(part.text)
      if (!('test' in alone)) throw new Error(`${part.text}: ${alone.message}`)
      expect(
        outcome(() => alone.test({ args })),
        part.text,
      ).toBe(part.truth)
      part.parts.forEach((each) => check(each, args))
    }
    fc.assert(
      fc.property(sources, values, (source, args) => {
        const condition = environment.compile(source)
        if (!('test' in condition)) throw new Error(condition.message)
        check(condition.examine({ args }, shown), args)
      }),
      { numRuns: runs(300) },
    )
  })
})
