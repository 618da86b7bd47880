// The rows of the page of compatibility for the clients of the LLM door.

import type { CompatDoor, Mark } from '../../../../tools/compat/rows.ts'
import { npm, saw } from '../../../../tools/compat/saw.ts'
import type { AgentClient } from './clients.ts'

/** The doors, by the wire format that a client speaks. */
export const LLM_DOORS: Readonly<Record<AgentClient['dialect'], CompatDoor>> = {
  chat: 'LLM, Chat Completions',
  responses: 'LLM, Responses',
  anthropic: 'LLM, Messages',
  gemini: 'LLM, Gemini',
}

/** Records a client; its name is the package, and after a comma how it is used. */
export function sawClient({ name, dialect }: AgentClient, stream: boolean, ...marks: readonly Mark[]): void {
  const [, packageName = name, use] = /^([^,]+)(?:, (.*))?$/.exec(name) ?? []
  saw(npm(packageName, use), LLM_DOORS[dialect], ...streamedIf(stream), ...marks)
}

/** The mark for streamed answers, if there were any. */
export function streamedIf(stream: boolean): readonly Mark[] {
  return stream ? ['streamed'] : []
}
