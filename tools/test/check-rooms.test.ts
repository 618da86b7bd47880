import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { checkRooms, formatLeak, readTree } from '../check-rooms.ts'

const ROOT_MANIFEST = { path: 'package.json', text: '{ "devDependencies": { "vitest": "1.0.0" } }' }

/** The rules that forbid something in this file; none if it keeps to its room. */
function check(path: string, text: string): readonly string[] {
  return checkRooms([ROOT_MANIFEST, { path, text }]).map(({ rule }) => rule)
}

// That it has no leak is what `npm run rooms` says, a step of `npm test`.
test('the real tree is read', () => {
  const files = readTree(fileURLToPath(new URL('../..', import.meta.url)))
  expect(files.map(({ path }) => path)).toContain('packages/evidence/src/hash.ts')
})

test('a leak is named: the file, the line, the import, the rule, what is allowed', () => {
  const text = "import { a } from './a.ts'\n\nimport { readFileSync } from 'node:fs'\n"
  const [leak, ...more] = checkRooms([{ path: 'packages/evidence/src/json.ts', text }])
  expect(more).toEqual([])
  expect(leak && formatLeak(leak)).toBe(
    'packages/evidence/src/json.ts:3 imports `node:fs`: `packages/evidence/src` takes no Node built-ins; ' +
      'allowed: `packages/evidence/src`, `@noble/hashes`',
  )
})

const NO_BUILTINS = '`packages/evidence/src` takes no Node built-ins'

test.each([
  ['import', "import 'node:fs'"],
  ['import without the prefix', "import fs from 'fs'"],
  ['import type', "import type { Stats } from 'node:fs'"],
  ['import as a type', "let a: import('node:fs').Stats"],
  ['typeof import', "let a: typeof import('node:fs')"],
  ['export from', "export { readFileSync } from 'node:fs'"],
  ['export all', "export * from 'node:fs'"],
  ['dynamic import', "const fs = await import('node:fs')"],
  ['dynamic import with a template', 'const fs = await import(`node:fs`)'],
  ['require', "const fs = require('node:fs')"],
  ['import equals', "import fs = require('node:fs')"],
  ['getBuiltinModule', "process.getBuiltinModule('node:fs')"],
  ['getBuiltinModule under another name', "builtin?.('node:fs')"],
  ['reference to the types', '/// <reference types="node" />'],
])('a Node built-in in evidence/src is named: %s', (_, text) => {
  expect(check('packages/evidence/src/json.ts', text)).toEqual([NO_BUILTINS])
})

test('evidence meets Node in host.ts alone, and only the two modules it needs', () => {
  const host = 'packages/evidence/src/host.ts'
  expect(check(host, "builtin?.('node:crypto')\nbuiltin?.('node:buffer')")).toEqual([])
  expect(check(host, "builtin?.('node:fs')")).toEqual([`\`${host}\` takes no other Node built-ins`])
})

test('text that only looks like an import is none', () => {
  const text = "// import 'node:fs'\nconst a = \"import 'node:fs'\"\nconst b = a.startsWith('node:')"
  expect(check('packages/evidence/src/json.ts', text)).toEqual([])
})

test('a computed import is a leak in what is shipped, and not in a test', () => {
  const text = 'await import(name)'
  expect(check('packages/evidence/src/json.ts', text)).toEqual([
    '`packages/evidence/src` is shipped, so its imports are written out',
  ])
  expect(check('packages/evidence/test/json.test.ts', text)).toEqual([])
})

