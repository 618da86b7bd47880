// The span of a call, in the semantic conventions of OpenTelemetry for generative AI. Its attributes are names and codes, never
// arguments, results or details.

import type { Effect } from '@tollgate/evidence'
import type { SeenCall } from './meter.ts'
import type { Span } from './tracer.ts'

// A model or an agent invents the id of a call.
const CALL_ID = /^[\w.:-]{1,128}$/

/** The span of a decided call. `status` is the effect of a call that the gateway ran; `zero` the start of the meter's clock. */
export function callSpan(
  call: SeenCall,
  {
    ended,
    zero,
    status,
  }: { readonly ended: number; readonly zero: number; readonly status?: Effect['status'] },
): Span {
  const { tool, traceparent, arrived } = call
  const error = errorOf(call, status)
  return {
    name: `execute_tool ${tool}`,
    start: zero + arrived,
    end: zero + ended,
    parent: traceparent,
    attributes: {
      ...attributesOf(call),
      ...(status !== undefined && { 'tollgate.effect': status }),
      ...(error !== undefined && { 'error.type': error }),
    },
    failed: error !== undefined,
  }
}

function attributesOf(call: SeenCall): Span['attributes'] {
  const { door, assurance, tool, session, principal, reference, decided } = call
  const { verdict, reason, rung, rule, receipt, approval } = decided
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool,
    ...(reference !== undefined && CALL_ID.test(reference) && { 'gen_ai.tool.call.id': reference }),
    'gen_ai.conversation.id': session,
    'tollgate.door': door,
    'tollgate.assurance': assurance,
    'tollgate.verdict': verdict,
    'tollgate.reason_code': reason,
    'tollgate.gate': rung,
    ...(principal !== undefined && { 'tollgate.principal': principal }),
    ...(rule !== undefined && { 'tollgate.rule': rule }),
    ...(receipt !== undefined && { 'tollgate.receipt': receipt }),
    ...(approval !== undefined && { 'tollgate.approval': approval }),
  }
}

/** The reason code of a call that did not run, or the status of one that failed. */
function errorOf({ decided }: SeenCall, status: Effect['status'] | undefined): string | undefined {
  if (decided.verdict !== 'ALLOW') return decided.reason
  return status === undefined || status === 'COMPLETED' ? undefined : status
}
