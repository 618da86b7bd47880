// The pages `docs/llm-*.md` say what becomes of the routes and the request members of each dialect. They are made from the tables in the source.

import { MESSAGES_MEMBERS } from '../packages/gateway/src/llm/anthropic/request-members.ts'
import { CHAT_MEMBERS } from '../packages/gateway/src/llm/openai-chat/request-members.ts'
import { RESPONSES_MEMBERS } from '../packages/gateway/src/llm/openai-responses/request-members.ts'
import type { RequestMembers } from '../packages/gateway/src/llm/request-members.ts'
import { LLM_ROUTES } from '../packages/gateway/src/llm/routes.ts'

interface DialectPage {
  readonly title: string
  readonly route: string
  readonly provider: 'openai' | 'anthropic'
  readonly members: RequestMembers
}

const PAGES: Readonly<Record<string, DialectPage>> = {
  'docs/llm-chat.md': {
    title: 'Chat Completions',
    route: 'POST /openai/v1/chat/completions',
    provider: 'openai',
    members: CHAT_MEMBERS,
  },
  'docs/llm-responses.md': {
    title: 'Responses',
    route: 'POST /openai/v1/responses',
    provider: 'openai',
    members: RESPONSES_MEMBERS,
  },
  'docs/llm-messages.md': {
    title: 'Messages',
    route: 'POST /anthropic/v1/messages',
    provider: 'anthropic',
    members: MESSAGES_MEMBERS,
  },
}

/** A table in the style of the formatter. */
type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string

/** Each page by its path. */
export function llmPages(notice: string, table: Table): Readonly<Record<string, string>> {
  const entries = Object.entries(PAGES).map(([path, page]) => [path, pageOf(page, notice, table)])
  return Object.fromEntries(entries) as Record<string, string>
}

function pageOf({ title, route, provider, members }: DialectPage, notice: string, table: Table): string {
  const own = LLM_ROUTES.filter((each) => each.includes(`/${provider}/`))
  const routes = own.map((each) => [
    `\`${each}\``,
    WHAT[each === route ? 'own' : judged(each) ? 'other' : 'plain'],
  ])
  return [
    `# ${title}: routes and members`,
    notice,
    `This page says what becomes of a request to \`${route}\`. [llm.md](llm.md) explains the rest.`,
    '## Routes',
    table(['route', 'what becomes of it'], routes),
    'The gateway refuses every other route (`ROUTE_NOT_GOVERNED`).',
    '## Members of a request',
    table(['member', 'what becomes of it', 'why'], rowsOf(members)),
    `The gateway refuses every other member. To allow one, list it under \`llm.${provider}.parameters\` in \`tollgate.yaml\`. You cannot allow a member that the table shows as removed or refused.`,
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n')
}

const WHAT = {
  own: 'the calls in its replies are decided',
  other: 'the calls in its replies are decided; it has a page of its own',
  plain: 'forwarded: its answer cannot contain a call',
} as const

function judged(route: string): boolean {
  return Object.values(PAGES).some((page) => page.route === route)
}

function rowsOf({ read, forwarded, dropped, refused }: RequestMembers): readonly (readonly string[])[] {
  const rows = [
    ...Object.entries(read).map(([name, what]) => [name, 'read and forwarded', what]),
    ...forwarded.map((name) => [name, 'forwarded', '']),
    ...Object.entries(dropped).map(([name, why]) => [name, 'removed', why]),
    ...Object.entries(refused).map(([name, { because, instead }]) => [
      name,
      'refused',
      `${because}; ${instead}`,
    ]),
  ]
  return rows
    .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))
    .map(([name = '', ...rest]) => [`\`${name}\``, ...rest])
}
