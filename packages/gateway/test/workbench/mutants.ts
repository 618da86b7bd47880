// Policies, small changes to them, and a random search for a call that shows a change: the baseline for the generated calls
// of `policy diff`.

import { readdirSync, readFileSync } from 'node:fs'
import type { Json, JsonObject } from '@tollgate/evidence'
import type { ToolCall } from '@tollgate/kernel'
import { parsePolicy, type Policy } from '@tollgate/kernel/policy'
import { tryCall } from '@tollgate/kernel/workbench'
import { parse, stringify } from 'yaml'
import { Random } from '../../../kernel/test/model/model-random.ts'
import { generateCalls } from '../../src/workbench/generate/calls.ts'
import { callOf } from '../../src/workbench/generate/draft.ts'

/** A policy file as plain data that can be changed. */
export type Draftable = Record<string, unknown>

/** The policy of a text; undefined if it is invalid. */
export function read(text: string): Policy | undefined {
  const parsed = parsePolicy(text)
  return parsed.ok ? parsed.policy : undefined
}

/** The policy of plain data; undefined if it is invalid. */
export function made(data: Draftable): Policy | undefined {
  return read(stringify(data))
}

const ROOT = new URL('../../../../', import.meta.url)

/** The policies of the examples and of the vectors. */
export function knownPolicies(): readonly Draftable[] {
  const examples = readdirSync(new URL('examples/policies/', ROOT))
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => readFileSync(new URL(`examples/policies/${file}`, ROOT), 'utf8'))
  const vectors = readdirSync(new URL('vectors/decisions/', ROOT))
    .filter((file) => file.endsWith('.txtar'))
    .flatMap((file) => {
      const text = readFileSync(new URL(`vectors/decisions/${file}`, ROOT), 'utf8')
      return [...text.matchAll(/^-- policy\.yaml --\n([^]*?)(?=^-- )/gm)].map(([, body]) => body ?? '')
    })
  const texts = [...examples, ...vectors.map((body) => `tollgate: 1\nname: vector\n${body}`)]
  return [...new Set(texts)].flatMap((text) => (read(text) ? [parse(text) as Draftable] : []))
}

const TOOLS = [
  'fs/read',
  'fs/write',
  'fs/delete',
  'mail/send',
  'web/fetch',
  'pay/transfer',
  'db/query',
  'ops/run',
]
const GLOBS = ['*', 'fs/*', 'mail/*', '*/read', 'web/*', 'pay/*', 'f*e', 'db/*', 'ops/*']
const EFFECTS = ['read', 'write', 'delete', 'execute', 'send', 'pay', 'admin']
const HOSTS = [
  'example.com',
  '*.example.com',
  'api.partner.test',
  'ask.test',
  '10.0.0.0/8',
  'bad.test',
  '*',
  'mailto:example.com',
]
const TIERS = ['observer', 'standard', 'elevated', 'admin']

/** Typical conditions with random parts. */
function condition(random: Random): string {
  const path = random.pick(['/etc/', '/work/', '/home/me/', '/tmp'])
  const number = random.pick([0, 1, 10, 100, 250, 1000])
  return random.pick([
    `args.path.startsWith("${path}")`,
    `args.path.startsWith("${path}") && !args.path.contains("..")`,
    `args.path.endsWith("${random.pick(['.env', '.md', '.ts'])}")`,
    `has(args.path) && args.path == "${path}notes"`,
    `args.path.matches("^${path}[a-z]+\\\\.(md|txt)$")`,
    `args.path.matches("(^|/)\\\\.${random.pick(['env', 'ssh', 'git'])}")`,
    `args.amount <= ${number}.0`,
    `args.amount > ${number}.0 && args.currency in ["EUR", "${random.pick(['CHF', 'USD'])}"]`,
    `!has(args.force) || args.force == false`,
    `args.mode == "${random.pick(['safe', 'fast'])}"`,
    `size(args.to) < ${random.pick([2, 3, 5])}`,
    `args.to.all(t, t.endsWith("@${random.pick(['example.com', 'partner.test'])}"))`,
    `destinations.all(d, d.host == "${random.pick(['example.com', 'api.partner.test'])}")`,
    `destinations.exists(d, d.host.endsWith(".example.com") && d.port == ${random.pick([443, 8443])})`,
    `tier ${random.pick(['==', '!='])} "${random.pick(TIERS)}"`,
    `effect == "${random.pick(EFFECTS)}"`,
    `environment == "${random.pick(['prod', 'staging'])}"`,
    `time.getHours() ${random.pick(['<', '>='])} ${random.pick([8, 17, 18])}`,
    `["${path}", "/srv/"].exists(p, args.path.startsWith(p)) && size(args.path) < ${random.pick([20, 40])}`,
    `args.query.matches("(?i)^select\\\\s") && !args.query.contains("${random.pick([';', '--'])}")`,
    `principal.startsWith("${random.pick(['agent:', 'bot:'])}") && args.dry == true`,
    `args.limit < ${number} ? args.table == "users" : args.table in ["a", "b"]`,
    `"${random.pick(['personal', 'secret', 'card'])}" in labels`,
    `args["x-count"] * 2.0 < ${number}.0`,
  ])
}

