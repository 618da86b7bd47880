// The official clients, unmodified but for the base URL, each running an agent loop to its end.

import { ANTHROPIC_CLIENTS } from './clients-anthropic.ts'
import { FRAMEWORK_CLIENTS } from './clients-frameworks.ts'
import { OPENAI_CLIENTS } from './clients-openai.ts'
import type { AgentClient } from './clients-tools.ts'

export { openToolbox, type AgentClient, type Outcome, type Ran } from './clients-tools.ts'

/** Every client, in each way in which it is used. */
export const CLIENTS: readonly AgentClient[] = [...OPENAI_CLIENTS, ...ANTHROPIC_CLIENTS, ...FRAMEWORK_CLIENTS]
