// Grouping the differences between two policies: the order, what must be accepted, and what no single call shows.

import { readFileSync } from 'node:fs'
import { keptName } from '@tollgate/kernel'
import type { Policy } from '@tollgate/kernel/policy'
import { tryCall, type TraceEntry } from '@tollgate/kernel/workbench'
import { describe, expect, test } from 'vitest'
import { createRig, policyOf } from '../../../kernel/test/rig.ts'
import {
  changeOf,
  CHANGES,
  createComparison,
  missingIn,
  outcomeText,
  staleIn,
  type Outcome,
  type Pair,
} from '../../src/workbench/compare.ts'
import { compareGenerated, compareRecorded, createFindings } from '../../src/workbench/diff.ts'
import { readCaseFile } from '../../src/workbench/case-file.ts'
import { generateCalls } from '../../src/workbench/generate/calls.ts'
import { draftsIn } from '../../src/workbench/generate/cases.ts'
import { callOf } from '../../src/workbench/generate/draft.ts'
import { askingThatDiffers, sectionsThatDiffer, statusChanges } from '../../src/workbench/settings.ts'
import { read } from './mutants.ts'

function policy(text: string): Policy {
  const found = read(`tollgate: 1\nname: test\n${text}`)
  if (!found) throw new Error(`no policy: ${text}`)
  return found
}

const NONE: Outcome = { verdict: 'DENY', rung: 'policy', reason: 'NO_RULE_MATCHED', rule: undefined }
const EGRESS: Outcome = { verdict: 'DENY', rung: 'egress', reason: 'DATA_EGRESS_BLOCKED', rule: undefined }
const allowed = (rule: string): Outcome => ({
  verdict: 'ALLOW',
  rung: 'policy',
  reason: 'RULE_ALLOWED',
  rule,
})
const asked = (rule: string): Outcome => ({
  verdict: 'ESCALATE',
  rung: 'policy',
  reason: 'APPROVAL_REQUIRED',
  rule,
})

function pair(from: Outcome, to: Outcome, more: Partial<Pair> = {}): Pair {
  const example = { call: { tool: 't' }, at: '2026-01-05T12:00:00.000Z', tenant: 'default' }
  return {
    from,
    to,
    source: 'generated',
    objectors: () => [{ rung: from.rung, rule: from.rule }],
    example: () => example,
    ...more,
  }
}

function compared(...pairs: readonly Pair[]): ReturnType<typeof createComparison> {
  const comparison = createComparison()
  pairs.forEach((each) => comparison.add(each))
  return comparison
}

describe('groups', () => {
  test('looser changes come first, the same verdict last, and unchanged calls are left out', () => {
    const comparison = compared(
      pair(allowed('a'), allowed('b')),
      pair(asked('a'), EGRESS),
      pair(allowed('a'), asked('b')),
      pair(allowed('a'), NONE),
      pair(NONE, asked('b')),
      pair(asked('a'), allowed('b')),
      pair(NONE, allowed('b')),
      pair(allowed('a'), allowed('a')),
    )
    expect(comparison.groups(new Set()).map(({ change }) => change)).toEqual(CHANGES)
  })

  test('calls that change in the same way are one group, with the shortest as examples', () => {
    const long = { call: { tool: 't'.repeat(50) }, at: '2026-01-05T12:00:00.000Z', tenant: 'default' }
    const recorded = { receipt: 'f'.repeat(64), at: '', principal: 'p', tool: 't', arguments: ['x'] }
    const comparison = compared(
      ...Array.from({ length: 5 }, () => pair(NONE, allowed('b'), { example: () => long })),
      pair(NONE, allowed('b')),
      pair(NONE, allowed('b'), { source: 'recorded', example: () => recorded }),
    )
    const [group, ...others] = comparison.groups(new Set())
    expect(others).toEqual([])
    expect(group).toMatchObject({ recorded: 1, generated: 6 })
    expect(group?.examples).toHaveLength(3)
    expect(group?.examples[0]).toEqual(recorded)
    expect(JSON.stringify(group?.examples[1])).not.toContain('tt')
  })

  test('more recorded calls come before more generated calls', () => {
    const comparison = compared(
      pair(NONE, allowed('a')),
      pair(NONE, allowed('a')),
      pair(NONE, allowed('b'), { source: 'recorded' }),
    )
    expect(comparison.groups(new Set()).map(({ to }) => to.rule)).toEqual(['b', 'a'])
  })

  test('unknown verdicts count as the same', () => {
    expect(changeOf('ALLOW', 'ALLOW')).toBe('same verdict')
    expect(changeOf('DENY', 'ALLOW')).toBe('DENY→ALLOW')
  })
})

