// The reasons that people give, as receipts hold them: for ever, and for every auditor.

import { KernelError } from '../error.ts'
import { scanWhole } from '../gates/threat/scan.ts'

const MOST = 500
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/**
 * A reason as a receipt can hold it; undefined if none was given. A blank one is none.
 *
 * @throws KernelError `REQUEST_INVALID` if it is too long, is no line of text, or holds what looks like a secret.
 */
export function readBecause(because: string | undefined): string | undefined {
  const text = because?.trim() ?? ''
  if (text === '') return undefined
  if (text.length > MOST) throw refuse(`has ${text.length} characters; write at most ${MOST}`)
  if (CONTROL.test(text) || !text.isWellFormed())
    throw refuse('has characters that are no text; write one line')
  const secret = scanWhole(text).findings.find(({ class: kind }) => kind === 'secret')
  if (secret)
    throw refuse(
      `holds what looks like a secret (${secret.code}); receipts keep it for ever, so leave it out`,
    )
  return text
}

function refuse(problem: string): KernelError {
  return new KernelError('REQUEST_INVALID', `the reason ${problem}`)
}
