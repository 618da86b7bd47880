// The tables of the members of a Gemini request.

import type { RequestMembers } from '../request-members.ts'

const REMEDY =
  'if it cannot make the provider run a tool or keep a reply for later, add it to `llm.gemini.parameters` in tollgate.yaml'

/** The members of a request for content. */
export const CONTENT_MEMBERS: RequestMembers = {
  read: {
    contents: 'the conversation: texts, calls and results',
    generationConfig: 'says whether the reply is structured, also if a call is denied',
    systemInstruction: 'a text of the conversation',
    toolConfig: 'says whether a call is required; removed together with the last tool',
    tools: 'declares the functions of the agent, and the tools that run at the provider',
  },
  forwarded: ['labels', 'model', 'safetySettings', 'serviceTier', 'store'],
  dropped: {},
  refused: {
    cachedContent: {
      because: 'a part of the conversation, and tools in it, stay at the provider',
      instead: 'send the whole conversation in `contents`',
    },
    continuationToken: {
      because: 'the earlier reply stays at the provider',
      instead: 'send the whole conversation in `contents`',
    },
  },
  remedy: REMEDY,
}

/** The members of a request that counts tokens. */
export const COUNT_MEMBERS: RequestMembers = {
  read: {
    contents: 'the conversation, without tools',
    generateContentRequest: 'the request whose tokens are counted',
  },
  forwarded: ['model'],
  dropped: {},
  refused: {},
  remedy: REMEDY,
}
