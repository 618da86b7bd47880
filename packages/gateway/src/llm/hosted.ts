// Tools that run at the provider. They run before any reply exists, so that they are judged with the request, and what they did
// is on the ledger when the reply is there.

import { canonicalBytes, type Json, type JsonObject } from '@tollgate/evidence'
import {
  authorize,
  complete,
  inspect,
  policyOf,
  type Decided,
  type Kernel,
  type Outcome,
  type Permit,
} from '@tollgate/kernel'
import { denialText } from '../verdict.ts'
import { Refused, type HostedTool } from './dialect.ts'
import { callOf, count, type Visit } from './visit.ts'

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
export async function admitHosted(visit: Visit, tools: readonly HostedTool[]): Promise<Hosted> {
  const judged = await Promise.all(tools.map((tool) => judgeHosted(visit, tool)))
  const allowed = judged.flatMap(({ tool, permit }) =>
    permit && tool !== undefined ? [{ tool, permit }] : [],
  )
  const hosted = createHosted(visit, allowed)
  const refused = judged.find(({ permit }) => !permit)
  if (!refused) return hosted
  await hosted.close('unsent')
  throw refusalOf(refused.decided, refused.tool)
}

async function judgeHosted(
  visit: Visit,
  { tool, args, known }: HostedTool,
): Promise<{ tool: string | undefined; decided: Decided; permit: Permit | undefined }> {
  const { decided, permit } = await authorize(visit.kernel, {
    ...callOf(visit, 'enforced'),
    tool,
    args,
    // What nobody here knows is in no catalogue, whatever the policy calls so.
    ...(!known && { offered: null }),
  })
  count(visit, decided)
  return { tool, decided, permit }
}

function refusalOf(decided: Decided, tool: string | undefined): Refused {
  const what = tool === undefined ? 'A tool of the request' : `\`${tool}\`, which runs at the provider,`
  const text = `${what} may not be used, so that nothing was sent. ${denialText(decided, false)}`
  return new Refused(403, decided.reason, text, 'tools')
}

function createHosted({ kernel, caller }: Visit, allowed: readonly Allowed[]): Hosted {
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
      const ends = allowed.map(({ tool, permit }) =>
        complete(
          kernel,
          permit,
          outcomeOf(kernel, caller.identity.tenant, how, { tool, items: items.get(tool) ?? [] }),
        ),
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
  const policy = policyOf(kernel, tenant)
  const returns = kernel.catalogue.find(tool, policy)?.declared?.returns ?? []
  // The model has read it already, wherever it came from: it is labelled and remembered, and goes on.
  const inspection = inspect(items, { policy, returns })
  return { status: 'COMPLETED', output: canonicalBytes(items), inspection, delivery: 'full' }
}