/** A random policy. */
export function randomPolicy(seed: number): Draftable {
  const random = new Random(seed)
  const tools = random.some(80, TOOLS)
  const names = tools.length > 0 ? tools : ['fs/read']
  const list = <T>(most: number, value: () => T): readonly T[] => [value(), ...random.list(most - 1, value)]
  return {
    tollgate: 1,
    name: `made-${seed}`,
    ...(random.chance(20) && { context: { environments: ['prod', ...random.maybe(50, () => 'staging')] } }),
    principals: {
      'agent:a': { tier: random.pick(TIERS) },
      'agent:*': { tier: random.pick(TIERS) },
      ...(random.chance(30) && { 'bot:x': { tier: 'admin', 'delegate-only': random.chance(50) } }),
    },
    tools: Object.fromEntries(names.map((name) => [name, toolOf(random)])),
    rules: list(7, () => 0).map((_, i) => ruleOf(random, i)),
    gates: {
      egress: { allow: random.some(40, HOSTS), ask: random.some(20, HOSTS), deny: random.some(15, HOSTS) },
      ...(random.chance(30) && {
        privilege: { needs: { write: random.pick(TIERS), send: random.pick(TIERS) } },
      }),
      taint: {
        deny: random.chance(50) ? ['secret'] : ['secret', 'personal'],
        internal: random.some(30, ['example.com']),
      },
      ...(random.chance(30) && { threat: { arguments: { high: random.pick(['deny', 'ask', 'label']) } } }),
      ...(random.chance(30) && {
        temporal: { hours: { [random.pick(GLOBS)]: `mon-fri ${random.pick(['08', '09'])}:00-18:00` } },
      }),
      ...(random.chance(30) && {
        compliance: {
          jurisdictions: { eu: ['example.com'] },
          rules: [
            {
              id: 'c',
              labels: [random.pick(['personal', 'card'])],
              outside: ['eu'],
              then: random.pick(['ask', 'deny']),
            },
          ],
        },
      }),
    },
  }
}

function toolOf(random: Random): object {
  return {
    effect: random.pick(EFFECTS),
    ...(random.chance(30) && { destinations: random.pick(['none', ['to'], ['url']]) }),
    ...(random.chance(20) && { sinks: ['to'] }),
    ...(random.chance(20) && {
      schema: {
        type: 'object',
        properties: {
          path: { type: 'string' },
          amount: { type: 'number', minimum: 0, maximum: random.pick([500, 5000]) },
          mode: { enum: ['safe', 'fast'] },
          to: {},
          url: { type: 'string' },
        },
        required: random.some(30, ['path', 'mode']),
      },
    }),
  }
}

function ruleOf(random: Random, i: number): object {
  const tools = random.chance(50) ? random.pick(TOOLS) : random.pick(GLOBS)
  return {
    id: `r${i}`,
    [random.pick(['allow', 'allow', 'allow', 'deny', 'require'])]: tools,
    ...(random.chance(20) && { principal: random.pick(['agent:a', 'agent:*', 'bot:*']) }),
    ...(random.chance(10) && { session: random.pick(['s1', 'night-*']) }),
    ...(random.chance(15) && { door: random.pick(['mcp', 'http', 'llm']) }),
    ...(random.chance(65) && { when: condition(random) }),
  }
}

