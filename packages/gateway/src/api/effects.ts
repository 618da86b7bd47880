// What came of calls that were allowed, in the words of those who ran them; and what of it may be handed on.

import { performance } from 'node:perf_hooks'
import { canonicalBytes, fromBase64, type Json, type JsonObject } from '@tollgate/evidence'
import { reportEffect, type EffectReport, type Inspection } from '@tollgate/kernel'
import { Problem } from './problem.ts'
import { json, kernelOf, textIn, traceFrom, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import { ANYTHING, COUNT, HASH, list, object, said, TEXT, word } from './schema.ts'

async function report(question: ApiQuestion): Promise<Reply> {
  const { options, identity, body, metrics } = question
  const start = performance.now()
  const kernel = kernelOf(options)
  // Sound: the schema allows these two words.
  const status = textIn(body, 'status') as 'COMPLETED' | 'FAILED'
  const { tenant, principal } = identity
  const decision = textIn(body, 'decision') ?? ''
  const caller = { tenant, principal }
  const { id, inspection } = await reportEffect(kernel, { caller, decision, status, ...outputOf(body) })
  metrics.effect(status)
  traceFrom(question, start, 'report effect', { status })
  return json(201, { receipt: id, ...deliveryOf(inspection) })
}

/** What may be handed on. Without an output there was nothing to look through. */
function deliveryOf(inspection: Inspection | undefined): Readonly<Record<string, unknown>> {
  if (!inspection) return { delivery: 'full', labels: [], findings: [] }
  const { delivery, labels, findings, content } = inspection
  return { delivery, labels, findings, ...(delivery === 'redacted' && { output: content }) }
}

type Output = Pick<EffectReport, 'output' | 'content' | 'unseen'>
type Given = Readonly<Record<'output' | 'output_base64' | 'output_digest', Json | undefined>>

/** The bytes that the effect is known by, and what there is to look through. */
function outputOf({ output, output_base64, output_digest }: JsonObject): Output {
  const given: Given = { output, output_base64, output_digest }
  if (Object.values(given).filter((each) => each !== undefined).length > 1) {
    throw new Problem('request-invalid', 'the output is given twice', {
      remedy: 'Send one of `output`, `output_base64` and `output_digest`.',
    })
  }
  if (output !== undefined) return { output: canonicalBytes(output), content: output }
  if (output_digest !== undefined) return { output: canonicalBytes(output_digest), unseen: true }
  return typeof output_base64 === 'string' ? fromBytes(output_base64) : { output: new Uint8Array() }
}

function fromBytes(encoded: string): Output {
  const output = fromBase64(encoded)
  if (!output) throw new Problem('request-invalid', '`/output_base64` is not base64 with padding')
  // Bytes that are no UTF-8 must not hide the text beside them.
  return { output, content: new TextDecoder('utf-8', { ignoreBOM: true }).decode(output) }
}

/** Effects. */
export const effectRoutes: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/v1/effects',
    id: 'reportEffect',
    about:
      'Says what an allowed call did. Only the principal it was allowed for can say so, once. The output is looked through and not kept, only its hash is: of the canonical JSON of `output` or `output_digest`, or of the bytes of `output_base64`. The answer says what of it may be handed on: the caller must give the agent that, and nothing else.',
    roles: ['agent'],
    body: {
      schema: object({
        decision: said(HASH, 'The receipt of the ALLOW.'),
        status: word('COMPLETED', 'FAILED'),
        'output?': ANYTHING,
        'output_base64?': said(TEXT, 'Bytes. They are looked through as text in UTF-8.'),
        'output_digest?': said(
          object({ bytes: COUNT, sha256: HASH }),
          'In place of an output that is too large to be sent. Where the policy has outputs looked through, it is withheld.',
        ),
      }),
    },
    answers: {
      201: {
        about: 'Recorded.',
        schema: object({
          receipt: HASH,
          delivery: said(
            word('full', 'redacted', 'withheld'),
            '`full`: the output may be handed on as it is. `redacted`: only `output` of this answer may. `withheld`: nothing may.',
          ),
          labels: said(
            list(TEXT),
            'Classes of data that were found in it, or that the tool is declared to return.',
          ),
          findings: said(list(TEXT), 'What the threat scanner found in it.'),
          'output?': said(
            ANYTHING,
            'What may be handed on in its place; for bytes, their text. Only with `redacted`.',
          ),
        }),
      },
    },
    problems: ['effect-refused', 'ledger-unavailable'],
    answer: report,
  },
]
