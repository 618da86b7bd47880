// The paths of the LLM and MCP doors for the OpenAPI document. Their bodies belong to the protocols of others, so only the paths,
// the tokens and the headers of the gateway are described. A test compares them with the routes of the doors.

/** A path of a door. `{name}` is one segment. */
interface DoorPath {
  readonly method: 'get' | 'post' | 'delete'
  readonly path: string
  readonly about: string
  /** Whether it can answer with a stream of events. */
  readonly streams: boolean
}

const CHAT = 'Chat Completions of OpenAI: the calls in the replies are decided.'
const RESPONSES = 'Responses of OpenAI: the calls in the replies are decided.'
const MESSAGES = 'Messages of Anthropic: the calls in the replies are decided.'
const CONTENT = 'Gemini: the calls in the replies are decided.'
const PLAIN = 'Forwarded: its answer cannot contain a call.'
const MCP =
  'Messages of the Model Context Protocol over Streamable HTTP: every call is decided before a server gets it.'

/** The methods of each path, in the order of the providers. */
export const DOOR_PATHS: readonly DoorPath[] = [
  judged('/openai/v1/chat/completions', CHAT),
  judged('/openai/v1/responses', RESPONSES),
  ...plain('/openai/v1', [
    'post /embeddings',
    'post /moderations',
    'post /responses/input_tokens',
    'get /models',
  ]),
  judged('/azure/openai/deployments/{deployment}/chat/completions', CHAT),
  judged('/azure/openai/responses', RESPONSES),
  judged('/azure/openai/v1/chat/completions', CHAT),
  judged('/azure/openai/v1/responses', RESPONSES),
  ...plain('/azure/openai', [
    'post /deployments/{deployment}/embeddings',
    'get /models',
    'post /v1/embeddings',
    'get /v1/models',
  ]),
  judged('/anthropic/v1/messages', MESSAGES),
  ...plain('/anthropic/v1', ['post /messages/count_tokens', 'get /models']),
  ...['/gemini/v1beta', '/gemini/v1'].flatMap((base) => [
    { ...judged(`${base}/models/{model}:generateContent`, CONTENT), streams: false },
    judged(`${base}/models/{model}:streamGenerateContent`, `${CONTENT} Needs the query \`alt=sse\`.`),
    ...plain(base, [
      'post /models/{model}:countTokens',
      'post /models/{model}:embedContent',
      'post /models/{model}:batchEmbedContents',
      'get /models',
    ]),
  ]),
  ...['/mcp', '/mcp/{server}'].flatMap((path): DoorPath[] => [
    { method: 'post', path, about: MCP, streams: true },
    {
      method: 'get',
      path,
      about: 'The stream of messages of the servers, for revisions with `initialize`.',
      streams: true,
    },
    { method: 'delete', path, about: 'Ends a session of a revision with `initialize`.', streams: false },
  ]),
]

function judged(path: string, about: string): DoorPath {
  return { method: 'post', path, about, streams: true }
}

function plain(base: string, routes: readonly string[]): readonly DoorPath[] {
  return routes.map((route) => {
    const [method = '', path = ''] = route.split(' ')
    return { method: method === 'get' ? 'get' : 'post', path: base + path, about: PLAIN, streams: false }
  })
}

/** The schemes of the document: clients of a provider send the token where they would send their key. */
export const KEY_SCHEMES: Readonly<Record<string, object>> = Object.fromEntries(
  ['x-api-key', 'api-key', 'x-goog-api-key'].map((name) => [
    name,
    { type: 'apiKey', in: 'header', name, description: 'A token of the gateway, as the key of a client.' },
  ]),
)

const ANY = { schema: { type: 'object' } }
const EVENTS = { schema: { type: 'string' } }

/** The operation of a door path. */
export function doorOperation({ method, path, about, streams }: DoorPath): object {
  const isMcp = path.startsWith('/mcp')
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
  const content = { 'application/json': ANY, ...(streams && { 'text/event-stream': EVENTS }) }
  const words = `${method} ${path}`.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  return {
    operationId: words
      .map((word, i) => (i === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
      .join(''),
    summary: about.split(/(?<=\.) /)[0],
    description: about,
    'x-door': isMcp ? 'mcp' : 'llm',
    'x-roles': ['agent', 'host'],
    security: [{ token: [] }, ...(isMcp ? [] : Object.keys(KEY_SCHEMES).map((name) => ({ [name]: [] })))],
    ...(names.length > 0 && {
      parameters: names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    }),
    ...(method === 'post' && { requestBody: { required: true, content: { 'application/json': ANY } } }),
    responses: {
      200: { description: 'The answer, in the form of the protocol.', content },
      '4XX': { description: 'A refusal, in the form of the protocol.', content: { 'application/json': ANY } },
      '5XX': { description: 'A fault, in the form of the protocol.', content: { 'application/json': ANY } },
    },
  }
}
