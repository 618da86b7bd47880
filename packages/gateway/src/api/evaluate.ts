// Calls that ask whether they may run. The caller runs the tool: every answer is advised.

import { performance } from 'node:perf_hooks'
import {
  isObject,
  parseJson,
  LADDER_STEPS,
  VERDICTS,
  type Door,
  type Json,
  type JsonObject,
} from '@tollgate/evidence'
import { authorize, SOURCE_CHANNELS, type Decided, type ToolCall } from '@tollgate/kernel'
import { verdictOf } from '../verdict.ts'
import { unknownToken } from './auth.ts'
import { Problem } from './problem.ts'
import { json, kernelOf, traceFrom, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import {
  ANYTHING,
  FLAG,
  HASH,
  list,
  NAME,
  object,
  orNull,
  said,
  SENTENCE,
  TEXT,
  TIME,
  word,
  type ApiSchema,
} from './schema.ts'

/** What is answered to a call. */
const VERDICT: ApiSchema = object({
  verdict: word(...VERDICTS),
  reason_code: { type: 'string', pattern: '^[A-Z_]+$' },
  message: said(SENTENCE, 'What the code means.'),
  remedy: said(SENTENCE, 'What can be done.'),
  rung: word(...LADDER_STEPS),
  rule: orNull(said(TEXT, 'The rule that decided.')),
  detail: orNull(said(TEXT, 'What exactly, without any value of the arguments.')),
  receipt: orNull(said(HASH, 'The receipt of the decision; null if none could be written.')),
  approval: orNull(said(HASH, 'The request that waits for a person, if the verdict is ESCALATE.')),
  expires: orNull(said(TIME, 'Until when an ALLOW may be used.')),
})

const CONTEXT: ApiSchema = object(
  {
    'environment?': NAME,
    'workspace?': NAME,
    'tenant?': NAME,
    'session_id?': said(NAME, 'The same as beside `context`; a call that names two sessions is denied.'),
    'delegation_session_id?': NAME,
  },
  'Where the call says it comes from. It is compared, never believed.',
)

/** The members that every call has. */
export const CALL: Readonly<Record<string, ApiSchema>> = {
  'arguments?': said(ANYTHING, 'The arguments of the tool; an empty object if left out.'),
  'session_id?': said(NAME, 'What risk is remembered by, inside the principal of the token.'),
  'delegation_session_id?': said(NAME, 'Takes the place of `session_id` where that is left out.'),
  'principal?': said(NAME, 'Whom the call says it is from; anybody but the owner of the token is denied.'),
  'context?': CONTEXT,
  'approval?': said(HASH, 'The request whose approval the call relies on.'),
  'delegation?': said(HASH, 'The delegation that the call is made under.'),
  'sources?': said(
    list(object({ source_channel: word(...SOURCE_CHANNELS), text: TEXT }), 64),
    'Texts that led to the call, in their order: what the user said, what tools and pages said. They are scanned, and the session remembers hashes of them; only where the operator has calls kept are they kept with the call, privately. What a tool has named first stays untrusted, whoever repeats it.',
  ),
}

const SEEN: Readonly<Record<string, ApiSchema>> = { 'dom_hash?': HASH, 'visual_text_hash?': HASH }
const RISK: ApiSchema = { type: 'integer', minimum: 0, maximum: 100 }
const FINDINGS: ApiSchema = list({ type: 'string', pattern: '^[A-Z][A-Z0-9_]{0,63}$' }, 32)
const URL_TEXT: ApiSchema = { type: 'string', minLength: 1, maxLength: 2048 }

/** What a Sentinel posts of a page: all that a side effect needs. */
export const OBSERVATION: ApiSchema = object({
  url: URL_TEXT,
  ...SEEN,
  sentinel_risk: RISK,
  sentinel_findings: FINDINGS,
})

/** What a call says of its page. What is missing is never taken for harmless. */
const PAGE: ApiSchema = object({
  url: URL_TEXT,
  ...SEEN,
  'sentinel_risk?': RISK,
  'sentinel_findings?': FINDINGS,
})

const EVALUATE: ApiSchema = object({ tool: NAME, ...CALL })

const BROWSER: ApiSchema = object({
  tool_name: NAME,
  ...CALL,
  'planner_ref?': said(
    NAME,
    'The digest of the plan: `sha256:` and 64 hexadecimal digits, or the digits alone. Any other text is hashed before it is written; a blank one counts as missing.',
  ),
  'side_effect?': FLAG,
  'destination?': { type: 'string', maxLength: 2048 },
  'observation?': PAGE,
  'observation_id?': said(HASH, 'An observation that the Sentinel posted itself.'),
})

/** What a body says is called. */
type SaidCall = Omit<ToolCall, 'caller' | 'door' | 'assurance'>

/** Judges a call. What is no JSON is denied on the record; only what is plainly not a call is sent back without a receipt. */
async function evaluate(
  question: ApiQuestion,
  door: Door,
  read: (body: JsonObject) => SaidCall,
): Promise<Reply> {
  const { options, identity, bytes, metrics } = question
  const kernel = kernelOf(options)
  const start = performance.now()
  const { tenant, principal } = identity
  const call = readCall(bytes, options.limits.body, read)
  if (call.raw !== undefined) question.fine()
  const authorization = await authorize(kernel, {
    ...call,
    caller: { tenant, principal },
    door,
    assurance: 'advised',
  })
  // Whatever was decided: once the ledger is given up, no effect could be recorded, and nothing may run.
  const poisoned = kernel.ledger.poisoned !== undefined
  const decided = poisoned ? UNAVAILABLE : authorization.decided
  metrics.decided(decided.verdict, decided.reason, (performance.now() - start) / 1000)
  traceFrom(question, start, 'evaluate', { verdict: decided.verdict, reason_code: decided.reason, door })
  // The token may have gone while the ledger wrote. The ALLOW is then nobody's, and ends unused.
  if (decided.verdict === 'ALLOW' && !question.stillKnown()) throw unknownToken()
  if (!poisoned) return json(200, verdictOf(decided))
  throw new Problem('ledger-unavailable', undefined, { more: verdictOf(decided) })
}

const UNAVAILABLE: Decided = {
  verdict: 'DENY',
  reason: 'LEDGER_UNAVAILABLE',
  rung: 'capture',
  rule: undefined,
  detail: undefined,
  receipt: undefined,
  approval: undefined,
  expires: undefined,
}

function readCall(bytes: Uint8Array, maxBytes: number, read: (body: JsonObject) => SaidCall): SaidCall {
  let body: Json
  try {
    body = parseJson(bytes, { maxBytes })
  } catch {
    // Nothing in it can be relied on, not even the name of the tool: the kernel denies it, and keeps the hash.
    return { tool: undefined, raw: bytes }
  }
  if (isObject(body)) return read(body)
  throw new Problem('request-invalid', 'the body is not an object')
}

/** How the members of a body are called in a call. What each holds is for the kernel to judge. */
type CallMembers = Readonly<Record<string, string>>

const SHARED_MEMBERS: CallMembers = {
  arguments: 'args',
  session_id: 'session_id',
  delegation_session_id: 'delegation_session_id',
  principal: 'principal',
  context: 'context',
  approval: 'approval',
  delegation: 'delegation',
  sources: 'sources',
}
const CALL_MEMBERS: CallMembers = { tool: 'tool', ...SHARED_MEMBERS }
const BROWSER_MEMBERS: CallMembers = { tool_name: 'tool', ...SHARED_MEMBERS }
const PAGE_MEMBERS: CallMembers = {
  planner_ref: 'planner_ref',
  side_effect: 'side_effect',
  destination: 'destination',
  observation: 'observation',
  observation_id: 'observation_id',
}

function readPlain(body: JsonObject): SaidCall {
  return sorted(body, CALL_MEMBERS).call
}

function readBrowser(body: JsonObject): SaidCall {
  const { call, page } = sorted(body, BROWSER_MEMBERS, PAGE_MEMBERS)
  return { ...call, browser: page }
}

/** Sorts the members of a body. A member that nobody knows may have been meant to matter, so the call is sent back. */
function sorted(
  body: JsonObject,
  members: CallMembers,
  pages: CallMembers = {},
): { call: SaidCall; page: Record<string, Json> } {
  const call: Record<string, Json> = {}
  const page: Record<string, Json> = {}
  for (const [name, value] of Object.entries(body)) {
    const [into, as] = Object.hasOwn(members, name) ? [call, members[name]] : [page, known(pages, name)]
    if (as === undefined) throw unknownMember(name)
    into[as] = value
  }
  // Sound: every member of `Said` may hold anything; `tool` may be missing, and the kernel says so.
  return { call: call as unknown as SaidCall, page }
}

function unknownMember(name: string): Problem {
  if (name !== 'scope') return new Problem('request-invalid', 'the body has a member that is not known here')
  return new Problem('request-invalid', 'a call does not bring a scope', {
    remedy:
      'Open the session with it first: `POST /v1/sessions`, with a token of the role `host` or `operator`.',
  })
}

function known(members: CallMembers, name: string): string | undefined {
  return Object.hasOwn(members, name) ? members[name] : undefined
}

const JUDGED = 'The verdict. DENY and ESCALATE are answers, not errors.'

/** Calls. */
export const evaluateRoutes: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/v1/evaluate',
    id: 'evaluate',
    about:
      'Asks whether a call may run. The decision is on the ledger before the answer comes. An ALLOW is for one run within a minute. A body that is not strict JSON, or a member of the wrong type, is a DENY with a receipt.',
    roles: ['agent'],
    body: { schema: EVALUATE, raw: true },
    answers: { 200: { about: JUDGED, schema: VERDICT } },
    problems: ['ledger-unavailable'],
    // Whatever program asks: which one it is would be its own word, and rules may allow by the door.
    answer: (question) => evaluate(question, 'http', readPlain),
  },
  {
    method: 'POST',
    path: '/v1/browser/evaluate',
    id: 'evaluateBrowser',
    about:
      'Asks whether a call in a browser may run: the planner’s intent, with what the Sentinel says of the page.',
    roles: ['agent'],
    body: { schema: BROWSER, raw: true },
    answers: { 200: { about: JUDGED, schema: VERDICT } },
    problems: ['ledger-unavailable'],
    answer: (question) => evaluate(question, 'browser', readBrowser),
  },
]
