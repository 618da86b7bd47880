// Makes worlds for the model and the kernel to be compared in, each from a seed.

import type { Rung } from '@tollgate/evidence'
import type { Context } from '../src/call.ts'
import type { Objection } from '../src/gates/gate.ts'
import type { Pace } from './model-risk.ts'
import { WORDS } from './model-world.ts'
import type {
  CallSpec,
  Event,
  FreezeTarget,
  ModelPolicy,
  ModelRule,
  ModelTool,
  Page,
  Reply,
  Word,
  World,
} from './model-world.ts'

const DAY = 86_400_000
const TENANTS = ['default', 'default', 'default', 'default', 'other'] as const
const BOTH = ['default', 'other'] as const
const PRINCIPALS = ['agent:a', 'agent:b', 'agent:ab'] as const
const SESSIONS = ['s1', 's2', 's12'] as const
const TOOLS = ['fs/read', 'fs/write', 'mail/send', 'web/click', 'ops/run', 'aa', 'a'] as const
const TOOL_GLOBS = ['*', 'fs/*', '*/send', 'm*l/*', 'a*a', 'a*', '**', '*s*/*r*', 'web/click', 'aa'] as const
const EFFECTS = ['read', 'read', 'write', 'send', 'send', 'delete', 'execute', 'pay', 'admin'] as const
const HOSTS = ['ok.test', 'ok.test', 'ok.test', 'ask.test', 'bad.test', 'far.test'] as const
const DOOR = ['mcp', 'mcp', 'mcp', 'mcp', 'http', 'http', 'http', 'hook', 'hook', 'browser'] as const
const EXPIRIES = [1000, 60_000, 900_000] as const
const PEOPLE: readonly Pick<Reply, 'approver' | 'groups'>[] = [
  { approver: 'user:olga', groups: ['ops'] },
  { approver: 'user:olga', groups: ['staff', 'ops'] },
  { approver: 'user:olga', groups: ['ops'] },
  { approver: 'user:mia', groups: [] },
  { approver: 'agent:a', groups: ['ops'] },
  { approver: 'ops', groups: [] },
]
// Whole half-lives, expiries and refills, and one millisecond to either side of them.
const WAITS = [
  1, 7, 333, 500, 999, 1000, 1001, 30_000, 59_999, 60_000, 60_001, 899_999, 900_000, 900_001, 1_800_000,
  3_600_000, 86_400_000, 86_401_000, 86_401_001, 86_460_000, 87_300_000, 87_300_001,
]

/** Random numbers that are the same for the same seed (mulberry32). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to below `n`. */
  int(n: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * n)
  }

  chance(percent: number): boolean {
    return this.int(100) < percent
  }

  pick<T>(list: readonly T[]): T {
    // Sound: the place is within the list, and no list here is empty.
    return list[this.int(list.length)] as T
  }

  /** `value`, or nothing. */
  maybe<T>(percent: number, value: () => T): readonly T[] {
    return this.chance(percent) ? [value()] : []
  }

  list<T>(most: number, value: () => T): readonly T[] {
    return Array.from({ length: this.int(most + 1) }, value)
  }
}

/** A world of its own for each seed. */
export function makeWorld(seed: number): World {
  const random = new Random(seed)
  if (random.int(400) === 0) return makeCrowd(random)
  // A clock that stumbles is only tried where every turn leaves a receipt: after a restart, or while a flood is only
  // counted, the ledger has looked at the clock without writing it down.
  const stumbles = random.chance(15)
  const policies = Array.from({ length: 1 + random.int(3) }, () => makePolicy(random))
  const calls = Array.from({ length: 2 + random.int(5) }, () => {
    const call = makeCall(random)
    return random.chance(30) ? { ...tame(random, call), word: call.word } : call
  })
  const length = 1 + random.int(40)
  const events: Event[] = random.chance(97) ? [{ do: 'activate', policy: 0, tenants: BOTH }] : []
  while (events.length < length) events.push(...happening(random, { stumbles, policies, calls }))
  return {
    quota: random.chance(25) && !stumbles ? { calls: 3 + random.int(8), period: 60_000 } : PLENTY,
    remembered: random.chance(30) ? 1 + random.int(4) : 10_000,
    salted: random.chance(10),
    policies,
    events: events.slice(0, length),
  }
}

