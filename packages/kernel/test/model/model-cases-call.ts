// Makes calls for the worlds of the comparison.

import type { LadderStep } from '@tollgate/evidence'
import type { Context } from '../../src/road/capture.ts'
import type { Objection } from '../../src/gates/gate.ts'
import { DOORS, PRINCIPALS, SERVERS, SESSIONS, TENANTS, TOOLS } from './model-names.ts'
import type { Random } from './model-random.ts'
import { TEXTS, type TextName } from './model-texts.ts'
import { WORDS } from './model-world.ts'
import type { CallSpec, Page, SourceSpec, Word } from './model-world.ts'

const HOSTS = ['ok.test', 'ok.test', 'ok.test', 'ask.test', 'bad.test', 'far.test'] as const
/** All text names. */
// Sound: the names are the table's own keys.
export const TEXT_NAMES: readonly TextName[] = Object.keys(TEXTS) as TextName[]

/** Any call. */
export function makeCall(random: Random): CallSpec {
  const principal = random.chance(3) ? undefined : random.pick(PRINCIPALS)
  const tool = random.chance(2) ? 'no/such' : random.pick(TOOLS)
  const unreadable = random.chance(2)
  const door = random.pick(DOORS)
  const assurance = random.chance(75) ? 'enforced' : 'advised'
  return {
    tenant: random.pick(TENANTS),
    principal,
    ...(random.chance(18) && { claimed: random.chance(70) ? (principal ?? 'agent:a') : 'agent:b' }),
    ...(random.chance(90) && { session_id: random.pick(SESSIONS) }),
    ...(random.chance(10) && { delegation_session_id: 'd1' }),
    door,
    assurance,
    prompting: door === 'hook' || door === 'http',
    ...(random.chance(10) && { author: random.pick(SERVERS) }),
    tool: unreadable && random.chance(50) ? '(unreadable)' : tool,
    form: unreadable ? 'unreadable' : makeForm(random),
    n: 0,
    // Sound: the words are the table's own keys.
    word: random.chance(45) ? 'hello' : random.pick(Object.keys(WORDS) as Word[]),
    hosts: random.chance(65) ? [] : Array.from({ length: 1 + random.int(2) }, () => random.pick(HOSTS)),
    ...makeTexts(random),
    answers: Array.from({ length: 3 }, () =>
      random.pick([true, true, false, 'throws', 'throws', 'throws'] as const),
    ),
    context: makeContext(random),
    ...(random.chance(tool === 'web/click' || door === 'browser' ? 88 : 4) && { page: makePage(random) }),
    ...(random.chance(4) && { delegation: random.int(4) - 1 }),
    replaced: {},
  }
}

// Some amounts need more than three decimal places.
const AMOUNTS = [0, 1, 1.5, 0.0001, 2.3456, 16.1, 1.001, -1, 'much', [1, 0.25], [0.0001, 0.0001], []] as const

function makeTexts(random: Random): Pick<CallSpec, 'body' | 'memo' | 'amount' | 'sources'> {
  return {
    ...(random.chance(40) && { body: random.pick(TEXT_NAMES) }),
    ...(random.chance(10) && { memo: random.pick(TEXT_NAMES) }),
    ...(random.chance(40) && { amount: random.pick(AMOUNTS) }),
    sources: random.chance(25) ? [makeSource(random), ...random.maybe(30, () => makeSource(random))] : [],
  }
}

function makeSource(random: Random): SourceSpec {
  return { channel: random.chance(45) ? 'USER' : 'TOOL_OUTPUT', text: random.pick(TEXT_NAMES) }
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
    planned: random.chance(60),
    acts: random.chance(50),
  }
}

function textsOf({
  body,
  memo,
  amount,
  sources,
}: CallSpec): Pick<CallSpec, 'body' | 'memo' | 'amount' | 'sources'> {
  return {
    ...(body && { body }),
    ...(memo && { memo }),
    ...(amount !== undefined && { amount }),
    sources,
  }
}

/** A call that most gates do not object to. */
export function tame(random: Random, call: CallSpec): CallSpec {
  return {
    tenant: call.tenant,
    principal: call.principal ?? 'agent:a',
    session_id: call.session_id ?? 's1',
    door: call.prompting && call.assurance === 'advised' ? call.door : 'mcp',
    assurance: call.assurance,
    prompting: call.prompting,
    ...(call.author !== undefined && { author: call.author }),
    tool: call.tool === '(unreadable)' ? 'fs/read' : call.tool,
    form: 'fits',
    n: call.n,
    word: 'hello',
    hosts: random.pick([[], [], ['ok.test'], ['ok.test'], ['ask.test']]),
    ...(random.chance(40) ? textsOf(call) : { sources: [] }),
    answers: [true, true, false],
    context: { environment: 'prod', workspace: 'w1' },
    replaced: random.chance(8) ? { scope: ASKS } : {},
  }
}

const ASKS: Objection = { verdict: 'ESCALATE', reason: 'COMPLIANCE_APPROVAL_REQUIRED' }
const REPLACEABLE: readonly LadderStep[] = [
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

/** Replaced steps. */
export function makeReplaced(random: Random): CallSpec['replaced'] {
  if (random.chance(8)) return { policy: 'throws' }
  const words = [
    'throws',
    { verdict: 'DENY', reason: 'COMPLIANCE_VIOLATION' },
    ASKS,
    { verdict: 'ESCALATE', reason: 'TAINT_APPROVAL_REQUIRED' },
  ] as const
  const some = Array.from({ length: 1 + random.int(2) }, () => [random.pick(REPLACEABLE), random.pick(words)])
  return Object.fromEntries(some) as CallSpec['replaced'] // Sound: the names are steps.
}
