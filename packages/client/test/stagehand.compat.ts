// The example for Stagehand compiles against the types that its makers publish.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { npm, saw } from '../../../tools/compat/saw.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

it('the example for Stagehand compiles', () => {
  mkdirSync(join(root, '.cache'), { recursive: true })
  const folder = mkdtempSync(join(root, '.cache/stagehand-'))
  const types = join(root, 'compat/node_modules/@browserbasehq/stagehand/dist/index.d.mts')
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { incremental: false, paths: { '@browserbasehq/stagehand': [types] } },
    include: [],
    exclude: [],
    files: [join(root, 'examples/stagehand/agent.ts')],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  expect(stdout).toBe('')
  saw(npm('@browserbasehq/stagehand', 'types, with `guardPage`'), 'HTTP, browser calls')
})
