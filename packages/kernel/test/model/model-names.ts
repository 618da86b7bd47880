// The names that worlds are made of. What is here twice comes up twice as often.

import type { Tier } from '@tollgate/evidence'

export const TENANTS = ['default', 'default', 'default', 'default', 'other'] as const
export const BOTH = ['default', 'other'] as const
export const PRINCIPALS = ['agent:a', 'agent:b', 'agent:ab'] as const
/** Who has keys to delegate with. */
export const DELEGATORS: readonly string[] = [...PRINCIPALS, 'agent:boss']
/** Who asks, and is charged for it. */
export const SERVERS = ['server:a', 'server:b'] as const
/** The last two are ids that a gateway has made. */
export const SESSIONS = ['s1', 's2', 's12', `mcp:${'0'.repeat(31)}1`, `mcp:${'0'.repeat(31)}2`] as const
export const TOOLS = ['fs/read', 'fs/write', 'mail/send', 'web/click', 'ops/run', 'aa', 'a'] as const
export const TOOL_GLOBS = [
  '*',
  'fs/*',
  '*/send',
  'm*l/*',
  'a*a',
  'a*',
  '**',
  '*s*/*r*',
  'web/click',
  'aa',
] as const
export const LABELS = ['personal', 'card', 'secret', 'flagged', 'page', 'internal'] as const
export const EFFECTS = ['read', 'read', 'write', 'send', 'send', 'delete', 'execute', 'pay', 'admin'] as const
export const TIERS: readonly Tier[] = ['observer', 'standard', 'elevated', 'admin']
export const DOORS = ['mcp', 'mcp', 'mcp', 'mcp', 'http', 'http', 'http', 'hook', 'hook', 'browser'] as const
