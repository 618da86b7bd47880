// The official clients, unmodified but for the base URL, each running an agent loop to its end.

import { ANTHROPIC_CLIENTS } from './llm-clients-anthropic.ts'
import { FRAMEWORK_CLIENTS } from './llm-clients-frameworks.ts'
import { OPENAI_CLIENTS } from './llm-clients-openai.ts'
import type { AgentClient } from './llm-clients-tools.ts'

export { openToolbox, type AgentClient, type Outcome, type Ran } from './llm-clients-tools.ts'

/** Every client, in each way in which it is used. */
export const CLIENTS: readonly AgentClient[] = [...OPENAI_CLIENTS, ...ANTHROPIC_CLIENTS, ...FRAMEWORK_CLIENTS]
