// The pages `docs/llm-*.md` say what becomes of the routes and the request members of each dialect. They are made from the tables in the source.

import { MESSAGES_MEMBERS } from '../packages/gateway/src/llm/anthropic/request-members.ts'
import { CONTENT_MEMBERS } from '../packages/gateway/src/llm/gemini/request-members.ts'
import { CHAT_MEMBERS } from '../packages/gateway/src/llm/openai-chat/request-members.ts'
import { RESPONSES_MEMBERS } from '../packages/gateway/src/llm/openai-responses/request-members.ts'
import { TRAITS, type Provider } from '../packages/gateway/src/llm/providers.ts'
import type { RequestMembers } from '../packages/gateway/src/llm/request-members.ts'
import { LLM_ROUTES } from '../packages/gateway/src/llm/routes.ts'

interface DialectPage {
  readonly title: string
  /** The routes of the dialect. The first one is the usual one. */
  readonly routes: readonly string[]
  readonly providers: readonly Provider[]
  readonly members: RequestMembers
}

const PAGES: Readonly<Record<string, DialectPage>> = {
  'docs/llm-chat.md': {
    title: 'Chat Completions',
    routes: [
      'POST /openai/v1/chat/completions',
      'POST /azure/openai/deployments/{deployment}/chat/completions',
      'POST /azure/openai/v1/chat/completions',
    ],
    providers: ['openai', 'azure'],
    members: CHAT_MEMBERS,
  },
  'docs/llm-responses.md': {
    title: 'Responses',
    routes: ['POST /openai/v1/responses', 'POST /azure/openai/responses', 'POST /azure/openai/v1/responses'],
    providers: ['openai', 'azure'],
    members: RESPONSES_MEMBERS,
  },
  'docs/llm-messages.md': {
    title: 'Messages',
    routes: ['POST /anthropic/v1/messages'],
    providers: ['anthropic'],
    members: MESSAGES_MEMBERS,
  },
  'docs/llm-gemini.md': {
    title: 'Gemini',
    routes: ['/gemini/v1beta', '/gemini/v1'].flatMap((base) => [
      `POST ${base}/models/{model}:generateContent`,
      `POST ${base}/models/{model}:streamGenerateContent?alt=sse`,
    ]),
    providers: ['gemini'],
    members: CONTENT_MEMBERS,
  },
}

/** A table in the style of the formatter. */
type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string

/** Each page by its path. */
export function llmPages(notice: string, table: Table): Readonly<Record<string, string>> {
  const entries = Object.entries(PAGES).map(([path, page]) => [path, pageOf(page, notice, table)])
  return Object.fromEntries(entries) as Record<string, string>
}

function pageOf({ title, routes, providers, members }: DialectPage, notice: string, table: Table): string {
  const all = providers.flatMap((provider) => {
    return LLM_ROUTES.filter((route) => route.includes(` ${TRAITS[provider].base}/`))
  })
  const rows = all.map((route) => [
    `\`${route}\``,
    WHAT[routes.includes(route) ? 'own' : judged(route) ? 'other' : 'plain'],
  ])
  const settings = providers.map((provider) => `\`llm.${provider}.parameters\``).join(' or ')
  return [
    `# ${title}: routes and members`,
    notice,
    `This page says what becomes of a request to \`${routes[0]}\`. [llm.md](llm.md) explains the rest.`,
    '## Routes',
    table(['route', 'what becomes of it'], rows),
    'The gateway refuses every other route (`ROUTE_NOT_GOVERNED`).',
    '## Members of a request',
    table(['member', 'what becomes of it', 'why'], rowsOf(members)),
    `The gateway refuses every other member. To allow one, list it under ${settings} in \`tollgate.yaml\`. You cannot allow a member that the table shows as removed or refused.`,
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
  return Object.values(PAGES).some(({ routes }) => routes.includes(route))
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
