// Fuzzer for model replies: whatever the mutation, nothing of a denied call may leave.

import { clearTimeout, setTimeout } from 'node:timers'
import { canonicalize, parseJson, type Json, type JsonObject } from '@tollgate/evidence'
import { anthropicMessages } from '../../src/llm/anthropic/anthropic.ts'
import { Garbled, type Dialect, type Judge, type ProposedCall, type Ruling } from '../../src/llm/dialect.ts'
import { geminiStream } from '../../src/llm/gemini/gemini.ts'
import { openaiChat } from '../../src/llm/openai-chat/openai-chat.ts'
import { openaiResponses } from '../../src/llm/openai-responses/openai-responses.ts'
import { pump } from '../../src/llm/pump.ts'
import { LlmUpstreamFault } from '../../src/llm/upstream.ts'
import { BLOCKS, ITEM_EVENTS, ITEMS, OTHER_EVENTS } from './places.ts'
import { createAnthropicWire } from './upstream-anthropic.ts'
import { createChatWire } from './upstream-chat.ts'
import { createGeminiWire } from './upstream-gemini.ts'
import { createResponsesWire } from './upstream-responses.ts'
import { isObject, objectsIn, textIn, type ScriptedCall, type Spoken, type Wire } from './upstream-script.ts'

// Reproducible randomness.

/** A pseudo-random generator with a seed. */
export interface Random {
  /** An integer from 0 to below `limit`. */
  below(limit: number): number
  /** True once in so many times. */
  once(times: number): boolean
  of<T>(list: readonly T[]): T
}

/** Chance from a seed. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const below = (limit: number): number => next() % limit
  return {
    below,
    once: (times) => below(times) === 0,
    of<T>(list: readonly T[]): T {
      if (list.length === 0) throw new Error('there is nothing to choose from')
      // Sound: the index is within the list.
      return list[below(list.length)] as T
    },
  }
}

// The canary.

const LATIN = 'QXZJK'
const GREEK = 'αβγδεζηθ'
/** Occurs only in the arguments of denied calls. Small, because a canary may leave in pieces. */
const EXACT = /[QXZJK]{3}|[α-ω]|\\u03[bc]/u

/** Any four consecutive letters of a canary. */
export function piecesOf(canary: string): RegExp {
  const pieces = Array.from({ length: canary.length - 3 }, (_, at) => canary.slice(at, at + 4))
  return new RegExp(pieces.join('|'))
}

/** The place where a text holds it: as plain text, in JSON strings, or across consecutive strings of one place. */
export function leaksIn(text: string, mark: RegExp): string[] {
  const found = mark.test(text) ? ['as it stands'] : []
  const strings = new Map<string, string>()
  const put = (path: string, each: string): void => void strings.set(path, (strings.get(path) ?? '') + each)
  for (const value of valuesIn(text)) {
    gather(value, '', put)
    // Also searches interleaved calls one by one.
    gather(value, '#', put, (path, { index }) => (typeof index === 'number' ? `${path}#${index}` : path))
  }
  for (const [path, joined] of strings) if (mark.test(joined)) found.push(path)
  return found
}

function gather(
  value: unknown,
  path: string,
  put: (path: string, text: string) => void,
  placeOf: (path: string, value: Readonly<Record<string, unknown>>) => string = (same) => same,
): void {
  if (typeof value === 'string') put(path, value)
  if (typeof value !== 'object' || value === null) return
  // Sound: it is a JSON object.
  const place = placeOf(path, value as Readonly<Record<string, unknown>>)
  for (const [name, member] of Object.entries(value)) {
    put('(names)', `${name}\n`)
    gather(member, Array.isArray(value) ? place : `${place}.${name}`, put, placeOf)
  }
}

function valuesIn(text: string): unknown[] {
  const whole = readable(text)
  if (whole !== undefined) return [whole]
  return text.split('\n').flatMap((line) => {
    const value = line.startsWith('data:') ? readable(line.slice('data:'.length)) : undefined
    return value === undefined ? [] : [value]
  })
}

