// Gateways with wrong verdicts or receipts.

import { evidence, gateway, kernel, type Broken } from './edits.ts'

export const BROKEN_VERDICTS: readonly Broken[] = [
  {
    name: 'allows a call that no rule mentions',
    caught: 'V1',
    edits: [
      kernel(
        'road/guardian.js',
        "return { verdict: 'DENY', reason: 'NO_RULE_MATCHED' };\n    }\n    const",
        "return { verdict: 'ALLOW', reason: 'RULE_ALLOWED', rule: { id: 'none' } };\n    }\n    const",
      ),
    ],
  },
  {
    name: 'gives denials no receipt',
    caught: 'V1',
    edits: [
      gateway(
        'verdict.js',
        'receipt: decided.receipt ?? null',
        "receipt: decided.verdict === 'DENY' ? null : decided.receipt",
      ),
    ],
  },
  {
    name: 'lets the last rule decide',
    caught: 'V2',
    edits: [
      kernel(
        'policy/evaluate.js',
        'const rules = policy.rules.filter((rule) => rule.tools.some((pattern) => pattern.matches(tool)));',
        'const rules = policy.rules.filter((rule) => rule.tools.some((pattern) => pattern.matches(tool))).reverse();',
      ),
    ],
  },
  {
    name: 'knows tools in any upper and lower case, with spaces',
    caught: 'V3',
    edits: [
      kernel(
        'road/capture.js',
        "const name = optional(tool, 'tool') ?? UNREADABLE;",
        "const name = optional(tool, 'tool')?.trim().toLowerCase() ?? UNREADABLE;",
      ),
    ],
  },
  {
    name: 'does not check the schema of a tool',
    caught: 'V4',
    edits: [
      kernel('gates/schema/gate.js', 'const problem = each.check(args);', 'const problem = undefined;'),
    ],
  },
  {
    name: 'allows a call if a condition fails',
    caught: 'V5',
    edits: [
      kernel(
        'road/guardian.js',
        "return { verdict: 'DENY', reason: 'POLICY_EVALUATION_ERROR', rule, detail: fault };",
        "return { verdict: 'ALLOW', reason: 'RULE_ALLOWED', rule };",
      ),
    ],
  },
  {
    name: 'takes the last of two equal keys',
    caught: 'V6',
    edits: [evidence('json.js', 'if (key in object)', 'if (false)')],
  },
  {
    name: 'ignores unknown members of a call',
    caught: 'V8',
    edits: [
      gateway(
        'api/evaluate.js',
        'if (as === undefined)\n            throw unknownMember(name);',
        'if (as === undefined)\n            continue;',
      ),
    ],
  },
  {
    name: 'gives every third equal call another reason',
    caught: 'V9',
    edits: [
      kernel(
        'road/guardian.js',
        "return { verdict: 'DENY', reason: 'POLICY_VIOLATION', rule, ...because };",
        "globalThis.denied = (globalThis.denied ?? 0) + 1;\n            return { verdict: 'DENY', reason: globalThis.denied % 3 === 0 ? 'NO_RULE_MATCHED' : 'POLICY_VIOLATION', rule };",
      ),
    ],
  },
  {
    name: 'hashes arguments in the order in which they come',
    caught: 'V10',
    edits: [
      kernel(
        'road/capture.js',
        "return { value, text, hash: sha256Hex(text) };\n    }\n    catch (fault) {\n        return unreadable(''",
        "return { value, text, hash: sha256Hex(JSON.stringify(args)) };\n    }\n    catch (fault) {\n        return unreadable(''",
      ),
    ],
  },
  {
    name: 'answers with another reason than the receipt has',
    caught: 'V11',
    edits: [
      gateway(
        'verdict.js',
        'reason_code: decided.reason,',
        "reason_code: decided.verdict === 'DENY' ? 'POLICY_VIOLATION' : decided.reason,",
      ),
    ],
  },
  {
    name: 'believes the principal that a call claims',
    caught: 'V12',
    edits: [kernel('gates/identity.js', 'claimed === undefined || claimed === principal', 'true')],
  },
  {
    name: 'chooses one of two sessions',
    caught: 'V13',
    edits: [
      kernel('road/capture.js', 'given !== undefined && inside !== undefined && given !== inside', 'false'),
    ],
  },
  {
    name: 'ignores the role of a token',
    caught: 'A2',
    edits: [gateway('api/auth.js', 'if (admits(route.roles, role))', 'if (role)')],
  },
  {
    name: 'accepts expired tokens',
    caught: 'A3',
    edits: [
      gateway(
        'tokens.js',
        'return expires === undefined || this.#kernel.host.now() <= expires;',
        'return true;',
      ),
    ],
  },
  {
    name: 'shows agents the receipts of others',
    caught: 'A5',
    edits: [
      gateway(
        'api/auth.js',
        "return identity.role !== 'agent' || owner.principal === identity.principal;",
        'return true;',
      ),
    ],
  },
  {
    name: 'stores the hash of another output',
    caught: 'A6',
    edits: [
      gateway(
        'api/effects.js',
        'return { output: canonicalBytes(output), content: output };',
        'return { output: canonicalBytes(null), content: output };',
      ),
    ],
  },
  {
    name: 'accepts the report of another principal',
    caught: 'A8',
    edits: [
      kernel(
        'road/closing.js',
        'opening?.tenant === caller.tenant && opening.principal === (caller.principal ?? NOBODY)',
        'opening !== undefined',
      ),
    ],
  },
  {
    name: 'gives a caller ten minutes to act on an ALLOW',
    caught: 'V14',
    edits: [kernel('road/judge.js', 'const ADVISED_FOR = 60_000;', 'const ADVISED_FOR = 600_000;')],
  },
  {
    name: 'accepts a second effect of a call',
    caught: 'A7',
    edits: [
      kernel(
        'road/closing.js',
        'kernel.openings.remove(id);\n            return appended;',
        'return appended;',
      ),
    ],
  },
]
