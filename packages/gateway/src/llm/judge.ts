// The calls that a reply proposes: each goes down the same road as any other call, and only what the ledger has as allowed goes
// on to the agent.

import { canonicalize, parseJson, sha256Hex, type Json } from '@tollgate/evidence'
import { authorize, compileSchema, type Decided, type Demanded } from '@tollgate/kernel'
import { denialText } from '../verdict.ts'
import type { DeclaredTool, Judge, Proposal, Reading, Ruling } from './dialect.ts'
import type { Hosted } from './hosted.ts'
import { createRecent } from './recent.ts'
import { argumentsOf, callOf, count, type Visit } from './visit.ts'

/** Judges the calls of the reply to one request. */
export function createJudge(visit: Visit, tools: Reading['tools'], hosted: Hosted): Judge {
  const seen = new Set<string>()

  async function judgeOne(proposal: Proposal): Promise<Ruling> {
    const twice = proposal.ref !== undefined && seen.has(proposal.ref)
    if (proposal.ref !== undefined) seen.add(proposal.ref)
    // Two calls of one name: nobody could say which of them a result is of.
    const clear = twice ? { ...proposal, tool: undefined } : proposal
    const { rulings } = visit
    const name = rulings && nameOf(clear)
    const before = name === undefined ? undefined : rulings?.get(name)
    if (before) return before
    const ruling = await rule(visit, clear, tools.get(clear.declared ?? ''))
    if (name !== undefined) rulings?.set(name, ruling)
    return ruling
  }

  return {
    judge: (proposals) => Promise.all(proposals.map(judgeOne)),
    ran: (tool, item) => hosted.ran(tool, item),
  }
}

/** One name for a call of a reply, however often the reply comes. */
function nameOf({ tool, ref, args }: Proposal): string {
  return sha256Hex(JSON.stringify([tool ?? null, ref ?? null, args]))
}

async function rule(visit: Visit, proposal: Proposal, declared: DeclaredTool | undefined): Promise<Ruling> {
  const { kernel, caller } = visit
  const fits = declared?.form === proposal.form ? declared : undefined
  const demanded = fits?.schema === undefined ? undefined : demandOf(fits.schema)
  const { decided } = await authorize(kernel, {
    ...callOf(visit, 'advised'),
    tool: proposal.tool,
    ...argumentsOf(proposal.args),
    ...(proposal.ref !== undefined && { reference: proposal.ref }),
    // The model may call what the request has declared, and nothing else.
    ...(!fits && { offered: null }),
    ...(demanded && { demanded }),
  })
  count(visit, decided)
  if (decided.verdict === 'ALLOW') {
    // Whatever was decided: no effect could be recorded any more, or the token has gone while the ledger wrote.
    if (kernel.ledger.poisoned !== undefined) return refusedFor('LEDGER_UNAVAILABLE', decided.receipt)
    if (!caller.known()) return refusedFor('TOKEN_REVOKED', decided.receipt)
    return { allowed: true, args: canonicalOf(proposal.args) }
  }
  const shown = fits && proposal.tool !== undefined ? ` to \`${proposal.tool}\`` : ''
  return { allowed: false, text: refusalText(decided, shown), receipt: decided.receipt }
}

/** What an agent and its model are told in place of a call. */
function refusalText(decided: Decided, tool: string): string {
  return `[Tollgate] The call${tool} did not pass. ${denialText(decided, false)}`
}

function refusedFor(code: string, receipt: string | undefined): Ruling {
  const at = receipt === undefined ? '' : ` Receipt: ${receipt}`
  return { allowed: false, text: `[Tollgate] A call did not pass (${code}).${at}`, receipt }
}

/** The text that was hashed: what was judged is what goes on. */
function canonicalOf(args: Proposal['args']): string {
  return canonicalize(typeof args === 'string' ? parseJson(args) : args)
}

const MOST_SCHEMAS = 1000
const demands = createRecent<Demanded>(MOST_SCHEMAS)

/** The check that the request itself demands. A schema that cannot be used fits nothing. */
function demandOf(schema: Json): Demanded {
  const text = JSON.stringify(schema)
  const hash = sha256Hex(text)
  const known = demands.get(hash)
  if (known) return known
  const demanded = { hash, schema: checkOf(schema) }
  demands.set(hash, demanded)
  return demanded
}

function checkOf(schema: Json): Demanded['schema'] {
  try {
    return compileSchema(schema)
  } catch {
    // What is wrong with it is the caller's own text, and is not repeated.
    return {
      check: () => ({ at: '', problem: 'cannot be checked: the schema in the request cannot be used' }),
    }
  }
}
