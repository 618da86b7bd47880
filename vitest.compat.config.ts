// Official clients and servers with the gateway between them. What only they need is in `compat/`, with a lockfile of its own.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { RowsReporter } from './tools/compat/reporter.ts'
import { compiled, EXTERNAL } from './vitest.config.ts'

const TEN_MINUTES = 10 * 60_000

export default defineConfig({
  plugins: [compiled],
  test: {
    globalSetup: 'tools/vitest-setup.ts',
    setupFiles: 'tools/compat/setup.ts',
    reporters: ['default', new RowsReporter()],
    server: EXTERNAL,
    include: ['packages/*/test/**/*.compat.ts'],
    pool: 'threads',
    isolate: false,
    maxWorkers: '100%',
    env: { XDG_CONFIG_HOME: mkdtempSync(join(tmpdir(), 'tollgate-config-')) },
    // When a stream breaks, the retired client of Google rejects a second promise, which LangChain does not wait for.
    onUnhandledError: ({ message }) => !message.startsWith('[GoogleGenerativeAI Error]: Error reading from'),
    testTimeout: TEN_MINUTES,
    hookTimeout: TEN_MINUTES,
  },
})
