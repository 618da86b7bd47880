// The tables of docs/coding-agents.md, made from the tables in the source.

import { agentOf } from '../packages/gateway/src/cli/setup/agents/agents.ts'
import { limitsOf } from '../packages/gateway/src/cli/setup/agents/limits.ts'
import { AGENTS, SCOPES } from '../packages/gateway/src/cli/setup/agents/names.ts'

type Table = readonly [head: readonly string[], rows: readonly (readonly string[])[]]

const AT = { platform: 'linux', env: {}, home: '~', project: '.' } as const

/** The file of each agent in each scope, and the versions that were tried. */
export function agentFiles(): Table {
  const rows = AGENTS.map((id) => {
    const { name, tried, hookFile } = agentOf(id)
    const versions = tried === undefined ? 'fixtures only' : [...new Set(tried)].join(' to ')
    const files = SCOPES.map((scope) => {
      const file = hookFile(AT, scope, '/hook')?.file
      return file === undefined ? '–' : `\`${file}\``
    })
    return [name, versions, ...files]
  })
  return [['agent', 'tried versions', ...SCOPES.map((scope) => `\`--scope ${scope}\``)], rows]
}

/** The limits of hooks. */
export function agentLimits(): Table {
  const rows = AGENTS.flatMap((id) =>
    limitsOf(id).map(({ limit, instead }) => [agentOf(id).name, limit, instead]),
  )
  return [['agent', 'not enforced', 'what helps'], rows]
}