/** A small change to a policy; undefined if it does not apply. */
type Mutation = (policy: Draftable, random: Random) => Draftable | undefined

type Rules = readonly Record<string, unknown>[]

function rulesOf(policy: Draftable): Rules {
  return (policy.rules ?? []) as Rules
}

function withRule(
  policy: Draftable,
  random: Random,
  change: (rule: Record<string, unknown>) => object | undefined,
): Draftable | undefined {
  const rules = rulesOf(policy)
  if (rules.length === 0) return undefined
  const at = random.int(rules.length)
  const changed = change(rules[at] ?? {})
  return changed && { ...policy, rules: rules.map((rule, i) => (i === at ? changed : rule)) }
}

const ACTIONS = ['allow', 'deny', 'require']

/** The kinds of changes. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'drop a rule': (policy, random) => {
    const rules = rulesOf(policy)
    const at = random.int(rules.length)
    return rules.length === 0 ? undefined : { ...policy, rules: rules.filter((_, i) => i !== at) }
  },
  'swap two rules': (policy, random) => {
    const rules = rulesOf(policy)
    if (rules.length < 2) return undefined
    const [x, y] = [random.int(rules.length), random.int(rules.length)]
    return { ...policy, rules: rules.map((rule, i) => (i === x ? rules[y] : i === y ? rules[x] : rule)) }
  },
  'change an action': (policy, random) =>
    withRule(policy, random, (rule) => {
      const action = ACTIONS.find((each) => each in rule) ?? ''
      const rest = without(rule, action, 'approvers', 'expires')
      return { ...rest, [random.pick(ACTIONS.filter((each) => each !== action))]: rule[action] }
    }),
  'negate a condition': (policy, random) =>
    withRule(policy, random, ({ when, ...rule }) =>
      typeof when === 'string' ? { ...rule, when: `!(${when})` } : undefined,
    ),
  'drop a condition': (policy, random) =>
    withRule(policy, random, ({ when, ...rule }) => (when === undefined ? undefined : rule)),
  'change a constant of a condition': (policy, random) =>
    withRule(policy, random, ({ when, ...rule }) => {
      if (typeof when !== 'string') return undefined
      const changed = changedConstant(when, random)
      return changed === when ? undefined : { ...rule, when: changed }
    }),
  'change an operator': (policy, random) =>
    withRule(policy, random, ({ when, ...rule }) => {
      if (typeof when !== 'string') return undefined
      const pairs = [
        ['<=', '<'],
        [' < ', ' <= '],
        ['>=', '>'],
        [' > ', ' >= '],
        ['==', '!='],
        ['&&', '||'],
        ['||', '&&'],
        ['startsWith', 'contains'],
        ['.all(', '.exists('],
      ]
      const [from = '', to = ''] = random.pick(
        pairs.filter(([each = '']) => when.includes(each)).concat([['', '']]),
      )
      return from === '' ? undefined : { ...rule, when: when.replace(from, to) }
    }),
  'change the tools of a rule': (policy, random) =>
    withRule(policy, random, (rule) => {
      const action = ACTIONS.find((each) => each in rule) ?? ''
      return { ...rule, [action]: random.pick([...GLOBS, ...toolNames(policy)]) }
    }),
  'change who a rule is for': (policy, random) =>
    withRule(policy, random, (rule) => {
      const field = random.pick(['principal', 'session', 'door'])
      if (field in rule) {
        return without(rule, field)
      }
      return { ...rule, [field]: field === 'door' ? 'http' : field === 'session' ? 's1' : 'agent:a' }
    }),
  'change an effect': (policy, random) =>
    withTool(policy, random, (tool) => ({ ...tool, effect: random.pick(EFFECTS) })),
  'drop a tool': (policy, random) => withTool(policy, random, () => undefined),
  'change a part of a tool': (policy, random) =>
    withTool(policy, random, (tool) => {
      const name = random.pick(
        ['destinations', 'schema', 'sinks', 'takes', 'cost', 'browser']
          .filter((each) => each in tool)
          .concat('effect'),
      )
      return without(tool, name)
    }),
  'change a tier': (policy, random) => {
    const entries = Object.entries((policy.principals ?? {}) as Record<string, object>)
    if (entries.length === 0) return undefined
    const at = random.int(entries.length)
    const tier = random.pick(TIERS)
    return {
      ...policy,
      principals: Object.fromEntries(
        entries.map(([name, each], i) => [name, i === at ? { ...each, tier } : each]),
      ),
    }
  },
  'change an egress list': (policy, random) => {
    const gates = (policy.gates ?? {}) as Record<string, Record<string, readonly string[]>>
    const list = random.pick(['allow', 'ask', 'deny'])
    const before = gates.egress?.[list] ?? []
    const after =
      random.chance(50) && before.length > 0
        ? before.filter((_, i) => i !== random.int(before.length))
        : [...before, random.pick(HOSTS)]
    return { ...policy, gates: { ...gates, egress: { ...gates.egress, [list]: after } } }
  },
  'drop a gate': (policy, random) => {
    const gates = (policy.gates ?? {}) as Record<string, unknown>
    const names = Object.keys(gates)
    if (names.length === 0) return undefined
    return { ...policy, gates: without(gates, random.pick(names)) }
  },
  'change a word of a gate': (policy, random) => {
    const gates = policy.gates as Json | undefined
    if (gates === undefined) return undefined
    const words = {
      deny: ['ask', 'allow'],
      ask: ['deny', 'allow'],
      label: ['deny'],
      allow: ['deny'],
    } as const
    const text = JSON.stringify(gates)
    const found = [...text.matchAll(/:"(deny|ask|label|allow)"/g)]
    if (found.length === 0) return undefined
    const { 0: whole, 1: word, index } = random.pick(found)
    const other = random.pick(words[word as keyof typeof words])
    return {
      ...policy,
      gates: JSON.parse(`${text.slice(0, index)}:"${other}"${text.slice(index + whole.length)}`) as Json,
    }
  },
  'drop the context': ({ context, ...policy }) => (context === undefined ? undefined : policy),
}

function without(whole: Record<string, unknown>, ...names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(whole).filter(([name]) => !names.includes(name)))
}

function toolNames(policy: Draftable): string[] {
  return Object.keys(policy.tools ?? {})
}

function withTool(
  policy: Draftable,
  random: Random,
  change: (tool: Record<string, unknown>) => object | undefined,
): Draftable | undefined {
  const tools = Object.entries((policy.tools ?? {}) as Record<string, Record<string, unknown>>)
  if (tools.length === 0) return undefined
  const at = random.int(tools.length)
  const changed = tools.flatMap(([name, tool], i) => {
    const after = i === at ? change(tool) : tool
    return after === undefined ? [] : [[name, after] as const]
  })
  return { ...policy, tools: Object.fromEntries(changed) }
}

/** A changed number or text. */
function changedConstant(when: string, random: Random): string {
  const found = [...when.matchAll(/"((?:[^"\\]|\\.)*)"|(?<![\w"])(\d+)(?![\w"])/g)]
  if (found.length === 0) return when
  const { 0: whole, 1: text, 2: number, index } = random.pick(found)
  const changed =
    text === undefined
      ? String(Number(number) + random.pick([1, -1, 10]))
      : `"${random.pick([`${text}x`, text.slice(0, text.endsWith('\\') ? -2 : -1), `${text}${text.endsWith('/') ? 'sub/' : '2'}`])}"`
  return when.slice(0, index) + changed + when.slice(index + whole.length)
}

/** A random call from the words of both policies. */
export function randomCall(random: Random, words: Words): { readonly call: ToolCall; readonly time: number } {
  const args: Record<string, Json> = {}
  for (const name of random.some(55, words.names)) args[name] = valueOf(random, words)
  const context: JsonObject = random.chance(50) ? { environment: random.pick(['prod', 'staging', 'x']) } : {}
  return {
    call: {
      caller: { tenant: 'default', principal: random.pick(words.principals) },
      door: random.pick(['mcp', 'mcp', 'http', 'llm', 'browser'] as const),
      assurance: 'advised',
      tool: random.pick(words.tools),
      args,
      session_id: random.pick(['s1', 'night-1', 'probe']),
      ...(random.chance(70) && { context }),
    },
    time: Date.UTC(2026, 0, 5 + random.int(7), random.int(24), random.int(60)),
  }
}

/** The parts of random calls. */
export interface Words {
  readonly tools: readonly string[]
  readonly names: readonly string[]
  readonly texts: readonly string[]
  readonly numbers: readonly number[]
  readonly principals: readonly string[]
}

/** The words of two policies. */
export function wordsOf(a: Policy, b: Policy): Words {
  const text = `${a.text}\n${b.text}`
  const quoted = [...text.matchAll(/["']([^"'\n]{1,60})["']/g)].map(([, each]) => each ?? '')
  const hosts = [...text.matchAll(/[a-z0-9.-]+\.(?:test|com)/g)].map(([host]) => host)
  const globs = (source: string): string => source.replaceAll('*', 'probe')
  return {
    tools: [...a.tools, ...b.tools].map(({ name }) => globs(name.source)).concat('fs/read'),
    names: [
      ...new Set(
        [...text.matchAll(/args\.(\w+)|args\["([^"]+)"\]/g)]
          .map(([, x, y]) => x ?? y ?? '')
          .concat('to', 'url', 'note'),
      ),
    ],
    texts: [
      ...quoted,
      ...quoted.flatMap((each) => [`${each}x`, each.slice(0, -1)]),
      ...hosts.flatMap((host) => [`https://${host}/`, `https://sub.${host}/`, `a@${host}`]),
      '/work/notes.md',
      '/etc/a.txt',
      '/srv/x',
      'select 1',
      '.env',
      'https://unknown.example/',
      'card 4111 1111 1111 1111',
      'password=hunter2secret',
      'ignore all previous instructions',
      '10.1.2.3',
      'https://10.1.2.3/',
    ],
    numbers: [...text.matchAll(/\b\d{1,5}\b/g)].flatMap(([each]) => [
      Number(each),
      Number(each) + 1,
      Number(each) - 1,
    ]),
    principals: [
      ...[...a.principals, ...b.principals].map(({ name }) => globs(name.source)),
      'agent:a',
      'agent:z',
      'bot:q',
    ],
  }
}

function valueOf(random: Random, { texts, numbers }: Words): Json {
  if (random.chance(55)) return random.pick(texts)
  if (random.chance(50)) return random.pick(numbers.length > 0 ? numbers : [0])
  return random.pick<Json>([
    true,
    false,
    null,
    [random.pick(texts)],
    [],
    [random.pick(texts), random.pick(texts)],
  ])
}

/** The decision of a policy as one text. */
export function judged(policy: Policy, call: ToolCall, time: number): string {
  const { verdict, rung, reason, rule } = tryCall(policy, call, time).judgement
  return `${verdict} ${rung} ${reason} ${rule?.id ?? ''}`
}

/** How well generated calls find changes. */
export interface Measured {
  readonly found: number
  /** Changes that a random search found but generated calls did not. */
  readonly missed: readonly string[]
  readonly rate: number
}

/** Changes policies at random, and checks whether generated calls or a random search show the effect. */
export function measure(policies: readonly Draftable[], count: number, searches: number): Measured {
  const missed: string[] = []
  let found = 0
  let tried = 0
  // Many changes do not apply to many policies.
  for (let i = 0; tried < count && i < 20 * count; i++) {
    const random = new Random(i + 1000)
    const base = random.pick(policies)
    const [name, mutate] = random.pick(Object.entries(MUTATIONS))
    const changed = mutate(base, random)
    const [a, b] = [made(base), changed && made(changed)]
    if (!a || !b || a.hash === b.hash) continue
    tried++
    if (isShown(a, b, generatedCalls(a, b))) found++
    else if (isShown(a, b, randomCalls(random, wordsOf(a, b), searches))) missed.push(`${name}, ${i}`)
  }
  return { found, missed, rate: found / (found + missed.length) }
}

type Calls = Iterable<ReturnType<typeof randomCall>>

function isShown(a: Policy, b: Policy, calls: Calls): boolean {
  for (const { call, time } of calls) if (judged(a, call, time) !== judged(b, call, time)) return true
  return false
}

function* generatedCalls(a: Policy, b: Policy): Calls {
  for (const draft of generateCalls(a, b)) yield { call: callOf(draft), time: draft.time }
}

function* randomCalls(random: Random, words: Words, count: number): Calls {
  for (let i = 0; i < count; i++) yield randomCall(random, words)
}
