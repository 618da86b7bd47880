// Every message of the protocol in all supported revisions and both directions, and its handling. A message without a row is
// refused. `methods.test.ts` compares these tables with the schemas of the official SDKs and with the behaviour.

/**
 * The handling of a message. `governed`: it is judged, with a decision and a receipt. `answered`: the gateway answers it or
 * acts on it itself. `refused`: it is answered with an error; a notification is dropped.
 */
type Handling = 'governed' | 'answered' | 'refused'

/**
 * The handling of a field. `judged`: the policy, inspection or a person decides on it. `rewritten`: only words of the protocol
 * or of the gateway are forwarded. `bounded`: it is forwarded within limits of form and length, without findings. `dropped`: it
 * is not forwarded, or the message is refused. `recorded`: it is forwarded without inspection; the receipt of the effect has
 * its hash.
 */
export type FieldHandling = 'judged' | 'rewritten' | 'bounded' | 'dropped' | 'recorded'

type MethodFields = Readonly<Record<string, FieldHandling>>

type Table = Readonly<Record<string, MethodRow>>

/** The handling of a message and its fields. */
interface MethodRow {
  readonly then: Handling
  /** Members of `params`. */
  readonly params: MethodFields
  /** Members of the result. */
  readonly result?: MethodFields
}

const TASK = { _meta: 'dropped', taskId: 'dropped' } as const
const REFUSED_TASK = { then: 'refused', params: TASK } as const
const PAGE = { _meta: 'dropped', cursor: 'bounded' } as const
const ONLY_META = { _meta: 'dropped' } as const

/** Requests of clients. */
export const CLIENT_REQUESTS: Table = {
  'tools/call': {
    then: 'governed',
    params: { _meta: 'rewritten', name: 'judged', arguments: 'judged', task: 'dropped' },
    result: {
      _meta: 'judged',
      content: 'judged',
      structuredContent: 'judged',
      isError: 'judged',
      task: 'judged',
    },
  },
  'resources/read': {
    then: 'governed',
    params: { _meta: 'rewritten', uri: 'judged' },
    result: { _meta: 'judged', contents: 'judged' },
  },
  'prompts/get': {
    then: 'governed',
    params: { _meta: 'rewritten', name: 'judged', arguments: 'judged' },
    result: { _meta: 'judged', description: 'judged', messages: 'judged' },
  },
  'completion/complete': {
    then: 'governed',
    params: { _meta: 'rewritten', ref: 'judged', argument: 'judged', context: 'judged' },
    result: { _meta: 'judged', completion: 'judged' },
  },
  'resources/subscribe': {
    then: 'governed',
    params: { _meta: 'dropped', uri: 'judged' },
    result: ONLY_META,
  },
  'resources/unsubscribe': {
    then: 'governed',
    params: { _meta: 'dropped', uri: 'judged' },
    result: ONLY_META,
  },
  // Each resource in it is judged as `resources/subscribe`.
  'subscriptions/listen': {
    then: 'answered',
    params: { _meta: 'dropped', notifications: 'judged' },
    result: ONLY_META,
  },
  'tools/list': {
    then: 'answered',
    params: PAGE,
    result: { _meta: 'dropped', nextCursor: 'bounded', tools: 'judged' },
  },
  'prompts/list': {
    then: 'answered',
    params: PAGE,
    result: { _meta: 'dropped', nextCursor: 'bounded', prompts: 'bounded' },
  },
  'resources/list': {
    then: 'answered',
    params: PAGE,
    result: { _meta: 'dropped', nextCursor: 'bounded', resources: 'bounded' },
  },
  'resources/templates/list': {
    then: 'answered',
    params: PAGE,
    result: { _meta: 'dropped', nextCursor: 'bounded', resourceTemplates: 'bounded' },
  },
  initialize: {
    then: 'answered',
    params: {
      _meta: 'dropped',
      protocolVersion: 'rewritten',
      capabilities: 'rewritten',
      clientInfo: 'dropped',
    },
    result: {
      _meta: 'dropped',
      protocolVersion: 'rewritten',
      capabilities: 'rewritten',
      serverInfo: 'judged',
      instructions: 'judged',
    },
  },
  'server/discover': {
    then: 'answered',
    params: { _meta: 'rewritten' },
    result: {
      _meta: 'rewritten',
      supportedVersions: 'rewritten',
      capabilities: 'rewritten',
      instructions: 'judged',
    },
  },
  'logging/setLevel': {
    then: 'answered',
    params: { _meta: 'dropped', level: 'rewritten' },
    result: ONLY_META,
  },
  ping: { then: 'answered', params: ONLY_META, result: ONLY_META },
  'tasks/get': REFUSED_TASK,
  'tasks/result': REFUSED_TASK,
  'tasks/cancel': REFUSED_TASK,
  'tasks/list': { then: 'refused', params: { _meta: 'dropped', cursor: 'dropped' } },
}

