// Routes to show and activate a policy.

import { LADDER_STEPS, sha256Hex } from '@tollgate/evidence'
import { policyOf, standings } from '@tollgate/kernel'
import { activatePolicy } from '@tollgate/kernel/admin'
import { parsePolicy, type Mistake } from '@tollgate/kernel/policy'
import { Problem } from './problem.ts'
import {
  answered,
  json,
  kernelOf,
  textIn,
  type ApiOptions,
  type ApiQuestion,
  type Reply,
  type ApiRoute,
} from './route.ts'
import { COUNT, HASH, list, object, orNull, described, TEXT, word, type ApiSchema } from './schema.ts'

const MISTAKES: ApiSchema = list(object({ line: COUNT, column: COUNT, message: TEXT }))

function show({ options, identity }: ApiQuestion): Reply {
  const kernel = kernelOf(options)
  const { name, hash, text } = policyOf(kernel, identity.tenant)
  // The file belongs to the tenant that runs the gateway.
  const pending = identity.tenant === kernel.tenant ? pendingOf(options, hash) : null
  return json(200, { name, hash, text, rungs: standings(kernel, identity.tenant), pending })
}

/** The policy file, if it differs from the policy in force. */
function pendingOf(options: ApiOptions, inForce: string): { hash: string; mistakes: object[] } | null {
  const text = options.policyFile()
  if (text === undefined) return null
  const hash = sha256Hex(text.toWellFormed())
  if (hash === inForce) return null
  const parsed = parsePolicy(text)
  return { hash, mistakes: parsed.ok ? [] : mistakesOf(parsed.mistakes) }
}

function mistakesOf(mistakes: readonly Mistake[]): { line: number; column: number; message: string }[] {
  return mistakes.map(({ line, column, message }) => ({ line, column, message }))
}

async function activate({ options, identity, body }: ApiQuestion): Promise<Reply> {
  const kernel = kernelOf(options)
  const parsed = parsePolicy(textIn(body, 'text') ?? '')
  if (!parsed.ok) {
    const mistakes = mistakesOf(parsed.mistakes)
    throw new Problem(
      'policy-invalid',
      `the policy has ${mistakes.length} mistakes; the policy in force is unchanged`,
      {
        more: { mistakes },
      },
    )
  }
  const { policy } = parsed
  const replaces = textIn(body, 'replaces')
  if (replaces !== undefined && policyOf(kernel, identity.tenant).hash !== replaces) {
    throw new Problem('policy-changed')
  }
  const { id } = await activatePolicy(kernel, policy, identity.principal, identity.tenant)
  return json(200, { receipt: id, name: policy.name, hash: policy.hash })
}

export const policyRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/policy',
    id: 'showPolicy',
    about:
      'Returns the policy in force, the status of each step under it, and whether the policy file has another text.',
    roles: ['operator', 'admin', 'auditor'],
    answers: answered('The policy.', {
      name: TEXT,
      hash: described(HASH, 'SHA-256 of the text; 64 zeros if there is no policy.'),
      text: TEXT,
      rungs: list(
        object({
          rung: word(...LADDER_STEPS),
          standing: word('active', 'not configured'),
        }),
      ),
      pending: orNull(object({ hash: HASH, mistakes: MISTAKES })),
    }),
    problems: ['gateway-needed'],
    answer: show,
  },
  {
    method: 'POST',
    path: '/v1/policy',
    id: 'activatePolicy',
    about:
      'Activates a policy. The gateway uses it for all later calls. A policy with mistakes is rejected and changes nothing.',
    roles: ['admin'],
    body: {
      schema: object({
        text: described({ type: 'string' }, 'The complete policy file, as YAML.'),
        'replaces?': described(
          HASH,
          'The hash of the policy that this one was made from. If another policy is in force, nothing changes.',
        ),
      }),
    },
    answers: answered('Recorded, and in force.', { receipt: HASH, name: TEXT, hash: HASH }),
    problems: ['policy-changed', 'policy-invalid', 'ledger-unavailable'],
    answer: activate,
  },
]
