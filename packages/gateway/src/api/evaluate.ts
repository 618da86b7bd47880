// Routes that decide calls. The caller runs the tool, so every decision is recorded as advised.

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
import { kernelCaller } from '../tokens.ts'
import { unknownToken } from './auth.ts'
import { Problem } from './problem.ts'
import { json, kernelOf, type ApiQuestion, type DoorRequest, type Reply, type ApiRoute } from './route.ts'
import {
  ANYTHING,
  FLAG,
  HASH,
  list,
  NAME,
  object,
  orNull,
  described,
  SENTENCE,
  TEXT,
  TIME,
  word,
  type ApiSchema,
} from './schema.ts'

const VERDICT: ApiSchema = object({
  verdict: word(...VERDICTS),
  reason_code: { type: 'string', pattern: '^[A-Z_]+$' },
  message: described(SENTENCE, 'The meaning of the reason code.'),
  remedy: described(SENTENCE, 'How to resolve it.'),
  rung: word(...LADDER_STEPS),
  rule: orNull(described(TEXT, 'The policy rule that decided.')),
  detail: orNull(described(TEXT, 'Details, without argument values.')),
  receipt: orNull(described(HASH, 'The receipt of the decision; null if none could be written.')),
  approval: orNull(described(HASH, 'The approval request, if the verdict is ESCALATE.')),
  expires: orNull(described(TIME, 'When an ALLOW expires.')),
})

const CONTEXT: ApiSchema = object(
  {
    'environment?': NAME,
    'workspace?': NAME,
    'tenant?': NAME,
    'session_id?': described(
      NAME,
      'The same as `session_id` outside of `context`. A call that names two different sessions is denied.',
    ),
    'delegation_session_id?': NAME,
  },
  'The claimed origin of the call. It is compared with known values and never trusted.',
)

export const CALL: Readonly<Record<string, ApiSchema>> = {
  'arguments?': described(ANYTHING, 'The arguments of the tool; an empty object if left out.'),
  'session_id?': described(NAME, 'The session that the call belongs to.'),
  'delegation_session_id?': described(
    NAME,
    'The session that the call belongs to, if `session_id` is left out.',
  ),
  'principal?': described(
    NAME,
    'The claimed principal. If the token belongs to another principal, the call is denied.',
  ),
  'context?': CONTEXT,
  'approval?': described(HASH, 'The approval request that the call uses.'),
  'delegation?': described(HASH, 'The delegation that the call uses.'),
  'sources?': described(
    list(object({ source_channel: word(...SOURCE_CHANNELS), text: TEXT }), 64),
    'The texts that led to the call, in order: messages of the user, outputs of tools and pages. The gateway scans these texts and stores their hashes in the session. It stores the texts themselves only if the operator has enabled kept calls. A value that a tool introduced stays untrusted, even if a later text repeats it.',
  ),
}

const SEEN: Readonly<Record<string, ApiSchema>> = { 'dom_hash?': HASH, 'visual_text_hash?': HASH }
const RISK: ApiSchema = { type: 'integer', minimum: 0, maximum: 100 }
const FINDINGS: ApiSchema = list({ type: 'string', pattern: '^[A-Z][A-Z0-9_]{0,63}$' }, 32)
const URL_TEXT: ApiSchema = { type: 'string', minLength: 1, maxLength: 2048 }

/** An observation that a Sentinel posts. It has every member that a side effect requires. */
export const OBSERVATION: ApiSchema = object({
  url: URL_TEXT,
  ...SEEN,
  sentinel_risk: RISK,
  sentinel_findings: FINDINGS,
})

/** The page as claimed by a call. Missing members are never treated as harmless. */
const PAGE: ApiSchema = object({
  url: URL_TEXT,
  ...SEEN,
  'sentinel_risk?': RISK,
  'sentinel_findings?': FINDINGS,
})

const EVALUATE: ApiSchema = object({ tool: NAME, ...CALL })

/** The browser part of a call. */
export const BROWSER_PART: Readonly<Record<string, ApiSchema>> = {
  'planner_ref?': described(
    NAME,
    'The digest of the plan: `sha256:` and 64 hexadecimal digits, or the digits alone. Other texts are hashed before they are stored. A blank text counts as missing.',
  ),
  'side_effect?': FLAG,
  'destination?': { type: 'string', maxLength: 2048 },
  'observation?': PAGE,
  'observation_id?': described(HASH, 'The id of an observation that the Sentinel posted.'),
}

const BROWSER: ApiSchema = object({ tool_name: NAME, ...CALL, ...BROWSER_PART })

/** The parts of a call that come from the body. */
type CallBody = Omit<ToolCall, 'caller' | 'door' | 'assurance' | 'traceparent'>

/**
 * Decides a call. A body that is not JSON is denied with a receipt. Only a body that is clearly not a call is refused without
 * one.
 */
