// Steps of a client with a server, and their results. The same steps run directly and through the gateway, and the results must
// be equal.

import type { Answer, Peer } from './peers.ts'

/** One step of a client. Returns its result; undefined if its protocol lacks the feature. */
type Step = (peer: Peer, place: Scene) => Promise<unknown>

/** The environment of the steps. */
export interface Scene {
  /** The folder of the file server. */
  readonly folder: string
}

/** The servers that have a script. */
export type ServerName = 'everything' | 'filesystem' | 'memory' | 'modern'

const list =
  (method: string): Step =>
  (peer) =>
    peer.ask(method)
const call =
  (name: string, args: object = {}): Step =>
  (peer) =>
    peer.ask('tools/call', { name, arguments: args })
const get =
  (name: string, args: object = {}): Step =>
  (peer) =>
    peer.ask('prompts/get', { name, arguments: args })
const read =
  (uri: string): Step =>
  (peer) =>
    peer.ask('resources/read', { uri })

/** A call during which the server asks something: the answer, and the question. */
const asking =
  (method: string, name: string, args: object = {}): Step =>
  async (peer) => {
    const before = peer.asked.length
    const answer = await peer.ask('tools/call', { name, arguments: args })
    const asked = peer.asked.slice(before).filter((each) => each.method === method)
    return { answer, asked: asked.map(({ params }) => params ?? {}) }
  }

/** A call with progress. Clients lose a last step that arrives together with the answer. */
const progressing =
  (name: string, args: object): Step =>
  async (peer) => {
    const steps: unknown[] = []
    const answer = await peer.ask(
      'tools/call',
      { name, arguments: args },
      { onProgress: (step) => void steps.push(step) },
    )
    // The newest client counts rounds as progress, because a server may ask unrelated questions.
    return { answer, steps: steps.filter((step) => !JSON.stringify(step).includes('Fulfilling')).slice(0, 2) }
  }

/** A call that is cancelled after its first progress. */
const cancelling =
  (name: string, args: object): Step =>
  async (peer) => {
    const ending = new AbortController()
    const onProgress = (): void => ending.abort('no longer wanted')
    const options = { signal: ending.signal, onProgress }
    return Object.keys(await peer.ask('tools/call', { name, arguments: args }, options))
  }

