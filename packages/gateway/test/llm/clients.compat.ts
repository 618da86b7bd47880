// The control: every client straight at the scripted upstream, with nobody between. It shows that scripts and loops are right, so
// that what differs with a gateway between is the gateway's doing.

import { afterAll, beforeAll, describe, vi } from 'vitest'
import { allowedCases, ungovernedCases, type Through } from './clients-cases.ts'

const straight: Through = ({ url }) =>
  Promise.resolve({
    openai: `${url}/v1`,
    anthropicRoot: url,
    anthropicV1: `${url}/v1`,
    key: 'sk-control',
    close: () => Promise.resolve(),
  })

describe('without a gateway', () => {
  // One of the clients warns of calls that it cannot read.
  beforeAll(() => void vi.spyOn(console, 'warn').mockImplementation(() => undefined))
  afterAll(() => void vi.restoreAllMocks())

  allowedCases(straight)
  ungovernedCases(straight)
})
