// Records what a compat test has seen. Each test calls `saw` after its last assertion, or `sawNothing` with a reason. The reporter
// writes the rows of test files whose tests have all passed.

import { AsyncLocalStorage } from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import { aroundEach, type TestContext } from 'vitest'
import { mergeRows, type CompatDoor, type CompatRow, type Installed, type Mark } from './rows.ts'

declare module 'vitest' {
  interface TaskMeta {
    compatRows?: readonly CompatRow[]
    /** Why the test has no row. */
    compatReason?: string
  }
}

type Task = TestContext['task']

// Some tests run at the same time, so the runner's own notion of the current test is not enough.
const running = new AsyncLocalStorage<Task>()

/** Makes every test of a file that passes without a row fail. Called once for each file, by the setup of the compat tests. */
export function requireRows(): void {
  aroundEach(async (run, { task }) => {
    await running.run(task, run)
    const { compatRows = [], compatReason } = task.meta
    const isMissing = compatRows.length === 0 && compatReason === undefined
    if (task.result?.state === 'pass' && isMissing) {
      throw new Error('the test has no row: call `saw`, or `sawNothing` with the reason')
    }
  })
}

/** Records that this test has seen a client or a server behind a door, with these kinds of calls. */
export function saw(client: Installed, door: CompatDoor, ...marks: readonly Mark[]): void {
  const { meta } = taskNow()
  meta.compatRows = mergeRows([...(meta.compatRows ?? []), { ...client, door, saw: marks }])
}

/** Says why a test has no row, for example because it is the control without a gateway. */
export function sawNothing(because: string): void {
  taskNow().meta.compatReason = because
}

function taskNow(): Task {
  const task = running.getStore()
  if (task === undefined) throw new Error('`saw` and `sawNothing` are for the inside of a compat test')
  return task
}

const ROOT = new URL('../../', import.meta.url)
const FOLDERS = ['', 'compat/'] as const

/** A package from npm, with its installed version. It must be a direct dependency of the repository or of `compat/`. */
export function npm(name: string, use?: string): Installed {
  const [folder, ...others] = FOLDERS.filter((each) => name in dependenciesOf(each))
  if (folder === undefined || others.length > 0)
    throw new Error(`${name} must be a dependency in exactly one of package.json and compat/package.json`)
  const { version } = manifest(`${folder}node_modules/${name}/package.json`)
  if (version === undefined) throw new Error(`${name} has no version`)
  return { registry: 'npm', name, version, ...(use !== undefined && { use }) }
}

/** A package from PyPI, with the version that `compat/requirements.txt` pins. */
export function pypi(name: string, use?: string): Installed {
  const text = readFileSync(new URL('compat/requirements.txt', ROOT), 'utf8')
  const [, version] = new RegExp(`^${name}==(\\S+)$`, 'm').exec(text) ?? []
  if (version === undefined) throw new Error(`${name} must have a version in compat/requirements.txt`)
  return { registry: 'PyPI', name, version, ...(use !== undefined && { use }) }
}

interface Manifest {
  readonly version?: string
  readonly devDependencies?: Readonly<Record<string, string>>
}

function manifest(path: string): Manifest {
  // Sound: npm refuses any other form of manifest.
  return JSON.parse(readFileSync(new URL(path, ROOT), 'utf8')) as Manifest
}

function dependenciesOf(folder: string): Readonly<Record<string, string>> {
  return manifest(`${folder}package.json`).devDependencies ?? {}
}
