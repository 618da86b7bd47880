import { mkdtempSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'

// On a clone without a history the largest files begin. These are short and take long: begun late, the other core waits for them.
const LONGEST = [
  'test/bench',
  'cli/cli',
  'faults/syscalls',
  'test/newcomer',
  'open/open',
  'faults/rot',
  'mcp/wrap',
  'faults/rivals',
  'faults/disk',
  'mcp/stdio',
  'faults/time',
  'faults/kill',
  'webhook/webhooks',
  'mcp/conversation',
  'policy/policy',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification): number => {
      const found = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
      return found < 0 ? LONGEST.length : found
    }
    return sorted.sort((a, b) => rank(a) - rank(b))
  }
}

// They load modules again, as another host has them, and need one copy of each.
const FROM_SOURCES = '/packages/evidence/test/'

/**
 * Sends the imports of a package's sources to their compiled form: tests run the code that ships, and Node loads it without a
 * transform. `globalSetup` compiles first.
 */
export const compiled: Plugin = {
  name: 'compiled sources',
  enforce: 'pre',
  resolveId(source, importer) {
    if (importer === undefined || !/^(?:\.|\/|file:).*\.ts$/.test(source)) return undefined
    if (importer.includes(FROM_SOURCES) || SOURCE.test(importer)) return undefined
    const path = source.startsWith('file:') ? fileURLToPath(source) : resolve(dirname(importer), source)
    const [, folder, file] = SOURCE.exec(path) ?? []
    return file === undefined ? undefined : { id: `${folder}/dist/${file}.js`, external: true }
  },
}

/** What Node loads itself. */
export const EXTERNAL: { readonly deps: { readonly external: RegExp[] } } = {
  deps: { external: [/\/packages\/[a-z]+\/dist\//] },
}

const SOURCE = /^(.*\/packages\/[a-z]+)\/((?:src|node|bin)\/.*)\.ts$/

export default defineConfig({
  plugins: [compiled],
  test: {
    globalSetup: 'tools/vitest-setup.ts',
    server: EXTERNAL,
    include: ['packages/*/test/**/*.test.ts', 'tools/test/**/*.test.ts'],
    pool: 'threads',
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // More than there are cores: much of the time is spent waiting for processes and disks.
    maxWorkers: availableParallelism() * 2 + 2,
    // Keys that tests make are not among those of the user.
    env: { XDG_CONFIG_HOME: mkdtempSync(join(tmpdir(), 'tollgate-config-')) },
    // A machine with other work may take ten times as long; only a test that hangs takes longer.
    testTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    hookTimeout: 300_000,
  },
})
