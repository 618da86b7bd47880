import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tell } from './determinism-story.ts'

const run = promisify(execFile)
const newest = process.env.TOLLGATE_NEWEST_NODE
let folder = ''
let program = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-story-'))
  program = join(folder, 'story.mjs')
  await build({
    entryPoints: [fileURLToPath(new URL('./determinism-story.ts', import.meta.url))],
    bundle: true,
    platform: 'node',
    format: 'esm',
    // The YAML library loads Node's modules with `require`.
    banner: {
      js: "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)",
    },
    outfile: program,
    logLevel: 'silent',
  })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs the story in another process. Returns its Node version and the digest. */
async function tellIn(node: string, env: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
  const { stdout } = await run(node, [program, '--tell'], { env: { ...process.env, ...env } })
  return stdout.trim().split(' ')
}

describe('the same inputs give the same bytes', () => {
  it('on a second run', async () => {
    expect(await tell()).toBe(await tell())
  })

  it('after a restart in the middle, and after a restart at every turn', async () => {
    const plain = await tell()
    let parts = 0
    expect(await tell((rig) => (parts++ === 5 ? rig.reopen() : Promise.resolve()))).toBe(plain)
    expect(await tell((rig) => rig.reopen())).toBe(plain)
  })

  it('in another process, with another time zone and another language', async () => {
    const [version, digest] = await tellIn(process.execPath, { TZ: 'Asia/Kathmandu', LC_ALL: 'tr_TR.UTF-8' })
    expect([version, digest]).toEqual([process.version, await tell()])
  })

  const title = 'on the newest Node'
  if (newest === undefined) it.skip(`${title} (not installed; \`npm test\` fetches one)`, () => undefined)
  else {
    it(title, async () => {
      const [version, digest] = await tellIn(newest)
      expect(version).not.toBe(process.version)
      expect(digest).toBe(await tell())
    })
  }
})
