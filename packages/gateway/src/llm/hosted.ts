// Tools that run at the provider. They run before any reply exists, so that they are judged with the request, and what they did
// is on the ledger when the reply is there.

import { canonicalBytes, type Json, type JsonObject } from '@tollgate/evidence'
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
import { denialText } from '../verdict.ts'
import { Refused, type HostedTool } from './dialect.ts'
import { callOf, count, type RequestContext } from './request-context.ts'

/** The tools of one request that run at the provider. */
export interface Hosted {
  /** Takes note of what one of them did; false if it was not allowed with the request. */
  ran(tool: string, item: JsonObject): boolean
  /** Closes all of them: what they did, or that nobody knows. Never rejects: what cannot be recorded ends the ledger. */
  close(how: 'done' | 'unknown' | 'unsent'): Promise<void>
}

interface Allowed {
  readonly tool: string
  readonly permit: Permit
}

/** Judges them, before the request is sent. @throws Refused if one of them may not run; nothing runs then. */
export async function admitHosted(context: RequestContext, tools: readonly HostedTool[]): Promise<Hosted> {
  const judged = await Promise.all(tools.map((tool) => judgeHosted(context, tool)))
  const allowed = judged.flatMap(({ tool, permit }) =>
    permit && tool !== undefined ? [{ tool, permit }] : [],
  )
  const hosted = createHosted(context, allowed)
  const refused = judged.find(({ permit }) => !permit)
  if (!refused) return hosted
  await hosted.close('unsent')
  throw refusalOf(refused)
}

/** A tool of a request, and what was decided on it. */
interface JudgedTool extends Pick<HostedTool, 'tool' | 'known'> {
  readonly decided: Decided
  readonly permit: Permit | undefined
}

async function judgeHosted(context: RequestContext, { tool, args, known }: HostedTool): Promise<JudgedTool> {
  const { decided, permit } = await authorize(context.kernel, {
    ...callOf(context, 'enforced'),
    tool,
    args,
    // What nobody here knows is in no catalogue, whatever the policy calls so.
    ...(!known && { offered: null }),
  })
  count(context, decided)
  return { tool, known, decided, permit }
}

function refusalOf({ decided, tool, known }: JudgedTool): Refused {
  if (!known) {
    const type = tool === undefined ? 'A type of tool in the request' : `\`${tool}\``
    const message = `${type} is not a type of tool that is known here for this route, so that nothing was sent; docs/llm.md lists those that are. Receipt: ${decided.receipt ?? 'none'}`
    return new Refused(403, decided.reason, message, 'tools')
  }
  const what = tool === undefined ? 'A tool of the request' : `\`${tool}\`, which runs at the provider,`
  const text = `${what} may not be used, so that nothing was sent. ${denialText(decided, false)}`
  return new Refused(403, decided.reason, text, 'tools')
}

function createHosted({ kernel, caller }: RequestContext, allowed: readonly Allowed[]): Hosted {
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
      // What could not be recorded has ended the ledger: nothing more is allowed, and everybody is told.
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
  // The model has read it already, wherever it came from: it is labelled and remembered, and goes on.
  return {
    status: 'COMPLETED',
    output: bytesOf(items),
    inspection: inspected(kernel, tenant, tool, items),
    delivery: 'full',
  }
}

const MOST_OUTPUT = 128 << 20

/** What they did, in bytes. What has no canonical form is committed to as it is written anew. */
function bytesOf(items: readonly Json[]): Uint8Array {
  try {
    return canonicalBytes(items, { maxLength: MOST_OUTPUT })
  } catch {
    // Half of a character, or nested beyond all reason: it was done all the same.
    return Buffer.from(safely(() => JSON.stringify(items)) ?? '')
  }
}

function inspected(kernel: Kernel, tenant: string, tool: string, items: readonly Json[]): Inspection {
  const policy = policyOf(kernel, tenant)
  const returns = kernel.catalogue.find(tool, policy)?.declared?.returns ?? []
  return safely(() => inspect(items, { policy, returns })) ?? UNINSPECTED
}

function safely<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    // Why may hold what was said.
    return undefined
  }
}