function readable(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// JSON that can be mutated: members may repeat, and a value may be any text.

type Node = Leaf | List | Members
interface Leaf {
  readonly kind: 'leaf'
  /** The JSON text. */
  text: string
}
interface List {
  readonly kind: 'list'
  items: Node[]
}
interface Members {
  readonly kind: 'members'
  pairs: { name: string; value: Node }[]
}

/** An event on the wire. */
interface Event {
  type: string | undefined
  data: Node
}

const leaf = (text: string): Leaf => ({ kind: 'leaf', text })

function nodeOf(value: Json): Node {
  if (Array.isArray(value)) return { kind: 'list', items: value.map(nodeOf) }
  if (!isObject(value)) return leaf(JSON.stringify(value))
  const pairs = Object.entries(value).map(([name, member]) => ({ name, value: nodeOf(member) }))
  return { kind: 'members', pairs }
}

function textOf(node: Node): string {
  if (node.kind === 'leaf') return node.text
  if (node.kind === 'list') return `[${node.items.map(textOf).join(',')}]`
  return `{${node.pairs.map(({ name, value }) => `${JSON.stringify(name)}:${textOf(value)}`).join(',')}}`
}

function copyOf(node: Node): Node {
  if (node.kind === 'leaf') return leaf(node.text)
  if (node.kind === 'list') return { kind: 'list', items: node.items.map(copyOf) }
  return { kind: 'members', pairs: node.pairs.map(({ name, value }) => ({ name, value: copyOf(value) })) }
}

function objectsWithin(node: Node): Members[] {
  if (node.kind === 'leaf') return []
  if (node.kind === 'list') return node.items.flatMap(objectsWithin)
  return [node, ...node.pairs.flatMap(({ value }) => objectsWithin(value))]
}

/** The objects that a call could be moved into. Texts of the caller are returned unchanged, and are excluded. */
function placesWithin(node: Node): Members[] {
  if (node.kind === 'leaf') return []
  if (node.kind === 'list') return node.items.flatMap(placesWithin)
  const others = node.pairs.filter(({ name }) => name !== 'metadata')
  return [node, ...others.flatMap(({ value }) => placesWithin(value))]
}

const isTainted = (node: Node): boolean => EXACT.test(textOf(node))

// Mutations.

/** Mutates a reply, whether or not the result makes sense. */
type Mutation = (events: Event[], random: Random, pools: Pools) => void

/** Member names of a dialect. */
interface Pools {
  readonly types: readonly string[]
  /** Excludes members whose value is plain text of the model. */
  readonly words: ReadonlySet<string>
  readonly reasons: readonly string[]
}

interface Site {
  readonly event: Event
  readonly holder: Members
  readonly pair: Members['pairs'][number]
}

function sitesIn(events: readonly Event[], fits: (pair: Site['pair']) => boolean): Site[] {
  return events.flatMap((event) =>
    objectsWithin(event.data).flatMap((holder) =>
      holder.pairs.filter(fits).map((pair) => ({ event, holder, pair })),
    ),
  )
}

/** A random member, mostly one of a denied call. */
function siteOf(
  events: readonly Event[],
  random: Random,
  fits: (pair: Site['pair']) => boolean = () => true,
): Site | undefined {
  const tainted = events.filter(({ data }) => isTainted(data))
  const among = tainted.length > 0 && !random.once(3) ? [random.of(tainted)] : events
  const sites = sitesIn(among, fits)
  return sites.length === 0 ? undefined : random.of(sites)
}

/** Members with text of the model or of the upstream, which are never calls. */
const HONEST = [
  'content',
  'text',
  'thinking',
  'refusal',
  'reasoning',
  'reasoning_content',
  'message',
  'summary',
]
const NAMES = [
  ...['arguments', 'input', 'partial_json', 'function', 'custom', 'function_call', 'tool_calls', 'tool_use'],
  ...[
    'call',
    'action',
    'operation',
    'code',
    'queries',
    'result',
    'output',
    'item',
    'logprobs',
    'annotations',
  ],
  ...['call_id', 'name', 'index', 'content_block', 'tools', 'instructions', 'object', 'role', 'choices'],
  ...['__proto__', 'constructor', 'toString', '', 'arguments ', 'Arguments', 'x'],
].filter((name) => !HONEST.includes(name))
const PLACES = ['x', 'tool_calls', 'function_call', 'call', 'arguments', 'input', 'tool_use', 'item', 'tools']
const FURTHER_PLACES = [
  'usage',
  'instructions',
  'logprobs',
  'annotations',
  'reasoning_details',
  'audio',
  'content_block',
]
const NUMBERS = [
  '0',
  '1',
  '2',
  '3',
  '-1',
  '0.5',
  '255',
  '256',
  '1e9',
  '1e308',
  '1e999',
  '9007199254740993',
  '-0',
]
const STRANGE = ['null', 'true', '""', '[]', '{}', '0', '"0"', '[null]', '"\\ud800"']
const IDS = ['call_same', '', 'a'.repeat(600), 'fc_1', 'toolu_1', '\u0000']
/** One is allowed, but not with the canary. */
const TOOLS = ['send_mail', 'wipe', 'read_note', '', 'mcp:x', 'a/b']

const isName = (...names: readonly string[]): ((pair: Site['pair']) => boolean) => {
  return ({ name }) => names.includes(name)
}

function anywhere(events: readonly Event[], random: Random): number {
  return random.below(events.length + 1)
}

/** An event that carries a part of a denied call, if there is one. */
function carrier(events: readonly Event[], random: Random): Event {
  const tainted = events.filter(({ data }) => isTainted(data))
  return random.of(tainted.length > 0 ? tainted : events)
}

function copied({ type, data }: Event): Event {
  return { type, data: copyOf(data) }
}

function nested(node: Node, random: Random): Leaf {
  const depth = random.of([3, 40, 300, 3000, 20_000])
  const [open, close] = random.of([
    ['[', ']'],
    ['{"x":', '}'],
  ])
  return leaf(open.repeat(depth) + textOf(node) + close.repeat(depth))
}

const FOREIGN: readonly ((args: Node) => Node)[] = [
  (args) =>
    wrapped(
      {
        choices: [
          { index: 0, delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'send_mail' } }] } },
        ],
      },
      'arguments',
      args,
    ),
  (args) =>
    wrapped({ type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'a' }, 'delta', args),
  (args) =>
    wrapped(
      {
        type: 'response.output_item.done',
        output_index: 9,
        item: { type: 'function_call', id: 'a', call_id: 'b', name: 'send_mail' },
      },
      'arguments',
      args,
    ),
  (args) =>
    wrapped(
      {
        type: 'content_block_start',
        index: 9,
        content_block: { type: 'tool_use', id: 'a', name: 'send_mail' },
      },
      'input',
      args,
    ),
  (args) =>
    wrapped(
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta' } },
      'partial_json',
      args,
    ),
  (args) => wrapped({ type: 'tool_call' }, 'arguments', args),
  (args) => wrapped({ error: { type: 'tool_use_failed' } }, 'failed_generation', args),
]

