// A configured server that does not start: its last lines are in the log and in the list, until it starts.

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import { createMcp, type Mcp } from '../../src/mcp/mcp.ts'
import { createConnect } from '../../src/mcp/server/connect.ts'
import { silent } from '../../src/log.ts'
import { createSite, newFolder } from '../gateway-rig.ts'
import { standIn } from './upstream-rig.ts'

const SECRET = 'a-secret-without-a-known-form'
// Fails if `broken` is in its folder. Otherwise it is the stand-in server.
const PROGRAM = `
  import { existsSync } from 'node:fs'
  if (existsSync('broken')) {
    process.stderr.write('starting\\n' + 'Error: no access with ' + process.env.KEY + '\\n')
    process.exit(3)
  }
  await import(${JSON.stringify(standIn('hostile'))})
`

interface Opened {
  readonly mcp: Mcp
  readonly folder: string
  readonly logged: readonly object[]
}

async function open(program = PROGRAM): Promise<Opened> {
  const gateway = await (await createSite()).open()
  const folder = newFolder()
  writeFileSync(join(folder, 'server.mjs'), program)
  const logged: object[] = []
  const env = { PATH: process.env.PATH ?? '', KEY: SECRET }
  const address = {
    transport: 'stdio',
    command: process.execPath,
    args: ['server.mjs'],
    env,
    cwd: folder,
  } as const
  const mcp = createMcp({
    kernel: gateway.kernel,
    log: (_, message, fields) => void logged.push({ message, ...fields }),
    servers: new Map([['db', address]]),
    connect: createConnect({ log: silent }),
    watch: gateway.watch,
  })
  onTestFinished(async () => {
    await mcp.close()
    await gateway.close()
  })
  return { mcp, folder, logged }
}

test('a server that dies at start is listed with its last lines, without its secrets, until it starts', async () => {
  const { mcp, folder, logged } = await open()
  writeFileSync(join(folder, 'broken'), '')
  await mcp.meet()
  const stderr = ['starting', 'Error: no access with [hidden]']
  const failed = { server: 'db', because: 'it ended with code 3', stderr }
  expect(mcp.failedStarts()).toMatchObject([failed])
  expect(logged).toContainEqual({ message: 'an MCP server did not start', ...failed })
  expect(JSON.stringify([logged, mcp.failedStarts()])).not.toContain(SECRET)

  rmSync(join(folder, 'broken'))
  await mcp.meet()
  expect(mcp.failedStarts()).toEqual([])
})

test('a server without any output is listed with the reason', async () => {
  const { mcp } = await open('process.kill(process.pid, "SIGKILL")')
  await mcp.meet()
  expect(mcp.failedStarts()).toMatchObject([{ server: 'db', because: 'it was ended by SIGKILL', stderr: [] }])
})

test('a server that leaves a process with its standard error does not delay the list', async () => {
  const { mcp } = await open(`
    import { spawn } from 'node:child_process'
    const stay = ['-e', 'process.stdin.resume(); setTimeout(() => undefined, 20_000)']
    spawn(process.execPath, stay, { stdio: ['ignore', 'ignore', 'inherit'], detached: true }).unref()
    process.stderr.write('no database\\n', () => process.exit(1))
  `)
  await mcp.meet()
  expect(mcp.failedStarts()).toMatchObject([{ because: 'it ended with code 1', stderr: ['no database'] }])
})
