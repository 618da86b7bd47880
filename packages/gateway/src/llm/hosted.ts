// Tools that run at the provider. They run before the reply exists, so they are judged with the request. Their effects are
// recorded before the reply is forwarded.

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
import type { Policy } from '@tollgate/kernel/policy'
import { denialText } from '../verdict.ts'
import { Refused, type HostedTool } from './dialect.ts'
import { callOf, count, type RequestContext } from './request-context.ts'

/** The provider's tools of one request. */
export interface Hosted {
  /** Records what one of them did; false if it was not allowed with the request. */
  ran(tool: string, item: JsonObject): boolean
  /** Records the effects of all of them. Never rejects: if recording fails, the ledger is poisoned. */
  close(how: 'done' | 'unknown' | 'unsent'): Promise<void>
}

interface Allowed {
  readonly tool: string
  readonly permit: Permit
}

/** Judges the tools before the request is sent. @throws Refused if one is not allowed; then nothing runs. */
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

interface JudgedTool extends Pick<HostedTool, 'tool' | 'known'> {
  readonly decided: Decided
  readonly permit: Permit | undefined
}

async function judgeHosted(context: RequestContext, { tool, args, known }: HostedTool): Promise<JudgedTool> {
  const { decided, permit } = await authorize(context.kernel, {
    ...callOf(context, 'enforced'),
    tool,
    args,
    // An unknown kind counts as not offered, even if the policy has a tool of that name.
    ...(!known && { offered: null }),
  })
  count(context, decided)
  return { tool, known, decided, permit }
}

function refusalOf({ decided, tool, known }: JudgedTool): Refused {
  if (!known) {
    const type = tool === undefined ? 'A tool type in the request' : `\`${tool}\``
    const message = `${type} is not a known tool type for this route, so nothing was sent. Use one of the types in docs/llm.md. Receipt: ${decided.receipt ?? 'none'}`
    return new Refused(403, decided.reason, message, 'tools')
  }
  const what = tool === undefined ? 'A tool in the request' : `\`${tool}\`, which runs at the provider,`
  const text = `${what} is not allowed, so nothing was sent. ${denialText(decided, false)}`
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
  const declared = tool === undefined ? undefined : kernel.catalogue.find(tool, policy)?.declared
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