const everything: Readonly<Record<string, Step>> = {
  // First, because the server may otherwise ask for them during another step.
  roots: call('get-roots-list'),
  tools: list('tools/list'),
  resources: list('resources/list'),
  templates: list('resources/templates/list'),
  prompts: list('prompts/list'),
  echo: call('echo', { message: 'Grüße, 世界 🌍 "quoted" \\ \u2028' }),
  sum: call('get-sum', { a: 0.1, b: -3e21 }),
  image: call('get-tiny-image'),
  structured: call('get-structured-content', { location: 'Chicago' }),
  annotated: call('get-annotated-message', { messageType: 'error', includeImage: true }),
  links: call('get-resource-links', { count: 4 }),
  embedded: call('get-resource-reference', { resourceType: 'Blob', resourceId: 2 }),
  // Long enough that on a busy machine the second step does not arrive with the answer.
  progress: progressing('trigger-long-running-operation', { duration: 0.5, steps: 3 }),
  sampling: asking('sampling/createMessage', 'trigger-sampling-request', { prompt: 'hello', maxTokens: 5 }),
  elicitation: asking('elicitation/create', 'trigger-elicitation-request'),
  cancelled: cancelling('trigger-long-running-operation', { duration: 60, steps: 600 }),
  'static resource': read('demo://resource/static/document/architecture.md'),
  'text resource': read('demo://resource/dynamic/text/7'),
  'blob resource': read('demo://resource/dynamic/blob/7'),
  'no such resource': async (peer) => Object.keys(await peer.ask('resources/read', { uri: 'demo://none' })),
  'simple prompt': get('simple-prompt'),
  'prompt with arguments': get('args-prompt', { city: 'Oslo', state: 'calm' }),
  'prompt with a resource': get('resource-prompt', { resourceType: 'Text', resourceId: '3' }),
  'no such prompt': async (peer) => Object.keys((await get('none')(peer, { folder: '' })) as Answer),
  'completion of a prompt': (peer) =>
    peer.ask('completion/complete', {
      ref: { type: 'ref/prompt', name: 'completable-prompt' },
      argument: { name: 'name', value: 'A' },
      context: { arguments: { department: 'Engineering' } },
    }),
  'completion of a template': (peer) =>
    peer.ask('completion/complete', {
      ref: { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' },
      argument: { name: 'resourceId', value: '12' },
    }),
  'list changed': async (peer) => {
    await peer.watch(['demo://resource/dynamic/text/1'])
    const args = { name: 'a.gz', data: 'data:text/plain,hello', outputType: 'resourceLink' }
    const answer = await peer.ask('tools/call', { name: 'gzip-file-as-resource', arguments: args })
    await peer.hears('notifications/resources/list_changed')
    return { answer, resource: await peer.ask('resources/read', { uri: 'demo://resource/session/a.gz' }) }
  },
  subscription: async (peer) => {
    const answer = await peer.ask('tools/call', { name: 'toggle-subscriber-updates', arguments: {} })
    await peer.hears('notifications/resources/updated', ({ uri }) => uri === 'demo://resource/dynamic/text/1')
    await peer.ask('tools/call', { name: 'toggle-subscriber-updates', arguments: {} })
    return answer
  },
  logging: async (peer) => {
    if (peer.kind === 'v2 modern') return undefined
    const set = await peer.ask('logging/setLevel', { level: 'debug' })
    await peer.ask('resources/unsubscribe', { uri: 'demo://resource/dynamic/text/1' })
    await peer.hears('notifications/message', ({ data }) => String(data).startsWith('Received Unsubscribe'))
    return set
  },
  ping: (peer) => (peer.kind === 'v2 modern' ? Promise.resolve(undefined) : peer.ask('ping')),
}

const inFolder =
  (name: string, path: string, more: object = {}): Step =>
  (peer, { folder }) =>
    peer.ask('tools/call', { name, arguments: { path: `${folder}/${path}`, ...more } })

const filesystem: Readonly<Record<string, Step>> = {
  tools: list('tools/list'),
  allowed: call('list_allowed_directories'),
  write: inFolder('write_file', 'new.txt', { content: 'first\nsecond\nthird\n' }),
  read: inFolder('read_text_file', 'new.txt', { head: 2 }),
  'read a picture': inFolder('read_media_file', 'pixel.png'),
  'dry edit': inFolder('edit_file', 'new.txt', {
    edits: [{ oldText: 'second', newText: '2nd' }],
    dryRun: true,
  }),
  tree: inFolder('directory_tree', ''),
  search: inFolder('search_files', '', { pattern: '**/*.txt' }),
  'read nothing': inFolder('read_text_file', 'missing.txt'),
  'read outside': call('read_text_file', { path: '/etc/hostname' }),
}

const memory: Readonly<Record<string, Step>> = {
  tools: list('tools/list'),
  create: call('create_entities', {
    entities: [
      { name: 'Ada', entityType: 'person', observations: ['writes programs'] },
      { name: 'Engine', entityType: 'machine', observations: [] },
    ],
  }),
  relate: call('create_relations', { relations: [{ from: 'Ada', to: 'Engine', relationType: 'programs' }] }),
  observe: call('add_observations', { observations: [{ entityName: 'Ada', contents: ['is from London'] }] }),
  graph: call('read_graph'),
  search: call('search_nodes', { query: 'London' }),
  open: call('open_nodes', { names: ['Engine'] }),
  'observe nobody': call('add_observations', { observations: [{ entityName: 'Nobody', contents: ['x'] }] }),
  forget: call('delete_entities', { entityNames: ['Ada', 'Engine'] }),
  'empty graph': call('read_graph'),
}

const modern: Readonly<Record<string, Step>> = {
  tools: list('tools/list'),
  'first page': list('resources/list'),
  'second page': (peer) => peer.ask('resources/list', { cursor: '2' }),
  'last page': (peer) => peer.ask('resources/list', { cursor: '4' }),
  templates: list('resources/templates/list'),
  prompts: list('prompts/list'),
  echo: call('echo', { text: 'Grüße, 世界 🌍' }),
  structured: call('sum', { numbers: [1, 2.5, -4] }),
  pictures: call('picture'),
  'error of a tool': call('fail'),
  'thrown error': call('throw'),
  elicitation: asking('elicitation/create', 'ask'),
  sampling: asking('sampling/createMessage', 'sample'),
  roots: asking('roots/list', 'roots'),
  progress: progressing('slow', { steps: 3 }),
  cancelled: cancelling('hang', {}),
  'text resource': read('memo:///three'),
  'blob resource': read('pixel:///white'),
  'no such resource': async (peer) => Object.keys(await peer.ask('resources/read', { uri: 'none:///' })),
  prompt: get('greet', { whom: 'Grace' }),
  'completion of a prompt': (peer) =>
    peer.ask('completion/complete', {
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'whom', value: 'A' },
    }),
  'completion of a template': (peer) =>
    peer.ask('completion/complete', {
      ref: { type: 'ref/resource', uri: 'memo:///{name}' },
      argument: { name: 'name', value: 't' },
    }),
  logging: async (peer) => {
    const level = { 'io.modelcontextprotocol/logLevel': 'info' }
    if (peer.kind !== 'v2 modern') await peer.ask('logging/setLevel', { level: 'info' })
    const _meta = peer.kind === 'v2 modern' ? level : {}
    await peer.ask('tools/call', { name: 'slow', arguments: { steps: 1 }, _meta })
    await peer.hears('notifications/message', ({ data }) => data === 'logged step 1')
  },
  'list changed': async (peer) => {
    await peer.watch(['memo:///one'])
    const answer = await peer.ask('tools/call', { name: 'grow', arguments: {} })
    await peer.hears('notifications/tools/list_changed')
    await peer.ask('tools/call', { name: 'grow', arguments: {} })
    return answer
  },
  subscription: async (peer) => {
    const answer = await peer.ask('tools/call', { name: 'touch', arguments: { uri: 'memo:///one' } })
    await peer.hears('notifications/resources/updated', ({ uri }) => uri === 'memo:///one')
    return answer
  },
}

