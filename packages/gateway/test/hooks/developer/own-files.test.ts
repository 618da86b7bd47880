// Under the policy for developers, an agent never uses the files of the gateway silently, and never changes the hooks of agents silently.

import { join } from 'node:path'
import type { JsonObject } from '@tollgate/evidence'
import { expect, test } from 'vitest'
import { agentOf } from '../../../src/cli/setup/agents/agents.ts'
import { AGENTS, SCOPES } from '../../../src/cli/setup/agents/names.ts'
import { createDesk } from './desk.ts'

interface Use {
  readonly tool: string
  readonly args: JsonObject
}

function commands(path: string, changing: boolean): readonly string[] {
  const changes = [
    `sed -i 's/a/b/' ${path}`,
    `echo x | tee ${path}`,
    `echo x > ${path}`,
    `cp package.json ${path}`,
    `mv package.json ${path}`,
    `mv ${path} src/x`,
    `rm -f ${path}`,
    `truncate -s 0 ${path}`,
    `ln -sf /tmp/x ${path}`,
    `chmod 777 ${path}`,
    `python3 -c "open('${path}','w')"`,
    `node -e "fs.rmSync('${path}')"`,
    `find ${path} -delete`,
    `dd if=/dev/null of=${path}`,
  ]
  const reads = [
    `cat ${path}`,
    `cp ${path} src/x`,
    `ln -s ${path} src/x`,
    `base64 ${path}`,
    `tar cf /tmp/x.tar ${path}`,
  ]
  return changing ? changes : [...changes, ...reads]
}

function tools(path: string, changing: boolean): readonly Use[] {
  const changes: readonly Use[] = [
    { tool: 'Write', args: { file_path: path, content: 'x' } },
    { tool: 'Edit', args: { file_path: path, old_string: 'a', new_string: 'b' } },
    { tool: 'MultiEdit', args: { file_path: path, edits: [] } },
    { tool: 'NotebookEdit', args: { notebook_path: path, new_source: 'x' } },
  ]
  const reads: readonly Use[] = [
    { tool: 'Read', args: { file_path: path } },
    { tool: 'Grep', args: { pattern: '.', path } },
    { tool: 'LS', args: { path } },
  ]
  return changing ? changes : [...changes, ...reads]
}

const OWN = [
  '',
  '/policy.yaml',
  '/tollgate.yaml',
  '/ledger.sqlite',
  '/keys/writer.key',
  '/hooks.sock',
  '/operators.sock',
]

test('every way to its own files and to the hooks ends with a person, or with a denial', async () => {
  const desk = await createDesk()
  const { home } = desk
  const { project } = desk.places('ts')
  const at = { platform: 'linux', env: {}, home, project } as const
  const own = [
    ...OWN.map((name) => join(home, '.local/state/tollgate', name)),
    // By a link in the project. To delete the link itself does no harm.
    ...OWN.slice(1, 4).map((name) => join(project, 'state', name)),
    ...['~/.local/state/tollgate/keys/writer.key', '../.local/state/tollgate/policy.yaml'],
    join(home, '.config/tollgate/hooks/token'),
  ]
  const hooks = AGENTS.flatMap((id) =>
    SCOPES.flatMap((scope) => agentOf(id).hookFile(at, scope, '/hook')?.file ?? []),
  )
  const silent: string[] = []
  let asked = 0
  for (const [paths, changing] of [
    [own, false],
    [hooks, true],
  ] as const) {
    for (const path of paths) {
      const shell = commands(path, changing).map((command) => ({ tool: 'Bash', args: { command } }))
      for (const use of [...tools(path, changing), ...shell]) {
        const { verdict } = await desk.ask('ts', `s${asked}`, use, `agent:${asked++}`)
        if (verdict === 'ALLOW') silent.push(`${use.tool} ${JSON.stringify(use.args)}`)
      }
    }
  }
  expect(silent).toEqual([])
  expect(hooks.length).toBeGreaterThanOrEqual(12)
  expect(asked).toBeGreaterThan(500)
}, 240_000)
