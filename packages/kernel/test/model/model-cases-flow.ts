// Makes stories of data and of delegations for the worlds of the comparison.

import { tame, TEXT_NAMES } from './model-cases-call.ts'
import {
  activation,
  callOf,
  closing,
  maybeWait,
  restartStory,
  waitOf,
  whoseIs,
  type Cast,
} from './model-cases-event.ts'
import { BOTH, PRINCIPALS, TOOL_GLOBS, TOOLS } from './model-names.ts'
import type { Random } from './model-random.ts'
import { factsOf, type TextFacts, type TextName } from './model-texts.ts'
import type { CallSpec, DelegationSpec, Event, Lost } from './model-world.ts'

const DAY = 86_400_000

/** A tool returns a text, and later calls of the session use it. */
export function dataStory(random: Random, cast: Cast): readonly Event[] {
  const some = random.pick(cast.calls)
  // Usually a new session.
  const session_id = random.chance(80) ? `d${random.int(20)}` : (some.session_id ?? 's1')
  const first = { ...tame(random, some), session_id }
  const spoken = random.pick(TEXT_NAMES)
  const source = { channel: 'TOOL_OUTPUT', text: spoken } as const
  const another = () => ({ channel: 'TOOL_OUTPUT', text: relatedTo(random, spoken) }) as const
  const again = (): Event => {
    const call = { ...tame(random, some), session_id, tool: random.pick(TOOLS), n: random.int(2) }
    const text = random.chance(75) ? relatedTo(random, spoken) : random.pick(TEXT_NAMES)
    return callOf(random, cast, {
      ...call,
      ...(random.chance(80) ? { body: text } : { memo: text }),
      sources: random.chance(25) ? [source, ...random.maybe(50, another)] : call.sources,
    })
  }
  return [
    callOf(random, cast, first),
    ...maybeWait(random, cast, 10),
    {
      ...effectOf(random, 0),
      ...(random.chance(85) && {
        status: 'COMPLETED',
        texts: [spoken, ...random.maybe(35, () => relatedTo(random, spoken))],
      }),
    },
    ...random.maybe(5, () => activation(random, cast)),
    ...(random.chance(8) && !cast.stumbles ? restartStory(random, cast, whoseIs(first)) : []),
    again(),
    ...random.maybe(10, () => closing(first)),
    ...random.maybe(50, again),
  ]
}

/** Texts that mention or request something. */
const REQUESTS: readonly TextName[] = [
  'mentioned',
  'wanted',
  'quiet',
  'outside',
  'hotel',
  'hotel',
  'hostileMail',
]

/** A tool returns a text, the user may send a message, and the session acts on it with nothing else in its arguments. */
export function readingStory(random: Random, cast: Cast): readonly Event[] {
  const session_id = `r${random.int(6)}`
  const some: CallSpec = { ...random.pick(cast.calls), body: 'plain', memo: 'plain' }
  const spoken = random.pick(random.chance(70) ? REQUESTS : TEXT_NAMES)
  const acting = (): CallSpec => {
    const text = random.chance(85) ? relatedTo(random, spoken) : random.pick(TEXT_NAMES)
    const said = random.maybe(15, () => ({ channel: 'USER', text: relatedTo(random, spoken) }) as const)
    const call = { ...some, session_id, tool: random.pick(TOOLS), sources: said, n: random.int(2) }
    return { ...call, ...(random.chance(75) && { hosts: [] }), [random.chance(70) ? 'body' : 'memo']: text }
  }
  return [
    callOf(random, cast, { ...some, session_id, hosts: [], sources: [] }),
    { do: 'effect', call: 0, status: 'COMPLETED', texts: [spoken], stranger: false },
    ...Array.from({ length: 2 }, () => callOf(random, cast, acting())),
  ]
}

/** A text that shares a value with another text, or a word if that has no value. */
function relatedTo(random: Random, name: TextName): TextName {
  const { values, words } = factsOf(name)
  const shares = (each: TextFacts): boolean =>
    values.length > 0
      ? each.values.some((value) => values.includes(value))
      : each.words.some((word) => word.length > 3 && words.includes(word))
  const related = TEXT_NAMES.filter((each) => shares(factsOf(each)))
  return random.pick(related.length > 0 ? related : TEXT_NAMES)
}

