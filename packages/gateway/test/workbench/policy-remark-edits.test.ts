// Applies every edit that a remark of `policy check` suggests: it must not allow more, unless the remark says so.

import {
  parsePolicy,
  REMARK_CODES,
  reviewPolicy,
  type Policy,
  type RemarkCode,
} from '@tollgate/kernel/policy'
import { tryCall } from '@tollgate/kernel/workbench'
import { describe, expect, it } from 'vitest'
import { generateCalls } from '../../src/workbench/generate/calls.ts'
import { callOf } from '../../src/workbench/generate/draft.ts'

/** An edit as described by a remedy, and how to apply it. */
interface Edit {
  /** Part of the remedy. */
  readonly says: string
  /** The text to remove, and its replacement. */
  readonly from: string
  readonly to: string
  /** The part of the remedy that says that more may be allowed; missing if nothing may. */
  readonly opens?: string
}

interface Row {
  readonly policy: string
  readonly edits: readonly Edit[]
}

const CALLS = 400
const TOOLS =
  'tools:\n  fs/read: { effect: read }\n  fs/write: { effect: write }\n  fs/delete: { effect: delete }\n'
const AGENTS = "principals:\n  'agent:*': { tier: admin }\n"

const rules = (...lines: readonly string[]): string =>
  `rules:\n${lines.map((line) => `  - ${line}\n`).join('')}`
const moved = (first: string, second: string): Pick<Edit, 'from' | 'to'> => ({
  from: `  - ${first}\n  - ${second}\n`,
  to: `  - ${second}\n  - ${first}\n`,
})
const removed = (line: string): Pick<Edit, 'from' | 'to'> => ({ from: `  - ${line}\n`, to: '' })

const DENY = "{ id: no, deny: 'fs/*' }"
const ALLOW = '{ id: yes, allow: fs/read }'
const REST = "{ id: rest, allow: 'fs/*' }"
const NEVER = `{ id: never, deny: 'fs/*', when: 'args.n > 5.0 && args.n < 3.0' }`
const FALSE = `{ id: never, deny: 'fs/*', when: 'effect == "read" && effect == "write"' }`

const covered = (first: string, second: string): string =>
  `principals:\n  'agent:*': ${first}\n  'agent:w*': ${second}\n${TOOLS}${rules(REST)}gates: { privilege: {} }\n`

const SENDER = 'tools:\n  mail/send: { effect: send, destinations: [to] }\n'

