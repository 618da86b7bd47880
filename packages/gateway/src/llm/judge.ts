// Judges the calls that a reply proposes, like any other call. Only a call with a recorded ALLOW is forwarded to the agent.

import { canonicalize, isList, isObject, parseJson, reasonOf, sha256Hex, type Json } from '@tollgate/evidence'
import { authorize, policyOf, type Decided, type Demanded } from '@tollgate/kernel'
import { compileSchema } from '@tollgate/kernel/detection'
import { Recent } from '../recent.ts'
import { denialText, receiptNote } from '../verdict.ts'
import {
  Refused,
  type DeclaredTool,
  type Judge,
  type ProposedCall,
  type RequestReading,
  type Ruling,
} from './dialect.ts'
import { isGiven } from './filter.ts'
import type { Hosted } from './hosted.ts'
import { BY_NAME } from './unnamed-calls.ts'
import { afterAnswers } from './waiting.ts'
import { argumentsOf, callOf, count, ownerOf, type RequestContext } from './request-context.ts'

/** The parts of a request that its reply is judged by. */
type JudgedRequest = Pick<RequestReading, 'tools' | 'structured' | 'forced' | 'unnamed'>

export function createJudge(
  context: RequestContext,
  { tools, structured, forced, unnamed }: JudgedRequest,
  hosted: Hosted,
): Judge {
  const { rulings } = context
  const refs = new Set<string>()
  const seen = new Map<string, number>()
  const ruled: Ruling[] = []
  let mustCall = forced

  function open(proposed: ProposedCall): OpenCall {
    const proposal = unnamed ? { ...proposed, ref: unnamed.next(proposed.ref) } : proposed
    if (isPure(context, proposal.tool)) mustCall = true
    const name = rulings && nameOf(proposal, seen)
    const isClear = proposal.ref === undefined || !refs.has(proposal.ref)
    if (proposal.ref !== undefined) refs.add(proposal.ref)
    // With two calls of one id, a result could belong to either, so the second is denied.
    return { name, call: isClear ? proposal : { ...proposal, tool: undefined } }
  }

  async function judgeOne({ name, call }: OpenCall): Promise<Ruling> {
    const before = name === undefined ? undefined : rulings?.get(name)
    return before ? again(context, before) : ruleOn(call)
  }

  const ruleOn = (call: ProposedCall): Promise<Ruling> =>
    rule(context, call, tools.get(call.declared ?? '')).catch(() => refusedFor('GATE_FAILED'))

  return {
    async judge(proposals) {
      const calls = proposals.map(open)
      const first = await Promise.all(calls.map(judgeOne))
      const last = await afterAnswers(
        context,
        first,
        calls.map(
          ({ call }) =>
            () =>
              ruleOn(call),
        ),
      )
      for (const [at, { name }] of calls.entries()) {
        const ruling = last[at]
        if (name !== undefined && ruling) rulings?.set(name, ruling)
      }
      ruled.push(...last)
      return last
    },
    ran: (tool, item) => hosted.ran(tool, item),
    structured,
    requireForced() {
      const [first] = ruled
      if (!mustCall || !first || first.allowed || ruled.some(({ allowed }) => allowed)) return
      throw new Refused(403, first.code, first.text.replaceAll('\n', ' '), 'tool_choice')
    },
  }
}

/** A proposal, and the name under which a repeated request finds its ruling. */
interface OpenCall {
  readonly name: string | undefined
  readonly call: ProposedCall
}

/** Whether the framework of the agent waits for the arguments of this call. It would take a text for an empty answer. */
function isPure({ kernel, caller }: RequestContext, tool: string | undefined): boolean {
  const policy = policyOf(kernel, caller.identity.tenant)
  return tool !== undefined && kernel.catalogue.findNamed(tool, policy)?.declared?.pure === true
}

/** Counts an earlier ruling on the same reply. It is already on the ledger. */
function again({ tally }: RequestContext, ruling: Ruling): Ruling {
  if (ruling.receipt !== undefined) tally.receipts.push(ruling.receipt)
  tally[ruling.allowed ? 'ALLOW' : 'DENY']++
  if (ruling.allowed && ruling.observed === true) tally.observed++
  return ruling
}

