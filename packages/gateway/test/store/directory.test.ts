// Directories that cannot be created or written to. The commands need the build.

import { spawn } from 'node:child_process'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { createStarter, StartFailed } from '../../src/cli/mcp/wrap-start.ts'
import { makeDirectory, requireUsable } from '../../src/directory.ts'
import { GatewayError } from '../../src/error.ts'
import { tell } from '../faults/rig.ts'
import { createSite, newFolder } from '../gateway-rig.ts'

const COMMAND = fileURLToPath(new URL('../../bin/tollgate.mjs', import.meta.url))
const NO_PROC = existsSync('/proc/self') ? undefined : 'there is no /proc here'
if (NO_PROC !== undefined) tell('SKIPPED: directories under /proc', { [NO_PROC]: 'because' })

function faultOf(run: () => unknown): GatewayError {
  try {
    run()
  } catch (fault) {
    if (fault instanceof GatewayError) return fault
  }
  throw new Error('it did not fail as expected')
}

describe('creating a directory', () => {
  it('creates missing parents, for this user only, and returns whether it did', () => {
    const path = join(newFolder(), 'a/b/c')
    expect(makeDirectory(path)).toBe(true)
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700)
    expect(makeDirectory(path)).toBe(false)
    requireUsable(path)
    expect(readdirSync(path)).toEqual([])
  })

  it('below a file is refused, with the path and a hint', () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'file'), '')
    for (const path of [join(folder, 'file'), join(folder, 'file/below')]) {
      const fault = faultOf(() => makeDirectory(path))
      expect(fault.code).toBe('STORE_FAILED')
      expect(fault.message).toContain(`\`${path}\` cannot be created or written to`)
      expect(fault.hints.join('\n')).toMatch(/ls -ld.*\n.*--data/)
    }
  })
})

describe('starting a gateway for a client', () => {
  it('stops after five consecutive failures, and is reset by a success', () => {
    let tried = 0
    const starter = createStarter('/nowhere', () => {
      tried++
      return { failure: () => 'the disk is full' }
    })
    const round = (): void => {
      for (let i = 0; i < 5; i++) {
        starter.start()
        starter.failed('the disk is full')
      }
      expect(() => starter.start()).toThrow(/gave up after 5 failed starts.*the disk is full/)
    }
    round()
    expect(tried).toBe(5)
    starter.joined()
    round()
    expect(tried).toBe(10)
  })

  it('counts a start that fails at once', () => {
    const starter = createStarter('/nowhere', () => {
      throw new Error('no such directory')
    })
    for (let i = 0; i < 5; i++) expect(() => starter.start()).toThrow(new StartFailed('no such directory'))
    expect(() => starter.start()).toThrow(/gave up after 5 failed starts/)
  })
})

const running: (() => void)[] = []
afterEach(() => {
  for (const end of running.splice(0)) end()
})

/** Runs the command with an open standard input. Returns its exit code and output. A command that does not end fails the test. */
function run(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [COMMAND, ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: newFolder(), ...env },
  })
  running.push(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, said })))
}

describe.skipIf(NO_PROC !== undefined)('a directory that cannot be created', () => {
  const DATA = '/proc/tollgate-data/below'

  it.each([
    ['mcp', ['mcp', '--data', DATA, '--', 'prog']],
    ['up', ['up', '--data', DATA]],
    ['init', ['init', '--data', DATA]],
  ])('ends `tollgate %s` with the path and what to do', async (_, args) => {
    const { code, said } = await run(args)
    expect(code).toBe(1)
    expect(said).toContain(
      `the directory \`${DATA}\` cannot be created or written to at \`/proc/tollgate-data\``,
    )
    expect(said).toContain('--data DIR')
  })

  it.each([
    ['serve', ['serve', '--data', DATA], {}, ' init'],
    ['demo', ['demo'], { TMPDIR: DATA }, 'set TMPDIR'],
    ['backup', ['backup', DATA], {}, ' init'],
  ])('ends `tollgate %s`, which makes none', async (_, args, env, remedy) => {
    const { code, said } = await run(args, env)
    expect(code).toBe(1)
    expect(said).toContain(remedy)
  })

  it('as the head guard fails the start, and does not hang', async () => {
    const site = await createSite({ headGuard: DATA })
    const fault: unknown = await site.open().catch((cause: unknown) => cause)
    expect(fault).toBeInstanceOf(GatewayError)
    expect(fault).toHaveProperty('code', 'STORE_FAILED')
    expect((fault as GatewayError).hints.join('\n')).toContain('head-guard')
  })
})