/** Remarks with an edit, by code; several policies if the text depends on the policy. */
const ROWS: Readonly<Record<RemarkCode, readonly Row[] | 'suggests no edit'>> = {
  RULE_UNREACHABLE: [
    {
      policy: AGENTS + TOOLS + rules(DENY, ALLOW),
      edits: [
        {
          says: 'move it before `no`',
          ...moved(DENY, ALLOW),
          opens: 'it then allows calls that are now denied or escalated',
        },
        { says: 'remove it', ...removed(ALLOW) },
      ],
    },
    {
      policy: AGENTS + TOOLS + rules(REST, '{ id: late, deny: fs/read }'),
      edits: [{ says: 'move it before `rest`', ...moved(REST, '{ id: late, deny: fs/read }') }],
    },
  ],
  RULE_SHADOWED: [
    {
      policy: AGENTS + TOOLS + rules('{ id: no, deny: fs/read }', '{ id: yes, allow: [fs/read, fs/write] }'),
      edits: [
        {
          says: 'move it before `no`',
          ...moved('{ id: no, deny: fs/read }', '{ id: yes, allow: [fs/read, fs/write] }'),
          opens: 'it then allows calls that are now denied or escalated',
        },
        { says: 'remove this name', from: 'allow: [fs/read, fs/write]', to: 'allow: [fs/write]' },
      ],
    },
  ],
  RULE_CROSSED: [
    {
      policy: AGENTS + TOOLS + rules("{ id: reads, allow: '*/read' }", "{ id: no, deny: 'fs/*' }"),
      edits: [
        {
          says: 'move it before `reads`',
          ...moved("{ id: reads, allow: '*/read' }", "{ id: no, deny: 'fs/*' }"),
        },
        { says: 'list the tools of `reads` by name', from: "'*/read'", to: 'net/read' },
      ],
    },
  ],
  CONDITION_NEVER_TRUE: [
    {
      policy: AGENTS + TOOLS + rules(NEVER, REST),
      edits: [{ says: 'remove the rule', ...removed(NEVER), opens: 'later rules decide the calls' }],
    },
    { policy: AGENTS + TOOLS + rules(FALSE, REST), edits: [{ says: 'remove the rule', ...removed(FALSE) }] },
  ],
  CONDITION_ALWAYS_TRUE: [
    {
      policy: `${AGENTS}${TOOLS}${rules("{ id: a, allow: 'fs/*', when: 'risk >= 0.0' }")}`,
      edits: [{ says: 'remove `when`', from: ", when: 'risk >= 0.0'", to: '' }],
    },
  ],
  WORD_UNKNOWN: [
    {
      policy: AGENTS + TOOLS + rules(`{ id: a, allow: 'fs/*', when: 'effect == "reads"' }`),
      edits: [
        {
          says: 'write one of read',
          from: '"reads"',
          to: '"read"',
          opens: 'the rule then applies to such calls',
        },
      ],
    },
  ],
  PREFIX_BARE: [
    {
      policy: AGENTS + TOOLS + rules(`{ id: a, allow: fs/read, when: 'args.path.startsWith("/notes/")' }`),
      edits: [
        {
          says: 'write `path.within(args.path, "/notes")`',
          from: 'args.path.startsWith("/notes/")',
          to: 'path.within(args.path, "/notes")',
          opens: 'which also matches `/notes` itself',
        },
      ],
    },
    {
      policy: AGENTS + TOOLS + rules(`{ id: a, deny: fs/read, when: '!args.path.matches("^/notes")' }`, REST),
      edits: [
        {
          says: 'write `path.within(args.path, "/notes")`',
          from: 'args.path.matches("^/notes")',
          to: 'path.within(args.path, "/notes")',
        },
      ],
    },
    {
      policy: `${AGENTS}${TOOLS}${rules(`{ id: a, allow: fs/read, when: 'args.host.endsWith(".example.com")' }`)}gates: { egress: { allow: ['*'] } }\n`,
      edits: [
        {
          says: 'write `host.within(args.host, "example.com")`',
          from: 'args.host.endsWith(".example.com")',
          to: 'host.within(args.host, "example.com")',
          opens: 'which also matches `example.com` itself',
        },
      ],
    },
  ],
  WITHIN_TURNED: [
    {
      policy:
        AGENTS + TOOLS + rules(`{ id: a, deny: fs/read, when: 'path.within(args.path, "/keys")' }`, REST),
      edits: [
        {
          says: 'with `!path.within(…)`',
          from: 'path.within(args.path, "/keys")',
          to: '!path.within(args.path, "/notes")',
        },
      ],
    },
    {
      policy: AGENTS + TOOLS + rules(`{ id: a, allow: fs/read, when: '!path.within(args.path, "/keys")' }`),
      edits: [
        {
          says: 'allow only what is inside the allowed paths with `path.within(…)`',
          from: '!path.within(args.path, "/keys")',
          to: 'path.within(args.path, "/notes")',
        },
      ],
    },
  ],
  ALLOWS_EVERYTHING: [
    {
      policy: AGENTS + TOOLS + rules("{ id: all, allow: '*' }"),
      edits: [
        { says: 'list the intended tools by name', from: "allow: '*'", to: 'allow: [fs/read, fs/write]' },
      ],
    },
  ],
  ALLOWS_DANGER: [
    {
      policy: AGENTS + TOOLS + rules('{ id: a, allow: fs/delete }'),
      edits: [
        {
          says: 'add a `when` condition',
          from: 'allow: fs/delete',
          to: "allow: fs/delete, when: 'args.n == 1.0'",
        },
        { says: 'use `require`', from: 'allow: fs/delete', to: 'require: fs/delete' },
      ],
    },
  ],
  TOOL_UNKNOWN: [
    {
      policy: AGENTS + TOOLS + rules('{ id: a, allow: fs/raed }'),
      edits: [
        {
          says: 'correct the name',
          from: 'fs/raed',
          to: 'fs/read',
          opens: 'the rules decide calls of known tools',
        },
        {
          says: 'declare the tool under `tools`',
          from: 'tools:\n',
          to: 'tools:\n  fs/raed: { effect: read }\n',
          opens: 'the rules decide calls of known tools',
        },
      ],
    },
  ],
  TOOL_UNUSED: [
    {
      policy: AGENTS + TOOLS + rules('{ id: a, allow: [fs/read, fs/write] }'),
      edits: [
        {
          says: 'add a rule with `allow`',
          from: 'rules:\n',
          to: 'rules:\n  - { id: b, allow: fs/delete }\n',
          opens: 'a rule with `allow`',
        },
        { says: 'or `deny`', from: 'rules:\n', to: 'rules:\n  - { id: b, deny: fs/delete }\n' },
      ],
    },
  ],
  TOOL_COVERED: [
    {
      policy: `principals:\n  'agent:*': { tier: standard }\ntools:\n  'fs/*': { effect: delete }\n  'fs/r*': { effect: read }\n${rules(REST)}gates: { privilege: {} }\n`,
      edits: [
        {
          says: 'move it before `fs/*`',
          from: "  'fs/*': { effect: delete }\n  'fs/r*': { effect: read }\n",
          to: "  'fs/r*': { effect: read }\n  'fs/*': { effect: delete }\n",
          opens: 'to make it take effect',
        },
        { says: 'or remove it', from: "  'fs/r*': { effect: read }\n", to: '' },
      ],
    },
  ],
  PRINCIPAL_UNKNOWN: [
    {
      policy: `principals:\n  'user:*': { tier: admin }\n${TOOLS}${rules("{ id: a, allow: 'fs/*', principal: 'agent:a' }")}gates: { privilege: {} }\n`,
      edits: [
        {
          says: 'declare it under `principals`',
          from: 'principals:\n',
          to: "principals:\n  'agent:a': { tier: admin }\n",
          opens: 'its tier then applies',
        },
      ],
    },
  ],
  PRINCIPAL_COVERED: [
    {
      policy: covered('{ tier: standard }', '{ tier: admin }'),
      edits: [
        {
          says: 'move it before `agent:*`',
          from: "  'agent:*': { tier: standard }\n  'agent:w*': { tier: admin }\n",
          to: "  'agent:w*': { tier: admin }\n  'agent:*': { tier: standard }\n",
          opens: 'to make its tier take effect',
        },
        { says: 'or remove it', from: "  'agent:w*': { tier: admin }\n", to: '' },
      ],
    },
    {
      policy: covered('{ tier: standard }', '{ tier: observer, delegate-only: true }'),
      edits: [{ says: 'give it the tier of `agent:*`', from: 'tier: observer', to: 'tier: standard' }],
    },
    {
      // The exact name permits acting without a delegation: without the entry it may not.
      policy: covered('{ tier: admin, delegate-only: true }', '{ tier: admin }').replace(
        'agent:w*',
        'agent:w',
      ),
      edits: [{ says: 'Keep the entry', from: "  'agent:w': { tier: admin }\n", to: '' }],
    },
  ],
  LABEL_UNKNOWN: [
    {
      policy: `${AGENTS}${TOOLS}${rules(REST)}gates: { taint: { deny: [secrets] } }\n`,
      edits: [{ says: 'correct the name', from: '[secrets]', to: '[secret]' }],
    },
  ],
  HOST_COVERED: [
    {
      policy: `${AGENTS}tools:\n  net/get: { effect: read, destinations: [url] }\n${rules("{ id: a, allow: 'net/*' }")}gates: { egress: { deny: [a.test], allow: [a.test, b.test] } }\n`,
      edits: [
        { says: 'remove it from `allow`', from: 'allow: [a.test, b.test]', to: 'allow: [b.test]' },
        { says: 'or from `deny`', from: 'deny: [a.test], ', to: '', opens: 'to make `allow` take effect' },
      ],
    },
  ],
  EGRESS_CLOSED: [
    {
      policy: `${AGENTS}${SENDER}${rules('{ id: a, allow: mail/send, when: \'args.to.endsWith("@a.test")\' }')}gates: { egress: {} }\n`,
      edits: [
        {
          says: "add `egress: { allow: ['a.test'] }` under `gates`",
          from: 'egress: {}',
          to: "egress: { allow: ['a.test'] }",
          opens: 'more calls are then allowed',
        },
      ],
    },
    {
      policy: `${AGENTS}${SENDER}${rules('{ id: a, allow: mail/send, when: \'args.to.endsWith("@a.test")\' }')}gates: { egress: { allow: [b.test] } }\n`,
      edits: [
        {
          says: "add `'a.test'` to `gates.egress.allow`",
          from: 'allow: [b.test]',
          to: "allow: [b.test, 'a.test']",
          opens: 'more calls are then allowed',
        },
      ],
    },
  ],
  REVIEW_CUT: 'suggests no edit',
}

