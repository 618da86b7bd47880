// A copy of the project as it is now, committed or not, with nothing that was built.

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The directory of the project. */
export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url))

/** Copies the files of the project. Returns how many. */
export function takeCopy(to: string): number {
  const { stdout } = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const files = stdout.split('\0').filter((file) => file !== '' && existsSync(join(ROOT, file)))
  for (const file of files) {
    mkdirSync(dirname(join(to, file)), { recursive: true })
    cpSync(join(ROOT, file), join(to, file))
  }
  // What npm would install again, where files can be linked: whoever runs this has just installed it from the same lockfile.
  for (const place of ['', ...readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}`)]) {
    const installed = join(place, 'node_modules')
    if (existsSync(join(ROOT, installed))) linkTree(join(ROOT, installed), join(to, installed))
  }
  return files.length
}

/** Makes a second tree with the same files. */
export function linkTree(from: string, to: string): void {
  spawnSync('cp', ['-al', from, to])
}
