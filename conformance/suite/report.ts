// The report of a run: a table for people, and a signed statement for programs.

import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { canonical, textAt, type Fields } from './reading.ts'
import type { Result } from './judge.ts'

/** The type of the signed statement. */
export const REPORT_TYPE = 'application/vnd.tollgate.conformance+json;v=1'

/** One line for each requirement, and one line of counts at the end. */
export function tableOf(results: readonly Result[]): string {
  const lines = results.map(({ requirement: { id, level, says }, broken }) => {
    const line = `${broken === undefined ? 'kept  ' : 'BROKEN'} ${level} ${id.padEnd(4)}${says}`
    return broken === undefined ? line : `${line}\n       ${broken.replaceAll('\n', '\n       ')}`
  })
  const { requirements, kept, broken } = countsOf(results)
  return [...lines, `${requirements} requirements: ${kept} kept, ${broken} broken`].join('\n')
}

function countsOf(results: readonly Result[]) {
  const kept = results.filter(({ broken }) => broken === undefined).length
  return { requirements: results.length, kept, broken: results.length - kept }
}

/** What is signed: the results, without texts of the implementation. */
export function statementOf(implementation: string, time: string, results: readonly Result[]): Fields {
  return {
    v: 1,
    implementation,
    time,
    ...countsOf(results),
    results: results.map(({ requirement: { id, level, claims, says }, broken }) => ({
      id,
      level,
      claims,
      says,
      kept: broken === undefined,
    })),
  }
}

/** Signs a statement with an Ed25519 key in PEM: an envelope as docs/formats.md describes it. @throws Error for another key. */
export function signed(statement: Fields, pem: string): string {
  const key = createPrivateKey(pem)
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the key of the report must be an Ed25519 key')
  const payload = Buffer.from(canonical(statement))
  const before = `DSSEv1 ${REPORT_TYPE.length} ${REPORT_TYPE} ${payload.length} `
  const raw = Buffer.from(textAt(createPublicKey(key).export({ format: 'jwk' }), 'x'), 'base64url')
  const keyid = createHash('sha256').update(raw).digest('hex')
  const sig = sign(null, Buffer.concat([Buffer.from(before), payload]), key).toString('base64')
  const envelope = {
    payload: payload.toString('base64'),
    payloadType: REPORT_TYPE,
    signatures: [{ keyid, sig }],
  }
  return JSON.stringify(envelope)
}
