// Measures the LLM door compared with a bare proxy to the same server: the delay of the first word and of calls, the
// throughput, and whether memory grows while a stream is open.
//
//   TOLLGATE_BENCH_STREAM_SECONDS=120  how long the streams stay open
//   TOLLGATE_BENCH_PART=words|calls|streams|memory  one part only
//   TOLLGATE_BENCH_PROFILE=FOLDER      writes CPU profiles of the proxy and the gateway during streams

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { bareFloor } from './floor.ts'
import {
  startChild,
  wayTo,
  type Asking,
  type Child,
  type Dialect,
  type Memory,
  type Way,
} from './llm-ways.ts'
import { median, quantile, sized, type Row } from './measure.ts'

const SECONDS = Number(process.env.TOLLGATE_BENCH_STREAM_SECONDS ?? sized(120, 1))
const { TOLLGATE_BENCH_PROFILE: PROFILES, TOLLGATE_BENCH_PART: PART } = process.env
// The engine needs some thousand requests to optimise the longest path.
const WARM = sized(2000, 2)
const EXCHANGES = sized(2000, 2)
const ROUNDS = sized(7, 1)
const ROUND_MS = sized(2000, 20)
const WARM_MS = sized(4000, 20)
const STREAMS = sized(64, 2)
const WORDS = sized(200, 20)
const DIALECTS: readonly Dialect[] = ['chat', 'responses', 'messages']

interface Children {
  readonly upstream: Child
  readonly proxy: Child
  readonly gateway: Child
  /** The same with gates that inspect texts. */
  readonly gated: Child
}

type Ways = Readonly<Record<keyof Children, Way>>

