// The table of the members of a Responses request.

import { OPENAI_DROPPED, OPENAI_FORWARDED, OPENAI_READ, OPENAI_REMEDY } from '../parameters.ts'
import type { RequestMembers } from '../request-members.ts'

const ELSEWHERE = 'a part of the conversation would stay at the provider'

/** The members of a Responses request. */
export const RESPONSES_MEMBERS: RequestMembers = {
  read: {
    ...OPENAI_READ,
    background: 'only `false`: a background reply would stay at the provider',
    context_management: 'only entries of the type `compaction`',
    input: 'the conversation: texts, calls and results',
    instructions: 'a text of the conversation',
    text: 'says whether the reply is structured, also if a call is denied',
  },
  forwarded: [...OPENAI_FORWARDED, 'include', 'max_output_tokens', 'max_tool_calls', 'truncation'],
  dropped: OPENAI_DROPPED,
  refused: {
    conversation: { because: ELSEWHERE, instead: 'send the whole conversation in `input`' },
    previous_response_id: { because: ELSEWHERE, instead: 'send the whole conversation in `input`' },
    prompt: {
      because: 'its text and its tools are at the provider',
      instead: 'send its text in `instructions` or `input`, and its tools in `tools`',
    },
  },
  remedy: OPENAI_REMEDY,
}
