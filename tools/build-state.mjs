// Tells whether a build is needed, in a few milliseconds: the compiler needs a second to find that nothing has changed.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const FILES = [
  'package.json',
  'tsconfig.base.json',
  'tsconfig.build.json',
  'node_modules/.tollgate-installed',
]
/** Parts of a package that the build does not read. */
const OTHERS = ['dist', 'node_modules', 'test']

/** A digest of everything that determines the build: sizes and times of the files. */
export function sourceState(root) {
  const folders = readdirSync(join(root, 'packages')).flatMap((name) =>
    readdirSync(join(root, 'packages', name))
      .filter((part) => !OTHERS.includes(part))
      .map((part) => join('packages', name, part)),
  )
  const tools = readdirSync(join(root, 'tools')).filter((name) => name.endsWith('.mjs'))
  const sources = folders.flatMap((path) => filesAt(root, path))
  return stateOf(root, [...FILES, ...tools.map((name) => join('tools', name)), ...sources.sort()])
}

function filesAt(root, path) {
  if (!statSync(join(root, path)).isDirectory()) return [path]
  return readdirSync(join(root, path), { recursive: true }).map((file) => join(path, file))
}

/** A digest of what the compiler and the bundler have written. */
export function resultState(root) {
  const { references } = JSON.parse(readFileSync(join(root, 'tsconfig.build.json'), 'utf8'))
  const built = references.map(({ path }) =>
    join(dirname(path), 'dist', basename(path), 'tsconfig.tsbuildinfo'),
  )
  return stateOf(root, [...built, 'packages/gateway/dist/bundle/tollgate.cjs'])
}

function stateOf(root, files) {
  const states = files.map((file) => {
    const { size, mtimeMs } = statSync(join(root, file), { throwIfNoEntry: false }) ?? {}
    return `${file} ${size} ${mtimeMs}\n`
  })
  return createHash('sha256').update(states.join('')).digest('hex')
}
