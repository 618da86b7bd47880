// The judge of verifiers accepts a right one, and notices a wrong one.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const JUDGE = fileURLToPath(new URL('../../conformance/judge.mjs', import.meta.url))
const OURS = fileURLToPath(new URL('../../packages/evidence/dist/bin/verify.js', import.meta.url))

function judge(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [JUDGE, ...args], { encoding: 'utf8' })
  return { status, stdout, stderr }
}

/** A verifier in one line: the code prints, and ends with an exit code. */
function liar(code: string): readonly string[] {
  return [process.execPath, '-e', code, '--']
}

describe('the judge', () => {
  it('accepts the verifier of this project', () => {
    const { status, stdout } = judge('--only', 'fleet-chain', process.execPath, OURS, '--json')
    expect([status, stdout]).toEqual([0, '3 cases (3 failing): 3 right, 0 wrong\n'])
  })

  it.each([
    ['finds nothing', `console.log('{"level":"verified","findings":[]}')`],
    [
      'reports the right findings and ends with 0',
      `console.log('{"level":"failed","findings":[{"code":"CHAIN_FORKED","index":7}]}')`,
    ],
    ['prints no JSON', `console.log('VERIFIED')`],
    ['prints nothing', ''],
    ['prints another form', `console.log('{"level":"failed"}')`],
  ])('notices a verifier that %s', (_, code) => {
    const { status, stdout } = judge('--only', 'fleet-chain-forked', ...liar(code))
    expect(status).toBe(1)
    expect(stdout).toContain('WRONG fleet-chain-forked-by-a-clone')
    expect(stdout).toMatch(/1 cases \(1 failing\): 0 right, 1 wrong\n$/)
  })

  it('notices a verifier that does not start', () => {
    expect(judge('--only', 'fleet-chain-forked', '/missing').stdout).toContain('it did not run: ENOENT')
  })

  it('judges nothing without a command or a case', () => {
    expect(judge()).toMatchObject({ status: 2, stdout: expect.stringContaining('usage: ') as string })
    expect(judge('--only', 'zzz', 'true')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('zzz') as string,
    })
  })
})
