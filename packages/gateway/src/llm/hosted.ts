// Tools that run at the provider. They run before the reply exists, so they are judged with the request. Their effects are
// recorded before the reply is forwarded.

import { canonicalBytes, sha256Hex, type Json, type JsonObject } from '@tollgate/evidence'
import {
  authorize,
  complete,
  policyOf,
  UNINSPECTED,
  type Decided,
  type Inspection,
  type Kernel,
  type Outcome,
  type Permit,
} from '@tollgate/kernel'
import { inspect } from '@tollgate/kernel/detection'
import type { Policy } from '@tollgate/kernel/policy'
import { denialText } from '../verdict.ts'
import { Refused, type HostedTool, type ToolPlace } from './dialect.ts'
import { removeTools } from './removal.ts'
import { callOf, count, ownerOf, type RequestContext } from './request-context.ts'

/** The provider's tools of one request. */
export interface Hosted {
  /** Records what one of them did; false if it was not allowed with the request. */
  ran(tool: string, item: JsonObject): boolean
  /** Records the effects of all of them. Never rejects: if recording fails, the ledger is poisoned. */
  close(how: 'done' | 'unknown' | 'unsent'): Promise<void>
}

/** Decisions on removed tools, so that a session that repeats them has one receipt for each. */
export type RemovedBefore = Map<string, Decided>

interface AdmittedTools {
  readonly hosted: Hosted
  /** Tools that are no longer in the body. */
  readonly removed: readonly HostedTool[]
}

/**
 * Judges the tools before the request is sent. If the policy says so, removes undeclared tools from the body. @throws Refused if
 * another one is not allowed, or if the request forces a removed one; then nothing runs.
 */
export async function admitHosted(
  context: RequestContext,
  tools: readonly HostedTool[],
  body: JsonObject,
  before: RemovedBefore,
): Promise<AdmittedTools> {
  const judged = await Promise.all(tools.map((tool) => judgeHosted(context, tool, before)))
  const places = new Set(judged.flatMap(({ removable, place }) => (removable && place ? [place] : [])))
  const isGone = ({ place }: JudgedTool): boolean => place !== undefined && places.has(place)
  const hosted = createHosted(
    context,
    judged.filter((one) => !isGone(one)),
  )
  // Another tool of a removed entry may be allowed. It does not run either.
  await createHosted(context, judged.filter(isGone)).close('unsent')
  const removed = judged.filter(isGone)
  const refused =
    judged.find(({ permit, removable }) => !permit && !removable) ?? forced(body, places, removed)
  if (!refused) {
    context.tally.removed.push(...new Set(removed.map(({ tool }) => tool ?? 'unnamed')))
    return { hosted, removed }
  }
  await hosted.close('unsent')
  throw refusalOf(refused)
}

/** Removes tools; a removed tool if the request needs one of them. */
function forced(
  body: JsonObject,
  places: ReadonlySet<ToolPlace>,
  [removed]: readonly JudgedTool[],
): JudgedTool | undefined {
  return places.size === 0 || removeTools(body, places) ? undefined : removed
}

interface JudgedTool extends HostedTool {
  readonly decided: Decided
  readonly permit: Permit | undefined
  /** Whether the policy wants it removed instead of refusing the request. */
  readonly removable: boolean
}

const UNDECLARED = 'DENY_TOOL_NOT_FOUND'

async function judgeHosted(
  context: RequestContext,
  hosted: HostedTool,
  before: RemovedBefore,
): Promise<JudgedTool> {
  const { kernel, caller, tally } = context
  const { tool, args, known, place } = hosted
  const { providerTools } = policyOf(kernel, caller.identity.tenant)
  const mayRemove = place !== undefined && providerTools.undeclared === 'remove'
  const name = mayRemove ? nameOf(context, hosted) : undefined
  const earlier = name === undefined ? undefined : before.get(name)
  if (earlier?.receipt !== undefined) {
    tally.DENY++
    tally.receipts.push(earlier.receipt)
    return { ...hosted, decided: earlier, permit: undefined, removable: true }
  }
  const { decided, permit } = await authorize(kernel, {
    ...callOf(context, 'enforced'),
    tool,
    args,
    // An unknown kind counts as not offered, even if the policy has a tool of that name.
    ...(!known && { offered: null }),
  })
  count(context, decided)
  const removable = mayRemove && decided.reason === UNDECLARED
  if (removable && name !== undefined) before.set(name, decided)
  return { ...hosted, decided, permit, removable }
}

