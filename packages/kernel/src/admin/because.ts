// Validates the reasons that people give. Receipts keep them permanently, and every auditor can read them.

import { KernelError } from '../error.ts'
import { scanWhole } from '../gates/threat/scan.ts'

const MAX_REASON_LENGTH = 500
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/**
 * Returns a valid reason, or undefined if it is missing or blank.
 *
 * @throws KernelError `REQUEST_INVALID` if it is too long, is not one line of text, or looks like a secret.
 */
export function readBecause(because: string | undefined): string | undefined {
  const text = because?.trim() ?? ''
  if (text === '') return undefined
  if (text.length > MAX_REASON_LENGTH)
    throw refuse(`has ${text.length} characters; write at most ${MAX_REASON_LENGTH}`)
  if (CONTROL.test(text) || !text.isWellFormed())
    throw refuse('contains control or invalid characters; write one line of text')
  const secret = scanWhole(text).findings.find(({ class: kind }) => kind === 'secret')
  if (secret)
    throw refuse(`seems to contain a secret (${secret.code}); receipts are permanent, so leave it out`)
  return text
}

function refuse(problem: string): KernelError {
  return new KernelError('REQUEST_INVALID', `the reason ${problem}`)
}
