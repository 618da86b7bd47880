// Routes to list, show, pin and unpin the tools of MCP servers.

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
  described,
  TEXT,
  TIME,
  word,
  type ApiSchema,
} from './schema.ts'

const FINDING: ApiSchema = object({
  code: word(...Object.keys(TOOL_FINDINGS)),
  severity: word(...SEVERITIES),
  tool: described(TEXT, 'The tool, or the server if the finding is about the server’s own description.'),
  message: TEXT,
})

const TOOL: Readonly<Record<string, ApiSchema>> = {
  tool: described(TEXT, '`SERVER/TOOL`, or `SERVER:METHOD` for a feature that is not a tool.'),
  kind: described(
    word('tool', 'faculty'),
    '`faculty`: a feature of a server that is not a tool, such as prompts.',
  ),
  state: described(
    word(...STATES),
    '`new` and `changed` tools are blocked until they are pinned. A `gone` tool is pinned but not offered now.',
  ),
  origin: orNull(described(TEXT, 'The origin of the server: its program or its address.')),
  offered: orNull(described(HASH, 'The hash of the offered definition.')),
  pinned: orNull(described(HASH, 'The hash of the pinned definition.')),
  findings: list(FINDING),
}

const SERVER: ApiSchema = object({
  server: TEXT,
  findings: described(list(FINDING), 'Findings in the server’s own description.'),
  tools: list(object(TOOL)),
  more: described(COUNT, 'The number of further tools that did not fit into the answer.'),
})

const FAILED_START: ApiSchema = object({
  server: TEXT,
  at: TIME,
  because: TEXT,
  stderr: described(list(TEXT), 'The last lines of its standard error. Secrets are removed.'),
})

/** The kernel, for the tenant that runs the gateway. Pins apply to all tenants, so other tenants may not change them. */
function ownKernel({ options, identity }: ApiQuestion): Kernel {
  const kernel = kernelOf(options)
  if (identity.tenant === kernel.tenant) return kernel
  throw new Problem('role-forbidden', 'only the tenant that runs the gateway may see and pin its tools')
}

async function listAll(question: ApiQuestion): Promise<Reply> {
  const { catalogue } = ownKernel(question)
  const [server, tool, asked] = ['server', 'tool', 'state'].map((name) => queryIn(question, name))
  const state = STATES.find((each) => each === asked)
  const listing = listTools(catalogue, { server, tool, state })
  const all = await withElsewhere(listing, catalogue, (name) => pinnedText(question, name))
  const failed = tool === undefined && state === undefined ? (question.options.failedStarts?.() ?? []) : []
  const ofServer = failed.filter((each) => server === undefined || each.server === server)
  return json(200, { ...all, failed_starts: ofServer })
}

/** The stored text of a pinned definition. */
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
    throw new Problem('pin-refused', 'the offered definition is not the one you reviewed')
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

export const toolRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/tools',
    id: 'listTools',
    about: 'Lists the tools that are offered or pinned, with their state and findings.',
    roles: ['operator', 'admin', 'auditor'],
    query: {
      server: described(NAME, 'Only tools of this server.'),
      tool: described(NAME, 'Only this tool.'),
      state: described(word(...STATES), 'Only tools in this state.'),
    },
    answers: answered(
      'The tools by server. If not all fit into the answer, those that need review come first.',
      {
        servers: list(SERVER),
        more: described(COUNT, 'The total number of further tools that did not fit.'),
        failed_starts: described(
          list(FAILED_START),
          'The servers of the gateway whose newest start failed. Empty if `tool` or `state` is given.',
        ),
      },
    ),
    problems: ['gateway-needed'],
    answer: listAll,
  },
  {
    method: 'GET',
    path: '/v1/tools/definition',
    id: 'showTool',
    about: 'Returns a tool with its offered and pinned definitions and their differences.',
    roles: ['operator', 'admin', 'auditor'],
    query: { tool: described(NAME, 'The name of the tool.') },
    answers: answered('The tool.', {
      ...TOOL,
      offered_definition: ANYTHING,
      pinned_definition: described(
        ANYTHING,
        'Null if nothing is pinned or the pinned definition cannot be read.',
      ),
      diff: described(list(TEXT), 'The changes from the pinned to the offered definition, as lines of text.'),
    }),
    problems: ['not-found', 'gateway-needed'],
    answer: show,
  },
  {
    method: 'POST',
    path: '/v1/tools/pin',
    id: 'pinTool',
    about:
      'Pins the offered definition if it has this hash. The hash ensures that you pin the definition that you reviewed.',
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
    about: 'Removes a pin. The tool is blocked again.',
    roles: ['operator', 'admin'],
    body: { schema: object({ tool: NAME }) },
    answers: answered('Recorded, and in force.', { receipt: HASH }),
    problems: ['not-found', 'ledger-unavailable'],
    answer: unpin,
  },
]