/** Somebody asks for more than people can look at. */
function makeCrowd(random: Random): World {
  const call = { ...tame(random, makeCall(random)), tool: 'fs/read' }
  const asks = (from: number, to: number): Event[] =>
    Array.from({ length: to - from }, (_, i) => ({ do: 'call', call: { ...call, n: from + i }, behind: 0 }))
  const rule = { ...makeRule(random), id: 'r0', action: 'require', tools: ['*'], ...ANYBODY } as const
  const policy = { ...makePolicy(random), rules: [{ ...rule, when: undefined }], rates: [] }
  const tools = [{ name: 'fs/read', effect: 'read', schema: false, offline: false, browser: false }] as const
  const { approver, groups } = random.pick(PEOPLE)
  return {
    quota: PLENTY,
    remembered: 10_000,
    salted: false,
    policies: [{ ...policy, tools }],
    events: [
      { do: 'activate', policy: 0, tenants: BOTH },
      ...asks(0, 97 + random.int(6)),
      ...random.maybe(50, (): Event => ({ do: 'wait', ms: random.pick([rule.expires, rule.expires + 1]) })),
      ...random.maybe(30, (): Event => ({ do: 'restart' })),
      { do: 'activate', policy: 0, tenants: BOTH },
      { do: 'answer', tenant: call.tenant, request: random.int(50), granted: true, approver, groups },
      ...asks(95, 106),
    ],
  }
}

function makePolicy(random: Random): ModelPolicy {
  const forAll = (): ModelRule => ({ ...makeRule(random), tools: ['*'], ...ANYBODY, when: undefined })
  const asking = random.maybe(20, (): ModelRule => ({ ...forAll(), action: 'require' }))
  const rules = [...asking, ...random.list(5, () => makeRule(random)), ...random.maybe(70, forAll)]
  return {
    context: {
      environments: random.maybe(8, () => 'prod'),
      tenants: random.maybe(5, () => 'default'),
      workspaces: random.maybe(8, () => 'w1'),
    },
    tools: makeTools(random),
    rules: rules.map((rule, i) => ({ ...rule, id: `r${i}` })),
    egress: {
      allow: random.chance(8) ? [] : ['ok.test', 'bad.test'],
      ask: random.chance(60) ? ['ask.test'] : [],
      deny: random.chance(80) ? ['bad.test'] : [],
    },
    risk: {
      threshold: random.pick(THRESHOLDS),
      window: random.pick([2, 3, 8, 8, 1000]),
      baseline: random.pick([0, 77_777, 150_000, 150_000]),
      halfLife: random.pick([1000, 60_001, 3_600_000, 3_600_000, 30 * DAY]),
      carry: random.pick([0, 333_333, 500_000, 500_000, 1_000_000]),
    },
    rates: makeRates(random),
  }
}

// Half of them can be met exactly: a harmless call of an `admin` tool adds 24,000, a password that is sent 46,000, data that
// is sent outside 56,000.
const THRESHOLDS = [
  24_000, 46_000, 48_000, 56_000, 72_000, 92_000, 112_000, 138_000, 200_000, 380_000, 380_000, 380_000,
  700_000, 1_000_000,
]
const PLENTY: Pace = { calls: 1000, period: 3_600_000 }
const ANYBODY = { principals: [], sessions: [], doors: [] } as const

function makeTools(random: Random): readonly ModelTool[] {
  const known = TOOLS.filter(() => random.chance(93))
  return [...random.maybe(30, () => random.pick(TOOL_GLOBS)), ...known].map((name) => ({
    name,
    effect: random.pick(EFFECTS),
    schema: random.chance(60),
    offline: random.chance(10),
    browser: random.chance(name === 'web/click' ? 60 : 1),
  }))
}

