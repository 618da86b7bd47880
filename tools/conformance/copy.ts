// Copies the built gateway, so that a test can break the copy.

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PACKAGES = ['client', 'evidence', 'gateway', 'kernel', 'sentinel']

/** One replacement in a compiled file. */
export interface Edit {
  /** Below `packages`, such as `kernel/dist/src/road/guardian.js`. */
  readonly file: string
  readonly from: string
  readonly to: string
}

/** A copy of the built gateway. */
export interface Copy {
  /** The command, as a program for Node. */
  readonly program: string
  /** Runs something while the edits are in the copy. @throws Error if an edit does not fit in exactly one place. */
  broken<T>(edits: readonly Edit[], work: () => Promise<T>): Promise<T>
  remove(): void
}

export function copyGateway(): Copy {
  const folder = mkdtempSync(join(tmpdir(), 'broken-gateway-'))
  for (const name of PACKAGES) copyPackage(name, join(folder, 'packages', name))
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '@tollgate'), { recursive: true })
  for (const name of PACKAGES) symlinkSync(join(folder, 'packages', name), join(modules, '@tollgate', name))
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== '@tollgate') symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }
  return {
    program: join(folder, 'packages/gateway/dist/src/cli/main.js'),
    async broken(edits, work) {
      const files = new Map<string, string>()
      for (const { file, from, to } of edits) {
        const path = join(folder, 'packages', file)
        const text = readFileSync(path, 'utf8')
        if (!files.has(path)) files.set(path, text)
        if (text.split(from).length !== 2) throw new Error(`\`${from}\` is not in one place of ${file}`)
        writeFileSync(
          path,
          text.replace(from, () => to),
        )
      }
      try {
        return await work()
      } finally {
        for (const [path, text] of files) writeFileSync(path, text)
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Without the bundle: the copy runs the modules, which can be edited one by one. */
function copyPackage(name: string, to: string): void {
  const from = join(ROOT, 'packages', name)
  cpSync(join(from, 'package.json'), join(to, 'package.json'))
  const filter = (path: string): boolean => !/\.d\.ts$|\.tsbuildinfo$|\/dist\/(?:bundle|console)$/.test(path)
  cpSync(join(from, 'dist'), join(to, 'dist'), { recursive: true, filter })
  const own = join(from, 'node_modules')
  if (existsSync(own)) symlinkSync(own, join(to, 'node_modules'))
}