async function evaluate(
  question: ApiQuestion,
  door: Door,
  read: (body: JsonObject) => CallBody,
): Promise<Reply> {
  const { options, identity, bytes, asked } = question
  const kernel = kernelOf(options)
  const call = readCall(bytes, options.limits.body, read)
  if (call.raw !== undefined) question.fine()
  const authorization = await authorize(kernel, {
    ...call,
    caller: kernelCaller(identity),
    door,
    assurance: 'advised',
    ...traceOf(asked),
  })
  // A poisoned ledger could not record the effect, so nothing may run, whatever was decided.
  const poisoned = kernel.ledger.poisoned !== undefined
  const decided = poisoned ? UNAVAILABLE : authorization.decided
  // The token may have been revoked while the ledger was writing. The ALLOW then expires unused.
  if (decided.verdict === 'ALLOW' && !question.stillKnown()) throw unknownToken(question.asked)
  if (!poisoned) return json(200, verdictOf(decided))
  throw new Problem('ledger-unavailable', undefined, { more: verdictOf(decided) })
}

function traceOf(asked: DoorRequest): Pick<ToolCall, 'traceparent'> {
  const traceparent = asked.header('traceparent')
  return traceparent === undefined ? {} : { traceparent }
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

function readCall(bytes: Uint8Array, maxBytes: number, read: (body: JsonObject) => CallBody): CallBody {
  let body: Json
  try {
    body = parseJson(bytes, { maxBytes })
  } catch {
    // Nothing in the body is reliable, not even the tool name. The kernel denies the call and records the hash.
    return { tool: undefined, raw: bytes }
  }
  if (isObject(body)) return read(body)
  throw new Problem('request-invalid', 'the body is not an object')
}

/** Maps members of a body to members of a call. The kernel validates the values. */
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
const PAGE_NAMES = ['planner_ref', 'side_effect', 'destination', 'observation', 'observation_id'] as const
const PAGE_MEMBERS: CallMembers = Object.fromEntries(PAGE_NAMES.map((name) => [name, name]))

function readPlain(body: JsonObject): CallBody {
  return sorted(body, CALL_MEMBERS).call
}

function readBrowser(body: JsonObject): CallBody {
  const { call, page } = sorted(body, BROWSER_MEMBERS, PAGE_MEMBERS)
  return { ...call, browser: page }
}

/** The browser part of a body; undefined if it has none. */
export function browserPartOf(body: JsonObject): JsonObject | undefined {
  const part = Object.fromEntries(
    PAGE_NAMES.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])),
  )
  return Object.keys(part).length === 0 ? undefined : part
}

/** Splits the members of a body into call and page. An unknown member could be important, so the request is refused. */
function sorted(
  body: JsonObject,
  members: CallMembers,
  pages: CallMembers = {},
): { call: CallBody; page: Record<string, Json> } {
  const call: Record<string, Json> = {}
  const page: Record<string, Json> = {}
  for (const [name, value] of Object.entries(body)) {
    const [into, as] = Object.hasOwn(members, name) ? [call, members[name]] : [page, known(pages, name)]
    if (as === undefined) throw unknownMember(name)
    into[as] = value
  }
  // Sound: every member of `CallBody` may have any value. The kernel reports a missing `tool`.
  return { call: call as unknown as CallBody, page }
}

function unknownMember(name: string): Problem {
  if (name !== 'scope') return new Problem('request-invalid', 'the body has an unknown member')
  return new Problem('request-invalid', 'a call cannot set a scope', {
    remedy:
      'Open the session with the scope first: `POST /v1/sessions`, with a token of the role `host` or `operator`.',
  })
}

function known(members: CallMembers, name: string): string | undefined {
  return Object.hasOwn(members, name) ? members[name] : undefined
}

const JUDGED = 'The verdict. DENY and ESCALATE are answers, not errors.'

export const evaluateRoutes: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/v1/evaluate',
    id: 'evaluate',
    about:
      'Decides whether a call may run. The decision is in the ledger before the answer is sent. An ALLOW is valid for one run and expires after 60 seconds. A body that is not strict JSON, or has a member of the wrong type, is denied with a receipt.',
    roles: ['agent'],
    body: { schema: EVALUATE, raw: true },
    answers: { 200: { about: JUDGED, schema: VERDICT } },
    problems: ['ledger-unavailable'],
    // Always the door `http`: the caller could claim any other, and rules may allow by door.
    answer: (question) => evaluate(question, 'http', readPlain),
  },
  {
    method: 'POST',
    path: '/v1/browser/evaluate',
    id: 'evaluateBrowser',
    about:
      'Decides whether a browser call may run, given the plan of the planner and the Sentinel’s observation of the page.',
    roles: ['agent'],
    body: { schema: BROWSER, raw: true },
    answers: { 200: { about: JUDGED, schema: VERDICT } },
    problems: ['ledger-unavailable'],
    answer: (question) => evaluate(question, 'browser', readBrowser),
  },
]
