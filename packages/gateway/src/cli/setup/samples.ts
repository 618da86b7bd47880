// Finds calls that show the policy in force: one that is allowed, one that is denied, one that needs an approval. The gateway judges
// each candidate as it would judge the call itself, but without a receipt.

import type { JsonObject } from '@tollgate/evidence'
import { policyOf, type Kernel } from '@tollgate/kernel'
import { foresee } from '@tollgate/kernel/workbench'
import type { Draft } from '../../workbench/generate/draft.ts'

/** A call as `/v1/evaluate` takes it. */
export interface SampleCall {
  readonly tool: string
  readonly arguments: JsonObject
  readonly context?: JsonObject
}

/** Calls of one principal. A kind for which none was found is missing. */
export interface Samples {
  readonly principal: string
  readonly allowed?: SampleCall
  readonly denied?: SampleCall
  readonly escalated?: SampleCall
}

/** A call, and the principal that it is written for. */
interface Candidate {
  readonly principal: string | undefined
  readonly call: SampleCall
}

/** The principal of the samples, unless another one shows more. */
export const SAMPLE_PRINCIPAL = 'agent:demo'

/** The calls that the starter policy is made for. */
const STARTER_CALLS: readonly SampleCall[] = [
  { tool: 'demo/read_note', arguments: { name: 'shopping' } },
  { tool: 'demo/delete_note', arguments: { name: 'shopping' } },
  { tool: 'demo/post_note', arguments: { url: 'https://partner.example/in', name: 'shopping' } },
]

/** Finds samples among the calls of a case file. Tries generated calls only if a kind is missing. */
export async function findSamples(kernel: Kernel, tenant: string, cases: readonly Draft[]): Promise<Samples> {
  const policy = policyOf(kernel, tenant)
  const declared = new Set(policy.tools.filter(({ name }) => name.exact).map(({ name }) => name.source))
  const starter = STARTER_CALLS.map((call) => ({ principal: SAMPLE_PRINCIPAL, call }))
  const written = [...starter.filter(({ call }) => declared.has(call.tool)), ...candidatesIn(cases)]
  const found = await bestOf(kernel, tenant, written)
  if (worthOf(found) === MOST_WORTH) return found
  // Imported here, because most policies have case files.
  const { generateCalls } = await import('../../workbench/generate/calls.ts')
  const generated = candidatesIn(generateCalls(policy, policy, MAX_GENERATED))
  return bestOf(kernel, tenant, [...written, ...generated.filter(({ call }) => declared.has(call.tool))])
}

const MAX_GENERATED = 300
const MAX_LENGTH = 240

/** Keeps calls that can be read and pasted: short, and without characters that need an escape. */
function candidatesIn(drafts: Iterable<Draft>): readonly Candidate[] {
  const candidates: Candidate[] = []
  for (const { tool, args, principal, environment, workspace, sources, browser } of drafts) {
    const context = {
      ...(environment !== undefined && { environment }),
      ...(workspace !== undefined && { workspace }),
    }
    const call = { tool, arguments: args, ...(Object.keys(context).length > 0 && { context }) }
    const text = JSON.stringify(call)
    if (sources || browser || text.length > MAX_LENGTH || !/^[ !#-[\]-~"]*$/.test(text)) continue
    candidates.push({ principal, call })
  }
  return candidates
}

const MAX_PRINCIPALS = 4

/** Returns the samples of the principal that shows most. */
async function bestOf(kernel: Kernel, tenant: string, candidates: readonly Candidate[]): Promise<Samples> {
  const agents = candidates.flatMap(({ principal }) => (principal?.startsWith('agent:') ? [principal] : []))
  let best: Samples = { principal: SAMPLE_PRINCIPAL }
  for (const principal of [...new Set([SAMPLE_PRINCIPAL, ...agents])].slice(0, MAX_PRINCIPALS)) {
    const own = candidates.filter((each) => principal === SAMPLE_PRINCIPAL || each.principal === principal)
    const found = await judged(kernel, { tenant, principal }, own)
    if (worthOf(found) > worthOf(best)) best = found
    if (worthOf(best) === MOST_WORTH) break
  }
  return best
}

const MOST_WORTH = 7

function worthOf({ allowed, denied, escalated }: Samples): number {
  return (allowed ? 4 : 0) + (escalated ? 2 : 0) + (denied ? 1 : 0)
}

/** Steps whose denial says more about the call than about the policy. */
const UNTELLING: readonly string[] = ['capture', 'freeze', 'schema', 'context', 'identity', 'browser']

async function judged(
  kernel: Kernel,
  caller: { readonly tenant: string; readonly principal: string },
  candidates: readonly Candidate[],
): Promise<Samples> {
  let found: Samples = { principal: caller.principal }
  let spare: SampleCall | undefined
  for (const { call } of candidates) {
    const { tool, arguments: args, context } = call
    const asked = {
      caller,
      door: 'http',
      assurance: 'advised',
      tool,
      args,
      ...(context && { context }),
    } as const
    const { verdict, rule, rung, beneath } = (await foresee(kernel, asked)).judgement
    if (verdict === 'ALLOW') found = { allowed: call, ...found }
    else if (verdict === 'ESCALATE' && !beneath) found = { escalated: call, ...found }
    else if (verdict === 'DENY' && rule) found = { denied: call, ...found }
    else if (verdict === 'DENY' && !UNTELLING.includes(rung)) spare ??= call
    if (worthOf(found) === MOST_WORTH) break
  }
  return spare ? { denied: spare, ...found } : found
}
