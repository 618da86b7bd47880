// The route to report the effect of an allowed call. The answer says which part of the output may be forwarded to the agent.

import { canonicalBytes, fromBase64, type Json, type JsonObject } from '@tollgate/evidence'
import { reportEffect, type EffectReport, type Inspection } from '@tollgate/kernel'
import { Problem } from './problem.ts'
import { json, kernelOf, textIn, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import { ANYTHING, COUNT, HASH, list, object, described, TEXT, word } from './schema.ts'

async function report(question: ApiQuestion): Promise<Reply> {
  const { options, identity, body } = question
  const kernel = kernelOf(options)
  // Sound: the schema allows these two words.
  const status = textIn(body, 'status') as 'COMPLETED' | 'FAILED'
  const { tenant, principal } = identity
  const decision = textIn(body, 'decision') ?? ''
  const caller = { tenant, principal }
  const { id, inspection } = await reportEffect(kernel, { caller, decision, status, ...outputOf(body) })
  return json(201, { receipt: id, ...deliveryOf(inspection) })
}

/** The part that the caller may forward. Without an output there was nothing to inspect. */
function deliveryOf(inspection: Inspection | undefined): Readonly<Record<string, unknown>> {
  if (!inspection) return { delivery: 'full', labels: [], findings: [] }
  const { delivery, labels, findings, content } = inspection
  return { delivery, labels, findings, ...(delivery === 'redacted' && { output: content }) }
}

type Output = Pick<EffectReport, 'output' | 'content' | 'unseen'>
type Given = Readonly<Record<'output' | 'output_base64' | 'output_digest', Json | undefined>>

/** The bytes whose hash identifies the effect, and the content to inspect. */
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
      'Reports the effect of an allowed call. Only the principal of the call can report it, once. The gateway inspects the output and does not store it. It stores only a hash: of the bytes of `output_base64`, or of the canonical JSON of `output` or `output_digest`. The answer says which part of the output the caller may forward. The caller must forward exactly this part to the agent.',
    roles: ['agent'],
    body: {
      schema: object({
        decision: described(HASH, 'The receipt id of the ALLOW.'),
        status: word('COMPLETED', 'FAILED'),
        'output?': ANYTHING,
        'output_base64?': described(TEXT, 'Bytes. They are inspected as UTF-8 text.'),
        'output_digest?': described(
          object({ bytes: COUNT, sha256: HASH }),
          'Replaces an output that is too large to send. If the policy inspects outputs, the output is withheld.',
        ),
      }),
    },
    answers: {
      201: {
        about: 'Recorded.',
        schema: object({
          receipt: HASH,
          delivery: described(
            word('full', 'redacted', 'withheld'),
            '`full`: the output may be forwarded as it is. `redacted`: only `output` of this answer may be forwarded. `withheld`: nothing may be forwarded.',
          ),
          labels: described(
            list(TEXT),
            'Labels of the data that inspection found, or that the tool is declared to return.',
          ),
          findings: described(list(TEXT), 'The findings of the threat scanner.'),
          'output?': described(
            ANYTHING,
            'The redacted output to forward instead; for bytes, their text. Only with `redacted`.',
          ),
        }),
      },
    },
    problems: ['effect-refused', 'ledger-unavailable'],
    answer: report,
  },
]
