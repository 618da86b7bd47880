import { describe, expect, it } from 'vitest'
import { ensureNewestNode } from '../newest-node.mjs'

/** What it answers, runs and says where npm has nothing. */
async function check(env: Record<string, string>, platform = 'plan9'): Promise<unknown[]> {
  const ran: string[][] = []
  const said: string[] = []
  const run = (command: string[]): Promise<boolean> => {
    ran.push(command)
    return Promise.resolve(false)
  }
  const path = await ensureNewestNode({
    run,
    say: (line: string) => said.push(line),
    env,
    platform,
    arch: 'x64',
  })
  return [path, ran.length, said.length]
}

describe('the newest Node', () => {
  it('is the one that the environment names, if it is there', async () => {
    expect(await check({ TOLLGATE_NEWEST_NODE: process.execPath })).toEqual([process.execPath, 0, 0])
  })

  it('is asked for from npm, and its absence is said loudly', async () => {
    expect(await check({})).toEqual([undefined, 1, 1])
    expect(await check({ TOLLGATE_NEWEST_NODE: '/nowhere' })).toEqual([undefined, 1, 1])
  })
})