function makeRule(random: Random): ModelRule {
  const action = random.pick(['allow', 'allow', 'allow', 'deny', 'require', 'require', 'require'] as const)
  return {
    id: '',
    action,
    tools: [
      random.pick(random.chance(50) ? TOOLS : TOOL_GLOBS),
      ...random.maybe(20, () => random.pick(TOOLS)),
    ],
    principals: random.maybe(20, () => random.pick(['agent:*', 'agent:a', '*b', 'agent:a*', '*'])),
    sessions: random.maybe(15, () => random.pick(['s1', 's*', '*2', 'agent:a'])),
    doors: random.maybe(12, () => random.pick(DOOR)),
    when: random.chance(35) ? makeCondition(random) : undefined,
    approvers:
      action === 'require' ? random.maybe(60, () => random.pick(['ops', 'user:olga', 'agent:a'])) : [],
    expires: action === 'require' ? random.pick(EXPIRIES) : 900_000,
  }
}

function makeCondition(random: Random): ModelRule['when'] {
  if (random.chance(75)) return { answer: random.int(3) }
  return { risk: random.pick([0, 1, 46_000, 92_000, 150_000, 300_000]) }
}

function makeRates(random: Random): ModelPolicy['rates'] {
  if (random.chance(60)) return []
  return ['*', 'fs/*', 'mail/send', 'a*']
    .filter(() => random.chance(50))
    .map((tools) => ({ tools, calls: 1 + random.int(4), period: random.pick([7, 1000, 60_000, 3_600_000]) }))
}

function makeCall(random: Random): CallSpec {
  const principal = random.chance(3) ? undefined : random.pick(PRINCIPALS)
  const tool = random.chance(3) ? 'no/such' : random.pick(TOOLS)
  const unreadable = random.chance(2)
  const door = random.pick(DOOR)
  return {
    tenant: random.pick(TENANTS),
    principal,
    ...(random.chance(18) && { claimed: random.chance(70) ? (principal ?? 'agent:a') : 'agent:b' }),
    ...(random.chance(90) && { session_id: random.pick(SESSIONS) }),
    ...(random.chance(10) && { delegation_session_id: 'd1' }),
    door,
    assurance: random.chance(75) ? 'enforced' : 'advised',
    tool: unreadable && random.chance(50) ? '(unreadable)' : tool,
    form: unreadable ? 'unreadable' : makeForm(random),
    n: 0,
    // Sound: the words are the table's own keys.
    word: random.chance(45) ? 'hello' : random.pick(Object.keys(WORDS) as Word[]),
    hosts: random.chance(60) ? [] : Array.from({ length: 1 + random.int(2) }, () => random.pick(HOSTS)),
    answers: Array.from({ length: 3 }, () =>
      random.pick([true, true, true, false, false, 'throws'] as const),
    ),
    context: makeContext(random),
    ...(random.chance(tool === 'web/click' || door === 'browser' ? 75 : 4) && { page: makePage(random) }),
    replaced: {},
  }
}

function makeForm(random: Random): CallSpec['form'] {
  if (random.chance(90)) return 'fits'
  return random.pick(['misfits', 'misfits', 'breaks the check', 'no object'])
}

function makeContext(random: Random): Context {
  return {
    ...(random.chance(75) && { environment: random.chance(85) ? 'prod' : 'test' }),
    ...(random.chance(75) && { workspace: random.chance(85) ? 'w1' : 'w2' }),
    ...(random.chance(10) && { tenant: random.chance(80) ? 'default' : 'other' }),
  }
}

function makePage(random: Random): Page {
  return {
    ...(random.chance(92) && { host: random.chance(88) ? 'ok.test' : 'far.test' }),
    ...(random.chance(92) && { risk: random.pick([0, 12, 70, 70, 71, 100]) }),
    planned: random.chance(80),
    acts: random.chance(50),
  }
}

interface Cast {
  readonly stumbles: boolean
  readonly policies: readonly ModelPolicy[]
  readonly calls: readonly CallSpec[]
}

