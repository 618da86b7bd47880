// What came of calls that were allowed, in the words of those who ran them.

import { performance } from 'node:perf_hooks'
import { canonicalBytes, fromBase64, type JsonObject } from '@tollgate/evidence'
import { reportEffect } from '@tollgate/kernel'
import { Problem } from './problem.ts'
import { json, kernelOf, textIn, traceFrom, type Question, type Reply, type Route } from './route.ts'
import { ANYTHING, HASH, object, said, TEXT, word } from './schema.ts'

async function report(question: Question): Promise<Reply> {
  const { options, identity, body, metrics } = question
  const start = performance.now()
  const kernel = kernelOf(options)
  const output = outputOf(body)
  // Sound: the schema allows these two words.
  const status = textIn(body, 'status') as 'COMPLETED' | 'FAILED'
  const { tenant, principal } = identity
  const decision = textIn(body, 'decision') ?? ''
  const { id } = await reportEffect(kernel, { caller: { tenant, principal }, decision, status, output })
  metrics.effect(status)
  traceFrom(question, start, 'report effect', { status })
  return json(201, { receipt: id })
}

/** The bytes that the effect is known by. */
function outputOf(body: JsonObject): Uint8Array {
  const { output, output_base64: encoded } = body
  if (output !== undefined && encoded !== undefined) {
    throw new Problem('request-invalid', 'the output is given twice', {
      remedy: 'Send either `output` or `output_base64`.',
    })
  }
  if (output !== undefined) return canonicalBytes(output)
  const bytes = typeof encoded === 'string' ? fromBase64(encoded) : new Uint8Array()
  if (!bytes) throw new Problem('request-invalid', '`/output_base64` is not base64 with padding')
  return bytes
}

/** Effects. */
export const effectRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/effects',
    id: 'reportEffect',
    about:
      'Says what an allowed call did. Only the principal it was allowed for can say so, once. The output itself is not kept, only its hash: of the canonical JSON of `output`, or of the bytes of `output_base64`.',
    roles: ['agent'],
    body: {
      schema: object({
        decision: said(HASH, 'The receipt of the ALLOW.'),
        status: word('COMPLETED', 'FAILED'),
        'output?': ANYTHING,
        'output_base64?': TEXT,
      }),
    },
    answers: { 201: { about: 'Recorded.', schema: object({ receipt: HASH }) } },
    problems: ['effect-refused', 'ledger-unavailable'],
    answer: report,
  },
]
