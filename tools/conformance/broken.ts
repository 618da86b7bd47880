// Broken gateways: each is an edit of a copy of the built gateway, and the requirement that must notice it.

import type { Edit } from './copy.ts'

/** A gateway that breaks a requirement. */
export interface Broken {
  /** A gateway that … */
  readonly name: string
  /** The id of the requirement. */
  readonly caught: string
  readonly edits: readonly Edit[]
}

const kernel = (file: string, from: string, to: string): Edit => ({
  file: `kernel/dist/src/${file}`,
  from,
  to,
})
const gateway = (file: string, from: string, to: string): Edit => ({
  file: `gateway/dist/src/${file}`,
  from,
  to,
})

export const BROKEN: readonly Broken[] = [
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
    name: 'ignores the role of a token',
    caught: 'A2',
    edits: [gateway('api/auth.js', 'if (admits(route.roles, role))', 'if (role)')],
  },
]