test.each([
  ['packages/evidence/src/hash.ts', '@noble/hashes/sha2.js'],
  ['packages/evidence/src/a.ts', './b.ts'],
  ['packages/evidence/node/index.ts', '../src/index.ts'],
  ['packages/evidence/node/index.ts', 'node:fs'],
  ['packages/evidence/bin/verify.ts', '../node/index.ts'],
  ['packages/evidence/test/json.test.ts', '../src/json.ts'],
  ['packages/evidence/test/json.test.ts', 'vitest'],
  ['packages/evidence/test/browser.test.ts', '../../../tools/browser.mjs'],
  ['packages/kernel/src/ledger/ledger.ts', '@tollgate/evidence'],
  ['packages/kernel/src/road/guardian.ts', '../gates/index.ts'],
  ['packages/kernel/src/gates/index.ts', './egress/gate.ts'],
  ['packages/kernel/src/gates/egress/gate.ts', '../gate.ts'],
  ['packages/kernel/src/gates/egress/gate.ts', '../../destinations/find.ts'],
  ['packages/kernel/src/gates/threat/words.ts', './patterns.ts'],
  ['packages/client/src/client.ts', '@tollgate/evidence'],
  ['packages/console/src/page.tsx', '@tollgate/client'],
  ['packages/gateway/src/cli/main.ts', '../open.ts'],
  ['packages/gateway/src/cli/main.ts', '../serve.ts'],
  ['packages/gateway/src/open.ts', './store/sqlite.ts'],
  ['packages/gateway/src/open.ts', './keyring.ts'],
  ['packages/gateway/src/serve.ts', './mcp/proxy.ts'],
  ['packages/gateway/src/mcp/proxy.ts', './pins.ts'],
  ['packages/gateway/src/mcp/proxy.ts', '@tollgate/kernel'],
  ['packages/gateway/test/store.test.ts', '../../kernel/test/ledger/store.contract.ts'],
  ['bench/run.ts', '../packages/evidence/src/index.ts'],
  ['tools/make-vectors.ts', '@tollgate/evidence'],
  ['vitest.config.ts', 'vitest/config'],
])('%s may import %s', (path, name) => {
  expect(check(path, `import '${name}'`)).toEqual([])
})

test.each([
  ['packages/evidence/src/json.ts', 'vitest', 'does not take this package from npm'],
  ['packages/evidence/src/json.ts', '@noble/curves', 'does not take this package from npm'],
  ['packages/evidence/src/json.ts', '../node/index.ts', 'does not reach `packages/evidence/node`'],
  ['packages/evidence/src/json.ts', '../bin/verify.ts', 'does not reach `packages/evidence/bin`'],
  ['packages/evidence/src/json.ts', '../test/json.test.ts', 'does not reach `packages/evidence/test`'],
  ['packages/evidence/src/json.ts', '@tollgate/kernel', 'does not depend on this package'],
  ['packages/evidence/node/index.ts', '../bin/verify.ts', 'does not reach `packages/evidence/bin`'],
  ['packages/evidence/node/index.ts', '@noble/hashes/sha2.js', 'does not take this package from npm'],
  ['packages/evidence/test/json.test.ts', '@tollgate/kernel', 'does not depend on this package'],
  ['packages/evidence/test/json.test.ts', 'left-pad', 'does not take this package from npm'],
  [
    'packages/kernel/src/ledger/ledger.ts',
    '../../../evidence/src/json.ts',
    'reached by its name, not by path',
  ],
  ['packages/kernel/src/ledger/ledger.ts', '../../../../tools/run.mjs', 'reached by its name, not by path'],
  ['packages/kernel/src/ledger/ledger.ts', '@tollgate/evidence/node', 'does not depend on this package'],
  ['packages/kernel/src/ledger/ledger.ts', 'node:crypto', 'takes no Node built-ins'],
  [
    'packages/kernel/src/gates/egress/gate.ts',
    '../../road/capture.ts',
    'does not reach `packages/kernel/src/road`',
  ],
  [
    'packages/kernel/src/road/judge.ts',
    '../gates/taint/flow.ts',
    'does not reach `packages/kernel/src/gates`',
  ],
  ['packages/kernel/src/ledger/session.ts', '../road/judge.ts', 'does not reach `packages/kernel/src/road`'],
  ['packages/kernel/src/gates/egress/gate.ts', '../privilege/gate.ts', 'do not know each other'],
  ['packages/kernel/src/gates/egress/gate.ts', '../index.ts', 'do not know each other'],
  ['packages/client/src/client.ts', '@tollgate/kernel', 'does not depend on this package'],
  ['packages/console/src/page.tsx', '@tollgate/gateway', 'does not depend on this package'],
  ['packages/gateway/src/cli/main.ts', '../store/sqlite.ts', 'does not reach `packages/gateway/src/store`'],
  ['packages/gateway/src/open.ts', './cli/main.ts', 'does not reach `packages/gateway/src/cli`'],
  ['packages/gateway/src/open.ts', './serve.ts', 'does not reach `packages/gateway/src/serve.ts`'],
  ['packages/gateway/src/serve.ts', './store/sqlite.ts', 'does not reach `packages/gateway/src/store`'],
  ['packages/gateway/src/mcp/proxy.ts', '../llm/proxy.ts', 'does not reach `packages/gateway/src/llm`'],
  ['packages/gateway/src/api/app.ts', '../browser/tab.ts', 'does not reach `packages/gateway/src/browser`'],
  ['packages/gateway/src/store/sqlite.ts', './postgres.ts', 'do not know each other'],
  ['packages/gateway/src/worker.ts', './open.ts', 'the file is in no room'],
  ['packages/plugins/src/index.ts', '@tollgate/evidence', 'the file is in no room'],
  ['vectors/make.ts', 'node:fs', 'takes no Node built-ins'],
])('%s may not import %s: %s', (path, name, rule) => {
  expect(check(path, `import '${name}'`)).toEqual([expect.stringContaining(rule)])
})