describe('the names to accept', () => {
  test('a rule that now allows needs its name', () => {
    const groups = compared(pair(NONE, allowed('b')), pair(asked('a'), allowed('c'))).groups(
      new Set(['b', 'x']),
    )
    expect(groups.map(({ needs, accepted }) => [needs, accepted])).toEqual([
      [['b'], true],
      [['c', 'gone:a'], false],
    ])
    expect(missingIn(groups, new Set(['b', 'x']))).toEqual(['c', 'gone:a'])
    expect(staleIn(groups, new Set(['b', 'x']))).toEqual(['x'])
  })

  test('a step that no longer objects needs its name, not that of the rule', () => {
    const [group] = compared(pair(EGRESS, allowed('b'))).groups(new Set(['b']))
    expect(group).toMatchObject({ needs: ['rung:egress'], accepted: false })
  })

  test('if several objected, all must be accepted', () => {
    const both = pair(EGRESS, allowed('b'), {
      objectors: () => [{ rung: 'egress' }, { rung: 'taint' }, { rung: 'policy', rule: 'old' }],
    })
    const [group] = compared(both).groups(new Set(['rung:egress', 'b']))
    expect(group).toMatchObject({ needs: ['b', 'gone:old', 'rung:egress', 'rung:taint'], accepted: false })
  })

  test('stricter changes and escalations need nothing', () => {
    const groups = compared(pair(allowed('a'), NONE), pair(NONE, asked('a'))).groups(new Set())
    expect(groups.every(({ needs, accepted }) => needs.length === 0 && accepted)).toBe(true)
    expect(missingIn(groups, new Set())).toEqual([])
  })

  test('an allowed hostname does not hide a loosened rule', () => {
    const tools = 'tools: { mail/send: { effect: send, destinations: [to] } }\n'
    const a = policy(`${tools}rules: [{ id: a, allow: mail/send, when: 'args.ok == true' }]`)
    const b = policy(`${tools}rules: [{ id: a, allow: mail/send }]\ngates: { egress: { allow: [x.test] } }`)
    const findings = createFindings(a, b)
    let tried = 0
    for (tried of compareGenerated(a, b, 2000, findings));
    expect(tried).toBeGreaterThan(100)
    const needs = findings.comparison.groups(new Set()).map((group) => group.needs.join(' '))
    expect(needs).toContain('a rung:egress')
    expect(needs).toContain('rung:egress')
    expect(needs).toContain('a')
  })
})

/** The recorded calls as in the ledger. The last call was not kept. */
async function history(): Promise<{
  readonly entries: readonly TraceEntry[]
  readonly texts: ReadonlyMap<string, string>
}> {
  const rig = await createRig({ policy: OLD, kernel: { keep: true } })
  for (const path of ['/work/a', '/work/b', '/home/c', '/work/d']) {
    await rig.enforce({ tool: 'fs/read', session_id: 's1', args: { path } })
  }
  const { entries, records } = rig.store
  const decisions = entries.filter(({ receipt }) => receipt.kind === 'decision')
  return {
    entries: entries.map(({ id, receipt }) => ({
      id,
      receipt,
      kept:
        id === decisions.at(-1)?.id ? undefined : records.get(keptName({ id, clock: receipt.lamport_clock })),
    })),
    texts: new Map(
      [...records].flatMap(([name, text]) => (name.startsWith('text\n') ? [[name.slice(5), text]] : [])),
    ),
  }
}

const FILES = 'tools: { fs/read: { effect: read, destinations: none } }\n'
const OLD = `tollgate: 1\nname: old\n${FILES}rules: [{ id: work, allow: fs/read, when: 'args.path.startsWith("/work/")' }]\n`

