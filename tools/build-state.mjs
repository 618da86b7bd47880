// Tells whether a build is needed, in a few milliseconds: the compiler needs a second to find that nothing has changed.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const FILES = [
  'package.json',
  'tsconfig.base.json',
  'tsconfig.build.json',
  'tools/bundle.mjs',
  'node_modules/.tollgate-installed',
]

/** What the compiler and the bundler write. */
const RESULTS = [
  'packages/evidence/dist/src/tsconfig.tsbuildinfo',
  'packages/evidence/dist/node/tsconfig.tsbuildinfo',
  'packages/kernel/dist/src/tsconfig.tsbuildinfo',
  'packages/client/dist/src/tsconfig.tsbuildinfo',
  'packages/gateway/dist/src/tsconfig.tsbuildinfo',
  'packages/gateway/dist/bundle/tollgate.cjs',
]

/** A digest of everything that determines the build: sizes and times of the files. */
export function sourceState(root) {
  const folders = readdirSync(join(root, 'packages')).flatMap((name) =>
    ['src', 'node', 'bin'].map((part) => join('packages', name, part)),
  )
  const sources = folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, file)),
    )
  return stateOf(root, [...FILES, ...sources.sort()])
}

/** A digest of what the build has written. */
export function resultState(root) {
  return stateOf(root, RESULTS)
}

function stateOf(root, files) {
  const states = files.map((file) => {
    const { size, mtimeMs } = statSync(join(root, file), { throwIfNoEntry: false }) ?? {}
    return `${file} ${size} ${mtimeMs}\n`
  })
  return createHash('sha256').update(states.join('')).digest('hex')
}