/** What happens next: one event, or a few that belong together. */
function happening(random: Random, cast: Cast): readonly Event[] {
  const kind = random.int(100)
  if (kind < 46) return [callOf(random, cast, random.pick(cast.calls))]
  if (kind < 62) return burst(random, cast)
  if (kind < 76) return approvalStory(random, cast)
  if (kind < 86) return [waitOf(random, cast)]
  if (kind < 89) return [answerOf(random, random.int(4), random.pick(TENANTS))]
  if (kind < 93) return freezeStory(random, cast)
  if (kind < 95) return [activation(random, cast)]
  if (kind < 97 && !cast.stumbles) return restartStory(random, cast)
  return catalogueStory(random, cast)
}

function activation(random: Random, { policies }: Cast): Event {
  return {
    do: 'activate',
    policy: random.int(policies.length),
    tenants: random.pick([BOTH, BOTH, ['default'], ['other']]),
  }
}

function callOf(random: Random, { stumbles }: Cast, call: CallSpec, approval?: number): Event {
  const claim = approval ?? (random.chance(4) ? random.int(4) - 1 : undefined)
  return {
    do: 'call',
    call: {
      ...call,
      n: random.chance(92) ? call.n : random.int(3),
      ...(claim !== undefined && { approval: claim }),
      ...(random.chance(6) && { replaced: makeReplaced(random) }),
    },
    behind: stumbles && random.chance(40) ? random.pick([1, 1000, 60_000, 3_600_000]) : 0,
  }
}

const ASKS: Objection = { verdict: 'ESCALATE', reason: 'TASK_SCOPE_EXCEEDED' }
const REPLACEABLE: readonly Rung[] = [
  'freeze',
  'schema',
  'context',
  'identity',
  'browser',
  'egress',
  'taint',
  'threat',
  'delegation',
  'session-risk',
  'trust',
  'privilege',
  'scope',
  'temporal',
  'compliance',
]

function makeReplaced(random: Random): CallSpec['replaced'] {
  if (random.chance(8)) return { policy: 'throws' }
  const words = [
    'throws',
    { verdict: 'DENY', reason: 'COMPLIANCE_VIOLATION' },
    ASKS,
    { verdict: 'ESCALATE', reason: 'TAINT_APPROVAL_REQUIRED' },
  ] as const
  const some = Array.from({ length: 1 + random.int(2) }, () => [random.pick(REPLACEABLE), random.pick(words)])
  return Object.fromEntries(some) as CallSpec['replaced'] // Sound: the names are rungs.
}

function waitOf(random: Random, { stumbles }: Cast): Event {
  if (stumbles) return { do: 'wait', ms: random.pick(WAITS.filter((ms) => ms < DAY / 100)) }
  return { do: 'wait', ms: random.chance(75) ? random.pick(WAITS) : random.int(3 * DAY) }
}

function maybeWait(random: Random, cast: Cast): readonly Event[] {
  return random.chance(35) ? [waitOf(random, cast)] : []
}

/** The same call several times, maybe in several sessions: what risk and rates are made for. */
function burst(random: Random, cast: Cast): readonly Event[] {
  const call = random.pick(cast.calls)
  const waits = random.chance(30)
  const spreads = random.chance(40)
  return Array.from({ length: 2 + random.int(5) }, () => [
    callOf(random, cast, spreads ? { ...call, session_id: random.pick(SESSIONS) } : call),
    ...(waits ? maybeWait(random, cast) : []),
  ]).flat()
}

/** A call that most rungs have nothing against. */
function tame(random: Random, call: CallSpec): CallSpec {
  return {
    tenant: call.tenant,
    principal: call.principal ?? 'agent:a',
    session_id: call.session_id ?? 's1',
    door: 'mcp',
    assurance: call.assurance,
    tool: call.tool === '(unreadable)' ? 'fs/read' : call.tool,
    form: 'fits',
    n: call.n,
    word: 'hello',
    hosts: random.pick([[], ['ok.test'], ['ask.test']]),
    answers: [true, true, false],
    context: { environment: 'prod', workspace: 'w1' },
    replaced: random.chance(15) ? { scope: ASKS } : {},
  }
}

