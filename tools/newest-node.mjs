// A newer Node for the tests that compare two of them: taken from npm once. Never a reason to fail a run.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Raised by hand, as any dependency is. */
const VERSION = '26.10.0'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * The path of a newer Node: the one TOLLGATE_NEWEST_NODE names, else one from npm, which has Node's own binaries as packages.
 * Where there is none it says loudly that the comparison will be skipped, and returns undefined.
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