describe('recorded calls', () => {
  const compare = async (a: string, b: string, values = false) => {
    const findings = createFindings(policyOf(a), policyOf(b))
    const { entries, texts } = await history()
    const recorded = compareRecorded({ a: policyOf(a), b: policyOf(b), texts, values }, findings)
    entries.forEach((entry) => recorded.take(entry))
    return { recorded, groups: findings.comparison.groups(new Set()) }
  }

  test('under the same policy nothing differs, and calls that were not kept are counted', async () => {
    const { recorded, groups } = await compare(OLD, `# rewritten\n${OLD}`)
    expect(recorded.calls).toBe(3)
    expect([...recorded.skipped.values()]).toEqual([1])
    expect(groups).toEqual([])
  })

  test('newly allowed calls are shown with receipt and argument names, without values', async () => {
    const { groups } = await compare(OLD, OLD.replace('/work/', '/'))
    expect(groups).toHaveLength(1)
    expect(groups[0]).toMatchObject({ change: 'DENY→ALLOW', needs: ['work'], recorded: 1, generated: 0 })
    expect(groups[0]?.examples[0]).toMatchObject({
      principal: 'agent:ci',
      tool: 'fs/read',
      arguments: ['path'],
    })
    expect(JSON.stringify(groups)).not.toContain('/home/c')
    const shown = await compare(OLD, OLD.replace('/work/', '/'), true)
    expect(JSON.stringify(shown.groups)).toContain('/home/c')
  })

  test('session state counts: the second call exceeds the limit', async () => {
    const limited = `${OLD}gates: { temporal: { rate: { '*': 1/h } } }\n`
    const stricter = await compare(OLD, limited)
    expect(stricter.groups.map(({ change, recorded }) => [change, recorded])).toEqual([['ALLOW→DENY', 1]])
    const looser = await compare(limited, OLD)
    expect(looser.groups.map(({ change, needs }) => [change, needs])).toEqual([
      ['DENY→ALLOW', ['rung:temporal']],
    ])
  })
})

describe('differences that no single call shows', () => {
  const RULES =
    'tools: { t: { effect: read }, u: { effect: write } }\nrules: [{ id: a, require: t, approvers: [ops] }]\n'

  test('the status of steps, sections and approvers', () => {
    const a = policy(RULES)
    const b = policy(
      `${RULES.replace('ops', 'finance')}gates: { temporal: { rate: { '*': 5/h } }, session-risk: { threshold: 0.5 } }`,
    )
    expect(statusChanges(a, b)).toEqual([{ rung: 'temporal', from: 'not configured', to: 'active' }])
    expect(sectionsThatDiffer(a, b)).toEqual(['rules', 'gates.session-risk', 'gates.temporal'])
    expect(askingThatDiffers(a, b)).toEqual(['a'])
    expect(askingThatDiffers(a, a)).toEqual([])
  })

  test('only the order of patterns and rules is significant', () => {
    const order = (tools: string): Policy => policy(`tools: { ${tools} }\nrules: []`)
    const [x, y, p, q] = [
      'x: { effect: read }',
      'y: { effect: pay }',
      "'x*': { effect: read }",
      "'*y': { effect: pay }",
    ]
    expect(sectionsThatDiffer(order(`${x}, ${y}`), order(`${y}, ${x}`))).toEqual([])
    expect(sectionsThatDiffer(order(`${p}, ${q}`), order(`${q}, ${p}`))).toEqual(['tools'])
    expect(sectionsThatDiffer(order(`x: { takes: { a: [b] } }`), order(`x: { takes: { b: [a] } }`))).toEqual([
      'tools',
    ])
  })
})

test('outcomes as text', () => {
  expect([NONE, EGRESS, allowed('a'), asked('b')].map(outcomeText)).toEqual([
    'DENY, no rule matched',
    'DENY at step egress (DATA_EGRESS_BLOCKED)',
    'ALLOW by rule a',
    'ESCALATE by rule b',
  ])
  const failed: Outcome = { verdict: 'DENY', rung: 'policy', reason: 'POLICY_EVALUATION_ERROR', rule: 'a' }
  expect(outcomeText(failed)).toBe('DENY, the condition of rule a failed')
})

/** The names that remain if nothing is accepted: those that calls need, and those that no call shows. */
function names(a: Policy, b: Policy, most = 400): readonly string[] {
  const { comparison, witness } = createFindings(a, b)
  let tried = 0
  for (tried of compareGenerated(a, b, most, { comparison, witness }));
  expect(tried).toBeGreaterThan(0)
  return [...missingIn(comparison.groups(new Set()), new Set()), ...witness.untried().map(({ name }) => name)]
}

/** The differences without a tried call. */
function untried(a: Policy, b: Policy): readonly string[] {
  return createFindings(a, b)
    .witness.untried()
    .map(({ name }) => name)
}

