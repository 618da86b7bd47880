// The official clients, with only the base URL changed, each with an agent loop.

import { ANTHROPIC_CLIENTS } from './clients-anthropic.ts'
import { FRAMEWORK_CLIENTS } from './clients-frameworks.ts'
import { GEMINI_CLIENTS } from './clients-gemini.ts'
import { OPENAI_CLIENTS } from './clients-openai.ts'
import type { AgentClient } from './clients-tools.ts'

export {
  basesOf,
  openToolbox,
  type AgentClient,
  type Bases,
  type Outcome,
  type Ran,
} from './clients-tools.ts'

/** Every client, in each mode of use. */
export const CLIENTS: readonly AgentClient[] = [
  ...OPENAI_CLIENTS,
  ...ANTHROPIC_CLIENTS,
  ...GEMINI_CLIENTS,
  ...FRAMEWORK_CLIENTS,
]