/** A name for each call of a reply that stays the same when the reply is repeated. `seen` counts equal calls. */
function nameOf({ tool, ref, args }: ProposedCall, seen: Map<string, number>): string | undefined {
  let text: string
  try {
    text = JSON.stringify([tool ?? null, ref ?? null, args])
  } catch {
    // Too deeply nested. It is denied each time.
    return undefined
  }
  const hash = sha256Hex(text.toWellFormed())
  const times = seen.get(hash) ?? 0
  seen.set(hash, times + 1)
  return `${hash} ${times}`
}

// A model may invent any name, even one that holds arguments. A receipt gets only plausible names.
const NAME = /^[\w.:/-]{1,128}$/

async function rule(
  context: RequestContext,
  proposal: ProposedCall,
  declared: DeclaredTool | undefined,
): Promise<Ruling> {
  const { kernel, caller } = context
  const fits = declared?.form === proposal.form ? declared : undefined
  const demanded = fits?.schema === undefined ? undefined : demandOf(fits.schema)
  const args = proposal.args === '' && fits && takesNothing(fits) ? NO_ARGUMENTS : proposal.args
  const { decided } = await authorize(kernel, {
    ...callOf(context, 'advised'),
    tool: fits || NAME.test(proposal.tool ?? '') ? proposal.tool : undefined,
    ...argumentsOf(args),
    ...(proposal.ref !== undefined && { reference: referenceOf(context, proposal.ref) }),
    // The model may call only tools that the request declared.
    ...(!fits && { offered: null }),
    ...(demanded && { demanded }),
  })
  count(context, decided)
  const { receipt } = decided
  if (decided.verdict === 'ALLOW' && receipt !== undefined) {
    // Checked after the decision: the ledger may be poisoned now, or the token revoked.
    if (kernel.ledger.poisoned !== undefined) return refusedFor('LEDGER_UNAVAILABLE', receipt)
    if (!caller.known()) return refusedFor('TOKEN_UNKNOWN', receipt)
    const observed = decided.reason === 'OBSERVE_MODE_ALLOWED'
    return { allowed: true, args: canonicalOf(args), receipt, observed }
  }
  const shown = fits && proposal.tool !== undefined ? ` to \`${proposal.tool}\`` : ''
  const undeclared = fits || proposal.tool === undefined ? '' : ' The request did not declare this tool.'
  const { reason: code, approval } = decided
  return { allowed: false, code, text: refusalText(decided, shown) + undeclared, receipt, approval }
}

const NO_ARGUMENTS = '{}'

/** Whether a function has no parameters. Some models then write no arguments at all, which means the same as `{}`. */
function takesNothing({ form, schema }: DeclaredTool): boolean {
  if (form !== 'json') return false
  if (!isGiven(schema)) return true
  if (!isObject(schema)) return false
  const { properties = {}, required = [] } = schema
  return (
    isObject(properties) && Object.keys(properties).length === 0 && isList(required) && required.length === 0
  )
}

const UNUSABLE = ''

/** The reference for the result. It is unusable while another open call of the session has the same id. */
function referenceOf(context: RequestContext, ref: string): string {
  const { openings } = context.kernel
  const taken = !ref.startsWith(BY_NAME) && openings.named(ownerOf(context), ref) !== undefined
  return taken ? UNUSABLE : ref
}

/** The text that replaces a denied call. */
function refusalText(decided: Decided, tool: string): string {
  return `[Tollgate] The call${tool} was not run. ${denialText(decided, false)}`
}

function refusedFor(code: string, receipt?: string): Ruling {
  const text = `[Tollgate] A call was not run (${code}). Next step: ${reasonOf(code)?.remedy ?? 'ask the person who runs the gateway.'}${receiptNote(receipt)}`
  return { allowed: false, code, text, receipt }
}

/** The canonical text that was judged and hashed. */
function canonicalOf(args: ProposedCall['args']): string {
  return canonicalize(typeof args === 'string' ? parseJson(args) : args)
}

const MAX_SCHEMAS = 1000
const demands = new Recent<Demanded>(MAX_SCHEMAS)

/** The check of the declared schema. An invalid schema accepts nothing. */
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
    // The error quotes the caller's schema, so it is not repeated.
    return {
      check: () => ({ at: '', problem: 'cannot be checked: the schema in the request is invalid' }),
    }
  }
}