/** The rows of the LLM door. */
export async function* llmRows(say: (line: string) => void): AsyncGenerator<Row> {
  const folder = mkdtempSync(join(process.env.TOLLGATE_BENCH_DIR ?? tmpdir(), 'tollgate-bench-'))
  const started: Child[] = []
  const start = async (file: string, ...args: readonly string[]): Promise<Child> => {
    const child = await startChild(file, ...args)
    started.push(child)
    return child
  }
  try {
    const upstream = await start('./llm-upstream.mjs')
    const children = {
      upstream,
      proxy: await start('./llm-proxy.mjs', upstream.url),
      gateway: await start('./llm-child.mjs', join(folder, 'plain'), upstream.url, 'plain'),
      gated: await start('./llm-child.mjs', join(folder, 'gates'), upstream.url, 'gates'),
    }
    yield* measured(children, folder, say)
  } finally {
    for (const child of started.reverse()) await child.end()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function* measured(
  children: Children,
  folder: string,
  say: (line: string) => void,
): AsyncGenerator<Row> {
  const { upstream, proxy, gateway, gated } = children
  const ways = {
    upstream: wayTo(upstream),
    proxy: wayTo(proxy),
    gateway: wayTo(gateway),
    gated: wayTo(gated),
  }
  try {
    if (PART !== undefined && !Object.hasOwn(PARTS, PART)) throw new Error(`there is no part \`${PART}\``)
    for (const [part, rows] of Object.entries(PARTS)) {
      if (PART !== undefined && PART !== part) continue
      say(`llm: ${part} …`)
      yield* rows({ children, ways, folder })
    }
  } finally {
    for (const way of Object.values(ways)) await way.close()
  }
}

interface Setting {
  readonly children: Children
  readonly ways: Ways
  readonly folder: string
}

const PARTS: Readonly<Record<string, (setting: Setting) => AsyncGenerator<Row>>> = {
  async *words({ ways }) {
    for (const dialect of DIALECTS) yield* firstWords(ways, dialect)
  },
  calls: ({ ways, folder }) => calls(ways, folder),
  async *streams({ children, ways }) {
    for (const dialect of DIALECTS) yield* streaming(children, ways, dialect, 'text')
    yield* streaming(children, ways, 'chat', 'whole')
    yield* pacing(children, ways)
  },
  memory: ({ children, ways }) => lasting(children, ways),
}

/** One exchange at a time, alternating between paths, so that other load affects all of them. Returns milliseconds. */
async function inTurns<Name extends string>(
  ways: Readonly<Record<Name, Way>>,
  times: number,
  take: (way: Way, name: Name) => Promise<number>,
): Promise<Record<Name, Float64Array>> {
  // Sound: these are its keys.
  const names = Object.keys(ways) as Name[]
  const taken = new Map<Name, number[]>(names.map((name) => [name, []]))
  for (let turn = 0; turn < times; turn++) {
    // The order changes from round to round.
    const from = turn % names.length
    for (const name of [...names.slice(from), ...names.slice(0, from)]) {
      taken.get(name)?.push(await take(ways[name], name))
    }
  }
  const all = [...taken].map(([name, each]) => [name, Float64Array.from(each)])
  // Sound: each entry has a name and a duration.
  return Object.fromEntries(all) as Record<Name, Float64Array>
}

/** The difference of two paths in microseconds, at a quantile. */
function between(longer: Float64Array, shorter: Float64Array, share: number): number {
  return 1000 * (quantile(longer, share) - quantile(shorter, share))
}

/** The delay of the first word that the gateway adds to the proxy, compared with what the proxy adds to a direct connection. */
async function* firstWords({ upstream, proxy, gateway }: Ways, dialect: Dialect): AsyncGenerator<Row> {
  const take = async (way: Way): Promise<number> =>
    heard(await way.ask({ dialect, model: 'text-8' }), 8).first
  await inTurns({ upstream, proxy, gateway }, WARM, take)
  const taken = await inTurns({ upstream, proxy, gateway }, EXCHANGES, take)
  for (const [name, share] of SHARES) {
    const added = between(taken.gateway, taken.proxy, share)
    const hop = between(taken.proxy, taken.upstream, share)
    const isAimed = share === 0.5
    yield {
      area: 'llm',
      name: `${dialect}, first word: added to the bare proxy, ${name}`,
      value: added,
      unit: 'µs',
      floor: hop,
      ratio: added / hop,
      target: isAimed ? '≤ 500 µs' : 'of what the proxy adds to a direct one',
      pass: !isAimed || added <= 500,
    }
  }
}

const SHARES = [
  ['p50', 0.5],
  ['p99', 0.99],
] as const

type Judged = 'proxy' | 'gateway' | 'gated'

/** The cost of a call in a reply and of its result in the next request, compared with one bare durable append. */
async function* calls({ proxy, gateway, gated }: Ways, folder: string): AsyncGenerator<Row> {
  const floor = bareFloor(folder)
  for (const [what, take] of [
    ['a reply with an allowed call', allowed],
    ['a reply with a denied call', denied],
    ['first word after a result', afterResult],
  ] as const) {
    await inTurns({ proxy, gateway, gated }, WARM / 2, take)
    const appends: number[] = []
    const rounds: Record<Judged, Float64Array>[] = []
    for (let i = 0; i < ROUNDS; i++) {
      appends.push(floor.signature(sized(100, 5)) + floor.commit(sized(200, 5)))
      rounds.push(await inTurns({ proxy, gateway, gated }, Math.ceil(EXCHANGES / ROUNDS), take))
    }
    const all = (name: Judged): Float64Array => Float64Array.from(rounds.flatMap((round) => [...round[name]]))
    for (const [name, gates] of [
      ['gateway', ''],
      ['gated', ', threat and taint gates'],
    ] as const) {
      for (const [quantileName, share] of SHARES) {
        const added = between(all(name), all('proxy'), share)
        yield {
          area: 'llm',
          name: `${what}${gates}: added, ${quantileName}`,
          value: added,
          unit: 'µs',
          floor: median(appends),
          ratio: added / median(appends),
          target: 'of one bare durable append',
          pass: true,
        }
      }
    }
  }
  floor.close()
}

let sessions = 0

/** Each in a new session: many denials in one session would deny everything. */
function calling(model: string): Asking {
  return { dialect: 'chat', model, session: ++sessions }
}

async function allowed(way: Way): Promise<number> {
  const { total, text } = await way.ask(calling('read_note'))
  callIn(text)
  return total
}

/** The measured calls must be forwarded, … */
function callIn(text: string): string {
  const [id] = /call_\d+/.exec(text) ?? []
  if (id === undefined) throw new Error(`no call in the reply: ${text.slice(0, 800)}`)
  return id
}

/** … or denied. */
async function denied(way: Way, name: Judged): Promise<number> {
  const { total, text } = await way.ask(calling('send_mail'))
  if (/call_\d+/.test(text) !== (name === 'proxy')) throw new Error(`not denied: ${text.slice(0, 800)}`)
  return total
}

async function afterResult(way: Way): Promise<number> {
  const turn = calling('read_note')
  const { text } = await way.ask(turn)
  return heard(await way.ask({ ...turn, model: 'text-8', resultOf: callIn(text) }), 8).first
}

/** The measured replies must be complete. */
function heard<T extends { readonly first: number; readonly events: number; readonly text: string }>(
  told: T,
  words: number,
): T {
  if (Number.isNaN(told.first) || told.events < words)
    throw new Error(`not the whole reply: ${told.text.slice(0, 800)}`)
  return told
}

/** Many streams at once: events per second, and processor time. */
async function* streaming(
  children: Children,
  ways: Ways,
  dialect: Dialect,
  how: 'text' | 'whole',
): AsyncGenerator<Row> {
  const asking = { dialect, model: `${how}-${WORDS}` }
  const names = ['upstream', 'proxy', 'gateway'] as const
  for (const name of names) await load(ways[name], asking, WARM_MS)
  const finish = await profiling(children, `${dialect}-${how}`)
  const rounds: Record<(typeof names)[number], { perSecond: number; micros: number }>[] = []
  for (let i = 0; i < ROUNDS; i++) {
    const round = async (name: (typeof names)[number]): Promise<{ perSecond: number; micros: number }> => {
      const before = await children[name].cpu()
      const { perSecond, events } = await load(ways[name], asking, ROUND_MS)
      return { perSecond, micros: ((await children[name].cpu()) - before) / events }
    }
    rounds.push({
      upstream: await round('upstream'),
      proxy: await round('proxy'),
      gateway: await round('gateway'),
    })
  }
  await finish()
  const isAimed = how === 'text'
  const form = `${dialect}, ${STREAMS} streams${isAimed ? '' : ', each written at once'}`
  const share = median(rounds.map(({ gateway, proxy }) => gateway.perSecond / proxy.perSecond))
  yield {
    area: 'llm',
    name: `${form}: throughput`,
    value: median(rounds.map(({ gateway }) => gateway.perSecond)),
    unit: 'events/s',
    floor: median(rounds.map(({ proxy }) => proxy.perSecond)),
    ratio: share,
    target: isAimed ? '≥ 0.6 of the bare proxy' : 'of the bare proxy',
    pass: !isAimed || share >= 0.6,
  }
  yield {
    area: 'llm',
    name: `${form}: throughput of the bare proxy beside none`,
    value: median(rounds.map(({ proxy }) => proxy.perSecond)),
    unit: 'events/s',
    floor: median(rounds.map(({ upstream }) => upstream.perSecond)),
    ratio: median(rounds.map(({ proxy, upstream }) => proxy.perSecond / upstream.perSecond)),
    target: 'of a direct one',
    pass: true,
  }
  yield {
    area: 'llm',
    name: `${form}: processor time of an event`,
    value: median(rounds.map(({ gateway }) => gateway.micros)),
    unit: 'µs',
    floor: median(rounds.map(({ proxy }) => proxy.micros)),
    ratio: median(rounds.map(({ gateway, proxy }) => gateway.micros / proxy.micros)),
    target: 'of the bare proxy',
    pass: true,
  }
}

/** Streams at the pace of a fast model, one event per chunk: processor time compared with the bare proxy. */
async function* pacing(children: Children, ways: Ways): AsyncGenerator<Row> {
  const micros: { proxy: number; gateway: number }[] = []
  const round = async (name: 'proxy' | 'gateway'): Promise<number> => {
    const before = await children[name].cpu()
    const { events } = await load(ways[name], { dialect: 'chat', model: `even-${WORDS}` }, ROUND_MS)
    return ((await children[name].cpu()) - before) / events
  }
  const finish = await profiling(children, 'chat-even')
  for (let i = 0; i < ROUNDS; i++)
    micros.push({ proxy: await round('proxy'), gateway: await round('gateway') })
  await finish()
  yield {
    area: 'llm',
    name: `chat, ${STREAMS} streams of 100 events/s: processor time of an event`,
    value: median(micros.map(({ gateway }) => gateway)),
    unit: 'µs',
    floor: median(micros.map(({ proxy }) => proxy)),
    ratio: median(micros.map(({ gateway, proxy }) => gateway / proxy)),
    target: 'of the bare proxy',
    pass: true,
  }
}

/** Streams without pauses, many at a time: events per second, and all events until the last stream ended. */
async function load(way: Way, asking: Asking, ms: number): Promise<{ perSecond: number; events: number }> {
  const began = performance.now()
  let events = 0
  let inTime = 0
  const onEvents = (count: number): void => {
    events += count
    if (performance.now() - began < ms) inTime += count
  }
  const lane = async (): Promise<void> => {
    while (performance.now() - began < ms) heard(await way.ask(asking, onEvents), WORDS)
  }
  await Promise.all(Array.from({ length: STREAMS }, lane))
  return { perSecond: (1000 * inTime) / ms, events }
}

/** Starts CPU profiles if requested. Call the returned function at the end. */
async function profiling({ proxy, gateway }: Children, name: string): Promise<() => Promise<void>> {
  if (PROFILES === undefined) return () => Promise.resolve()
  mkdirSync(PROFILES, { recursive: true })
  const [ofProxy, ofGateway] = [await proxy.profile(), await gateway.profile()]
  return async () => {
    await ofProxy(join(PROFILES, `proxy-${name}.cpuprofile`))
    await ofGateway(join(PROFILES, `gateway-${name}.cpuprofile`))
  }
}

/** Streams that stay open through proxy and gateway at once: the memory of each, and its growth. */
async function* lasting(children: Children, ways: Ways): AsyncGenerator<Row> {
  const { proxy, gateway } = children
  const asking = { dialect: 'chat', model: `slow-${20 * SECONDS}` } as const
  const early = Math.min(20, SECONDS / 4)
  // A process grows in its first minutes independently of streams.
  for (const way of [ways.proxy, ways.gateway])
    await load(way, { dialect: 'chat', model: `text-${WORDS}` }, WARM_MS)
  const before = { proxy: await settled(proxy), gateway: await settled(gateway) }
  const began = performance.now()
  const until = (second: number): Promise<unknown> =>
    pause(Math.max(0, 1000 * second - (performance.now() - began)))
  const open = [ways.proxy, ways.gateway].flatMap((way) =>
    Array.from({ length: STREAMS }, async () => heard(await way.ask(asking), 20 * SECONDS)),
  )
  const ended = Promise.all(open)
  // A stream that breaks off is reported at once.
  await Promise.race([until(early), ended])
  const first = { proxy: await settled(proxy), gateway: await settled(gateway) }
  const late = Math.max(early, SECONDS - 2)
  await Promise.race([until(late), ended])
  const last = { proxy: await settled(proxy), gateway: await settled(gateway) }
  const span = Math.round(late - early)
  await ended
  const each = (name: 'proxy' | 'gateway', of: keyof Memory, to: typeof last, from: typeof last): number =>
    (to[name][of] - from[name][of]) / STREAMS / 1024
  yield {
    area: 'llm',
    name: 'memory of an open stream',
    value: each('gateway', 'held', first, before),
    unit: 'KB',
    floor: each('proxy', 'held', first, before),
    ratio: null,
    target: '',
    pass: true,
  }
  for (const [what, of, most] of [
    ['held', 'held', 4],
    ['resident', 'rss', 128],
  ] as const) {
    const growth = each('gateway', of, last, first)
    yield {
      area: 'llm',
      name: `an open stream ${span} s later: growth of what is ${what}`,
      value: growth,
      unit: 'KB',
      floor: each('proxy', of, last, first),
      ratio: null,
      target: `< ${most} KB, while ${Math.round((20 * span * 300) / 1024)} KB pass`,
      pass: growth < most,
    }
  }
}

/** The minimum over several samples, because running requests come and go. */
async function settled(child: Child): Promise<Memory> {
  const moments: Memory[] = []
  for (let i = 0; i < sized(5, 1); i++) {
    moments.push(await child.memory())
    await pause(30)
  }
  return {
    rss: Math.min(...moments.map(({ rss }) => rss)),
    held: Math.min(...moments.map(({ held }) => held)),
  }
}
