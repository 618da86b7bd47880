// The files of calls at the hook door: only a local client has a place, and no payload changes the project of its session.

import { once } from 'node:events'
import { mkdirSync, symlinkSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hookClient } from '../../src/hooks/clients.ts'
import { answerHook } from '../../src/hooks/door.ts'
import { silent } from '../../src/log.ts'
import { hooksPath } from '../../src/mcp/client/local-path.ts'
import { serve } from '../../src/serve.ts'
import { createApiRig, type ApiRig } from '../api/rig.ts'
import { newFolder } from '../gateway-rig.ts'

const POLICY = `
tollgate: 1
name: files
tools:
  builtin/write: { effect: write, destinations: none, writes: [path] }
rules:
  - { id: gate, deny: "*", when: 'size(files.gate) > 0' }
  - { id: inside, allow: builtin/write, when: 'files.writes.all(p, p.startsWith(files.project + "/"))' }
`

interface Scene {
  readonly rig: ApiRig
  readonly project: string
  readonly other: string
  readonly home: string
  /** Decides a write, and returns the verdict with its reason. */
  readonly write: (path: string, more?: Record<string, string>) => Promise<string>
}

async function setScene(isLocal = true): Promise<Scene> {
  const home = newFolder()
  const [project, other] = [join(home, 'project'), join(home, 'other')]
  for (const folder of [project, other, join(home, 'gate')]) mkdirSync(folder)
  symlinkSync(other, join(project, 'out'))
  const rig = await createApiRig({ policy: POLICY })
  const client = hookClient('claude-code')
  if (!client) throw new Error('no client')
  let uses = 0
  return {
    ...{ rig, project, other, home },
    async write(path, more = {}) {
      const payload = {
        ...{ session_id: 's1', cwd: project, permission_mode: 'default', hook_event_name: 'PreToolUse' },
        ...{ tool_name: 'Write', tool_use_id: `use_${uses++}`, tool_input: { file_path: path, content: '' } },
        ...more,
      }
      const event = client.read(payload, { event: undefined, entry: undefined })
      const question = {
        ...{ kernel: rig.kernel, client, log: silent, traceparent: undefined },
        caller: { tenant: 'default', principal: 'agent:a' },
        wait: () => ({
          left: 0,
          signal: new AbortController().signal,
          watch: (listener: () => void) => rig.options.watch(listener),
        }),
        local: isLocal ? { home, gate: [join(home, 'gate')] } : undefined,
      }
      await answerHook(question, event)
      const decision = rig.receipts().findLast((receipt) => receipt.kind === 'decision')
      return `${decision?.verdict} ${decision?.reason_code}`
    },
  }
}

test('a call is judged by the real paths of its files', async () => {
  const { write, project, other, home } = await setScene()
  const rows: readonly (readonly [string, string])[] = [
    [join(project, 'a.txt'), 'ALLOW RULE_ALLOWED'],
    ['b/c.txt', 'ALLOW RULE_ALLOWED'],
    [`${project}/../other/x`, 'DENY NO_RULE_MATCHED'],
    ['../other/x', 'DENY NO_RULE_MATCHED'],
    [join(project, 'out/x'), 'DENY NO_RULE_MATCHED'],
    [join(other, 'x'), 'DENY NO_RULE_MATCHED'],
    ['~/x', 'DENY NO_RULE_MATCHED'],
    [join(home, 'gate/policy.yaml'), 'DENY POLICY_VIOLATION'],
  ]
  for (const [path, expected] of rows)
    expect({ path, found: await write(path) }).toEqual({ path, found: expected })
})

test('the project is where the session began, and a later directory does not change it', async () => {
  const { write, project, other } = await setScene()
  expect(await write('a.txt')).toBe('ALLOW RULE_ALLOWED')
  expect(await write(join(other, 'a.txt'), { cwd: other })).toBe('DENY NO_RULE_MATCHED')
  expect(await write('a.txt', { cwd: other })).toBe('DENY NO_RULE_MATCHED')
  expect(await write('a.txt', { cwd: '/' })).toBe('DENY NO_RULE_MATCHED')
  expect(await write('a.txt', { cwd: join(project, 'b') })).toBe('ALLOW RULE_ALLOWED')
  expect(await write(join(other, 'a.txt'), { cwd: other, session_id: 's2' })).toBe('ALLOW RULE_ALLOWED')
})

test('a directory that cannot be resolved gives no place, and the call needs an approval', async () => {
  const { write, other, home } = await setScene()
  const loop = join(home, 'loop')
  symlinkSync(loop, loop)
  expect(await write('/etc/a', { cwd: loop })).toBe('ESCALATE CALL_NOT_UNDERSTOOD')
  expect(await write(join(other, 'a'), { cwd: join(home, 'no/such'), session_id: 's2' })).toBe(
    'DENY NO_RULE_MATCHED',
  )
  expect(await write('/etc/b', { cwd: '/', session_id: 's3' })).toBe('DENY NO_RULE_MATCHED')
})

test('a client that is not local has no place: its files may be others', async () => {
  const { write, project } = await setScene(false)
  expect(await write(join(project, 'a.txt'))).toBe('ESCALATE CALL_NOT_UNDERSTOOD')
})

test('the local socket gives a place, and the port does not', async () => {
  const rig = await createApiRig({ policy: POLICY })
  const [data, project] = [newFolder(), newFolder()]
  const served = await serve(rig.options, { host: '127.0.0.1', port: 0, grace: 200, operators: data })
  const ask = async (at: object, id: string, path: string): Promise<string> => {
    const payload = {
      ...{ session_id: id, cwd: project, permission_mode: 'default', hook_event_name: 'PreToolUse' },
      ...{ tool_name: 'Write', tool_use_id: id, tool_input: { file_path: path, content: '' } },
    }
    const headers = {
      ...{ host: 'localhost', 'content-type': 'application/json' },
      authorization: `Bearer ${rig.token('agent')}`,
    }
    const sent = request({ ...at, path: '/v1/hooks/claude-code', method: 'POST', headers })
    sent.end(JSON.stringify(payload))
    // Sound: the argument of this event.
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    await once(response.resume(), 'end')
    const decision = rig.receipts().findLast((receipt) => receipt.kind === 'decision')
    return `${response.statusCode} ${decision?.verdict} ${decision?.reason_code}`
  }
  const socket = { socketPath: hooksPath(data) }
  try {
    expect(await ask(socket, 'a', join(project, 'x'))).toBe('200 ALLOW RULE_ALLOWED')
    expect(await ask(socket, 'b', join(data, 'policy.yaml'))).toBe('200 DENY POLICY_VIOLATION')
    const port = { host: '127.0.0.1', port: new URL(served.url).port }
    expect(await ask(port, 'c', join(project, 'x'))).toBe('200 ESCALATE CALL_NOT_UNDERSTOOD')
  } finally {
    await served.close()
  }
})