/** A name for a tool of a session that changes with everything that could declare it. */
function nameOf(context: RequestContext, { tool, args, known }: HostedTool): string {
  const { tenant, principal, session } = ownerOf(context)
  const { catalogue } = context.kernel
  const { hash } = policyOf(context.kernel, tenant)
  const { person = null } = context.caller.identity
  const text = [tenant, principal, person, session, hash, catalogue.changes, tool ?? null, known, args]
  return sha256Hex(JSON.stringify(text).toWellFormed())
}

function refusalOf({ decided, tool, known, removable }: JudgedTool): Refused {
  if (removable) {
    const message = `\`${tool ?? 'a tool'}\` is removed from requests, because the policy does not declare it, and \`tool_choice\` requires it, so nothing was sent. Send \`tool_choice: auto\`, or declare the tool. Receipt: ${decided.receipt ?? 'none'}`
    return new Refused(403, decided.reason, message, 'tool_choice')
  }
  if (!known) {
    const type = tool === undefined ? 'A tool type in the request' : `\`${tool}\``
    const message = `${type} is not a known tool type for this route, so nothing was sent. Use one of the types in docs/llm.md. Receipt: ${decided.receipt ?? 'none'}`
    return new Refused(403, decided.reason, message, 'tools')
  }
  const what = tool === undefined ? 'A tool in the request' : `\`${tool}\`, which runs at the provider,`
  const text = `${what} is not allowed, so nothing was sent. ${denialText(decided, false)}`
  return new Refused(403, decided.reason, text, 'tools')
}

function createHosted({ kernel, caller }: RequestContext, judged: readonly JudgedTool[]): Hosted {
  const allowed = judged.flatMap(({ tool, permit }) =>
    permit && tool !== undefined ? [{ tool, permit }] : [],
  )
  const items = new Map<string, JsonObject[]>(allowed.map(({ tool }) => [tool, []]))
  let closed = false
  return {
    ran(tool, item) {
      const those = items.get(tool)
      those?.push(item)
      return those !== undefined
    },
    async close(how) {
      if (closed) return
      closed = true
      const { tenant } = caller.identity
      const ends = allowed.map(async ({ tool, permit }) =>
        complete(kernel, permit, outcomeOf(kernel, tenant, how, { tool, items: items.get(tool) ?? [] })),
      )
      // If recording failed, the ledger is poisoned and denies every call.
      await Promise.allSettled(ends)
    },
  }
}

function outcomeOf(
  kernel: Kernel,
  tenant: string,
  how: 'done' | 'unknown' | 'unsent',
  { tool, items }: { readonly tool: string; readonly items: readonly Json[] },
): Outcome {
  if (how === 'unsent') return { status: 'CANCELLED' }
  if (how === 'unknown') return { status: 'UNKNOWN', cause: 'lost' }
  // The model has already read it. It is labelled and forwarded in full.
  return {
    status: 'COMPLETED',
    output: bytesOf(items),
    inspection: inspectionOf(kernel, policyOf(kernel, tenant), tool, items),
    delivery: 'full',
  }
}

/** Largest recorded output in bytes. */
export const MAX_OUTPUT: number = 128 << 20

/** The recorded bytes of the items. Without a canonical form, plain JSON is hashed. */
function bytesOf(items: readonly Json[]): Uint8Array {
  try {
    return canonicalBytes(items, { maxLength: MAX_OUTPUT })
  } catch {
    // Invalid Unicode or too deep nesting. The tool still ran.
    return Buffer.from(safely(() => JSON.stringify(items)) ?? '')
  }
}

/** Inspects the output of a tool. Output that cannot be inspected is withheld. */
export function inspectionOf(
  kernel: Kernel,
  policy: Policy,
  tool: string | undefined,
  output: Json,
): Inspection {
  const declared = tool === undefined ? undefined : kernel.catalogue.findNamed(tool, policy)?.declared
  return safely(() => inspect(output, { policy, returns: declared?.returns ?? [] })) ?? UNINSPECTED
}

function safely<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    // The error may hold content.
    return undefined
  }
}
