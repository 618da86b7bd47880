// Generates the OpenAPI document from the route table, whose schemas also validate the requests.

import { DOOR_PATHS, doorOperation, KEY_SCHEMES } from './door-paths.ts'
import { PROBLEMS, type ProblemCode } from './problem.ts'
import { jsonText, type AnswerForm, type Reply, type ApiRoute } from './route.ts'
import { COUNT, object, described, TEXT, type ApiSchema } from './schema.ts'

/** The body of a problem. */
export const PROBLEM: ApiSchema = {
  ...object({
    type: TEXT,
    title: TEXT,
    status: COUNT,
    detail: TEXT,
    code: { type: 'string', enum: Object.keys(PROBLEMS) },
    'remedy?': described(TEXT, 'How to resolve it.'),
  }),
  description: 'RFC 9457. Some problems have further members.',
  additionalProperties: true,
}

/** The problems of a route: its own, and those that follow from its roles, parameters and body. */
export function problemsOf({ roles, params, body, problems = [], method }: ApiRoute): readonly ProblemCode[] {
  const codes: ProblemCode[] = [
    'request-invalid',
    'method-not-allowed',
    'host-unknown',
    'origin-forbidden',
    'internal-fault',
  ]
  if (roles !== 'public') codes.push('token-missing', 'token-unknown', 'sign-in-unavailable')
  if (roles !== 'public') codes.push('role-forbidden')
  if (params) codes.push('not-found')
  if (body) codes.push('body-too-large', 'not-json', 'request-timeout', 'too-much-sent')
  if (method !== 'GET') codes.push('gateway-needed')
  // Ledger reads of agents take turns.
  else if (
    roles === 'any role' ||
    (roles !== 'public' && (roles.includes('agent') || roles.includes('host')))
  ) {
    codes.push('too-many-waiting')
  }
  return [...new Set([...codes, ...problems])]
}

/** The OpenAPI document. */
export function openApi(routes: readonly ApiRoute[], version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = operation(route)
  for (const each of DOOR_PATHS) (paths[each.path] ??= {})[each.method] = doorOperation(each)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate',
      version,
      description: 'A fail-closed execution firewall for AI agents.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    paths,
    components: {
      schemas: { Problem: PROBLEM },
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token of the gateway, `tg_…`, or an access token of the configured issuer.',
        },
        ...KEY_SCHEMES,
      },
    },
  }
}

function operation(route: ApiRoute): object {
  const { id, about, roles, params = {}, query = {}, body, answers } = route
  const parameters = [
    ...Object.entries(params).map(([name, schema]) => parameter(name, 'path', schema)),
    ...Object.entries(query).map(([name, schema]) => parameter(name, 'query', schema)),
  ]
  const good = Object.entries(answers).map(([status, answer]) => [status, response(answer)] as const)
  return {
    operationId: id,
    summary: about.split(/(?<=\.) /)[0],
    description: about,
    'x-roles': roles,
    ...(roles === 'public' && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: body.optional !== true,
        content: { 'application/json': { schema: body.schema } },
      },
    }),
    responses: { ...Object.fromEntries(good), ...problemResponses(problemsOf(route)) },
  }
}

function parameter(name: string, at: 'path' | 'query', schema: ApiSchema): object {
  const { description, ...rest } = schema
  return {
    name,
    in: at,
    required: at === 'path',
    ...(description !== undefined && { description }),
    schema: rest,
  }
}

// Without a schema, generated clients return nothing.
const BYTES = { type: 'string', format: 'binary' }

function response({ about, type = 'application/json', schema }: AnswerForm): object {
  return { description: about, content: { [type]: { schema: schema ?? BYTES } } }
}

/** The responses for problems, grouped by status. */
function problemResponses(codes: readonly ProblemCode[]): Readonly<Record<string, object>> {
  const byStatus = new Map<number, ProblemCode[]>()
  for (const code of codes) {
    const { status } = PROBLEMS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }
  return Object.fromEntries(
    [...byStatus].map(([status, shared]) => {
      const description = shared.map((code) => `\`${code}\`: ${PROBLEMS[code].title}`).join(' ')
      return [String(status), { description, content }]
    }),
  )
}

/** The route that serves the document. Takes a function, because the route is part of the table. */
export function openApiRoutes(routes: () => readonly ApiRoute[]): readonly ApiRoute[] {
  const texts = new Map<string, string>()
  const show = (version: string): Reply => {
    const text = texts.get(version) ?? JSON.stringify(openApi(routes(), version))
    texts.set(version, text)
    return jsonText(200, text)
  }
  return [
    {
      method: 'GET',
      path: '/openapi.json',
      id: 'showOpenApi',
      about: 'Returns this description as OpenAPI 3.1.',
      roles: 'public',
      answers: { 200: { about: 'The document.', schema: { type: 'object' } } },
      answer: ({ options }) => show(options.version),
    },
  ]
}
