// Handles tool results in a request: each one closes the decision that allowed its call, is inspected, and is forwarded as far
// as the policy allows.

import { canonicalBytes, isList, sha256Hex } from '@tollgate/evidence'
import { KernelError, openedAs, policyOf, reportEffect, type Inspection } from '@tollgate/kernel'
import { remembersData, type Policy } from '@tollgate/kernel/policy'
import type { Recent } from '../recent.ts'
import type { ReadBody } from './body.ts'
import type { RequestReading, Result } from './dialect.ts'
import { inspectionOf, MAX_OUTPUT } from './hosted.ts'
import { gatherSources } from './sources.ts'
import { ownerOf, type RequestContext } from './request-context.ts'

/** A handled result, and whether it was the effect of one of our decisions. */
interface TakenResult {
  readonly closed: boolean
  readonly forwarded: Forwarded
}

/** The part that the model gets: everything, these texts, or a note. */
type Forwarded = 'all' | { readonly texts: readonly string[] } | { readonly note: string }

/** Memory between requests, because each request repeats most of the conversation. */
export interface SeenTurns {
  /** Results, by session, call and content. */
  readonly results: Recent<TakenResult>
  /** Texts of users that a decision has already taken in. */
  readonly words: Recent<true>
}

/**
 * Handles the tool results of a conversation. Results that the policy restricts are changed in the body.
 * @returns whether the body was changed.
 */
export async function takeTurns(
  context: RequestContext,
  reading: RequestReading,
  body: ReadBody,
  seen: SeenTurns,
): Promise<boolean> {
  const policy = policyOf(context.kernel, context.caller.identity.tenant)
  const results = reading.turns.filter((turn) => turn.kind === 'result')
  const named = results.map((result) => ({ result, name: nameOf(context, result, body) }))
  const known = named.map(({ result, name }) =>
    isAwaited(context, result) ? undefined : seen.results.get(name),
  )
  const decisions = await openCalls(
    context,
    results.filter((_, i) => !known[i]),
  )
  // In parallel, so that they share a batch. Their order stays that of the conversation.
  const taken = await Promise.all(
    named.map(async ({ result, name }, i) => {
      const found = known[i] ?? (await takeResult(context, result, decisions, body, policy))
      if (sizeOf(found) <= MAX_KEPT) seen.results.set(name, found)
      return { result, ...found }
    }),
  )
  const foreign = new Set(taken.filter(({ closed }) => !closed).map(({ result }) => result))
  if (remembersData(policy)) {
    const restored = (text: string): string => body.restoredText(text)
    gatherSources(context, { turns: reading.turns, foreign, restored, words: seen.words })
  }
  return taken.map(({ result, forwarded }) => applyTo(result, forwarded)).some((changed) => changed)
}

/** Whether a call with this id is open. Then the result may belong to it, even if the id was used before. */
function isAwaited(context: RequestContext, { ref }: Result): boolean {
  return ref !== undefined && context.kernel.openings.named(ownerOf(context), ref) !== undefined
}

// A longer result is inspected again with each request.
const MAX_KEPT = 4096

function sizeOf({ forwarded }: TakenResult): number {
  if (forwarded === 'all') return 0
  return 'note' in forwarded
    ? forwarded.note.length
    : forwarded.texts.reduce((sum, { length }) => sum + length, 0)
}

/** A name for the result of a call in a session. It includes the policy, which decides what is forwarded. */
function nameOf(context: RequestContext, { ref, content, failed }: Result, body: ReadBody): string {
  const { tenant, principal, session } = ownerOf(context)
  const policy = policyOf(context.kernel, tenant).hash
  return sha256Hex(
    JSON.stringify([tenant, principal, session, policy, ref ?? null, failed, body.restored(content)]),
  )
}

/** The decisions that these results belong to, by call id. */
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
  if (closed) return { forwarded: forwardedOf(closed), closed: true }
  const inspection = inspectionOf(context.kernel, policy, result.tool, texts)
  return { forwarded: forwardedOf(inspection), closed: false }
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
      output: canonicalBytes(body.restored(result.content), { maxLength: MAX_OUTPUT }),
      content: texts,
    })
    tally.receipts.push(id)
    return inspection
  } catch (fault) {
    if (fault instanceof KernelError && fault.code === 'EFFECT_REFUSED') return undefined
    throw fault
  }
}

/** Changes a result in the forwarded body; false if it stays as it is. */
function applyTo(result: Result, forwarded: Forwarded): boolean {
  if (forwarded === 'all') return false
  if ('texts' in forwarded) result.rewrite(forwarded.texts)
  else result.withhold(forwarded.note)
  return true
}

function forwardedOf({ delivery, content, labels, findings }: Inspection): Forwarded {
  if (delivery === 'full') return 'all'
  const left = delivery === 'redacted' ? content : undefined
  if (isList(left) && left.every((text) => typeof text === 'string')) return { texts: left }
  // The same text for the same findings, because the upstream caches prompts.
  const found = [...findings, ...labels.map((label) => `label ${label}`)].join(', ')
  return {
    note: `[Tollgate] The policy withholds the result of this tool call (${found}). The call itself was done; do not repeat it.`,
  }
}
