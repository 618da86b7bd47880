// Reads the steps of a case.

import { EFFECT_CLASSES, type EffectClass, type Json } from '@tollgate/evidence'
import type { Place, Reader } from '@tollgate/kernel/policy'
import { readCall, readJson, type CallDefaults } from './case-call.ts'
import { readExpectation } from './case-expect.ts'
import type { CallStep, DelegateStep, FreezeStep, Step } from './case.ts'

const MAX_STEPS = 1000
const MAX_TIMES = 1000
const DAY = 86_400_000

/** A rule that the file refers to, and where. */
export interface NamedRule {
  readonly rule: string
  readonly place: Place
}

/** The state while a file is read. */
export interface CaseReading {
  readonly reader: Reader
  readonly calls: CallDefaults
  readonly at: number
  readonly tenant: string
  readonly rules: NamedRule[]
}

/** The members of a call step. */
export const CALL_STEP = [
  'call',
  'expect',
  'times',
  'returns',
  'delivery',
  'cannot-approve',
  'approve',
  'refuse',
] as const
type CallStepFields = Partial<Record<(typeof CALL_STEP)[number], Place>>

const OTHER_STEPS = ['after', 'freeze', 'unfreeze', 'delegate', 'revoke'] as const

/** Reads the steps of a case. */
export function readSteps(reading: CaseReading, place: Place): readonly Step[] {
  const { reader } = reading
  const items = reader.items(place, '`steps`')
  if (items.length > MAX_STEPS) reader.note(place, `more than ${MAX_STEPS} steps; make it several cases`)
  const steps = items.slice(0, MAX_STEPS).map((item) => readStep(reading, item))
  const found = steps.filter(isThere)
  // Unreadable steps were already reported.
  if (found.length === steps.length && !found.some(({ does }) => does === 'call')) {
    reader.note(place, '`steps` has no call, so nothing is tested; add `{ call: …, expect: … }`')
  }
  return found
}

function readStep(reading: CaseReading, item: Place): Step | undefined {
  const { reader } = reading
  const fields = reader.fields(item, [...CALL_STEP, ...OTHER_STEPS])
  if (!fields) return undefined
  const { after, freeze, unfreeze, delegate, revoke, ...call } = fields
  const others = [after, freeze, unfreeze, delegate, revoke].filter(isThere)
  if (others.length + (Object.keys(call).length > 0 ? 1 : 0) !== 1) {
    reader.note(item, 'a step has exactly one of `call`, `after`, `freeze`, `unfreeze`, `delegate`, `revoke`')
    return undefined
  }
  const line = reader.line(item)
  if (after) return { does: 'pause', line, milliseconds: reader.duration(after, '`after`', 366 * DAY) ?? 0 }
  if (freeze) return { ...readFreeze(reader, freeze), line, frozen: true }
  if (unfreeze) return { ...readFreeze(reader, unfreeze), line, frozen: false }
  if (delegate) return { ...readDelegation(reader, delegate), line }
  if (revoke) return { does: 'revoke', line, name: reader.text(revoke, '`revoke`') ?? '' }
  return readCallStep(reading, item, call)
}

const DELIVERIES = ['full', 'redacted', 'withheld'] as const

/** Reads a call with its expectation; undefined if it is unusable. */
export function readCallStep(
  reading: CaseReading,
  item: Place,
  fields: CallStepFields,
): CallStep | undefined {
  const { reader, rules } = reading
  const { call, expect, times, returns, delivery } = fields
  if (!call) reader.note(item, '`call` is missing; write for example `call: { tool: fs/read_file }`')
  if (!expect) reader.note(item, '`expect` is missing; write for example `expect: DENY at egress`')
  const meets = (rule: string, place: Place): void => void rules.push({ rule, place })
  const made = call && readCall(reader, call, reading.calls)
  const expected = expect && readExpectation(reader, expect, meets)
  const answer = readAnswer(reader, fields)
  if (answer && expected && expected.verdict !== 'ESCALATE')
    reader.note(item, 'only an ESCALATE can be answered; correct `expect`, or remove the answer')
  const runs = expected?.verdict === 'ALLOW' || answer?.answer?.granted === true
  if (returns && expected && !runs)
    reader.note(returns, 'a tool runs only if its call is allowed; correct `expect`, or remove `returns`')
  if (delivery && !returns) reader.note(delivery, '`delivery` needs the result of the tool; add `returns`')
  if (!made || !expected) return undefined
  return {
    does: 'call',
    line: reader.line(item),
    call: made,
    expect: expected,
    times: (times && reader.whole(times, '`times`', 1, MAX_TIMES)) ?? 1,
    returns: returns && readReturns(reader, returns),
    delivery: delivery && reader.word(delivery, '`delivery`', DELIVERIES),
    ...(answer ?? { cannotApprove: [], answer: undefined }),
  }
}

