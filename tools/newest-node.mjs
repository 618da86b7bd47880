// Gets a newer Node from npm for the tests that compare two versions. Never fails a run.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Updated by hand, like any dependency. */
const VERSION = '26.10.0'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * The path of a newer Node: TOLLGATE_NEWEST_NODE, or one from npm, which has Node binaries as packages. Otherwise prints that
 * the comparison will be skipped, and returns undefined.
 */
export async function ensureNewestNode({
  run,
  say,
  env = process.env,
  platform = process.platform,
  arch = process.arch,
}) {
  if (env.TOLLGATE_NEWEST_NODE && existsSync(env.TOLLGATE_NEWEST_NODE)) return env.TOLLGATE_NEWEST_NODE
  const name = `node-${platform === 'win32' ? 'win' : platform}-${arch}`
  const folder = join(root, '.cache', `node-${VERSION}`)
  const program = join(folder, 'node_modules', name, 'bin', platform === 'win32' ? 'node.exe' : 'node')
  if (existsSync(program)) return program
  const install = [
    'npm',
    'install',
    '--no-save',
    '--no-package-lock',
    '--no-fund',
    '--no-audit',
    '--prefix',
    folder,
  ]
  await run([...install, `${name}@${VERSION}`])
  if (existsSync(program)) return program
  say(
    `!! no Node ${VERSION} for ${platform} on ${arch}: decisions are NOT compared between two versions of Node`,
  )
  return undefined
}
