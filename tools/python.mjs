// Makes environments of Python with exactly pinned packages in `.cache/`. Plain JavaScript, because it runs before anything is built.
// Never fails a run: without Python, tests that need it are skipped with a notice.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const WINDOWS = process.platform === 'win32'

/** The pinned packages of each environment: complete lists, so that pip resolves nothing. */
export const REQUIREMENTS = {
  client: 'packages/python/requirements.txt',
  compat: 'compat/requirements.txt',
  verifier: 'conformance/second-verifier/requirements.txt',
}

/** The interpreter of an environment that is complete; undefined otherwise. */
export function environmentOf(name) {
  const { program, stamp } = placeOf(name)
  return existsSync(stamp) && existsSync(program) ? program : undefined
}

/** Makes the environment, unless it is complete. Returns its interpreter, or prints a notice and returns undefined. */
export async function ensurePython(name, { run, say }) {
  const { folder, program, stamp } = placeOf(name)
  const known = environmentOf(name)
  if (known) return known
  const system = WINDOWS ? 'python' : 'python3'
  const install = [program, '-m', 'pip', 'install', '-q', '--no-input', '--disable-pip-version-check']
  const made =
    (await run([system, '-c', 'import sys; sys.exit(sys.version_info < (3, 10))'])) &&
    (await run([system, '-m', 'venv', '--clear', folder])) &&
    (await run([...install, '--no-deps', '--only-binary', ':all:', '-r', join(root, REQUIREMENTS[name])]))
  if (made) writeFileSync(stamp, '')
  else say('!! no Python 3.10 with venv and pip: tests with Python are NOT run')
  return made ? program : undefined
}

function placeOf(name) {
  const digest = createHash('sha256')
    .update(readFileSync(join(root, REQUIREMENTS[name])))
    .digest('hex')
  const folder = join(root, '.cache', `python-${name}-${digest.slice(0, 12)}`)
  const program = WINDOWS ? join(folder, 'Scripts/python.exe') : join(folder, 'bin/python')
  return { folder, program, stamp: join(folder, 'complete') }
}