/** Puts a value into the innermost object. */
function wrapped(value: Json, name: string, member: Node): Node {
  const node = nodeOf(value)
  objectsWithin(node).at(-1)?.pairs.push({ name, value: member })
  return node
}

/** A value with a part of the arguments. */
function argumentsIn(events: readonly Event[], random: Random): Node {
  const sites = sitesIn(events, ({ value }) => value.kind === 'leaf' && isTainted(value))
  return sites.length === 0 ? leaf('"none"') : copyOf(random.of(sites).pair.value)
}

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  drop(events, random) {
    events.splice(random.below(events.length), 1)
  },
  'drop several': (events, random) => {
    events.splice(random.below(events.length), 1 + random.below(6))
  },
  twice(events, random) {
    const at = random.below(events.length)
    events.splice(random.once(2) ? at : anywhere(events, random), 0, copied(random.of(events)))
  },
  'a piece twice': (events, random) => {
    events.splice(anywhere(events, random), 0, copied(carrier(events, random)))
  },
  again(events, random) {
    const copy = carrier(events, random)
    const at = events.indexOf(copy)
    events.splice(at, 0, ...Array.from({ length: 1 + random.below(4) }, () => copied(copy)))
  },
  move(events, random) {
    const [moved] = events.splice(random.below(events.length), 1)
    if (moved) events.splice(anywhere(events, random), 0, moved)
  },
  reverse(events, random) {
    const from = random.below(events.length)
    const length = 2 + random.below(6)
    events.splice(from, length, ...events.slice(from, from + length).reverse())
  },
  cut(events, random) {
    events.length = 1 + random.below(events.length)
  },
  late(events, random) {
    events.push(copied(carrier(events, random)))
  },
  'all again': (events) => {
    events.push(...events.map(copied))
  },
  foreign(events, random) {
    const data = random.of(FOREIGN)(argumentsIn(events, random))
    events.splice(anywhere(events, random), 0, { type: undefined, data })
  },
  'unknown event': (events, random) => {
    const event = copied(carrier(events, random))
    const type = random.of(['tool_call', 'thing', 'response.thing', 'ping', 'keepalive', 'call_delta'])
    for (const holder of objectsWithin(event.data).slice(0, 1)) {
      holder.pairs = [
        { name: 'type', value: leaf(JSON.stringify(type)) },
        ...holder.pairs.filter(({ name }) => name !== 'type'),
      ]
    }
    events.splice(anywhere(events, random), 0, { ...event, type })
  },
  'type on the wire': (events, random) => {
    random.of(events).type = random.of([undefined, 'message', 'ping', 'tool_call', 'content_block_start'])
  },
  number(events, random) {
    const site = siteOf(events, random, ({ value }) => value.kind === 'leaf' && /^-?\d/.test(value.text))
    if (site) site.pair.value = leaf(random.of(NUMBERS))
  },
  index(events, random) {
    const site = siteOf(events, random, isName('index', 'output_index', 'content_index'))
    if (site) site.pair.value = leaf(random.of(NUMBERS.slice(0, 4)))
  },
  id(events, random) {
    const site = siteOf(events, random, isName('id', 'call_id', 'item_id'))
    const others = sitesIn(events, isName('id', 'call_id', 'item_id')).filter(
      ({ pair }) => !isTainted(pair.value),
    )
    if (!site) return
    site.pair.value =
      others.length > 0 && random.once(2)
        ? copyOf(random.of(others).pair.value)
        : leaf(JSON.stringify(random.of(IDS)))
  },
  name(events, random) {
    const site = siteOf(events, random, isName('name'))
    if (site) site.pair.value = leaf(JSON.stringify(random.of(TOOLS)))
  },
  type(events, random, { types, words }) {
    const site = siteOf(events, random, isName('type'))
    if (!site) return
    const isOpen = !isTainted(site.event.data)
    const type = random.of(types.filter((each) => isOpen || !words.has(each)))
    site.pair.value = leaf(JSON.stringify(type))
    if (site.event.type !== undefined && objectsWithin(site.event.data)[0] === site.holder)
      site.event.type = type
  },
  reason(events, random, { reasons }) {
    const site = siteOf(events, random, isName('finish_reason', 'stop_reason', 'status', 'finishReason'))
    if (site) site.pair.value = leaf(random.once(5) ? random.of(STRANGE) : JSON.stringify(random.of(reasons)))
  },
  'another value': (events, random) => {
    const site = siteOf(events, random)
    if (site) site.pair.value = leaf(random.of(STRANGE))
  },
  'a list of it': (events, random) => {
    const site = siteOf(events, random)
    if (site) site.pair.value = { kind: 'list', items: [site.pair.value] }
  },
  'an object of it': (events, random) => {
    const site = siteOf(events, random)
    if (site)
      site.pair.value = { kind: 'members', pairs: [{ name: random.of(NAMES), value: site.pair.value }] }
  },
  'a text of it': (events, random) => {
    const site = siteOf(events, random, ({ name }) => !HONEST.includes(name))
    if (site) site.pair.value = leaf(JSON.stringify(textOf(site.pair.value)))
  },
  'out of its list': (events, random) => {
    const site = siteOf(events, random, ({ value }) => value.kind === 'list' && value.items.length > 0)
    if (site?.pair.value.kind === 'list') site.pair.value = random.of(site.pair.value.items)
  },
  rename(events, random) {
    const site = siteOf(events, random)
    if (site) site.pair.name = random.of(NAMES)
  },
  remove(events, random) {
    const site = siteOf(events, random)
    if (site) site.holder.pairs.splice(site.holder.pairs.indexOf(site.pair), 1)
  },
  'the member twice': (events, random) => {
    const site = siteOf(events, random)
    if (!site) return
    const value = random.once(2) ? copyOf(site.pair.value) : leaf(random.of(STRANGE))
    const at = site.holder.pairs.indexOf(site.pair)
    site.holder.pairs.splice(random.once(2) ? at : at + 1, 0, { name: site.pair.name, value })
  },
  'moved elsewhere': (events, random) => {
    const site = siteOf(events, random, ({ value }) => isTainted(value))
    const into = placesWithin(random.of(events).data)
    if (!site || into.length === 0) return
    const value = copyOf(site.pair.value)
    random.of(into).pairs.push({ name: random.of([...PLACES, ...FURTHER_PLACES]), value })
    if (random.once(2)) site.holder.pairs.splice(site.holder.pairs.indexOf(site.pair), 1)
  },
  deep(events, random) {
    const site = siteOf(events, random)
    if (site) site.pair.value = nested(site.pair.value, random)
  },
}

