// Histories of typical agents, and mutations of their calls by an attacker: for the tests of learning.

import type { Door, EffectClass, Json, JsonObject } from '@tollgate/evidence'
import { parsePolicy } from '@tollgate/kernel/policy'
import { tryCall } from '@tollgate/kernel/workbench'
import { callOf, type ObservedCall } from '../../src/workbench/learn/observed.ts'

/** The kind of an argument, so that a mutation can leave the observed values. */
export type Role = 'path' | 'url' | 'number' | 'enum' | 'flag' | 'text' | 'id' | 'enums' | 'record'

interface Tool {
  readonly tool: string
  readonly effect: EffectClass
  readonly roles: Readonly<Record<string, Role>>
  readonly make: (dice: Dice) => JsonObject
}

/** A history: calls, and the kind of each argument. */
export interface Trace {
  readonly calls: readonly ObservedCall[]
  readonly roles: ReadonlyMap<string, Readonly<Record<string, Role>>>
  /** Identifies each of its calls. */
  readonly seen: ReadonlySet<string>
}

/** Random numbers from a seed. */
export interface Dice {
  /** An integer below `n`. */
  below(n: number): number
  pick<T>(items: readonly T[]): T
}

/** A generator for a seed (mulberry32). */
export function diceOf(seed: number): Dice {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const below = (n: number): number => Math.floor(next() * n)
  return {
    below,
    pick: (items) => {
      const item = items[below(items.length)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
  }
}

const WORDS = 'parser token ledger invoice session border matrix cursor widget printer garden letter'.split(
  ' ',
)

function words(dice: Dice, most: number): string {
  return Array.from({ length: 1 + dice.below(most) }, () => dice.pick(WORDS)).join(' ')
}

function sourceFile(dice: Dice): string {
  const folder = dice.pick(['src', 'src/core', 'src/ui/forms', 'test', 'test/data'])
  return dice.below(8) === 0
    ? dice.pick(['README.md', 'package.json'])
    : `${folder}/${dice.pick(WORDS)}-${dice.below(40)}.ts`
}

const CODING: readonly Tool[] = [
  {
    tool: 'fs/read_file',
    effect: 'read',
    roles: { path: 'path', limit: 'number' },
    make: (dice) => ({ path: sourceFile(dice), ...(dice.below(3) === 0 && { limit: 1 + dice.below(500) }) }),
  },
  {
    tool: 'fs/search',
    effect: 'read',
    roles: { pattern: 'text', root: 'path', kind: 'enum', exact: 'flag' },
    make: (dice) => ({
      pattern: words(dice, 5),
      root: `/work/project/src/${dice.pick(WORDS)}/${dice.pick(WORDS)}`,
      kind: dice.pick(['ts', 'md']),
      exact: true,
    }),
  },
  {
    tool: 'fs/write_file',
    effect: 'write',
    roles: { path: 'path', content: 'text' },
    make: (dice) => ({ path: `src/${dice.pick(WORDS)}/${dice.pick(WORDS)}.ts`, content: words(dice, 40) }),
  },
  {
    tool: 'shell/run',
    effect: 'execute',
    roles: { command: 'enum', cwd: 'enum' },
    make: (dice) => ({
      command: dice.pick(['npm test', 'npm run build', 'git status']),
      cwd: '/work/project',
    }),
  },
  { tool: 'git/status', effect: 'read', roles: {}, make: () => ({}) },
]

const DATABASE: readonly Tool[] = [
  {
    tool: 'db/select',
    effect: 'read',
    roles: { table: 'enum', columns: 'enums', limit: 'number', where: 'record' },
    make: (dice) => ({
      table: dice.pick(['orders', 'customers', 'products']),
      columns: Array.from({ length: 1 + dice.below(3) }, () => dice.pick(['id', 'name', 'total'])),
      limit: 10 + dice.below(90),
      where: { column: dice.pick(['id', 'total']), is: dice.pick(['<', '=', '>']), value: dice.below(1000) },
    }),
  },
  {
    tool: 'db/describe',
    effect: 'read',
    roles: { table: 'enum' },
    make: (dice) => ({ table: dice.pick(['orders', 'customers']) }),
  },
]

const MAIL: readonly Tool[] = [
  {
    tool: 'mail/search',
    effect: 'read',
    roles: { query: 'text', folder: 'enum', most: 'number' },
    make: (dice) => ({
      query: words(dice, 6),
      folder: dice.pick(['inbox', 'sent']),
      most: 1 + dice.below(50),
    }),
  },
  {
    tool: 'mail/read',
    effect: 'read',
    roles: { id: 'id', headers: 'flag' },
    make: (dice) => ({ id: `msg-${dice.below(1_000_000)}`, headers: false }),
  },
  {
    tool: 'mail/send',
    effect: 'send',
    roles: { to: 'enums', subject: 'text' },
    make: (dice) => ({ to: [dice.pick(['anna@example.com', 'team@example.com'])], subject: words(dice, 8) }),
  },
]

const BROWSING: readonly Tool[] = [
  {
    tool: 'web/fetch',
    effect: 'read',
    roles: { url: 'url', format: 'enum' },
    make: (dice) => ({
      url: `https://docs.example.com/guide/${dice.pick(WORDS)}/${dice.pick(WORDS)}-${dice.below(20)}`,
      format: dice.pick(['markdown', 'text']),
    }),
  },
  {
    tool: 'web/search',
    effect: 'read',
    roles: { q: 'text', region: 'enum' },
    make: (dice) => ({ q: words(dice, 6), region: dice.pick(['de', 'fr', 'gb']) }),
  },
]

/** The kinds of agents. */
export const AGENTS: Readonly<Record<string, readonly Tool[]>> = {
  'coding agent': CODING,
  'database analyst': DATABASE,
  'mail assistant': MAIL,
  'browser agent': BROWSING,
}

/** A history with some calls of an agent. */
export function traceOf(agent: string, size: number, dice: Dice): Trace {
  const tools = AGENTS[agent] ?? []
  const calls = Array.from({ length: size }, (_, i) => {
    const { tool, effect, make } = dice.pick(tools)
    return observed({
      receipt: i.toString(16).padStart(64, '0'),
      time: new Date(Date.UTC(2026, 0, 5, 9, 0, i)).toISOString(),
      session: `s${dice.below(4)}`,
      principal: dice.pick(['agent:one', 'agent:two']),
      door: dice.pick<Door>(['mcp', 'sdk']),
      tool,
      effect,
      args: make(dice),
    })
  })
  const roles = new Map(tools.map((each) => [each.tool, each.roles]))
  return { calls, roles, seen: new Set(calls.map(identity)) }
}

const EMPTY = parsePolicy('tollgate: 1\nname: empty\nrules: []\n')

/** A clean call with its destinations, as computed by the evaluator. */
export function observed(call: Omit<ObservedCall, 'destinations' | 'clean'>): ObservedCall {
  if (!EMPTY.ok) throw new Error('no policy')
  const clean = { ...call, destinations: [], clean: true }
  const { snapshot } = tryCall(EMPTY.policy, callOf(clean), Date.parse(call.time))
  const destinations = snapshot.destinations().map(({ scheme, host, port }) => ({ scheme, host, port }))
  return { ...clean, destinations }
}

/** A mutated call, and the mutation. */
export interface Mutant {
  readonly how: string
  readonly call: ObservedCall
}

/** All mutations of one call that leave the observed values. */
export function mutantsOf(call: ObservedCall, trace: Trace): readonly Mutant[] {
  const roles = trace.roles.get(call.tool) ?? {}
  const args = call.args as JsonObject
  const mutants = [
    ...callersOf(call),
    ...shapesOf(args).map(([how, changed]) => ({ how, call: { ...call, args: changed } })),
    ...Object.entries(roles).flatMap(([name, role]) => {
      const value = args[name]
      if (value === undefined) return []
      return [...OUTSIDE[role](value), ...otherTypes(value)].map(([how, changed]) => ({
        how: `${role}: ${how}`,
        call: { ...call, args: { ...args, [name]: changed } },
      }))
    }),
  ]
  return mutants.filter((mutant) => !trace.seen.has(identity(mutant.call)))
}

function identity({ tool, principal, door, args }: ObservedCall): string {
  return JSON.stringify([tool, principal, door, args])
}

function callersOf(call: ObservedCall): readonly Mutant[] {
  const { tool } = call
  const change = (how: string, changed: Partial<ObservedCall>): Mutant => ({
    how,
    call: { ...call, ...changed },
  })
  return [
    ...['agent:three', 'agent:one ', 'Agent:one', 'agent:', 'agent:one/x', 'аgent:one'].map((principal) =>
      change('other principal', { principal }),
    ),
    ...(['http', 'llm', 'browser'] as const).map((door) => change('other door', { door })),
    ...[`${tool}s`, tool.toUpperCase(), `x${tool}`, tool.replace('/', ':'), `${tool}\u200b`].map((other) =>
      change('other tool', { tool: other }),
    ),
  ]
}

type Change = readonly [how: string, value: Json]

function shapesOf(args: JsonObject): readonly Change[] {
  const names = Object.keys(args)
  return [
    ...['extra', '__proto__', 'constructor', ' ', 'pаth'].map((name): Change => [
      'additional argument',
      Object.fromEntries([...Object.entries(args), [name, 'x']]),
    ]),
    // Leaving out an optional argument was observed.
    ...names
      .filter((name) => name !== 'limit' || 'table' in args)
      .map((name): Change => [
        'missing argument',
        Object.fromEntries(Object.entries(args).filter(([each]) => each !== name)),
      ]),
    ['arguments in a list', [args]],
    ['arguments as text', JSON.stringify(args)],
    ['no arguments but null', null],
  ]
}

function otherTypes(value: Json): readonly Change[] {
  const others: readonly Json[] = [null, 7.5, 'other type', true, ['x'], { x: 'x' }, [value], { value }]
  return others
    .filter((other) => kindOf(other) !== kindOf(value))
    .map((other): Change => [`as ${kindOf(other)}`, other])
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function kindOf(value: Json): string {
  return value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value
}

const TRAVERSALS = [
  '../../../etc/passwd',
  'a/../../../../etc/passwd',
  '..\\..\\secrets',
  '%2e%2e/%2e%2e/etc/passwd',
  '..%2f..%2fetc',
  '%2e%2e%2fetc',
  '..;/..;/etc',
  '.\u200b./x',
  '．．／etc',
  '..∕..∕etc',
  'a\u0000.ts',
  '.. /.. /x',
  '.../x',
  '.ssh/id_rsa',
  'a//b',
  './x',
  'a\nb',
  '${HOME}/x',
  '$(id)',
]

const OUTSIDE: Readonly<Record<Role, (value: Json) => readonly Change[]>> = {
  path: (value) => {
    const path = textOf(value)
    const folder = path.slice(0, path.lastIndexOf('/') + 1)
    const outside = [
      '/etc/passwd',
      '~/.ssh/id_rsa',
      'lib/x.ts',
      '..',
      '/',
      '',
      'srcx/a.ts',
      'SRC/a.ts',
      'C:\\x',
      '//host/x',
    ]
    return [
      ...[...outside, '/work/projectx/src/a', '/work', 'file:///etc/passwd', `/${path}`, ` ${path}`].map(
        (each): Change => ['outside', each],
      ),
      ...TRAVERSALS.map((each): Change => ['traversal', folder + each]),
      ['very long', `${folder}${'a'.repeat(4000)}`],
      ['look-alike letter', path.replace('r', 'г').replace('s', 'ѕ')],
    ]
  },
  url: (value) => {
    const url = textOf(value)
    const rest = url.slice('https://docs.example.com'.length)
    return [
      ...[
        'evil.test',
        'docs.example.com.evil.test',
        'docs.examp1e.com',
        'docs.exаmple.com',
        'example.com',
        'xn--docs-example.com',
        'docs.example.com@evil.test',
        '127.0.0.1',
        '[::1]',
        'docs.example.com%2eevil.test',
        'docs.example.com\\.evil.test',
      ].map((host): Change => ['other host', `https://${host}${rest}`]),
      ['other scheme', url.replace('https', 'http')],
      ['other scheme', url.replace('https', 'ftp')],
      ['other scheme', `javascript:fetch("${url}")`],
      ['other port', `https://docs.example.com:8443${rest}`],
      ['other path', 'https://docs.example.com/admin'],
      ['other path', 'https://docs.example.com/guidex/a'],
      ...TRAVERSALS.map((each): Change => ['traversal', `https://docs.example.com/guide/${each}`]),
      ['data in the query', `${url}?q=secret`],
      ['a second address', `${url} https://evil.test/`],
    ]
  },
  number: (value) =>
    [-1, 1e9, 501, 5000, Number(value) + 0.5, -Number(value) - 1].map((each): Change => [
      'out of range',
      each,
    ]),
  enum: (value) =>
    [
      `${textOf(value)} `,
      textOf(value).toUpperCase(),
      `${textOf(value)}\u200b`,
      'other',
      '',
      `${textOf(value)}; rm -rf /`,
      textOf(value).replace('e', 'е').replace('s', 'ѕ'),
    ].map((each): Change => ['other value', each]),
  flag: (value) => [['flipped', value !== true]],
  id: (value) =>
    [
      `${textOf(value)}'; drop table x`,
      '../../x',
      `${textOf(value)}\u0000`,
      'msg-'.repeat(100),
      'msg 1',
      'мsg-1',
    ].map((each): Change => ['other letters', each]),
  text: (value) => [
    ['longer', textOf(value).padEnd(20_000, 'x ')],
    ...['\u0000', '\u200b', '\u202e', '\u001b[2J', '\u{e0041}'].map((mark): Change => [
      'hidden character',
      `${textOf(value)}${mark}`,
    ]),
    ...['../../x', '%2e', '$(id)', '`id`', '${jndi:x}', '\\x'].map((each): Change => [
      'trick',
      `${textOf(value)} ${each}`,
    ]),
    ['an address', `${textOf(value)} https://evil.test/`],
    ['an address', `${textOf(value)} eve@evil.test`],
  ],
  enums: (value) => {
    const items = value as readonly Json[]
    return [
      ['another item', ['other']],
      ['another item', [...items.slice(1), 'eve@evil.test']],
      ['more items', Array.from({ length: 9 }, () => items[0] ?? 'x')],
      ['a list in the list', [items]],
      ['no item', []],
    ]
  },
  record: (value) => {
    const record = value as JsonObject
    return [
      ['nested change', { ...record, is: 'or 1=1' }],
      ['nested change', { ...record, column: 'password' }],
      ['nested change', { ...record, value: 1e6 }],
      ['nested change', { ...record, value: '1' }],
      ['nested change', { ...record, and: { ...record } }],
      ['nested change', { column: 'id' }],
      ['nested change', { ...record, column: { ...record } }],
    ]
  },
}

/** Calls that differ from the observed ones but that a comment declares as allowed: siblings. */
export function siblingsOf(call: ObservedCall, trace: Trace, dice: Dice): readonly Mutant[] {
  const roles = trace.roles.get(call.tool) ?? {}
  const args = call.args as JsonObject
  return Object.entries(roles)
    .flatMap(([name, role]): readonly Mutant[] => {
      const value = args[name]
      const near = role === 'path' && typeof value === 'string' && value.includes('/')
      if (near) return [{ how: 'sibling path', call: { ...call, args: { ...args, [name]: `${value}x` } } }]
      if (role !== 'text') return []
      return [{ how: 'other text', call: { ...call, args: { ...args, [name]: words(dice, 3) } } }]
    })
    .filter((mutant) => !trace.seen.has(identity(mutant.call)))
}
