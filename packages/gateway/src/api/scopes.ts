// Routes to open a session with a scope, for host applications and operators, and to show the scope.

import { EFFECT_CLASSES, SCOPE_SOURCES, type JsonObject } from '@tollgate/evidence'
import { scopeOf } from '@tollgate/kernel/admin'
import { givenScope, MOST_SINKS, MOST_TOOLS, scopeHash } from '@tollgate/kernel/detection'
import { giveScope, maySetScope, SCOPE_NOT_PERMITTED } from '../scoping.ts'
import type { Identity } from '../tokens.ts'
import { Problem } from './problem.ts'
import { answered, json, kernelOf, queryIn, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import {
  FLAG,
  HASH,
  list,
  NAME,
  object,
  orNull,
  described,
  TEXT,
  TIME,
  word,
  type ApiSchema,
} from './schema.ts'

const SINK: ApiSchema = { type: 'string', minLength: 1, maxLength: 512 }

const SCOPE: ApiSchema = object(
  {
    'effects?': described(
      list(word(...EFFECT_CLASSES), EFFECT_CLASSES.length),
      'The effect classes in scope.',
    ),
    'tools?': described(list(NAME, MOST_TOOLS), 'The tools in scope; `*` matches any characters.'),
    'sinks?': described(
      list(SINK, MOST_SINKS),
      'The targets in scope for side effects: addresses, hostnames, accounts, paths, names; `*` matches any characters.',
    ),
    'looked_up?': described(
      FLAG,
      'Whether the tools in scope may also act on targets that the session has looked up. Such a target is the whole value of a field in the answer of a tool, or a name that is in no passage with a finding.',
    ),
    'until?': described(TIME, 'After this time every side effect is out of scope.'),
    'by?': described(
      word(...SCOPE_SOURCES),
      'The author of the scope: the host application (`host`, the default), the user (`user`), or a proposal from the words of the user (`proposed`).',
    ),
  },
  'The scope of the session. A missing member sets no limit. An empty list permits nothing.',
)

async function open(question: ApiQuestion): Promise<Reply> {
  const { options, identity, body } = question
  const { session_id: session, scope } = body
  const principal = ownerIn(identity, body['principal'])
  if (!maySetScope(identity, principal)) throw notYours()
  // Sound: the schema was checked.
  const given = { principal, session: session as string, scope }
  const { hash, receipt } = await giveScope(kernelOf(options), identity, given)
  return json(200, { session, principal, scope_hash: hash, receipt: receipt ?? null })
}

/** The principal of the session. Operators must name it. */
function ownerIn({ role, principal }: Identity, named: JsonObject[string] | undefined): string {
  if (typeof named === 'string') return named
  if (role === 'agent') return principal
  throw new Problem('request-invalid', '`/principal` is missing', {
    remedy: 'Name the principal of the session.',
  })
}

function notYours(): Problem {
  return new Problem('role-forbidden', SCOPE_NOT_PERMITTED, {
    remedy: 'Use a token with the role `host` of that principal, or `operator` or `admin`.',
  })
}

async function show(question: ApiQuestion): Promise<Reply> {
  const { options, identity, params } = question
  const principal = ownerIn(identity, queryIn(question, 'principal'))
  if (!maySetScope(identity, principal)) throw notYours()
  const session = params['id'] ?? ''
  const held = await scopeOf(kernelOf(options), { tenant: identity.tenant, principal, session })
  const scope = held ? { ...givenScope(held), also: held.also ?? [] } : null
  return json(200, { session, principal, scope_hash: held ? scopeHash(held) : null, scope })
}

const ROLES = ['host', 'operator', 'admin'] as const

export const scopeRoutes: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/v1/sessions',
    id: 'openSession',
    about:
      'Opens a session with a scope. A call with a side effect outside of the scope needs an approval. Before the first tool call of a session of its own principal, a `host` token can set any scope. After that tool call, it can only narrow the scope. Operators can set any scope at any time. Agent tokens cannot set a scope.',
    roles: ROLES,
    body: {
      schema: object({
        session_id: NAME,
        'principal?': described(
          NAME,
          'The principal of the session. Default for a `host` token: its own principal.',
        ),
        scope: SCOPE,
      }),
    },
    answers: answered('The scope is in force.', {
      session: NAME,
      principal: NAME,
      scope_hash: HASH,
      receipt: orNull(described(HASH, 'Null if the same scope was already in force.')),
    }),
    problems: ['scope-refused', 'gateway-needed'],
    answer: open,
  },
  {
    method: 'GET',
    path: '/v1/sessions/{id}/scope',
    id: 'showScope',
    about:
      'Returns the scope of a session, with the additions by approvals. Visible to callers that may set it.',
    roles: ROLES,
    params: { id: NAME },
    query: { principal: NAME },
    answers: answered('The scope in force.', {
      session: NAME,
      principal: NAME,
      scope_hash: orNull(HASH),
      scope: orNull(
        object({
          'effects?': list(TEXT),
          'tools?': list(TEXT),
          'sinks?': list(TEXT),
          'looked_up?': FLAG,
          'until?': TIME,
          by: word(...SCOPE_SOURCES),
          also: described(
            list(object({ tool: TEXT, sinks: list(TEXT) })),
            'The additions by approvals. Each has a tool and its targets.',
          ),
        }),
      ),
    }),
    problems: ['gateway-needed'],
    answer: show,
  },
]