describe('differences that no tried call shows', () => {
  const T = 'tools: { fs/read: { effect: read }, fs/del: { effect: delete }, db/q: { effect: read } }\n'
  const rules = (...list: readonly string[]): Policy => policy(`${T}rules: [${list.join(', ')}]`)
  const secrets = '{ id: secrets, deny: "fs/*", when: "args.path.contains(\\".env\\")" }'
  const files = '{ id: files, allow: "fs/*", when: "has(args.path)" }'
  const all = '{ id: all, allow: "fs/*" }'

  test('new, removed, changed or moved rules are listed, unless they only restrict', () => {
    expect(untried(rules(secrets), rules(secrets, files))).toEqual(['untried:files'])
    expect(untried(rules(secrets, files), rules(files))).toEqual(['untried:secrets'])
    expect(untried(rules(secrets, files), rules(files, secrets))).toEqual(['untried:files'])
    expect(untried(rules(secrets, files), rules(secrets.replace('.env', '.ssh'), files))).toEqual([
      'untried:secrets',
    ])
    expect(untried(rules(files), rules(secrets, files))).toEqual([])
    expect(untried(rules(files, secrets), rules(secrets, files))).toEqual([])
    expect(untried(rules(all), rules())).toEqual([])
    expect(untried(rules(all), rules(all.replace('fs/*', 'fs/read')))).toEqual([])
    expect(untried(rules(all.replace('fs/*', 'fs/read')), rules(all))).toEqual(['untried:all'])
    expect(untried(rules(all), rules(all.replace('allow', 'require')))).toEqual([])
    expect(untried(rules(all.replace('allow', 'require')), rules(all))).toEqual(['untried:all'])
    // An allow rule whose condition fails denies. Without it, the next one may allow.
    expect(untried(rules(files, all), rules(all))).toEqual(['untried:files'])
    // Nothing allows what this rule denied.
    expect(untried(rules(secrets, '{ id: q, allow: db/q }'), rules('{ id: q, allow: db/q }'))).toEqual([])
  })

  test('the formatting of a condition, its reason and the order of lists are insignificant', () => {
    const a = rules('{ id: x, allow: [fs/read, db/q], when: "args.a == 1 && args.b == 2" }')
    const b = rules('{ id: x, because: y, allow: [db/q, fs/read], when: "(args.a==1)\\n  && args.b == 2" }')
    expect(untried(a, b)).toEqual([])
    expect(sectionsThatDiffer(a, b)).toEqual([])
    expect(
      untried(a, rules('{ id: x, allow: [fs/read, db/q], when: "args.a == 1 && args.b == 2.0" }')),
    ).toEqual(['untried:x'])
  })

  test('only a verdict that changes shows a change', () => {
    const [a, b] = [rules(secrets, files), rules(secrets.replace('.env', '.ssh'), files)]
    const { witness } = createFindings(a, b)
    const denied: Outcome = { ...NONE, reason: 'POLICY_EVALUATION_ERROR', rule: 'secrets' }
    witness.see({ tool: 'fs/read', from: denied, to: denied })
    witness.see({ tool: 'fs/read', from: denied, to: NONE })
    expect(witness.untried()).toHaveLength(1)
    witness.see({ tool: 'fs/read', from: denied, to: allowed('files') })
    expect(witness.untried()).toEqual([])
  })

  test('sections are listed for what calls can show and for what only a history shows', () => {
    const gates = (text: string): Policy => policy(`${T}rules: [${all}]\ngates: { ${text} }`)
    const named = (before: string, after: string): readonly string[] => untried(gates(before), gates(after))
    expect(named('egress: { allow: [a.test] }', 'egress: { allow: [a.test, b.test] }')).toEqual(['untried:gates.egress'])
    expect(named('egress: { allow: [a.test, b.test] }', 'egress: { allow: [a.test] }')).toEqual([])
    expect(named('egress: { deny: [a.test] }', 'egress: {}')).toEqual(['untried:gates.egress'])
    expect(named("temporal: { rate: { '*': 5/h } }", "temporal: { rate: { '*': 6/h } }")).toEqual(['settings:gates.temporal'])
    expect(named("temporal: { rate: { '*': 5/h } }", "temporal: { rate: { '*': 4/h } }")).toEqual([])
    expect(named("temporal: { rate: { '*': 5/h } }", '')).toEqual(['settings:gates.temporal'])
    expect(named('session-risk: { threshold: 0.3 }', 'session-risk: { threshold: 0.9 }')).toEqual(['settings:gates.session-risk'])
    expect(named('session-risk: { threshold: 0.9 }', 'session-risk: { threshold: 0.3 }')).toEqual([])
    expect(named('threat: {}', '')).toEqual(['settings:gates.threat', 'untried:gates.threat'])
    expect(named('', 'threat: {}, taint: {}')).toEqual([])
    expect(named('threat: {}', 'threat: { results: { high: label } }')).toEqual(['settings:gates.threat'])
  }) // oxfmt-ignore

  test('approvers and time limits', () => {
    const asks = (text: string): Policy => rules(`{ id: r, require: fs/read${text} }`)
    expect(untried(asks(', approvers: [ops]'), asks(', approvers: [ops, dev]'))).toEqual(['settings:r'])
    expect(untried(asks(', approvers: [ops]'), asks(''))).toEqual(['settings:r'])
    expect(untried(asks(''), asks(', approvers: [ops]'))).toEqual([])
    expect(untried(asks(', expires: 15m'), asks(', expires: 1h'))).toEqual(['settings:r'])
    expect(untried(asks(''), asks(', answer: client'))).toEqual(['settings:r'])
    expect(untried(asks(', answer: client'), asks(''))).toEqual([])
    expect(untried(asks(', expires: 1h'), asks(', expires: 15m'))).toEqual([])
  })

  test('a schema is compared at every depth, and the order of its lists where it is significant', () => {
    const pay = (limit: string): Policy =>
      policy(
        `tools: { pay/x: { effect: write, destinations: none, schema: { type: object, required: [to, note], properties: { to: { enum: [alice, bob] }, note: { type: string }, opts: { type: object, properties: { limit: ${limit} } } } } } }\nrules: [{ id: pay, allow: pay/x, when: 'args.note.matches("^inv-[0-9]{4}$")' }]`,
      )
    const [low, high] = [pay('{ type: integer, maximum: 10 }'), pay('{ type: integer, maximum: 1000000 }')]
    expect(sectionsThatDiffer(low, high)).toEqual(['tools'])
    expect(untried(low, high)).toEqual(['untried:tools'])
    expect(names(low, high)).toEqual(['rung:schema'])
    expect(names(low, low)).toEqual([])
    expect(sectionsThatDiffer(pay('{ enum: [a, b] }'), pay('{ enum: [b, a] }'))).toEqual([])
    expect(
      sectionsThatDiffer(
        pay('{ type: array, prefixItems: [{ type: string }, { type: number }] }'),
        pay('{ type: array, prefixItems: [{ type: number }, { type: string }] }'),
      ),
    ).toEqual(['tools'])
  })

  test('a rule that denied must be listed in addition to the one that allows', () => {
    const before = rules('{ id: no-del, deny: fs/del }', secrets, '{ id: work, allow: "fs/*", when: "args.path.startsWith(\\"/work/src/\\")" }')
    const after = rules('{ id: work, allow: "fs/*", when: "args.path.startsWith(\\"/work/\\")" }')
    expect(names(before, after)).toEqual(['gone:no-del', 'gone:secrets', 'work'])
  }) // oxfmt-ignore
})

