// The long tests: the same laws as the unit suite, over far more cases.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { compiled, EXTERNAL } from './vitest.config.ts'

const THIRTY_MINUTES = 30 * 60_000

export default defineConfig({
  plugins: [compiled],
  test: {
    globalSetup: 'tools/vitest-setup.ts',
    server: EXTERNAL,
    // The unit suite as well: its properties take all of their runs here.
    include: ['packages/*/test/**/*.{deep,test}.ts', 'tools/test/**/*.{deep,test}.ts'],
    pool: 'threads',
    isolate: false,
    env: { TOLLGATE_RUNS: 'all', XDG_CONFIG_HOME: mkdtempSync(join(tmpdir(), 'tollgate-config-')) },
    testTimeout: THIRTY_MINUTES,
    expect: { poll: { timeout: 120_000 } },
    hookTimeout: THIRTY_MINUTES,
  },
})
