import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ensurePostgres, findPostgres } from '../postgres.mjs'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-find-postgres-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function programsIn(...path: readonly string[]): string {
  const bin = join(folder, ...path)
  mkdirSync(bin, { recursive: true })
  for (const name of ['postgres', 'initdb']) {
    writeFileSync(join(bin, name), '')
    chmodSync(join(bin, name), 0o755)
  }
  return bin
}

test('the newest version of Debian is found before the PATH', () => {
  const debian = join(folder, 'debian')
  programsIn('debian', '9', 'bin')
  const newest = programsIn('debian', '17', 'bin')
  const onPath = programsIn('path')
  expect(findPostgres({ env: { PATH: onPath }, debian })).toBe(newest)
  expect(findPostgres({ env: { PATH: onPath }, debian: join(folder, 'none') })).toBe(onPath)
})

test('a folder without `initdb` is not PostgreSQL', () => {
  const half = programsIn('half')
  rmSync(join(half, 'initdb'))
  expect(findPostgres({ env: { TOLLGATE_POSTGRES: half }, debian: join(folder, 'none') })).toBeUndefined()
})

test('a missing PostgreSQL is installed, and announced loudly if that fails', async () => {
  const run: string[] = []
  const said: string[] = []
  const options = {
    uid: 0,
    find: () => undefined,
    run: (command: readonly string[]) => Promise.resolve(run.push(command.join(' ')) > 0),
    say: (line: string) => void said.push(line),
  }
  expect(await ensurePostgres(options)).toBeUndefined()
  expect(run.at(-1)).toMatch(/apt-get install .*postgresql$/)
  expect(said.join('\n')).toContain('will FAIL')
})
