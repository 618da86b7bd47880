// The table of the members of a Messages request.

import type { RequestMembers } from '../request-members.ts'

/** The members of a Messages request. */
export const MESSAGES_MEMBERS: RequestMembers = {
  read: {
    container: 'its skills count as `anthropic/skills`',
    fallbacks: 'only known members',
    mcp_servers: 'each one counts as `anthropic/mcp`',
    messages: 'the conversation: texts, calls and results',
    metadata: 'the member `tollgate_session` names the session, and is removed',
    output_config: 'says whether the reply is structured, also if a call is denied',
    output_format: 'the older name of `output_config.format`',
    stream: 'true or false',
    system: 'a text of the conversation',
    tool_choice: 'says whether a call is required; removed together with the last tool',
    tools: 'declares the tools of the agent, and those that run at the provider',
  },
  forwarded: [
    'anthropic_beta',
    'anthropic_version',
    'betas',
    'cache_control',
    'compaction',
    'context_management',
    'diagnostics',
    'fallback_credit_token',
    'inference_geo',
    'max_tokens',
    'model',
    'service_tier',
    'speed',
    'stop_sequences',
    'temperature',
    'thinking',
    'top_k',
    'top_p',
    'user_profile_id',
    'workspace_id',
  ],
  dropped: { client_metadata: 'facts about the machine of the client, which the model does not need' },
  refused: {
    thread: {
      because: 'the earlier conversation stays at the provider',
      instead: 'send the whole conversation in `messages`',
      // The official client then does so.
      details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
    },
  },
  remedy: 'if it cannot make the provider run a tool, add it to `llm.anthropic.parameters` in tollgate.yaml',
}
