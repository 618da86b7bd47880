// Rarer ways to store a token, on a real pseudo-terminal and with the full cost of scrypt. Needs the build.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HAS_SCRIPT, onTerminal, withoutTerminal, type Answer } from './pseudo-terminal.ts'

const PASSPHRASE = 'correct horse battery'
const NEW: readonly Answer[] = [
  [/new passphrase/, `${PASSPHRASE}\r`],
  [/again/, `${PASSPHRASE}\r`],
]

describe.runIf(HAS_SCRIPT)('tollgate login', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-login-'))
  const env = { PATH: process.env.PATH ?? '', HOME: folder, TOLLGATE_DATA: join(folder, 'data') }
  const place = { cwd: folder, env }
  let shown: string

  beforeAll(async () => {
    shown = (await onTerminal(place, ['init'], [[/new passphrase/, '\r']])).output
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('is not needed if init got Enter instead of a passphrase: it shows the token', () => {
    expect(shown).toMatch(/tg_admin_[\w-]{43}/)
    expect(existsSync(join(folder, '.config/tollgate/logins.json'))).toBe(false)
  })

  it('takes a token from standard input, and a command opens it with the passphrase', async () => {
    writeFileSync(join(folder, 'token'), /tg_admin_[\w-]{43}/.exec(shown)?.[0] ?? '')
    const { exit, output } = await onTerminal(place, ['login'], NEW, (command) => `${command} < token`)
    expect(exit, output).toBe(0)
    expect(await withoutTerminal(place, ['unfreeze', 'all'])).toMatchObject({ exit: 1 })
    const typed: Answer = [/passphrase of user:/, `${PASSPHRASE}\r`]
    const opened = await onTerminal(place, ['policy', 'activate'], [typed])
    expect(opened.exit, opened.output).toBe(0)
  })
})
