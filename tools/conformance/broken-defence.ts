// Gateways whose doors, approvals or gates have a hole.

import { gateway, kernel, type Broken } from './edits.ts'

export const BROKEN_DEFENCE: readonly Broken[] = [
  {
    name: 'does not use up approvals',
    caught: 'P1',
    edits: [
      kernel(
        'road/settle.js',
        'kernel.approvals.remove(settled.uses);\n        forgetRequest(turn, settled.uses);',
        '',
      ),
    ],
  },
  {
    name: 'does not bind approvals to arguments',
    caught: 'P3',
    edits: [
      kernel('admin/approvals.js', 'effect, definition ?? null, hash];', 'effect, definition ?? null];'),
      kernel('road/settle.js', 'hashIn(intent, found.salt) === found.args', 'true'),
    ],
  },
  {
    name: 'does not bind approvals to sessions',
    caught: 'P4',
    edits: [
      kernel('admin/approvals.js', 'const session = rememberedAs(intent);', "const session = '';"),
      kernel('road/settle.js', 'rememberedAs(request) === rememberedAs(intent)', 'true'),
    ],
  },
  {
    name: 'lets requesters approve their own calls',
    caught: 'P5',
    edits: [kernel('admin/answers.js', 'if (order.approver === request.principal)', 'if (false)')],
  },
  {
    name: 'accepts expired approvals',
    caught: 'P6',
    edits: [kernel('admin/approvals.js', "if (time > answer.until)\n        return 'expired';", '')],
  },
  {
    name: 'takes a refusal for an approval',
    caught: 'P7',
    edits: [
      kernel('admin/approvals.js', "return answer.granted ? 'granted' : 'refused';", "return 'granted';"),
    ],
  },
  {
    name: 'lets a second person change an answer',
    caught: 'P8',
    edits: [
      kernel('admin/answers.js', 'if (request.answer !== null)', 'if (false)'),
      kernel('admin/answers.js', "if (statusOf(request, time) !== 'waiting')", 'if (false)'),
    ],
  },
  {
    name: 'lets everyone approve',
    caught: 'P9',
    edits: [kernel('admin/answers.js', 'const may = named.length === 0 ||', 'const may = true ||')],
  },
  {
    name: 'forwards a result before its effect is in the ledger',
    caught: 'D4',
    edits: [
      kernel(
        'road/enforce.js',
        'effect: { receipt: await recorded, outcome: known }',
        "effect: { receipt: 'ab'.repeat(32), outcome: known }",
      ),
      kernel(
        'road/enforce.js',
        'return (await closeById(kernel, receipt, outcome)).id;',
        'await new Promise((done) => setTimeout(done, 500));\n        return (await closeById(kernel, receipt, outcome)).id;',
      ),
    ],
  },
  {
    name: 'forwards other arguments than it has hashed',
    caught: 'D2',
    edits: [
      kernel(
        'road/enforce.js',
        'value: intent.args, receipt };',
        "value: { ...intent.args, text: 'other' }, receipt };",
      ),
    ],
  },
  {
    name: 'forwards results without a change',
    caught: 'D6',
    edits: [gateway('mcp/govern.js', "if (!inspection || inspection.delivery === 'full')", 'if (true)')],
  },
  {
    name: 'ignores freezes at the browser door',
    caught: 'F1',
    edits: [
      kernel(
        'gates/freeze.js',
        'const reason = freezeReason(freezes, intent);',
        "const reason = intent.door === 'browser' ? undefined : freezeReason(freezes, intent);",
      ),
    ],
  },
  {
    name: 'ignores the freeze of a principal at the HTTP door',
    caught: 'F2',
    edits: [
      kernel(
        'gates/freeze.js',
        'if (freezes.principal(intent))',
        "if (intent.door !== 'http' && freezes.principal(intent))",
      ),
    ],
  },
  {
    name: 'ignores the freeze of a session',
    caught: 'F3',
    edits: [
      kernel(
        'gates/freeze.js',
        "return freezes.session(intent) ? 'SESSION_FROZEN' : undefined;",
        'return undefined;',
      ),
    ],
  },
  {
    name: 'needs no planner reference',
    caught: 'B2',
    edits: [kernel('gates/browser/gate.js', 'if (!isPlanned(call, settings))', 'if (false)')],
  },
  {
    name: 'accepts an observation twice',
    caught: 'B3',
    edits: [kernel('gates/browser/observations.js', 'waiting.delete(found.id);', '')],
  },
  {
    name: 'accepts an observation of another page',
    caught: 'B4',
    edits: [
      kernel(
        'gates/browser/observations.js',
        "return browser?.observation?.url === observation.url ? observation : 'elsewhere';",
        'return observation;',
      ),
    ],
  },
  {
    name: 'has no limit of risk',
    caught: 'B5',
    edits: [
      kernel('gates/browser/gate.js', 'sentinel_risk <= settings.maxSentinelRisk', 'sentinel_risk <= 100'),
    ],
  },
  {
    name: 'ignores the domains of pages',
    caught: 'B6',
    edits: [
      kernel(
        'gates/browser/gate.js',
        'return domains.some((pattern) => matchesHost(pattern, target));',
        'return true;',
      ),
    ],
  },
  {
    name: 'accepts a stale observation',
    caught: 'B7',
    edits: [
      kernel('gates/browser/observations.js', 'const TEN_SECONDS = 10_000;', 'const TEN_SECONDS = 100_000;'),
    ],
  },
  {
    name: 'allows a call if the gate of destinations fails',
    caught: 'T1',
    edits: [
      kernel(
        'gates/egress/gate.js',
        'switch (snapshot.egress()) {',
        "if (snapshot.egress() === 'outside') throw new Error('broken');\n        switch (snapshot.egress()) {",
      ),
      kernel(
        'road/guardian.js',
        "return { verdict: 'DENY', reason: 'GATE_FAILED' };\n    }\n}",
        'return undefined;\n    }\n}',
      ),
    ],
  },
  {
    name: 'loses the labels of values',
    caught: 'T2',
    edits: [kernel('gates/taint/flow.js', 'labels.push(...seen.labels);', '')],
  },
  {
    name: 'gives every call the labels of its session',
    caught: 'T2',
    edits: [
      kernel(
        'gates/taint/flow.js',
        "policy.gates.taint?.follow === 'session' ? (provenance?.labels ?? []) : []",
        'provenance?.labels ?? []',
      ),
    ],
  },
  {
    name: 'writes calls into its log',
    caught: 'T4',
    edits: [
      kernel(
        'road/guardian.js',
        'export function decide(intent, snapshot, ladder = LADDER) {',
        'export function decide(intent, snapshot, ladder = LADDER) {\n    globalThis.console.error(intent.text);',
      ),
    ],
  },
  {
    name: 'does not deny for risk',
    caught: 'S1',
    edits: [kernel('gates/session-risk/gate.js', 'if (snapshot.assessment().tooRisky)', 'if (false)')],
  },
  {
    name: 'counts allowed calls too late',
    caught: 'Q1',
    edits: [
      kernel(
        'rates.js',
        'left: Math.max(0, left - calls * pace.period), at }',
        'left: Math.max(0, left - calls * pace.period * 0.8), at }',
      ),
    ],
  },
  {
    name: 'uses up an approval too late',
    caught: 'P2',
    edits: [
      kernel(
        'road/settle.js',
        'kernel.approvals.remove(settled.uses);\n        forgetRequest(turn, settled.uses);',
        'setTimeout(() => kernel.approvals.remove(settled.uses), 2000);',
      ),
    ],
  },
  {
    name: 'runs a tool after a denial',
    caught: 'D1',
    edits: [
      kernel(
        'road/enforce.js',
        'if (!permit)\n        return { decided, effect: undefined };',
        "if (!permit) {\n        await dispatch({ tool: call.tool, args: '{}', value: call.args ?? {}, receipt: '' });\n        return { decided, effect: undefined };\n    }",
      ),
    ],
  },
  {
    name: 'lets auditors change freezes',
    caught: 'F4',
    edits: [
      gateway('api/freeze.js', "roles: ['operator', 'admin'],", "roles: ['operator', 'admin', 'auditor'],"),
    ],
  },
  {
    name: 'does not look for orders in arguments',
    caught: 'T5',
    edits: [
      kernel(
        'gates/threat/gate.js',
        'const [first] = words;',
        'const [first] = words;\n        return undefined;',
      ),
    ],
  },
]
