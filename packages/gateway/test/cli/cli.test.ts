// Runs the scripts in `scripts/` against the real command. Each script is a test, named by its first line. Needs the build.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeTemplate, runScript } from './script.ts'
import { endWarm } from './warm.ts'

const FOLDER = fileURLToPath(new URL('scripts/', import.meta.url))
const SCRIPTS = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'))

const folder = mkdtempSync(join(tmpdir(), 'tollgate-cli-made-'))
let template: string

beforeAll(async () => {
  template = await makeTemplate(folder)
})
afterAll(() => {
  endWarm()
  rmSync(folder, { recursive: true })
})

describe.concurrent('tollgate', () => {
  for (const name of SCRIPTS) {
    const file = join(FOLDER, name)
    const [title = ''] = readFileSync(file, 'utf8').split('\n', 1)
    it(`${name}: ${title.replace(/^# /, '')}`, async () => {
      await expect(runScript(file, template)).resolves.toBeUndefined()
    })
  }
})