function read(text: string): Policy {
  const parsed = parsePolicy(`tollgate: 1\nname: x\n${text}`)
  if (parsed.ok) return parsed.policy
  throw new Error(parsed.mistakes.map(({ line, message }) => `${line}: ${message}`).join('\n'))
}

/** How many generated calls are allowed after the edit but not before. */
function openedBy(before: Policy, after: Policy): number {
  let opened = 0
  let tried = 0
  for (const draft of generateCalls(before, after, CALLS)) {
    const [from, to] = [before, after].map(
      (policy) => tryCall(policy, callOf(draft), draft.time, 'agent').judgement,
    )
    tried++
    if (from?.verdict !== 'ALLOW' && to?.verdict === 'ALLOW') opened++
  }
  expect(tried).toBeGreaterThan(100)
  return opened
}

const CASES = REMARK_CODES.flatMap((code) => {
  const of = ROWS[code]
  return of === 'suggests no edit'
    ? []
    : of.flatMap(({ policy, edits }, i) => edits.map((edit) => ({ code, i, policy, edit })))
})

describe('an edit that a remark suggests', () => {
  it.each(CASES)('$code $i: $edit.says', ({ code, policy, edit: { says, from, to, opens } }) => {
    const before = read(policy)
    const remark = reviewPolicy(before).find((each) => each.code === code)
    expect(remark?.remedy).toContain(says)
    expect(policy).toContain(from)
    const opened = openedBy(before, read(policy.replace(from, () => to)))
    if (opens === undefined) expect(opened).toBe(0)
    else {
      expect(remark?.remedy).toContain(opens)
      expect(opened).toBeGreaterThan(0)
    }
  })

  it('never removes an entry whose `delegate-only` or `key` matters', () => {
    const policy = read(covered('{ tier: standard }', '{ tier: standard, delegate-only: true }'))
    const [remark] = reviewPolicy(policy).filter(({ code }) => code === 'PRINCIPAL_COVERED')
    expect(remark?.remedy).toContain('Keep the entry because of its `delegate-only`')
    expect(remark?.remedy).not.toContain('remove')
    const without = read(
      `principals:\n  'agent:*': { tier: standard }\n${TOOLS}${rules(REST)}gates: { privilege: {} }\n`,
    )
    // The reason: the remark once suggested this edit.
    expect(openedBy(policy, without)).toBeGreaterThan(0)
  })
})