// Serialization.

type OnTheWire = (text: string, random: Random) => string

const WIRES: Readonly<Record<string, OnTheWire>> = {
  'CR LF': (text) => text.replaceAll('\n', '\r\n'),
  CR: (text) => text.replaceAll('\n', '\r'),
  'all kinds of line ends': (text, random) => text.replaceAll('\n', () => random.of(['\n', '\r\n', '\r'])),
  'a mark of byte order': (text) => `\uFEFF${text}`,
  'comments that hold it': (text) => text.replaceAll('\n\n', `\n: ${LATIN}${GREEK}\n\n: ${LATIN}\n\n`),
  'other fields that hold it': (text) => text.replaceAll('\ndata:', `\nid: ${LATIN}\nretry: ${GREEK}\ndata:`),
  'several lines of data': (text, random) =>
    text.replaceAll(',"', () => (random.once(3) ? ',\ndata:"' : ',"')),
  'no space before data': (text) => text.replaceAll('data: ', 'data:'),
  'no JSON': (text, random) => {
    const at = random.below(text.length)
    return text.slice(0, at) + random.of(['', '"', '}', '\\', '\u0000', ',']) + text.slice(at + 1)
  },
  'an end anywhere': (text, random) => text.slice(0, random.below(text.length + 1)),
  'escaped letters': (text, random) =>
    text.replaceAll(/[QXZJKα-ω]/gu, (letter) =>
      random.once(2) ? letter : `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
}

function wireText(events: readonly Event[]): string {
  return events
    .map(({ type, data }) => `${type === undefined ? '' : `event: ${type}\n`}data: ${textOf(data)}\n\n`)
    .join('')
}

function spoilt(bytes: Buffer, random: Random): Buffer {
  if (bytes.length > 0) bytes[random.below(bytes.length)] = random.of([0xff, 0xc0, 0x80, 0xed])
  return bytes
}

function* chunksOf(bytes: Buffer, most: number, random: Random): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length;) {
    const size = 1 + random.below(most)
    yield bytes.subarray(from, from + size)
    from += size
  }
}

async function* bodyOf(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  await Promise.resolve()
  yield* chunks
}

// Dialects and judges.

/** A forwarded call. */
interface Called {
  readonly tool: string
  /** Canonical JSON. */
  readonly args: string
  readonly ref: string | undefined
}

/** The output, as a client of the dialect would read it. */
interface Read {
  readonly calls: readonly Called[]
  /** Values that a client could take for a call, but that were not judged. */
  readonly strange: readonly string[]
}

/** A dialect under test. */
export interface Subject {
  readonly name: string
  readonly dialect: Pick<Dialect, 'openStream' | 'governReply'>
  readonly wire: () => Wire
  readonly forms: readonly ScriptedCall['form'][]
  readonly pools: Pools
  read(values: readonly JsonObject[]): Read
}

const ALLOWED = ['read_note', 'list_notes']
const DENIED = ['send_mail', 'wipe']

/** Allows by tool name everything without the canary. */
class FuzzJudge implements Judge {
  readonly allowed: Called[] = []
  refused = 0

  judge(proposals: readonly ProposedCall[]): Promise<readonly Ruling[]> {
    return Promise.resolve(proposals.map((proposal) => this.#rule(proposal)))
  }

  ran(): boolean {
    return false
  }

  #rule({ tool, args, ref }: ProposedCall): Ruling {
    const canonical = canonicalOf(args)
    const isClean = canonical !== undefined && !EXACT.test(`${canonical}${tool ?? ''}${ref ?? ''}`)
    if (tool === undefined || !ALLOWED.includes(tool) || !isClean) {
      this.refused++
      return { allowed: false, code: 'POLICY_VIOLATION', text: 'Refused.', receipt: `rc-${this.refused}` }
    }
    // A call that is referred to by function name has no id on the wire.
    this.allowed.push({ tool, args: canonical, ref: ref?.startsWith('function:') === true ? undefined : ref })
    return { allowed: true, args: canonical }
  }
}

function canonicalOf(args: string | JsonObject): string | undefined {
  try {
    const value = typeof args === 'string' ? parseJson(args) : args
    return isObject(value) ? canonicalize(value) : undefined
  } catch {
    return undefined
  }
}

function calledBy(name: Json | undefined, args: string, ref: Json | undefined): Called {
  return {
    tool: textIn(name),
    args: canonicalOf(args) ?? args,
    ref: typeof ref === 'string' ? ref : undefined,
  }
}

const inputOf = (input: Json | undefined): string => JSON.stringify({ input: input ?? null })

function chatCall(entry: JsonObject): Called {
  if (isObject(entry.custom)) return calledBy(entry.custom.name, inputOf(entry.custom.input), entry.id)
  const part = isObject(entry.function) ? entry.function : {}
  return calledBy(part.name, textIn(part.arguments), entry.id)
}

function readChat(values: readonly JsonObject[]): Read {
  const messages = values
    .flatMap(({ choices }) => objectsIn(choices))
    .flatMap(({ delta, message }) => objectsIn([delta ?? null, message ?? null]))
  const legacy = messages.flatMap(({ function_call: call }) => (isObject(call) ? [call] : []))
  return {
    calls: [
      ...messages.flatMap(({ tool_calls }) => objectsIn(tool_calls)).map(chatCall),
      ...legacy.map((call) => calledBy(call.name, textIn(call.arguments), undefined)),
    ],
    strange: [],
  }
}

const ITEM_WORDS = ['message', 'reasoning', 'compaction']

function itemCall({ type, name, arguments: args, input, call_id }: JsonObject): Called {
  return calledBy(name, type === 'custom_tool_call' ? inputOf(input) : textIn(args), call_id)
}

function readResponses(values: readonly JsonObject[]): Read {
  const isCall = ({ type }: JsonObject): boolean => type === 'function_call' || type === 'custom_tool_call'
  const streamed = values.flatMap(({ type, item }) =>
    type === 'response.output_item.done' && isObject(item) ? [item] : [],
  )
  const last = values.flatMap((value) => (isObject(value.response) ? objectsIn(value.response.output) : []))
  const isWhole = values.some(({ object }) => object === 'response')
  const items = isWhole ? values.flatMap(({ output }) => objectsIn(output)) : streamed
  const known = new Set(items.map((item) => JSON.stringify(item)))
  return {
    calls: items.filter(isCall).map(itemCall),
    strange: [
      ...items.filter((item) => !isCall(item) && !ITEM_WORDS.includes(textIn(item.type))),
      ...last.filter((item) => !ITEM_WORDS.includes(textIn(item.type)) && !known.has(JSON.stringify(item))),
    ].map((item) => JSON.stringify(item)),
  }
}

const BLOCK_WORDS = ['text', 'thinking', 'redacted_thinking', 'compaction', 'fallback']

function readMessages(values: readonly JsonObject[]): Read {
  const all: { block: JsonObject; text: string }[] = []
  const open = new Map<string, { block: JsonObject; text: string }>()
  for (const { type, index, content_block, delta, content } of values) {
    const at = JSON.stringify(index ?? null)
    if (type === 'content_block_start' && isObject(content_block)) {
      const begun = { block: content_block, text: '' }
      open.set(at, begun)
      all.push(begun)
    }
    const begun = open.get(at)
    if (begun && isObject(delta)) begun.text += textIn(delta.partial_json)
    for (const block of objectsIn(content)) all.push({ block, text: JSON.stringify(block.input ?? null) })
  }
  const isCall = ({ block }: { block: JsonObject }): boolean => block.type === 'tool_use'
  return {
    calls: all.filter(isCall).map(({ block, text }) => calledBy(block.name, text, block.id)),
    strange: all
      .filter((each) => !isCall(each) && !BLOCK_WORDS.includes(textIn(each.block.type)))
      .map(({ block }) => JSON.stringify(block)),
  }
}

const PART_WORDS = ['text', 'thought', 'thoughtSignature', 'inlineData']

function readGemini(values: readonly JsonObject[]): Read {
  const parts = values
    .flatMap(({ candidates }) => objectsIn(candidates))
    .flatMap(({ content }) => (isObject(content) ? objectsIn(content.parts) : []))
  const isCall = (part: JsonObject): boolean => 'functionCall' in part
  return {
    // The gateway refers to them by name.
    calls: parts.filter(isCall).map(({ functionCall: call }) => {
      const { name, args } = isObject(call) ? call : {}
      return calledBy(name, JSON.stringify(args ?? null), undefined)
    }),
    strange: parts
      .filter((part) => !isCall(part) && !Object.keys(part).every((name) => PART_WORDS.includes(name)))
      .map((part) => JSON.stringify(part)),
  }
}

const RESPONSE_TYPES = [...Object.keys(ITEMS), ...ITEM_WORDS, ...Object.keys(ITEM_EVENTS), ...OTHER_EVENTS]
const MESSAGE_TYPES = [
  ...Object.keys(BLOCKS),
  ...BLOCK_WORDS,
  ...['message_start', 'message_delta', 'message_stop', 'content_block_start', 'content_block_delta'],
  ...[
    'content_block_stop',
    'ping',
    'error',
    'input_json_delta',
    'text_delta',
    'thinking_delta',
    'citations_delta',
  ],
]
const WORDY = /output_text|refusal|reasoning|content_part|summary|^error$/

/** The dialects. */
export const SUBJECTS: readonly Subject[] = [
  {
    name: 'chat',
    dialect: openaiChat,
    wire: createChatWire,
    forms: ['function', 'function', 'custom', 'legacy'],
    pools: {
      types: ['function', 'custom', 'shell', 'tool_use', 'mcp', ''],
      words: new Set(),
      reasons: ['stop', 'length', 'tool_calls', 'function_call', 'content_filter', 'thing', ''],
    },
    read: readChat,
  },
  {
    name: 'responses',
    dialect: openaiResponses,
    wire: createResponsesWire,
    forms: ['function', 'function', 'custom'],
    pools: {
      types: RESPONSE_TYPES,
      words: new Set([...RESPONSE_TYPES.filter((type) => WORDY.test(type)), ...ITEM_WORDS]),
      reasons: ['completed', 'incomplete', 'in_progress', 'failed', 'thing', ''],
    },
    read: readResponses,
  },
  {
    name: 'messages',
    dialect: anthropicMessages,
    wire: createAnthropicWire,
    forms: ['function'],
    pools: {
      types: MESSAGE_TYPES,
      words: new Set([...BLOCK_WORDS, 'error']),
      reasons: ['end_turn', 'tool_use', 'max_tokens', 'stop_sequence', 'pause_turn', 'refusal', 'thing'],
    },
    read: readMessages,
  },
  {
    name: 'gemini',
    dialect: geminiStream,
    wire: createGeminiWire,
    forms: ['function'],
    pools: {
      types: ['functionCall', 'text', 'MALFORMED_FUNCTION_CALL', ''],
      words: new Set(),
      reasons: ['STOP', 'MAX_TOKENS', 'MALFORMED_FUNCTION_CALL', 'FINISH_REASON_UNSPECIFIED', 'thing', ''],
    },
    read: readGemini,
  },
]

// Cases.

interface Step {
  readonly name: string
  readonly seed: number
}

/** A reply and its mutations, reproducible. */
interface Case {
  readonly seed: number
  readonly subject: Subject
  readonly isWhole: boolean
  readonly mutations: readonly Step[]
  readonly wires: readonly Step[]
  /** Whether bytes are corrupted. */
  readonly isSpoilt: boolean
  /** Largest chunk in bytes. */
  readonly chunk: number
  /** Events to leave out, found by minimizing. */
  readonly without: ReadonlySet<number>
}

function stepsOf(names: readonly string[], count: number, random: Random): Step[] {
  return Array.from({ length: count }, () => ({ name: random.of(names), seed: random.below(2 ** 31) }))
}

function caseOf(seed: number, subjects: readonly Subject[]): Case {
  const random = createRandom(seed)
  const isWhole = random.once(6)
  return {
    seed,
    subject: random.of(subjects),
    isWhole,
    mutations: stepsOf(Object.keys(MUTATIONS), random.of([0, 1, 1, 1, 2, 2, 3, 4]), random),
    wires: isWhole ? [] : stepsOf(Object.keys(WIRES), random.of([0, 0, 0, 1, 1, 2]), random),
    isSpoilt: random.once(25),
    chunk: random.of([2, 25, 200, 1500, 1500, 1 << 20, 1 << 20]),
    without: new Set(),
  }
}

function canaryOf(random: Random): string {
  const letters = (alphabet: string, count: number): string =>
    Array.from({ length: count }, () => random.of(alphabet.split(''))).join('')
  return letters(LATIN, 4 + random.below(12)) + letters(GREEK, random.below(6))
}

function callOf(random: Random, forms: Subject['forms']): ScriptedCall {
  const isDenied = !random.once(3)
  const form = random.of(forms) ?? 'function'
  const id = random.once(6) ? { id: 'call_same' } : {}
  const base = { ...id, form, name: random.of(isDenied ? DENIED : ALLOWED) }
  if (!isDenied)
    return { ...base, args: form === 'custom' ? 'the list' : { name: 'list', at: random.below(99) } }
  const canary = canaryOf(random)
  if (form === 'custom') return { ...base, args: `${canary} to ${canary}` }
  const args = { to: canary, body: { [canaryOf(random)]: [canary] } }
  return { ...base, args, ...(random.once(6) && { cutAt: 8 + random.below(20) }) }
}

function spokenOf(random: Random, { forms }: Subject): Spoken {
  const calls = Array.from({ length: 1 + random.below(3) }, () => callOf(random, forms))
  return {
    calls,
    ...(random.once(2) && { text: 'I will see.' }),
    ...(random.once(4) && { reasoning: 'Let me think.' }),
    ...(random.once(5) && { thenText: 'That is all.' }),
    ...(random.once(4) && { interleave: true }),
    ...(random.once(8) && { finish: random.of(['length', 'stop'] as const) }),
  }
}

const ASKED: JsonObject = {
  model: 'm',
  stream: true,
  stream_options: { include_usage: true },
  logprobs: true,
}

function eventsOf({ seed, subject, isWhole }: Case): Event[] {
  const random = createRandom(seed ^ 0x5bd1e995)
  const spoken = spokenOf(random, subject)
  if (isWhole) return [{ type: undefined, data: nodeOf(subject.wire().reply(ASKED, spoken)) }]
  return subject
    .wire()
    .stream(ASKED, spoken)
    .map(({ text }) => {
      const type = /^event: (.*)$/m.exec(text)?.[1]
      const data = /^data: (.*)$/m.exec(text)?.[1] ?? ''
      const value = readable(data)
      // Sound: readable text is JSON.
      return { type, data: value === undefined ? leaf(data) : nodeOf(value as Json) }
    })
}

function bentOf(one: Case): Event[] {
  const events = eventsOf(one)
  for (const { name, seed } of one.mutations) {
    if (events.length > 0) MUTATIONS[name]?.(events, createRandom(seed), one.subject.pools)
  }
  return events.filter((_, at) => !one.without.has(at))
}

function bytesOf(one: Case): Buffer {
  const events = bentOf(one)
  let text = one.isWhole ? events.map(({ data }) => textOf(data)).join('') : wireText(events)
  for (const { name, seed } of one.wires) text = WIRES[name]?.(text, createRandom(seed)) ?? text
  const bytes = Buffer.from(text)
  return one.isSpoilt ? spoilt(bytes, createRandom(one.seed)) : bytes
}

/** The outcome of a reply. */
interface Outcome {
  readonly left: string
  readonly judge: FuzzJudge
  readonly fault: unknown
  readonly isLate: boolean
}

async function take(one: Case, patience: number): Promise<Outcome> {
  const judge = new FuzzJudge()
  const { dialect } = one.subject
  const bytes = bytesOf(one)
  let left = ''
  const write = (text: string): void => void (left += text)
  const work = async (): Promise<void> => {
    if (one.isWhole) {
      const reply = readable(bytes.toString())
      // The door refuses text that is not JSON before the dialect sees it.
      if (reply === undefined) throw new Garbled('it is not JSON')
      // Sound: readable text is JSON.
      write(JSON.stringify(await dialect.governReply(reply as Json, judge)))
      return
    }
    const chunks = chunksOf(bytes, one.chunk, createRandom(one.seed))
    await pump(bodyOf(chunks), dialect.openStream(judge), { write, drained: () => Promise.resolve() })
  }
  let fault: unknown
  const ended = work().catch((thrown: unknown) => void (fault = thrown))
  const isLate = await lateness(ended, patience)
  return { left, judge, fault, isLate }
}

async function lateness(ended: Promise<void>, patience: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(true), patience)
  })
  const isLate = await Promise.race([ended.then(() => false), late])
  clearTimeout(timer)
  return isLate
}

// Invariants.

/** The violation in the output. */
export interface Violation {
  readonly law:
    | 'a denied call left'
    | 'a call left without its ruling'
    | 'a fault'
    | 'an allowed call did not arrive'
    | 'a hang'
    | 'no stream'
  readonly what: string
}

function violationOf(one: Case, { left, judge, fault, isLate }: Outcome): Violation | undefined {
  if (isLate) return { law: 'a hang', what: 'it does not come to an end' }
  if (fault !== undefined && !(fault instanceof Garbled) && !(fault instanceof LlmUpstreamFault)) {
    return { law: 'a fault', what: fault instanceof Error ? (fault.stack ?? fault.message) : 'no error' }
  }
  const leaks = [
    ...leaksIn(left, EXACT),
    ...(fault instanceof Error && EXACT.test(fault.message) ? ['fault'] : []),
  ]
  if (leaks.length > 0) return { law: 'a denied call left', what: leaks.join(', ') }
  const values = one.isWhole ? wholeIn(left) : streamIn(left)
  if (!values) return { law: 'no stream', what: 'what left cannot be read' }
  const { calls, strange } = one.subject.read(values)
  const unruled = withoutRuling(calls, judge.allowed)
  if (unruled.length + strange.length > 0)
    return { law: 'a call left without its ruling', what: [...unruled, ...strange].join('\n') }
  // A control: a rewriter that forwards nothing would leak nothing either.
  const isBent = one.mutations.length + one.wires.length > 0 || one.isSpoilt
  const lost = isBent || fault !== undefined ? [] : withoutRuling(judge.allowed, calls)
  return lost.length === 0 ? undefined : { law: 'an allowed call did not arrive', what: lost.join('\n') }
}

function withoutRuling(calls: readonly Called[], allowed: readonly Called[]): string[] {
  const ruled = allowed.map((each) => JSON.stringify([each.tool, each.args, each.ref ?? null]))
  return calls
    .map((each) => JSON.stringify([each.tool, each.args, each.ref ?? null]))
    .filter((call) => {
      const at = ruled.indexOf(call)
      if (at >= 0) ruled.splice(at, 1)
      return at < 0
    })
}

function wholeIn(left: string): JsonObject[] | undefined {
  if (left === '') return []
  const value = readable(left)
  return isObject(value) ? [value] : undefined
}

/** The data of events; undefined if the text is not whole events of JSON. */
function streamIn(left: string): JsonObject[] | undefined {
  const events = left.split('\n\n')
  if (events.pop() !== '') return undefined
  const values: JsonObject[] = []
  for (const event of events) {
    if (event === ':') continue
    const data = /^(?:event: [\w.]+\n)?data: ([^\n\r]*)$/.exec(event)?.[1]
    if (data === undefined) return undefined
    if (data === '[DONE]') continue
    const value = readable(data)
    if (!isObject(value)) return undefined
    values.push(value)
  }
  return values
}

/** A reply that leaked. */
export interface Failure extends Violation {
  readonly seed: number
  readonly dialect: string
  /** The mutations that are needed. */
  readonly mutations: readonly string[]
  readonly reply: string
  readonly left: string
}

async function failureOf(one: Case, patience: number): Promise<Failure | undefined> {
  const outcome = await take(one, patience)
  const violation = violationOf(one, outcome)
  if (!violation) return undefined
  const steps = [...one.mutations, ...one.wires].map(({ name, seed }) => `${name} (${seed})`)
  return {
    ...violation,
    seed: one.seed,
    dialect: one.subject.name,
    mutations: one.isSpoilt ? [...steps, 'spoilt bytes'] : steps,
    reply: bytesOf(one).toString(),
    left: outcome.left,
  }
}

const MOST_TRIES = 300

/** The same failure, minimized. */
async function smallest(one: Case, failure: Failure, patience: number): Promise<Failure> {
  // Each attempt would use up the time.
  if (failure.law === 'a hang') return failure
  let best = { one, failure }
  let tries = 0
  const attempt = async (next: Case): Promise<void> => {
    if (tries++ > MOST_TRIES) return
    const found = await failureOf(next, patience)
    if (found?.law === failure.law) best = { one: next, failure: found }
  }
  await attempt({ ...best.one, wires: [], isSpoilt: false, chunk: 1 << 20 })
  for (let at = one.mutations.length - 1; at >= 0; at--) {
    await attempt({ ...best.one, mutations: best.one.mutations.filter((_, each) => each !== at) })
  }
  const { length } = bentOf(best.one)
  for (let at = length - 1; at >= 0; at--) {
    await attempt({ ...best.one, without: new Set([...best.one.without, at]) })
  }
  return best.failure
}

// Runs.

/** The subject and the limits. */
export interface FuzzOptions {
  readonly subjects?: readonly Subject[]
  readonly seed: number
  readonly streams: number
  /** Time limit for one reply, in milliseconds. */
  readonly patience?: number
  /** Whether replies are mutated. True by default. */
  readonly isBent?: boolean
  /** The number of failures after which it stops. */
  readonly most?: number
}

/** The result. */
export interface Tally {
  readonly streams: number
  /** Replies that finished. */
  readonly ended: number
  readonly garbled: number
  readonly cut: number
  /** Forwarded and denied calls. */
  readonly released: number
  readonly refused: number
  readonly failures: readonly Failure[]
}

/** Mutates many replies and checks the output. */
export async function fuzz(options: FuzzOptions): Promise<Tally> {
  const { subjects = SUBJECTS, seed, streams, isBent = true, patience = 20_000, most = 3 } = options
  const failures: Failure[] = []
  const tally = { streams: 0, ended: 0, garbled: 0, cut: 0, released: 0, refused: 0 }
  const seeds = createRandom(seed)
  for (; tally.streams < streams && failures.length < most; tally.streams++) {
    const bent = caseOf(seeds.below(2 ** 31), subjects)
    const one = isBent ? bent : { ...bent, mutations: [], wires: [], isSpoilt: false }
    const outcome = await take(one, patience)
    const { fault, judge } = outcome
    if (fault === undefined) tally.ended++
    else if (fault instanceof Garbled) tally.garbled++
    else if (fault instanceof LlmUpstreamFault) tally.cut++
    tally.released += judge.allowed.length
    tally.refused += judge.refused
    if (!violationOf(one, outcome)) continue
    const failure = await failureOf(one, patience)
    if (failure) failures.push(await smallest(one, failure, patience))
  }
  return { ...tally, failures }
}

const MOST_SHOWN = 6000

/** A failure, formatted for debugging. */
export function tellFailure(failure: Failure): string {
  const { law, what, seed, dialect, mutations, reply, left } = failure
  return [
    `${law}: ${what}`,
    `${dialect}, seed ${seed}, ${mutations.join(', ') || 'as it is'}`,
    `--- the reply\n${reply.slice(0, MOST_SHOWN)}`,
    `--- what left\n${left.slice(0, MOST_SHOWN)}`,
  ].join('\n')
}
