// Checks the properties of the scanner over a million texts.

import fc from 'fast-check'
import { it } from 'vitest'
import { scanText } from '../../../src/gates/threat/scan.ts'
import { checkFindings } from './laws.ts'
import { anyText } from './texts.ts'

it('returns valid findings for a million texts', () => {
  fc.assert(
    fc.property(anyText, (text) => checkFindings(text, scanText(text))),
    { numRuns: 1_000_000 },
  )
})