describe('the starter policies', () => {
  const text = (name: string): string =>
    readFileSync(new URL(`../../../../examples/policies/${name}`, import.meta.url), 'utf8')
  const example = (name: string, ...edits: readonly (readonly [from: string, to: string])[]): Policy =>
    policyOf(edits.reduce((sofar, [from, to]) => replaced(sofar, from, to), text(`${name}.yaml`)))
  const replaced = (whole: string, from: string, to: string): string => {
    expect(whole).toContain(from)
    return whole.replace(from, () => to)
  }

  test('a wider directory and one secret pattern less are found', () => {
    const before = example('coding-agent')
    const after = example(
      'coding-agent',
      ['within(p, "/home/dev/project")', 'within(p, "/home")'],
      ['pem|', ''],
    )
    const found = names(before, after, 1200)
    expect(found.some((name) => name.endsWith('outside'))).toBe(true)
    expect(found.some((name) => name.endsWith('secrets'))).toBe(true)
    expect(names(before, before, 50)).toEqual([])
  })

  test('changes of write verbs, credentials and hostnames are found', () => {
    const before = example('database-analyst')
    const after = example(
      'database-analyst',
      ['insert|update|delete|', ''],
      ["deny: 'db/*'", "deny: 'db/none'"],
      ['allow: [reports.example.com], ask: [partner.example.org]', "allow: ['*']"],
    )
    const found = names(before, after, 800).join(' ')
    for (const name of ['no-writing', 'credentials', 'egress']) expect(found).toContain(name)
  })

  test('every rule decides a case or a generated call, except those that need a history', () => {
    for (const name of ['coding-agent', 'database-analyst', 'browser-agent', 'deployer']) {
      const read = readCaseFile(text(`${name}.test.yaml`))
      if (!read.ok) throw new Error(name)
      const own = example(name)
      const seeds = draftsIn(read.file)
      const decided = new Set<string | undefined>()
      for (const draft of [...seeds, ...generateCalls(own, own, 300, seeds)]) {
        const observed = draft.posted === true ? 'sentinel' : 'agent'
        decided.add(tryCall(own, callOf(draft), draft.time, observed).judgement.rule?.id)
      }
      const never = own.rules.map(({ id }) => id).filter((id) => !decided.has(id))
      expect([name, ...never]).toEqual(name === 'deployer' ? [name, 'odd-sessions'] : [name])
    }
  })
})
