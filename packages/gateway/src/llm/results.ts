// What tools have answered, as the next request hands it to the model: each result closes the decision that allowed its call,
// is looked through, and goes on as far as the policy lets it.

import { canonicalBytes, isList, sha256Hex } from '@tollgate/evidence'
import { KernelError, openedAs, policyOf, reportEffect, UNINSPECTED, type Inspection } from '@tollgate/kernel'
import { inspect } from '@tollgate/kernel/detection'
import { remembersData, type Policy } from '@tollgate/kernel/policy'
import type { ReadBody } from './body.ts'
import type { RequestReading, Result } from './dialect.ts'
import type { Recent } from './recent.ts'
import { gatherSources } from './sources.ts'
import { ownerOf, type RequestContext } from './request-context.ts'

/** What becomes of a result, and whether it is the effect of a decision of ours. */
interface TakenResult {
  readonly closed: boolean
  readonly handed: Handed
}

/** What the model gets of it: all of it, these texts, or a note. */
type Handed = 'all' | { readonly texts: readonly string[] } | { readonly note: string }

/** What is remembered between requests: most of a conversation comes again with each of them. */
export interface ToolAnswer {
  /** Results, by session, call and content. */
  readonly results: Recent<TakenResult>
  /** Words of users that were given along with a call. */
  readonly words: Recent<true>
}

/**
 * Takes what the tools of a conversation have answered. Results that the policy does not let on are changed in the body.
 *
 * @returns whether anything in the body was changed.
 */
export async function takeTurns(
  context: RequestContext,
  reading: RequestReading,
  body: ReadBody,
  heard: ToolAnswer,
): Promise<boolean> {
  const policy = policyOf(context.kernel, context.caller.identity.tenant)
  const results = reading.turns.filter((turn) => turn.kind === 'result')
  const named = results.map((result) => ({ result, name: nameOf(context, result, body) }))
  const known = named.map(({ result, name }) =>
    isAwaited(context, result) ? undefined : heard.results.get(name),
  )
  const decisions = await openCalls(
    context,
    results.filter((_, i) => !known[i]),
  )
  // In one go, so that they share a batch; their order is that of the conversation.
  const taken = await Promise.all(
    named.map(async ({ result, name }, i) => {
      const found = known[i] ?? (await takeResult(context, result, decisions, body, policy))
      if (sizeOf(found) <= MOST_KEPT) heard.results.set(name, found)
      return { result, ...found }
    }),
  )
  const foreign = new Set(taken.filter(({ closed }) => !closed).map(({ result }) => result))
  if (remembersData(policy)) {
    const restored = (text: string): string => body.restoredText(text)
    gatherSources(context, { turns: reading.turns, foreign, restored, words: heard.words })
  }
  return taken.map(({ result, handed }) => handOn(result, handed)).some((changed) => changed)
}

/** Whether a call of this id is open: then the result may be its own, whatever was answered to another of the same id. */
function isAwaited(context: RequestContext, { ref }: Result): boolean {
  return ref !== undefined && context.kernel.openings.named(ownerOf(context), ref) !== undefined
}

// What is longer is looked through again with each request.
const MOST_KEPT = 4096

function sizeOf({ handed }: TakenResult): number {
  if (handed === 'all') return 0
  return 'note' in handed ? handed.note.length : handed.texts.reduce((sum, { length }) => sum + length, 0)
}

/** One name for what a call of a session has answered. The policy that is in force says what becomes of it. */
function nameOf(context: RequestContext, { ref, content, failed }: Result, body: ReadBody): string {
  const { tenant, principal, session } = ownerOf(context)
  const policy = policyOf(context.kernel, tenant).hash
  return sha256Hex(
    JSON.stringify([tenant, principal, session, policy, ref ?? null, failed, body.restored(content)]),
  )
}

/** The decisions whose effect these results are, by what the calls are called. */
async function openCalls(
  context: RequestContext,
  results: readonly Result[],
): Promise<ReadonlyMap<string, string>> {
  const references = [...new Set(results.flatMap(({ ref }) => (ref === undefined ? [] : [ref])))]
  return references.length === 0 ? new Map() : openedAs(context.kernel, ownerOf(context), references)
}

async function takeResult(
  context: RequestContext,
  result: Result,
  decisions: ReadonlyMap<string, string>,
  body: ReadBody,
  policy: Policy,
): Promise<TakenResult> {
  const texts = result.texts.map((text) => body.restoredText(text))
  const decision = result.ref === undefined ? undefined : decisions.get(result.ref)
  const closed = decision === undefined ? undefined : await close(context, decision, result, texts, body)
  if (closed) return { handed: handedOf(closed), closed: true }
  const { catalogue } = context.kernel
  const returns =
    result.tool === undefined ? [] : (catalogue.find(result.tool, policy)?.declared?.returns ?? [])
  return { handed: handedOf(inspectedOr(() => inspect(texts, { policy, returns }))), closed: false }
}

/** Closes a decision; undefined if another result has closed it meanwhile. */
async function close(
  { kernel, caller, tally }: RequestContext,
  decision: string,
  result: Result,
  texts: readonly string[],
  body: ReadBody,
): Promise<Inspection | undefined> {
  const { tenant, principal } = caller.identity
  try {
    const { id, inspection } = await reportEffect(kernel, {
      caller: { tenant, principal },
      decision,
      status: result.failed ? 'FAILED' : 'COMPLETED',
      output: canonicalBytes(body.restored(result.content), { maxLength: MOST_OUTPUT }),
      content: texts,
    })
    tally.receipts.push(id)
    return inspection
  } catch (fault) {
    if (fault instanceof KernelError && fault.code === 'EFFECT_REFUSED') return undefined
    throw fault
  }
}

const MOST_OUTPUT = 128 << 20

/** Changes a result in the body that goes on; false if it stays as it is. */
function handOn(result: Result, handed: Handed): boolean {
  if (handed === 'all') return false
  if ('texts' in handed) result.rewrite(handed.texts)
  else result.withhold(handed.note)
  return true
}

function inspectedOr(work: () => Inspection): Inspection {
  try {
    return work()
  } catch {
    // Nothing is known of it, so nobody gets it.
    return UNINSPECTED
  }
}

function handedOf({ delivery, content, labels, findings }: Inspection): Handed {
  if (delivery === 'full') return 'all'
  const left = delivery === 'redacted' ? content : undefined
  if (isList(left) && left.every((text) => typeof text === 'string')) return { texts: left }
  // Always the same for the same: what goes on is cached by whoever gets it.
  const found = [...findings, ...labels.map((label) => `label ${label}`)].join(', ')
  return {
    note: `[Tollgate] What the tool answered is withheld by the policy (${found}). The call itself was done.`,
  }
}