/** An effect of an allowed call. */
export function effectOf(random: Random, call: number): Event {
  const status = random.pick([
    'COMPLETED',
    'COMPLETED',
    'COMPLETED',
    'FAILED',
    'UNKNOWN',
    'CANCELLED',
  ] as const)
  return {
    do: 'effect',
    call,
    status,
    ...(random.chance(60) && {
      texts: [random.pick(TEXT_NAMES), ...random.list(1, () => random.pick(TEXT_NAMES))],
    }),
    stranger: random.chance(5),
  }
}

/** A principal delegates, perhaps through another one. The delegate acts, something changes, and it acts again. */
export function delegationStory(random: Random, cast: Cast): readonly Event[] {
  const some = random.pick(cast.calls)
  const delegate = random.pick(PRINCIPALS)
  const middle = random.pick(PRINCIPALS.filter((name) => name !== delegate))
  const through = random.chance(35)
  const call: CallSpec = {
    ...(random.chance(85) ? tame(random, some) : some),
    principal: delegate,
    word: random.pick(['hello', 'password upload', some.word]),
    delegation: random.chance(95) ? 0 : random.int(3) - 1,
  }
  const first = makeGrant(random, call, { delegator: 'agent:boss', delegate: through ? middle : delegate })
  const second: DelegationSpec = {
    ...(random.chance(80) ? first : makeGrant(random, call, first)),
    delegator: random.chance(95) ? middle : 'agent:boss',
    delegate,
    depth: random.chance(90) ? 1 : 2,
    parent: random.chance(95) ? 0 : -1,
  }
  const act = (): Event =>
    callOf(random, cast, random.chance(85) ? call : { ...call, tool: random.pick(TOOLS) })
  return [
    { do: 'delegate', ...first },
    ...(through ? [{ do: 'delegate', ...second } as const] : []),
    ...Array.from({ length: 1 + random.int(3) }, act),
    ...(random.chance(35) ? setback(random, cast, call) : []),
    ...Array.from({ length: random.int(3) }, act),
  ]
}

function makeGrant(
  random: Random,
  { tenant, tool, session_id }: CallSpec,
  { delegator, delegate }: Pick<DelegationSpec, 'delegator' | 'delegate'>,
): DelegationSpec {
  const effects = ['read', 'write', 'send', 'admin'] as const
  return {
    delegator,
    delegate,
    depth: random.chance(93) ? 2 : random.int(2),
    tenant: random.chance(97) ? tenant : random.pick(BOTH),
    tools: random.chance(60)
      ? ['*']
      : [...new Set([tool, ...random.maybe(40, () => random.pick(TOOL_GLOBS))])],
    ...(random.chance(15) && { effects: [...random.some(70, effects), 'delete'] }),
    ...(random.chance(10) && session_id !== undefined && { session: random.chance(80) ? session_id : 's9' }),
    lasts: random.chance(4)
      ? random.pick([-1, 0, 366 * DAY + 1])
      : random.pick([1000, 60_000, 900_000, DAY, DAY, 366 * DAY]),
    key: random.chance(96) ? 0 : 1,
    planted: random.chance(20),
  }
}

/** An event that can invalidate a delegation. */
function setback(random: Random, cast: Cast, call: CallSpec): readonly Event[] {
  const { tenant } = call
  const target = { scope: 'principal', tenant, target: 'agent:boss' } as const
  const what = random.int(cast.stumbles ? 5 : 6)
  if (what === 0)
    return [{ do: 'revoke', tenant: random.chance(95) ? tenant : 'other', delegation: random.int(2) }]
  if (what === 1) return [{ do: 'freeze', frozen: true, target }]
  if (what === 2) return [activation(random, cast)]
  if (what === 3) return [{ do: 'freeze', frozen: false, target }]
  if (what === 4) return [waitOf(random, cast)]
  const lost: Lost = { kind: 'principal', ...whoseIs(call), principal: 'agent:boss' }
  return [
    { do: 'restart', lost },
    { ...activation(random, cast), tenants: BOTH },
  ]
}
