// Decides the calls that coding agents ask about, and records what became of them.

import { canonicalBytes, canonicalize, sha256Hex, type Json } from '@tollgate/evidence'
import {
  authorize,
  isFrozen,
  KernelError,
  openedAs,
  policyOf,
  reportEffect,
  type Decided,
  type Inspection,
  type Kernel,
  type ToolCall,
} from '@tollgate/kernel'
import type { LocalFiles } from '../exchange.ts'
import { untilAnswered, type AnswerWait } from '../answer-wait.ts'
import type { Log } from '../log.ts'
import { Recent } from '../recent.ts'
import { denialText, receiptNote } from '../verdict.ts'
import type { HookAnswer, HookCall, HookClient, HookEvent, HookContext } from './event.ts'
import { forwardedFrom, inspected } from './output.ts'
import { Projects } from './projects.ts'
import { serverTool } from './tools.ts'
import { UserWords } from './words.ts'

/** One request of a client. */
interface HookQuestion {
  readonly kernel: Kernel
  readonly caller: { readonly tenant: string; readonly principal: string; readonly person?: string }
  readonly client: HookClient
  readonly log: Log
  /** Begins a wait for people, and returns its limits. Called at most once. */
  readonly wait: () => AnswerWait
  readonly traceparent: string | undefined
  /** Undefined if the client may see other files than the gateway. */
  readonly local: LocalFiles | undefined
}

/** The decision on one use of a tool, and the session in which it was decided. */
interface Ruled {
  readonly session: string
  readonly decided: Decided
}

interface DoorState {
  readonly words: UserWords
  readonly projects: Projects
  /** Uses of tools whose decision was made, or is being made. Some clients ask twice, by two hooks. */
  readonly uses: Recent<Promise<Ruled>>
  /** Answers to results of the same uses. */
  readonly results: Recent<Promise<HookAnswer>>
}

const MAX_USES = 2000
const states = new WeakMap<Kernel, DoorState>()

function stateOf(kernel: Kernel): DoorState {
  const known = states.get(kernel)
  if (known) return known
  const made: DoorState = {
    words: new UserWords(),
    projects: new Projects(),
    uses: new Recent(MAX_USES),
    results: new Recent(MAX_USES),
  }
  states.set(kernel, made)
  return made
}

/** Answers one event. Never allows a call without a recorded ALLOW. */
export async function answerHook(question: HookQuestion, event: HookEvent): Promise<HookAnswer> {
  const { words, projects } = stateOf(question.kernel)
  const owner = clientSession(question, event.context)
  projects.note(owner, event.context.cwd)
  switch (event.kind) {
    case 'call':
      return answerOf(await ruleOnce(question, event.context, event.call))
    case 'result':
      return closeOnce(question, event)
    case 'words':
      words.add(owner, event.text)
      return { kind: 'pass' }
    case 'end':
      words.end(owner)
      projects.end(owner)
      return { kind: 'pass' }
    case 'other':
      return { kind: 'pass' }
  }
}

function answerOf({ decided }: Ruled): HookAnswer {
  const { verdict, reason } = decided
  // Only observe mode allowed it, so the client keeps its own prompts.
  if (reason === 'OBSERVE_MODE_ALLOWED') return { kind: 'pass' }
  if (reason === 'ASKED_IN_CLIENT') return { kind: 'ask', text: questionText(decided) }
  if (verdict === 'ALLOW') return { kind: 'allow' }
  return { kind: 'deny', text: `[Tollgate] The call was not run. ${denialText(decided, false)}` }
}

/** The text beside the prompt of a client. */
function questionText({ rule, detail, receipt }: Decided): string {
  const because = detail === undefined ? '' : `: ${detail}`
  return `[Tollgate] The rule \`${rule ?? ''}\` leaves this call to you${because}.${receiptNote(receipt)}`
}

/** The decision on a use of a tool. A second question about the same use gets the same decision. */
async function ruleOnce(question: HookQuestion, context: HookContext, call: HookCall): Promise<Ruled> {
  const key = useOf(question, call)
  if (key === undefined) return rule(question, context, call)
  const { uses } = stateOf(question.kernel)
  const session = sessionOf(question, context)
  for (let known = uses.get(key); known; known = uses.get(key)) {
    // A freeze since the first question counts.
    if (isFrozen(question.kernel, 'hook', { ...question.caller, session })) break
    const ruled = await known
    if (isCurrent(question.kernel, ruled)) return ruled
    // Another question may have got a newer decision meanwhile. Then that one counts.
    if (uses.get(key) === known) break
  }
  const ruled = rule(question, context, call)
  remember(uses, key, ruled)
  return ruled
}

/** Whether a decision still holds: an ALLOW until it expires, a question until a person has answered it. */
function isCurrent({ approvals, host }: Kernel, { decided }: Ruled): boolean {
  const { verdict, expires, approval } = decided
  if (verdict === 'ALLOW') return expires === undefined || host.now() <= Date.parse(expires)
  return approval === undefined || approvals.list(host.now()).some(({ id }) => id === approval)
}

/** Keeps an answer for a repeated question. A failure is not kept. */
function remember<T>(map: Recent<Promise<T>>, key: string, made: Promise<T>): void {
  map.set(key, made)
  made.catch(() => map.delete(key))
}

// An approved call may need another approval, if its circumstances have changed.
const MAX_ROUNDS = 4

async function rule(question: HookQuestion, context: HookContext, call: HookCall): Promise<Ruled> {
  const session = sessionOf(question, context)
  let decided = await judge(question, session, context, call)
  let wait: AnswerWait | undefined
  for (let round = 0; round < MAX_ROUNDS && decided.approval !== undefined; round++) {
    wait ??= question.wait()
    if (!(await isAnswered(question, session, decided.approval, wait))) break
    decided = await judge(question, session, context, call)
  }
  return { session, decided }
}

