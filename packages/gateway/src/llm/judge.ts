// The calls that a reply proposes: each goes down the same road as any other call, and only what the ledger has as allowed goes
// on to the agent.

import { canonicalize, parseJson, sha256Hex, type Json } from '@tollgate/evidence'
import { authorize, type Decided, type Demanded } from '@tollgate/kernel'
import { compileSchema } from '@tollgate/kernel/detection'
import { denialText, receiptNote } from '../verdict.ts'
import type { DeclaredTool, Judge, ProposedCall, RequestReading, Ruling } from './dialect.ts'
import type { Hosted } from './hosted.ts'
import { createRecent } from './recent.ts'
import { argumentsOf, callOf, count, ownerOf, type RequestContext } from './request-context.ts'

/** Judges the calls of the reply to one request. */
export function createJudge(context: RequestContext, tools: RequestReading['tools'], hosted: Hosted): Judge {
  const { rulings } = context
  const refs = new Set<string>()
  const names = createNames()

  async function judgeOne(proposal: ProposedCall): Promise<Ruling> {
    const name = rulings && names.next(proposal)
    const before = name === undefined ? undefined : rulings?.get(name)
    if (before) return again(context, before)
    const isClear = proposal.ref === undefined || !refs.has(proposal.ref)
    if (proposal.ref !== undefined) refs.add(proposal.ref)
    // Two calls of one name: nobody could say which of them a result is of.
    const clear = isClear ? proposal : { ...proposal, tool: undefined }
    const ruling = await rule(context, clear, tools.get(clear.declared ?? ''))
    if (name !== undefined) rulings?.set(name, ruling)
    return ruling
  }

  return {
    judge: (proposals) =>
      Promise.all(proposals.map((proposal) => judgeOne(proposal).catch(() => refusedFor('GATE_FAILED')))),
    ran: (tool, item) => hosted.ran(tool, item),
  }
}

/** What was ruled when the same reply came before is on the ledger already. */
function again({ tally }: RequestContext, ruling: Ruling): Ruling {
  if (ruling.receipt !== undefined) tally.receipts.push(ruling.receipt)
  tally[ruling.allowed ? 'ALLOW' : 'DENY']++
  return ruling
}

/** One name for each call of a reply, however often the reply comes. */
function createNames(): { next(proposal: ProposedCall): string | undefined } {
  const seen = new Map<string, number>()
  return {
    next({ tool, ref, args }) {
      let text: string
      try {
        text = JSON.stringify([tool ?? null, ref ?? null, args])
      } catch {
        // Nested beyond all reason: it is denied, each time anew.
        return undefined
      }
      const hash = sha256Hex(text.toWellFormed())
      const times = seen.get(hash) ?? 0
      seen.set(hash, times + 1)
      return `${hash} ${times}`
    },
  }
}

// What a model invents as a name may be anything, also the arguments; a receipt only has what could be one.
const NAME = /^[\w.:/-]{1,128}$/

async function rule(
  context: RequestContext,
  proposal: ProposedCall,
  declared: DeclaredTool | undefined,
): Promise<Ruling> {
  const { kernel, caller } = context
  const fits = declared?.form === proposal.form ? declared : undefined
  const demanded = fits?.schema === undefined ? undefined : demandOf(fits.schema)
  const { decided } = await authorize(kernel, {
    ...callOf(context, 'advised'),
    tool: fits || NAME.test(proposal.tool ?? '') ? proposal.tool : undefined,
    ...argumentsOf(proposal.args),
    ...(proposal.ref !== undefined && { reference: referenceOf(context, proposal.ref) }),
    // The model may call what the request has declared, and nothing else.
    ...(!fits && { offered: null }),
    ...(demanded && { demanded }),
  })
  count(context, decided)
  const { receipt } = decided
  if (decided.verdict === 'ALLOW' && receipt !== undefined) {
    // Whatever was decided: no effect could be recorded any more, or the token has gone while the ledger wrote.
    if (kernel.ledger.poisoned !== undefined) return refusedFor('LEDGER_UNAVAILABLE', receipt)
    if (!caller.known()) return refusedFor('TOKEN_UNKNOWN', receipt)
    return { allowed: true, args: canonicalOf(proposal.args), receipt }
  }
  const shown = fits && proposal.tool !== undefined ? ` to \`${proposal.tool}\`` : ''
  const undeclared = fits || proposal.tool === undefined ? '' : ' The request did not declare such a tool.'
  return { allowed: false, text: refusalText(decided, shown) + undeclared, receipt }
}

// Calls without an id of their own go by the name of their function: the newest counts.
const BY_NAME = 'function:'
const UNUSABLE = ''

/** What the result will be found by. While another call of the session is open under the same id, it could be of either. */
function referenceOf(context: RequestContext, ref: string): string {
  const { openings } = context.kernel
  const taken = !ref.startsWith(BY_NAME) && openings.named(ownerOf(context), ref) !== undefined
  return taken ? UNUSABLE : ref
}

/** What an agent and its model are told in place of a call. */
function refusalText(decided: Decided, tool: string): string {
  return `[Tollgate] The call${tool} did not pass. ${denialText(decided, false)}`
}

function refusedFor(code: string, receipt?: string): Ruling {
  const text = `[Tollgate] A call did not pass (${code}).${receiptNote(receipt)}`
  return { allowed: false, text, receipt }
}

/** The text that was hashed: what was judged is what goes on. */
function canonicalOf(args: ProposedCall['args']): string {
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
  const demanded = { hash, text, schema: checkOf(schema) }
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