/** Requests of servers. The server writes the parameters, the client writes the results, and the receipt has their hash. */
export const SERVER_REQUESTS: Table = {
  'sampling/createMessage': {
    then: 'governed',
    params: {
      _meta: 'dropped',
      task: 'judged',
      messages: 'judged',
      modelPreferences: 'judged',
      systemPrompt: 'judged',
      includeContext: 'judged',
      temperature: 'judged',
      maxTokens: 'judged',
      stopSequences: 'judged',
      metadata: 'judged',
      tools: 'judged',
      toolChoice: 'judged',
    },
    result: {
      _meta: 'recorded',
      model: 'recorded',
      stopReason: 'recorded',
      role: 'recorded',
      content: 'recorded',
    },
  },
  'elicitation/create': {
    then: 'governed',
    params: {
      _meta: 'dropped',
      task: 'judged',
      mode: 'judged',
      message: 'judged',
      requestedSchema: 'judged',
      elicitationId: 'judged',
      url: 'judged',
    },
    result: { _meta: 'recorded', action: 'recorded', content: 'recorded' },
  },
  'roots/list': { then: 'governed', params: ONLY_META, result: { _meta: 'recorded', roots: 'recorded' } },
  ping: { then: 'answered', params: ONLY_META, result: ONLY_META },
  'tasks/get': REFUSED_TASK,
  'tasks/result': REFUSED_TASK,
  'tasks/cancel': REFUSED_TASK,
  'tasks/list': { then: 'refused', params: { _meta: 'dropped', cursor: 'dropped' } },
}

const TASK_STATUS = {
  then: 'refused',
  params: {
    _meta: 'dropped',
    taskId: 'dropped',
    status: 'dropped',
    ttl: 'dropped',
    createdAt: 'dropped',
    lastUpdatedAt: 'dropped',
    pollInterval: 'dropped',
    statusMessage: 'dropped',
  },
} as const
const CANCELLED = {
  then: 'answered',
  params: { _meta: 'dropped', requestId: 'rewritten', reason: 'dropped' },
} as const

/** Notifications of clients. */
export const CLIENT_NOTIFICATIONS: Table = {
  'notifications/cancelled': CANCELLED,
  'notifications/initialized': { then: 'answered', params: ONLY_META },
  'notifications/roots/list_changed': { then: 'answered', params: ONLY_META },
  'notifications/progress': {
    then: 'refused',
    params: {
      _meta: 'dropped',
      progress: 'dropped',
      total: 'dropped',
      message: 'dropped',
      progressToken: 'dropped',
    },
  },
  'notifications/tasks/status': TASK_STATUS,
}

/** Notifications of servers. */
export const SERVER_NOTIFICATIONS: Table = {
  'notifications/cancelled': {
    ...CANCELLED,
    then: 'refused',
    params: { ...CANCELLED.params, requestId: 'dropped' },
  },
  'notifications/progress': {
    then: 'answered',
    params: {
      _meta: 'dropped',
      progress: 'bounded',
      total: 'bounded',
      message: 'bounded',
      progressToken: 'rewritten',
    },
  },
  'notifications/message': {
    then: 'answered',
    params: { _meta: 'dropped', level: 'rewritten', logger: 'bounded', data: 'bounded' },
  },
  'notifications/resources/updated': { then: 'answered', params: { _meta: 'dropped', uri: 'judged' } },
  'notifications/resources/list_changed': { then: 'answered', params: ONLY_META },
  'notifications/tools/list_changed': { then: 'answered', params: ONLY_META },
  'notifications/prompts/list_changed': { then: 'answered', params: ONLY_META },
  'notifications/elicitation/complete': {
    then: 'answered',
    params: { _meta: 'dropped', elicitationId: 'judged' },
  },
  'notifications/subscriptions/acknowledged': {
    then: 'refused',
    params: { _meta: 'dropped', notifications: 'dropped' },
  },
  'notifications/tasks/status': TASK_STATUS,
}

/** The handling of the members of listed items. Members without a row are dropped. */
export const OFFERED: Readonly<Record<string, MethodFields>> = {
  prompts: {
    name: 'bounded',
    title: 'bounded',
    description: 'bounded',
    arguments: 'bounded',
    icons: 'dropped',
    _meta: 'dropped',
  },
  resources: {
    uri: 'bounded',
    name: 'bounded',
    title: 'bounded',
    description: 'bounded',
    mimeType: 'bounded',
    size: 'bounded',
    annotations: 'bounded',
    icons: 'dropped',
    _meta: 'dropped',
  },
  resourceTemplates: {
    uriTemplate: 'bounded',
    name: 'bounded',
    title: 'bounded',
    description: 'bounded',
    mimeType: 'bounded',
    annotations: 'bounded',
    icons: 'dropped',
    _meta: 'dropped',
  },
  // An approved tool is listed as it was approved. Of another tool only the name is listed, if it has no findings.
  tools: {
    name: 'bounded',
    title: 'judged',
    description: 'judged',
    inputSchema: 'judged',
    outputSchema: 'judged',
    annotations: 'judged',
    execution: 'judged',
    icons: 'judged',
    _meta: 'judged',
  },
}

/** Keys of a request's `_meta`, and the matching headers. */
export const CLIENT_META: MethodFields = {
  traceparent: 'bounded',
  tracestate: 'dropped',
  baggage: 'dropped',
  progressToken: 'rewritten',
  'io.modelcontextprotocol/protocolVersion': 'rewritten',
  'io.modelcontextprotocol/clientCapabilities': 'rewritten',
  'io.modelcontextprotocol/clientInfo': 'dropped',
  'io.modelcontextprotocol/logLevel': 'rewritten',
  'io.modelcontextprotocol/subscriptionId': 'dropped',
  'io.modelcontextprotocol/related-task': 'dropped',
}

/** The row of a message; undefined if there is none. */
export function rowOf(table: Table, method: string): MethodRow | undefined {
  return Object.hasOwn(table, method) ? table[method] : undefined
}
