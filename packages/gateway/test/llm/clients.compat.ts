// The control: every client directly at the scripted upstream. It shows that scripts and loops are right, so that differences
// come from the gateway.

import { afterAll, beforeAll, describe, vi } from 'vitest'
import { allowedCases, ungovernedCases, type Through } from './clients-cases.ts'

const straight: Through = ({ url }) =>
  Promise.resolve({
    openai: `${url}/v1`,
    azure: url,
    anthropicRoot: url,
    anthropicV1: `${url}/v1`,
    gemini: url,
    geminiV1beta: `${url}/v1beta`,
    key: 'sk-control',
    governed: false,
    close: () => Promise.resolve(),
  })

describe('without a gateway', () => {
  // One client warns about unreadable calls.
  beforeAll(() => void vi.spyOn(console, 'warn').mockImplementation(() => undefined))
  afterAll(() => void vi.restoreAllMocks())

  allowedCases(straight)
  ungovernedCases(straight)
})
