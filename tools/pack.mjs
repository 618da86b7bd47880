// `npm run pack`: makes a tarball of each public package in `artifacts/`, from a fresh build, and the wheel of the Python client.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = process.argv[2] ?? join(root, 'artifacts')
const PACKAGES = readdirSync(join(root, 'packages')).filter(
  (name) => existsSync(join(root, 'packages', name, 'package.json')) && manifestOf(name).private !== true,
)

rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
// A rebuild leaves parts of older builds for gateways that run; a package must not contain them.
for (const name of ['bundle', 'console'])
  rmSync(join(root, 'packages/gateway/dist', name), { recursive: true, force: true })
console.log('building …')
run('npm', 'run', '-s', 'build')
for (const name of PACKAGES) {
  const { scripts = {} } = manifestOf(name)
  const hooks = Object.keys(scripts).filter((script) => /^(?:pre|post)?install$|^prepare$/.test(script))
  if (hooks.length > 0) throw new Error(`packages/${name} runs ${hooks.join(', ')} when it is installed`)
}
const workspaces = PACKAGES.flatMap((name) => ['--workspace', `packages/${name}`])
run('npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', target, ...workspaces)
const files = readdirSync(target).sort()
if (files.length !== PACKAGES.length)
  throw new Error(`expected ${PACKAGES.length} tarballs, found ${files.length}`)
console.log(`made ${files.length} tarballs in ${target}:`)
for (const file of files) console.log(`  ${file}`)
console.log('install them in any directory, then put `tollgate` on your PATH:')
console.log(`  npm install ${join(target, '*.tgz')}`)
console.log('  npx --no-install tollgate self-install')
packWheel()

function manifestOf(name) {
  return JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'))
}

/** The builder needs Python 3.11 and nothing else. Without it there are only tarballs. */
function packWheel() {
  const builder = join(root, 'packages/python/wheel_backend.py')
  const { status, stdout = '' } = spawnSync('python3', ['-B', builder, target], { encoding: 'utf8' })
  if (status !== 0) {
    console.log(
      '!! NO PYTHON: the wheel of the Python client is NOT made. Install Python 3.11, then pack again.',
    )
    return
  }
  const wheel = stdout.trim()
  console.log(`made the wheel of the Python client: ${wheel}`)
  console.log(`  python3 -m pip install ${join(target, wheel)}`)
}

function run(command, ...args) {
  execFileSync(command, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
}