test('a room of the kernel takes types from any other', () => {
  const path = 'packages/kernel/src/road/judge.ts'
  expect(check(path, "import type { Flow } from '../gates/taint/flow.ts'")).toEqual([])
})

test('a room can take types of a package and nothing else', () => {
  const path = 'packages/gateway/src/sealing.ts'
  expect(check(path, "import type { Intent } from '@tollgate/kernel'")).toEqual([])
  expect(check(path, "export type { Intent } from '@tollgate/kernel'")).toEqual([])
  expect(check(path, "let a: import('@tollgate/kernel').Intent")).toEqual([])
  const rule = '`packages/gateway/src/sealing.ts` takes only types from it, write `import type`'
  expect(check(path, "import { enforce } from '@tollgate/kernel'")).toEqual([rule])
  expect(check(path, "import { type Intent } from '@tollgate/kernel'")).toEqual([rule])
})

test('a room can take types of a package from npm and nothing else', () => {
  const path = 'packages/client/playwright/guard-page.ts'
  expect(check(path, "import type { Page } from 'playwright-core'")).toEqual([])
  const rule = '`packages/client/playwright` takes only types from it, write `import type`'
  expect(check(path, "import { chromium } from 'playwright-core'")).toEqual([rule])
  expect(check(path, "import { type Page } from 'playwright-core'")).toEqual([rule])
  expect(check('packages/client/src/guard.ts', "import type { Page } from 'playwright-core'")).toEqual([
    '`packages/client/src` does not take this package from npm',
  ])
})

test('a dependency of a package that the table lacks is named with its line', () => {
  const path = 'packages/evidence/package.json'
  const text =
    '{\n  "dependencies": { "@noble/hashes": "2.0.0" },\n  "peerDependencies": { "left-pad": "1" }\n}'
  expect(checkRooms([{ path, text }])).toEqual([
    {
      path,
      line: 3,
      imports: 'left-pad',
      rule: '`packages/evidence` does not depend on it',
      allowed: '`@noble/hashes`',
    },
  ])
})

test('a package may depend on the packages its rooms import', () => {
  const text = '{ "dependencies": { "@tollgate/client": "0.1.0", "@tollgate/kernel": "0.1.0" } }'
  const leaks = checkRooms([{ path: 'packages/console/package.json', text }])
  expect(leaks.map(({ imports }) => imports)).toEqual(['@tollgate/kernel'])
})
