// The coding agents that setup knows.

/** Their names in commands, routes and principals. */
export const AGENTS = ['claude-code', 'codex', 'cursor', 'copilot', 'opencode'] as const
/** A coding agent. */
export type AgentId = (typeof AGENTS)[number]

/** For whom the configuration is: the user, everything in one project, or everyone on the machine. */
export const SCOPES = ['user', 'project', 'managed'] as const
/** A scope of a configuration. */
export type SetupScope = (typeof SCOPES)[number]
