// The limits of hooks, for each agent. `docs/coding-agents.md` has the same table; `npm run docs` writes it.

import type { AgentId } from './names.ts'
import { compare } from './version.ts'

/** Something that an agent does without asking its hook. */
interface AgentLimit {
  readonly limit: string
  /** The way to close or to narrow it. */
  readonly instead: string
  /** The first version that has it, and the last; without a bound, all. */
  readonly from?: string
  readonly to?: string
}

const LIMITS: Readonly<Record<AgentId, readonly AgentLimit[]>> = {
  'claude-code': [
    {
      limit: '`claude --bare` and `claude --safe-mode` skip the hooks of the user and of the project',
      instead: '`--scope managed`',
    },
    {
      limit: '`disableAllHooks` in a settings file of a project switches them off',
      instead: '`--scope managed`',
    },
    {
      limit: 'a file that the user mentions as `@file` is read without a hook',
      instead: 'the LLM door sees its text',
    },
    {
      limit: 'after a call, an output is not withheld while the gateway does not answer',
      instead: 'the gateway has already decided the call itself',
    },
    {
      limit:
        'a version before 2.1.295 ignores `onFailure`, and runs the call if its hook is killed or too late',
      instead: 'a newer version',
      to: '2.1.294',
    },
  ],
  codex: [
    {
      limit: 'text for a program that runs already (`write_stdin`) reaches no hook',
      instead: 'the LLM door decides it',
    },
    { limit: 'a hook that is not trusted is skipped without a message', instead: '`--scope managed`' },
    {
      limit:
        'a hook that Codex itself ends after its timeout does not block; the script answers 5 seconds before',
      instead: 'the LLM door',
    },
  ],
  cursor: [
    { limit: 'not tried with the real program', instead: 'try one call that must be denied' },
    {
      limit: 'the output of a tool that is not MCP cannot be replaced',
      instead: 'the gateway has already decided the call itself',
    },
  ],
  copilot: [
    {
      limit:
        'a hook that Copilot itself ends after its timeout does not block; the script answers 5 seconds before',
      instead: 'the LLM door',
    },
    {
      limit: 'hooks of a project count only in a trusted folder',
      instead: '`--scope user` or `--scope managed`',
    },
    { limit: 'a hook file that is not valid is dropped without a message', instead: '`tollgate doctor`' },
  ],
  opencode: [
    { limit: '`opencode --pure` skips plugins', instead: 'the LLM door' },
    {
      limit: 'a configuration file can name another plugin folder or switch a plugin off',
      instead: 'the policy fact `files.gate`',
    },
  ],
}

/** All limits of an agent, or those of one of its versions, if it is known. */
export function limitsOf(id: AgentId, version?: string): readonly AgentLimit[] {
  if (version === undefined) return LIMITS[id]
  return LIMITS[id].filter(
    ({ from, to }) =>
      (from === undefined || compare(version, from) >= 0) && (to === undefined || compare(version, to) <= 0),
  )
}