/** Somebody asks, somebody answers, the call comes again, and once more. */
function approvalStory(random: Random, cast: Cast): readonly Event[] {
  const some = random.pick(cast.calls)
  const call = random.chance(85) ? tame(random, some) : some
  const claims = random.chance(50) ? 0 : undefined
  const wait = (): readonly Event[] =>
    random.maybe(35, () => ({ do: 'wait', ms: random.pick(WAITS.slice(0, 14)) }))
  return [
    callOf(random, cast, call),
    ...wait(),
    ...random.maybe(90, () => answerOf(random, 0, random.chance(95) ? call.tenant : 'other')),
    ...wait(),
    ...random.maybe(10, () => activation(random, cast)),
    ...(random.chance(8) && !cast.stumbles ? restartStory(random, cast) : []),
    callOf(random, cast, random.chance(90) ? call : random.pick(cast.calls), claims),
    ...(random.chance(12) && !cast.stumbles ? restartStory(random, cast) : []),
    ...random.maybe(60, () => callOf(random, cast, call, claims)),
  ]
}

function answerOf(random: Random, request: number, tenant: string): Event {
  return { do: 'answer', tenant, request, granted: random.chance(75), ...random.pick(PEOPLE) }
}

/** One or two things are frozen for a while. */
function freezeStory(random: Random, cast: Cast): readonly Event[] {
  const call = random.pick(cast.calls)
  const targets = [freezeTarget(random, call), ...random.maybe(40, () => freezeTarget(random, call))]
  const set = (frozen: boolean, percent: number): readonly Event[] =>
    targets.flatMap((target) => random.maybe(percent, (): Event => ({ do: 'freeze', frozen, target })))
  const during = random.list(2, () =>
    callOf(random, cast, random.chance(60) ? call : random.pick(cast.calls)),
  )
  return [...set(true, 85), ...during, ...set(false, 80)]
}

function freezeTarget(random: Random, call: CallSpec): FreezeTarget {
  const { tenant, principal = '(nobody)', session_id = principal, tool } = call
  return random.pick<FreezeTarget>([
    { scope: 'all', tenant },
    { scope: 'principal', tenant, target: principal },
    { scope: 'principal', tenant, target: principal },
    { scope: 'tool', tenant, target: tool },
    { scope: 'tool', tenant, target: tool },
    { scope: 'session', tenant, target: session_id },
    { scope: 'session', tenant, target: session_id },
  ])
}

/** After a restart the policy is activated again: the model's policies have no text that could be read. */
function restartStory(random: Random, cast: Cast): readonly Event[] {
  const { tenant, principal, session_id } = random.pick(cast.calls)
  const lost = {
    tenant,
    principal,
    ...(session_id !== undefined && random.chance(60) && { session: session_id }),
  }
  const between = random.chance(15) ? [callOf(random, cast, random.pick(cast.calls))] : []
  return [{ do: 'restart', ...(random.chance(15) && { lost }) }, ...between, activation(random, cast)]
}

/** A server offers a tool, somebody pins it or not, the server offers another. */
function catalogueStory(random: Random, cast: Cast): readonly Event[] {
  const tool = random.pick(TOOLS)
  const call = { ...random.pick(cast.calls), tool }
  const act = (): Event => {
    if (random.chance(40)) return { do: 'offer', tool, version: random.pick(['v1', 'v2']) }
    return { do: random.pick(['pin', 'pin', 'unpin', 'withdraw']), tool }
  }
  return [
    { do: 'offer', tool, version: 'v1' },
    ...random.maybe(50, (): Event => ({ do: 'pin', tool })),
    ...random.maybe(50, act),
    callOf(random, cast, random.chance(50) ? tame(random, call) : call),
    ...random.maybe(70, act),
    callOf(random, cast, random.chance(50) ? tame(random, call) : call),
  ]
}
