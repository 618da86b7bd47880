// Generates docs/http.md from the route table.

import { ROLES } from '../tokens.ts'
import { rolesOf } from './auth.ts'
import { PROBLEMS } from './problem.ts'
import type { Admission, AnswerForm, ApiRoute } from './route.ts'
import { problemsOf } from './openapi.ts'
import { ROUTES } from './routes.ts'
import { HASH, TIME, type ApiSchema } from './schema.ts'

/** The reference of the HTTP API in Markdown. */
export function httpReference(): string {
  return [INTRODUCTION, roleTable(), ...ROUTES.map(section), PROBLEM_TABLE].join('\n\n')
}

const INTRODUCTION = `# HTTP API

<!-- Made by \`npm run docs\` from the source. Do not edit. -->

Every request needs \`Authorization: Bearer tg_…\`, except on routes marked *No token needed*. If [sign-in](operating.md#sign-in) is
configured, access tokens of the issuer are accepted as well. The token alone determines what a
caller may see and do: its role, tenant, principal and groups. Bodies are strict JSON (UTF-8, no duplicate keys, at most 64
levels) declared as \`application/json\`. Unknown members are refused. Times are RFC 3339 with milliseconds. Errors are RFC 9457
problems (\`application/problem+json\`). Their codes are listed at the end. \`/openapi.json\` has the same description for programs.

An agent sees its own decisions with their effects and approvals, and gets 404 for everything else. Other roles see everything of
the tenant of the token. Every role that can read receipts sees the genesis and key receipts, because they are needed to verify
signatures.`

/** The table of routes and roles. */
function roleTable(): string {
  const head = ['route', 'no token', ...ROLES]
  const rows = ROUTES.map(({ method, path, roles }) => {
    const name = `${method} ${path}`
    const admitted = rolesOf(roles)
    const cells = [roles === 'public', ...ROLES.map((role) => admitted.includes(role))]
    return [`[${name}](#${anchorOf(name)})`, ...cells.map((may) => (may ? 'yes' : ''))]
  })
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return ['## Roles and routes', ROLE_RULES, lines.join('\n')].join('\n\n')
}

const ROLE_RULES = `A token of a role may use the routes with \`yes\` in its column. On every other route the token gets 403 \`role-forbidden\`, and no
receipt is written. A \`host\` token may do everything that an \`agent\` token may, and also open sessions with a scope. A route with
\`yes\` can still refuse a request, for example the approval of one's own call.`

/** The anchor of a heading, as renderers of Markdown make it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 _-]/g, '')
    .replaceAll(' ', '-')
}

function section(route: ApiRoute): string {
  const { method, path, about, roles, params = {}, query = {}, body, answers } = route
  const inputs = [
    ...Object.entries(params).map(([name, schema]) => row(`\`{${name}}\``, schema, true)),
    ...Object.entries(query).map(([name, schema]) => row(`\`?${name}\``, schema, false)),
    ...(body ? members(body.schema) : []),
  ]
  const codes = problemsOf(route)
    .filter((code) => !EVERYWHERE.has(code))
    .map((code) => `\`${code}\``)
  return [
    `## ${method} ${path}`,
    `${about} *${whoMay(roles)}*`,
    ...(inputs.length > 0 ? [['| in | form | |', '|---|---|---|', ...inputs].join('\n')] : []),
    ...Object.entries(answers).map(([status, answer]) => outputs(status, answer)),
    ...(codes.length > 0 ? [`Problems: ${codes.join(', ')}.`] : []),
  ].join('\n\n')
}

const EVERYWHERE: ReadonlySet<string> = new Set([
  'request-invalid',
  'method-not-allowed',
  'host-unknown',
  'origin-forbidden',
  'internal-fault',
  'token-missing',
  'token-unknown',
])

function whoMay(roles: Admission): string {
  if (roles === 'public') return 'No token needed.'
  return roles === 'any role' ? 'Any role except metrics.' : `Roles: ${rolesOf(roles).join(', ')}.`
}

function outputs(status: string, { about, type = 'application/json', schema }: AnswerForm): string {
  const rows = schema?.type === 'object' ? members(schema) : []
  const head = `**${status}** \`${type}\`: ${about}`
  return rows.length === 0 ? head : [head, '', '| out | form | |', '|---|---|---|', ...rows].join('\n')
}

function members(schema: ApiSchema, prefix = ''): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const required = schema.required?.includes(name) ?? false
    const inner = member.type === 'array' ? member.items : member
    const below = member.type === 'array' ? `${prefix}${name}[].` : `${prefix}${name}.`
    const closed = inner?.additionalProperties === false
    return [row(`\`${prefix}${name}\``, member, required), ...(closed ? members(inner, below) : [])]
  })
}

function row(name: string, schema: ApiSchema, required: boolean): string {
  const notes = [schema.description, schema.default !== undefined && `Default \`${schema.default}\`.`]
  return `| ${name}${required ? '' : ' (optional)'} | ${form(schema)} | ${notes.filter(Boolean).join(' ')} |`
}

function form(schema: ApiSchema): string {
  const { type, enum: words, minimum, maximum, maxLength, pattern } = schema
  if (words) return words.map((each) => `\`${each}\``).join(', ')
  const types = [type ?? []].flat()
  const [name = 'any JSON', ...others] = types
  const known = pattern === HASH.pattern ? 'SHA-256 in hexadecimal' : pattern === TIME.pattern ? 'time' : name
  const names = [known, ...others].join(' or ')
  if (minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) {
    return `${names}, ${minimum} to ${maximum}`
  }
  return maxLength === undefined ? names : `${names}, at most ${maxLength} characters`
}

const PROBLEM_TABLE = [
  '## Problems',
  '',
  '| status | code | |',
  '|---|---|---|',
  ...Object.entries(PROBLEMS).map(([code, { status, title }]) => `| ${status} | \`${code}\` | ${title} |`),
  '',
].join('\n')