/** The script of each server. */
export const SCRIPTS: Readonly<Record<ServerName, Readonly<Record<string, Step>>>> = {
  everything,
  filesystem,
  memory,
  modern,
}

/** Runs every step of a script and returns the results by step. */
export async function play(peer: Peer, script: ServerName, scene: Scene): Promise<Record<string, unknown>> {
  const saw: Record<string, unknown> = {}
  for (const [name, step] of Object.entries(SCRIPTS[script])) {
    const patience = new Promise<string>((resolve) => setTimeout(resolve, 15_000, 'nothing came').unref())
    const seen = await Promise.race([step(peer, scene), patience])
    if (seen !== undefined) saw[name] = plain(seen)
  }
  return saw
}

// Members that a protocol adds to every result, and a legacy member about tasks.
const ENVELOPE = new Set(['resultType', 'ttlMs', 'cacheScope', 'execution'])
const OURS = /^(?:dev\.tollgate\/|io\.modelcontextprotocol\/(?:serverInfo|subscriptionId)$)/

/** A value without members of the protocol or the gateway, and without times. */
function plain(value: unknown): unknown {
  if (typeof value === 'string') return plainText(value)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
    .filter(([name, member]) => member !== undefined && !ENVELOPE.has(name) && !OURS.test(name))
    .filter(([name, member]) => !(name === 'mode' && member === 'form'))
    .map(([name, member]) => [name, plain(member)] as const)
    .filter(([name, member]) => !(name === '_meta' && Object.keys(member as object).length === 0))
  return Object.fromEntries(members)
}

/** A text without times; JSON is compared as a value. */
function plainText(text: string): unknown {
  if (/^\{.*\}$/s.test(text)) return plain(JSON.parse(text))
  const decoded = /^[A-Za-z0-9+/]{40,}={0,2}$/.test(text)
    ? Buffer.from(text, 'base64').toString('latin1')
    : ''
  const known = decoded.startsWith('Resource ') ? decoded : text
  return known.replaceAll(/\d{1,2}:\d\d:\d\d(?: [AP]M)?/g, 'TIME').replaceAll(/session \S+/g, 'session')
}
