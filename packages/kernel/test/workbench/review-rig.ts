// Random policies for reviews, with few names, so that rules interact.

import { factsOfCall } from '../../src/shell/call.ts'
import { DOORS, EFFECT_CLASSES, TIERS, type Door } from '@tollgate/evidence'
import { createCatalogue } from '../../src/admin/catalogue.ts'
import { parsePolicy, type Policy } from '../../src/policy/parse/parse.ts'
import { ONE } from '../../src/units.ts'
import { POINT } from '../../src/units.ts'
import type { Subject } from '../../src/policy/evaluate.ts'
import type { Random } from '../model/model-random.ts'

/** Parses a policy. @throws Error with its mistakes. */
export function policyOf(text: string): Policy {
  const parsed = parsePolicy(text)
  if (parsed.ok) return parsed.policy
  throw new Error(parsed.mistakes.map(({ line, message }) => `${line}: ${message}`).join('\n'))
}

export const NAMES: readonly string[] = ['a/x', 'a/y', 'b/x', 'b/y', 'ab', 'c']
const GLOBS = ['*', 'a*', 'a/*', '*/x', '*y', '*b*', 'a*x', '**', 'b/*']
export const PEOPLE: readonly string[] = ['agent:a', 'agent:b', 'user:c', 'nobody']
const PEOPLE_GLOBS = ['agent:*', '*', '*:c', 'agent:a']
const SESSIONS = ['s1', 's2', 's3']

/** Returns a policy of up to eight rules; conditions come from `condition`. */
export function randomPolicy(
  random: Random,
  condition: () => string,
  globs: readonly string[] = GLOBS,
): string {
  const rules = Array.from({ length: 1 + random.int(8) }, (_, i) => {
    const list = (names: readonly string[]): string =>
      JSON.stringify([random.pick(names), ...random.maybe(40, () => random.pick(names))])
    const names = random.chance(60) ? globs : NAMES
    const who = random.chance(50) ? PEOPLE_GLOBS : PEOPLE
    return [
      `{ id: r${i}, ${random.pick(['allow', 'deny', 'require'])}: ${list(names)}`,
      ...random.maybe(35, () => `principal: ${list(who)}`),
      ...random.maybe(15, () => `session: ${list(['s1', 's2', 's*'])}`),
      ...random.maybe(25, () => `door: ${list(DOORS)}`),
      ...random.maybe(35, () => `when: ${JSON.stringify(condition())}`),
    ].join(', ')
  })
  const tools = [...random.some(70, NAMES), ...random.some(10, GLOBS)].map(
    (name) => `  ${JSON.stringify(name)}: { effect: ${random.pick(EFFECT_CLASSES)} }`,
  )
  const head = 'tollgate: 1\nname: random\n'
  const declared = tools.length === 0 ? '' : `tools:\n${tools.join('\n')}\n`
  return `${head}${declared}rules:\n${rules.map((rule) => `  - ${rule} }`).join('\n')}\ngates: { trust: {} }\n`
}

const NO_FACTS = factsOfCall(undefined, {}, undefined)

/** Returns a call that reaches the rules of this policy. */
export function randomSubject(random: Random, policy: Policy, tool = random.pick(NAMES)): Subject {
  const risk = random.pick([0, 300_000, 500_000, ONE])
  const trust = random.pick([0, 300, 500, 1000]) * POINT
  return {
    tool,
    effect: createCatalogue().find(tool, policy)?.declared?.effect ?? 'admin',
    principal: random.pick(PEOPLE),
    tier: random.pick(TIERS),
    session: random.pick(SESSIONS),
    door: random.pick<Door>(DOORS),
    tenant: random.pick(['default', 'other']),
    environment: random.pick(['', 'production']),
    workspace: '',
    args: random.pick([
      {},
      { n: 3 },
      { n: 4 },
      { n: 5 },
      { n: -1.5 },
      { n: 'a' },
      { n: 'b' },
      { n: true },
      { n: null },
    ]),
    time: 0,
    destinations: () => [],
    labels: () => [],
    trust: () => trust,
    risk: () => risk,
    shell: () => NO_FACTS.shell,
    files: () => NO_FACTS.files,
  }
}

const OPERANDS = [
  'args.n',
  'args.n',
  'args.n',
  'effect',
  'door',
  'tier',
  'tool',
  'principal',
  'risk',
  'trust',
  'tenant',
]
const LITERALS: Readonly<Record<string, readonly string[]>> = {
  'args.n': ['3', '4', '5', '3.0', '4.5', '-1.5', '"a"', '"b"', 'true', 'null', '9007199254740993'],
  effect: ['"read"', '"write"', '"admin"', '"erase"'],
  door: ['"mcp"', '"llm"', '"window"'],
  tier: ['"observer"', '"admin"', '"boss"'],
  tool: ['"a/x"', '"b/y"', '"zz"'],
  principal: ['"agent:a"', '"user:c"'],
  tenant: ['"default"', '"none"'],
  risk: ['0.0', '0.3', '0.5', '1.0', '2.0'],
  trust: ['0.0', '300.0', '1000.0', '1001.0'],
}

/** Returns a condition that compares variables with literals. */
export function randomCondition(random: Random, depth = 3): string {
  if (depth > 0 && random.chance(65)) {
    const part = (): string => `(${randomCondition(random, depth - 1)})`
    return random.pick([
      () => `${part()} && ${part()}`,
      () => `${part()} && ${part()} && ${part()}`,
      () => `${part()} || ${part()}`,
      () => `!${part()}`,
      () => `${part()} ? ${part()} : ${part()}`,
    ])()
  }
  const operand = random.pick(OPERANDS)
  const literals = LITERALS[operand] ?? []
  const isText = !['args.n', 'risk', 'trust'].includes(operand)
  return random.pick([
    () =>
      `args.n.${random.pick(['startsWith', 'endsWith', 'contains'])}(${random.pick(['"a"', '"b"', '""'])})`,
    () => `size(args.n) ${random.pick(['<', '<=', '>', '>=', '=='])} ${random.pick(['-1', '0', '1'])}`,
    () => `${operand} == ${random.pick(literals)}`,
    () => `${operand} != ${random.pick(literals)}`,
    () => `${random.pick(literals)} == ${operand}`,
    () =>
      `${operand} in [${random.list(3, () => random.pick(literals)).join(', ') || random.pick(literals)}]`,
    () =>
      isText
        ? `${operand}.startsWith("a")`
        : `${operand} ${random.pick(['<', '<=', '>', '>='])} ${random.pick(literals.filter((text) => /^[-0-9]/.test(text)))}`,
    () => (isText ? `${operand} == ${operand}` : `${random.pick(['3', '4.5'])} < ${operand}`),
    () => random.pick(['true', 'false', '1 == 2', '[1, 2].exists(x, x == 2)', 'has(args.n)', '1 / 0 == 1']),
  ])()
}
