// What tools have answered, as the next request hands it to the model: each result closes the decision that allowed its call,
// is looked through, and goes on as far as the policy lets it.

import { canonicalBytes, sha256Hex } from '@tollgate/evidence'
import {
  inspect,
  KernelError,
  openedAs,
  policyOf,
  remembersData,
  reportEffect,
  type Inspection,
  type Policy,
} from '@tollgate/kernel'
import type { Body } from './body.ts'
import type { Reading, Result } from './dialect.ts'
import type { Recent } from './recent.ts'
import { ownerOf, type Visit } from './visit.ts'

/** A result that was looked through, and whether it is the effect of a decision of ours. */
interface Taken {
  readonly inspection: Inspection
  readonly closed: boolean
}

/** What is remembered between requests: most of a conversation comes again with each of them. */
export interface Heard {
  /** Results, by session, call and content. */
  readonly results: Recent<Taken>
  /** Words of users that were given along with a call. */
  readonly words: Recent<true>
}

/**
 * Takes what the tools of a conversation have answered. Results that the policy does not let on are changed in the body.
 *
 * @returns whether anything in the body was changed.
 */
export async function takeTurns(visit: Visit, reading: Reading, body: Body, heard: Heard): Promise<boolean> {
  const policy = policyOf(visit.kernel, visit.caller.identity.tenant)
  const results = reading.turns.filter((turn) => turn.kind === 'result')
  const named = results.map((result) => ({ result, name: nameOf(visit, result, body) }))
  const fresh = named.filter(({ name }) => !heard.results.has(name)).map(({ result }) => result)
  const decisions = await openCalls(visit, fresh)
  // In one go, so that they share a batch; their order is that of the conversation.
  const taken = await Promise.all(
    named.map(async ({ result, name }) => {
      const found = heard.results.get(name) ?? (await takeResult(visit, result, decisions, body, policy))
      heard.results.set(name, found)
      return { result, ...found }
    }),
  )
  const foreign = new Set(taken.filter(({ closed }) => !closed).map(({ result }) => result))
  if (remembersData(policy)) gatherSources(visit, reading, foreign, body, heard)
  return taken.map(({ result, inspection }) => handOn(result, inspection)).some((changed) => changed)
}

/** One name for what a call of a session has answered. The policy that is in force says what becomes of it. */
function nameOf(visit: Visit, { ref, content, failed }: Result, body: Body): string {
  const { tenant, principal, session } = ownerOf(visit)
  const policy = policyOf(visit.kernel, tenant).hash
  return sha256Hex(
    JSON.stringify([tenant, principal, session, policy, ref ?? null, failed, body.restored(content)]),
  )
}

/** The decisions whose effect these results are, by what the calls are called. */
async function openCalls(visit: Visit, results: readonly Result[]): Promise<ReadonlyMap<string, string>> {
  const references = [...new Set(results.flatMap(({ ref }) => (ref === undefined ? [] : [ref])))]
  return references.length === 0 ? new Map() : openedAs(visit.kernel, ownerOf(visit), references)
}

async function takeResult(
  visit: Visit,
  result: Result,
  decisions: ReadonlyMap<string, string>,
  body: Body,
  policy: Policy,
): Promise<Taken> {
  const texts = result.texts.map((text) => textOf(text, body))
  const decision = result.ref === undefined ? undefined : decisions.get(result.ref)
  const closed = decision === undefined ? undefined : await close(visit, decision, result, texts, body)
  if (closed) return { inspection: closed, closed: true }
  const { catalogue } = visit.kernel
  const returns =
    result.tool === undefined ? [] : (catalogue.find(result.tool, policy)?.declared?.returns ?? [])
  return { inspection: inspect(texts, { policy, returns }), closed: false }
}

/** Closes a decision; undefined if another result has closed it meanwhile. */
async function close(
  { kernel, caller, tally }: Visit,
  decision: string,
  result: Result,
  texts: readonly string[],
  body: Body,
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

function textOf(text: string, body: Body): string {
  const restored = body.restored(text)
  return typeof restored === 'string' ? restored : text
}

/**
 * What led to the calls of the reply, in its order: what users have said and is not known yet, and what tools have said that no
 * decision of ours has allowed.
 */
function gatherSources(
  visit: Visit,
  { turns }: Reading,
  foreign: ReadonlySet<Result>,
  body: Body,
  { words }: Heard,
): void {
  const { sources } = visit
  const { tenant, principal, session } = ownerOf(visit)
  const add = (source_channel: 'USER' | 'TOOL_OUTPUT', text: string): void => {
    const last = sources.at(-1)
    // One text for what comes in a row: there may be many.
    if (last?.source_channel === source_channel)
      sources[sources.length - 1] = { source_channel, text: `${last.text}\n${text}` }
    else sources.push({ source_channel, text })
  }
  for (const turn of turns) {
    if (turn.kind === 'result') {
      if (foreign.has(turn)) for (const text of turn.texts) add('TOOL_OUTPUT', textOf(text, body))
      continue
    }
    const text = textOf(turn.text, body)
    if (turn.channel === 'TOOL_OUTPUT') {
      add('TOOL_OUTPUT', text)
      continue
    }
    const name = sha256Hex(JSON.stringify([tenant, principal, session, text.toWellFormed()]))
    if (words.has(name)) continue
    visit.onDecided.push(() => words.set(name, true))
    add('USER', text)
  }
}

/** Changes a result in the body that goes on; false if it stays as it is. */
function handOn(result: Result, inspection: Inspection): boolean {
  if (inspection.delivery === 'full') return false
  const left = inspection.delivery === 'redacted' ? inspection.content : undefined
  if (Array.isArray(left) && left.every((text) => typeof text === 'string')) result.rewrite(left)
  else result.withhold(withheldNote(inspection))
  return true
}

/** Says why, and always the same for the same: what goes on is cached by whoever gets it. */
function withheldNote({ labels, findings }: Inspection): string {
  const found = [...findings, ...labels.map((label) => `label ${label}`)].join(', ')
  return `[Tollgate] What the tool answered is withheld by the policy (${found}). The call itself was done.`
}
