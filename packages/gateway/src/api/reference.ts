// docs/http.md, made from the same table as everything else.

import { PROBLEMS } from './problem.ts'
import type { Admission, AnswerForm, ApiRoute } from './route.ts'
import { problemsOf } from './openapi.ts'
import { ROUTES } from './routes.ts'
import { HASH, TIME, type ApiSchema } from './schema.ts'

/** The reference of the HTTP API, in Markdown, below its title. */
export function httpReference(): string {
  return [INTRODUCTION, ...ROUTES.map(section), PROBLEM_TABLE].join('\n\n')
}

const INTRODUCTION = `# HTTP API

<!-- Made by \`npm run docs\` from the source. Do not edit. -->

Every request carries \`Authorization: Bearer tg_…\`, except where it says *nobody has to say who they are*. What a
caller may see and do follows from its token alone: role, tenant, principal and groups. Bodies are strict JSON (UTF-8, no
duplicate keys, at most 64 levels) declared as \`application/json\`; members that a route does not know are refused. Times
are RFC 3339 with milliseconds. Errors are RFC 9457 problems (\`application/problem+json\`); their codes are listed at the
end. The same description for programs is at \`/openapi.json\`.

An agent sees its own decisions, with their effects and approvals; what is not its own is not found. Everybody else sees
what belongs to the tenant of the token. The receipts that the ledger as a whole rests on, its beginning and its keys, are
for every reader: signatures are checked with them.`

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
  if (roles === 'public') return 'Nobody has to say who they are.'
  return roles === 'any role' ? 'Any role.' : `Roles: ${roles.join(', ')}.`
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
