// Compiles what has changed before the tests run: they load the compiled packages.

import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { writeConsole } from './console.mjs'
import { writePageScript } from './page-script.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Called once by the test runner. */
export async function setup(): Promise<void> {
  const args = ['node_modules/typescript/bin/tsc', '-b', 'tsconfig.build.json']
  execFileSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
  await writePageScript()
  await writeConsole()
}