/** The result of a tool. Null is valid. */
function readReturns(reader: Reader, place: Place): Json {
  return readJson(reader, place, '`returns`') ?? null
}

type PeopleAnswer = Pick<CallStep, 'cannotApprove' | 'answer'>

/** The answers of people; undefined if there are none. */
function readAnswer(reader: Reader, fields: CallStepFields): PeopleAnswer | undefined {
  const { approve, refuse, 'cannot-approve': cannot } = fields
  if (approve && refuse) reader.note(refuse, 'a step has either `approve` or `refuse`; remove one')
  if (!approve && !refuse && !cannot) return undefined
  const place = approve ?? refuse
  const by = place && reader.text(place, 'the approver, a person or a group,')
  return {
    cannotApprove: cannot ? reader.texts(cannot, 'a person or group').map(({ text }) => text) : [],
    answer: by === undefined ? undefined : { by, granted: approve !== undefined },
  }
}

function readFreeze(reader: Reader, place: Place): Omit<FreezeStep, 'line' | 'frozen'> {
  if (reader.plain(place) === 'all') return { does: 'freeze', scope: 'all', target: undefined }
  const fields = reader.fields(place, ['principal', 'tool', 'session']) ?? {}
  const scopes = (['principal', 'tool', 'session'] as const).filter((scope) => fields[scope] !== undefined)
  const [scope = 'principal', ...more] = scopes
  const target = fields[scope]
  if (!target || more.length > 0)
    reader.note(place, 'write `all`, or one of `{ principal: … }`, `{ tool: … }`, `{ session: … }`')
  return { does: 'freeze', scope, target: target && reader.text(target, `\`${scope}\``) }
}

const DELEGATION = ['as', 'from', 'to', 'tools', 'effects', 'lasts', 'depth', 'parent', 'session'] as const

function readDelegation(reader: Reader, place: Place): Omit<DelegateStep, 'line'> {
  const fields = reader.fields(place, DELEGATION) ?? {}
  for (const name of ['as', 'from', 'to', 'tools'] as const) {
    if (!fields[name])
      reader.note(place, `\`${name}\` is missing; a delegation has \`as\`, \`from\`, \`to\` and \`tools\``)
  }
  const text = (name: (typeof DELEGATION)[number]): string | undefined => {
    const at = fields[name]
    return at && reader.text(at, `\`${name}\``)
  }
  return {
    does: 'delegate',
    as: text('as') ?? '',
    from: text('from') ?? '',
    to: text('to') ?? '',
    tools: fields.tools ? reader.texts(fields.tools, 'the name of a tool').map((each) => each.text) : [],
    effects: fields.effects && readEffects(reader, fields.effects),
    lasts: (fields.lasts && reader.duration(fields.lasts, '`lasts`', 366 * DAY)) ?? DAY,
    depth: (fields.depth && reader.whole(fields.depth, '`depth`', 0, 8)) ?? 0,
    parent: text('parent'),
    session: text('session'),
  }
}

function readEffects(reader: Reader, place: Place): readonly EffectClass[] {
  return reader
    .texts(place, 'an effect class')
    .flatMap((each) => reader.word(each.place, '`effects`', EFFECT_CLASSES) ?? [])
}

/** Filters out undefined values. */
export function isThere<T>(value: T | undefined): value is T {
  return value !== undefined
}