/** Waits for the answer to a request. Returns whether the call must be judged again. */
async function isAnswered(
  { kernel, caller }: HookQuestion,
  session: string,
  request: string,
  wait: AnswerWait,
): Promise<boolean> {
  if (wait.left <= 0) return false
  const isOver = (): boolean => isFrozen(kernel, 'hook', { ...caller, session })
  await untilAnswered(kernel, new Set([request]), wait, isOver)
  // A client that has left would not use the approval.
  if (wait.signal.aborted) return false
  return isOver() || kernel.approvals.find({ id: request })?.answer !== null
}

async function judge(
  question: HookQuestion,
  session: string,
  context: HookContext,
  call: HookCall,
): Promise<Decided> {
  const { kernel, caller, traceparent } = question
  const { words, projects } = stateOf(kernel)
  const owner = clientSession(question, context)
  const pending = words.pending(owner, session)
  const asked: ToolCall = {
    caller,
    door: 'hook',
    assurance: 'advised',
    tool: nameOf(kernel, caller.tenant, call.tool),
    args: call.args,
    prompting: context.isAttended,
    session_id: session,
    reference: referenceOf(call),
    ...(pending.sources.length > 0 && { sources: pending.sources }),
    ...(traceparent !== undefined && { traceparent }),
  }
  const place = await projects.placeOf(owner, question, asked, context.cwd)
  const { decided } = await authorize(kernel, { ...asked, ...(place && { place }) })
  // An unreadable call has not taken the texts in.
  if (decided.receipt !== undefined && decided.reason !== 'AMBIGUOUS_INPUT') pending.taken()
  return decided
}

/** The name to judge: a spelling that the kernel knows, otherwise the canonical form of an MCP tool. */
function nameOf(kernel: Kernel, tenant: string, tool: string): string {
  return kernel.catalogue.meant(tool, policyOf(kernel, tenant)).length > 0 ? tool : (serverTool(tool) ?? tool)
}

/** Records the effect of a use once. The same report again gets the same answer. */
function closeOnce(
  question: HookQuestion,
  event: HookEvent & { readonly kind: 'result' },
): Promise<HookAnswer> {
  const { results } = stateOf(question.kernel)
  const use = useOf(question, event.call)
  const key =
    use === undefined ? undefined : sha256Hex(`${use}\n${event.failed}\n${canonicalize(event.output)}`)
  const known = key === undefined ? undefined : results.get(key)
  if (known) return known
  const answer = close(question, event, use)
  if (key !== undefined) remember(results, key, answer)
  return answer
}

async function close(
  question: HookQuestion,
  { context, call, failed, output }: HookEvent & { readonly kind: 'result' },
  use: string | undefined,
): Promise<HookAnswer> {
  const { kernel, log, client } = question
  const { uses } = stateOf(kernel)
  const ruled = use === undefined ? undefined : await uses.get(use)
  const session = ruled?.session ?? sessionOf(question, context)
  const reference = referenceOf(call)
  const open = await openedAs(kernel, { ...question.caller, session }, [reference])
  const decision = ruled?.decided.receipt ?? open.get(reference)
  // The use is over. The same id for another call is another decision.
  if (use !== undefined) uses.delete(use)
  const inspection =
    (decision === undefined ? undefined : await report(question, decision, { failed, output })) ??
    unclaimed(question, call.tool, output, log, client)
  return forwardedFrom(inspection, output)
}

/** Closes a decision; undefined if it was no ALLOW, or is closed. */
async function report(
  { kernel, caller }: HookQuestion,
  decision: string,
  { failed, output }: { readonly failed: boolean; readonly output: Json },
): Promise<Inspection | undefined> {
  try {
    const { inspection } = await reportEffect(kernel, {
      caller,
      decision,
      status: failed ? 'FAILED' : 'COMPLETED',
      output: canonicalBytes(output),
      content: output,
    })
    return inspection
  } catch (fault) {
    if (fault instanceof KernelError && fault.code === 'EFFECT_REFUSED') return undefined
    throw fault
  }
}

/** Inspects the output of a call that has no open decision. The client ran it against the answer, or without asking. */
function unclaimed(
  { kernel, caller }: HookQuestion,
  tool: string,
  output: Json,
  log: Log,
  client: HookClient,
): Inspection {
  log('warn', 'a client reported the result of a call that was not allowed', { client: client.name, tool })
  return inspected(kernel, caller.tenant, tool, output)
}

/** The session in receipts. Each client and each subagent has its own. */
function sessionOf(question: HookQuestion, { client, session, subagent }: HookContext): string {
  return `${client ?? question.client.name}:${session}${subagent === undefined ? '' : `/${subagent}`}`
}

function clientSession(question: HookQuestion, { client, session }: HookContext): string {
  const { caller } = question
  return `${caller.tenant}\n${caller.principal}\n${client ?? question.client.name}\n${session}`
}

/** A name for one use of a tool; undefined if the client has no ids. The arguments are part of it, because a client could repeat an id. */
function useOf({ caller }: HookQuestion, { id, tool, args }: HookCall): string | undefined {
  if (id === undefined) return undefined
  return sha256Hex(canonicalize([caller.tenant, caller.principal, caller.person ?? null, id, tool, args]))
}

/** The id by which a result finds its decision. */
function referenceOf({ id, tool, args }: HookCall): string {
  return id ?? `call:${sha256Hex(canonicalize([tool, args]))}`
}
