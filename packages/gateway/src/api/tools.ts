// What the servers behind the gateway offer, and pinning: a definition that nobody has looked at is used by nobody.

import type { Kernel } from '@tollgate/kernel'
import { pinTool, unpinTool } from '@tollgate/kernel/admin'
import { withElsewhere } from '../tools/elsewhere.ts'
import { SEVERITIES, TOOL_FINDINGS } from '../tools/finding.ts'
import { listTools, showTool, STATES } from '../tools/listing.ts'
import { Problem } from './problem.ts'
import {
  answered,
  json,
  kernelOf,
  queryIn,
  textIn,
  type ApiQuestion,
  type Reply,
  type ApiRoute,
} from './route.ts'
import {
  ANYTHING,
  COUNT,
  HASH,
  list,
  NAME,
  object,
  orNull,
  said,
  TEXT,
  word,
  type ApiSchema,
} from './schema.ts'

const FINDING: ApiSchema = object({
  code: word(...Object.keys(TOOL_FINDINGS)),
  severity: word(...SEVERITIES),
  tool: said(TEXT, 'The tool, or the server if it is about what the server says of itself.'),
  message: TEXT,
})

const TOOL: Readonly<Record<string, ApiSchema>> = {
  tool: said(TEXT, '`SERVER/TOOL`, or `SERVER:METHOD` for what else of a server is governed.'),
  kind: word('tool', 'faculty'),
  state: said(
    word(...STATES),
    '`new` and `changed` are blocked until they are pinned; `gone` is pinned, and not offered now.',
  ),
  origin: orNull(
    said(TEXT, 'Where the server that offers it comes from: the program that runs, or the address.'),
  ),
  offered: orNull(said(HASH, 'Hash of the definition that is offered now.')),
  pinned: orNull(said(HASH, 'Hash of the definition that a person pinned.')),
  findings: list(FINDING),
}

const SERVER: ApiSchema = object({
  server: TEXT,
  findings: said(list(FINDING), 'What was found in what the server says of itself.'),
  tools: list(object(TOOL)),
  more: said(COUNT, 'How many tools it has besides: an answer holds so many and no more.'),
})

/** The kernel, for those whose gateway it is: pins hold for every tenant, and other tenants may have servers of their own. */
function ownKernel({ options, identity }: ApiQuestion): Kernel {
  const kernel = kernelOf(options)
  if (identity.tenant === kernel.tenant) return kernel
  throw new Problem('role-forbidden', 'only the tenant that runs the gateway sees its tools and pins them')
}

async function listAll(question: ApiQuestion): Promise<Reply> {
  const { catalogue } = ownKernel(question)
  const [server, tool, asked] = ['server', 'tool', 'state'].map((name) => queryIn(question, name))
  const state = STATES.find((each) => each === asked)
  const listing = listTools(catalogue, { server, tool, state })
  return json(200, await withElsewhere(listing, catalogue, (name) => pinnedText(question, name)))
}

/** What the ledger keeps as the pinned definition. */
function pinnedText({ options }: ApiQuestion, tool: string): Promise<string | undefined> {
  return options.view.record(`pin\n${tool}`)
}

async function show(question: ApiQuestion): Promise<Reply> {
  const { catalogue } = ownKernel(question)
  const tool = queryIn(question, 'tool')
  if (tool === undefined) throw new Problem('request-invalid', '`?tool` is missing')
  const text = catalogue.pinned(tool) === undefined ? undefined : await pinnedText(question, tool)
  const shown = showTool(catalogue, tool, text)
  if (!shown) throw new Problem('not-found', 'the tool is neither offered nor pinned')
  return json(200, shown)
}

async function pin(question: ApiQuestion): Promise<Reply> {
  const kernel = ownKernel(question)
  const { body, identity } = question
  const [tool, hash] = [textIn(body, 'tool') ?? '', textIn(body, 'hash') ?? '']
  const offered = kernel.catalogue.offered(tool)
  if (!offered) throw new Problem('not-found', 'no server offers this tool now')
  if (offered.hash !== hash) {
    throw new Problem('pin-refused', 'the definition on offer is not the one you looked at')
  }
  const { id } = await pinTool(kernel, tool, hash, identity.principal)
  return json(200, { receipt: id })
}

async function unpin(question: ApiQuestion): Promise<Reply> {
  const kernel = ownKernel(question)
  const tool = textIn(question.body, 'tool') ?? ''
  if (kernel.catalogue.pinned(tool) === undefined) throw new Problem('not-found', 'the tool is not pinned')
  const { id } = await unpinTool(kernel, tool, question.identity.principal)
  return json(200, { receipt: id })
}

/** Tools and their pins. */
export const toolRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/tools',
    id: 'listTools',
    about: 'The tools that servers offer or people have pinned, how each stands, and what is found in them.',
    roles: ['operator', 'admin', 'auditor'],
    query: {
      server: said(NAME, 'Only those of this server.'),
      tool: said(NAME, 'Only this one.'),
      state: said(word(...STATES), 'Only those that stand so.'),
    },
    answers: answered(
      'By server. Where there are more than an answer holds, what somebody has to look at comes first.',
      {
        servers: list(SERVER),
        more: said(COUNT, 'How many tools there are besides, in all.'),
      },
    ),
    problems: ['gateway-needed'],
    answer: listAll,
  },
  {
    method: 'GET',
    path: '/v1/tools/definition',
    id: 'showTool',
    about: 'A tool with the definition that is offered, the one that is pinned, and how they differ.',
    roles: ['operator', 'admin', 'auditor'],
    query: { tool: said(NAME, 'Which tool.') },
    answers: answered('The tool.', {
      ...TOOL,
      offered_definition: ANYTHING,
      pinned_definition: said(ANYTHING, 'Null if nothing is pinned, or what was pinned cannot be read.'),
      diff: said(list(TEXT), 'Lines that tell what changed from the pinned to the offered definition.'),
    }),
    problems: ['not-found', 'gateway-needed'],
    answer: show,
  },
  {
    method: 'POST',
    path: '/v1/tools/pin',
    id: 'pinTool',
    about:
      'Pins the definition that is offered, if it is the one with this hash: nobody pins what they did not see.',
    roles: ['operator', 'admin'],
    body: { schema: object({ tool: NAME, hash: HASH }) },
    answers: answered('Recorded, and in force.', { receipt: HASH }),
    problems: ['not-found', 'pin-refused', 'ledger-unavailable'],
    answer: pin,
  },
  {
    method: 'POST',
    path: '/v1/tools/unpin',
    id: 'unpinTool',
    about: 'Takes a pin back: the tool is blocked again.',
    roles: ['operator', 'admin'],
    body: { schema: object({ tool: NAME }) },
    answers: answered('Recorded, and in force.', { receipt: HASH }),
    problems: ['not-found', 'ledger-unavailable'],
    answer: unpin,
  },
]
