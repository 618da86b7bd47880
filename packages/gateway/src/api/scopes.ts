// What sessions are for: opened with a scope by the host application, or by an operator.

import { EFFECT_CLASSES, SCOPE_SOURCES, type JsonObject } from '@tollgate/evidence'
import { scopeOf } from '@tollgate/kernel/admin'
import { givenScope, MOST_SINKS, MOST_TOOLS, scopeHash } from '@tollgate/kernel/detection'
import { giveScope, maySetScope, NOT_YOURS } from '../scoping.ts'
import type { Identity } from '../tokens.ts'
import { Problem } from './problem.ts'
import { answered, json, kernelOf, queryIn, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import { FLAG, HASH, list, NAME, object, orNull, said, TEXT, TIME, word, type ApiSchema } from './schema.ts'

const SINK: ApiSchema = { type: 'string', minLength: 1, maxLength: 512 }

const SCOPE: ApiSchema = object(
  {
    'effects?': said(
      list(word(...EFFECT_CLASSES), EFFECT_CLASSES.length),
      'Classes of effects that are inside.',
    ),
    'tools?': said(list(NAME, MOST_TOOLS), 'Names of tools that are inside, `*` for any characters.'),
    'sinks?': said(
      list(SINK, MOST_SINKS),
      'What side effects may act on: addresses, hosts, accounts, paths, names; `*` for any characters.',
    ),
    'looked_up?': said(
      FLAG,
      'Its tools may also act on what the session has looked up as data: a value that stood by itself in a field, a name that no flagged passage spells out.',
    ),
    'until?': said(TIME, 'From then on every side effect is outside.'),
    'by?': said(word(...SCOPE_SOURCES), 'Where it comes from; `host` if not given.'),
  },
  'What the session is for. What is left out is not limited; an empty list allows none.',
)

async function open(question: ApiQuestion): Promise<Reply> {
  const { options, identity, body } = question
  const { session_id: session, scope } = body
  const principal = ownerIn(identity, body['principal'])
  if (!maySetScope(identity, principal)) throw notYours()
  // Sound: the schema has checked it.
  const given = { principal, session: session as string, scope }
  const { hash, receipt } = await giveScope(kernelOf(options), identity, given)
  return json(200, { session, principal, scope_hash: hash, receipt: receipt ?? null })
}

/** Whose session it is. Who works for others says for whom. */
function ownerIn({ role, principal }: Identity, named: JsonObject[string] | undefined): string {
  if (typeof named === 'string') return named
  if (role === 'agent') return principal
  throw new Problem('request-invalid', '`/principal` is missing', { remedy: 'Say whose session it is.' })
}

function notYours(): Problem {
  return new Problem('role-forbidden', NOT_YOURS, {
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

/** Scopes of sessions. */
export const scopeRoutes: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/v1/sessions',
    id: 'openSession',
    about:
      'Opens a session with a scope: side effects outside of it are asked about. A token of the role `host` does so for its own principal, before the first call of the session; later it can only narrow the scope. Operators may set any. An agent’s own token may not.',
    roles: ROLES,
    body: {
      schema: object({
        session_id: NAME,
        'principal?': said(NAME, 'Whose session; the owner of the token if it is a host’s.'),
        scope: SCOPE,
      }),
    },
    answers: answered('In force from now on.', {
      session: NAME,
      principal: NAME,
      scope_hash: HASH,
      receipt: orNull(said(HASH, 'Null if the same scope was in force already.')),
    }),
    problems: ['scope-refused', 'gateway-needed'],
    answer: open,
  },
  {
    method: 'GET',
    path: '/v1/sessions/{id}/scope',
    id: 'showScope',
    about: 'The scope of a session, with what people have added to it; for whoever may set it.',
    roles: ROLES,
    params: { id: NAME },
    query: { principal: NAME },
    answers: answered('The scope as it is in force.', {
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
          also: said(
            list(object({ tool: TEXT, sinks: list(TEXT) })),
            'What approvals have added: a tool each, with what it may act on.',
          ),
        }),
      ),
    }),
    problems: ['gateway-needed'],
    answer: show,
  },
]
