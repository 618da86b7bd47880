// The deployment kit under the tools that read it in production. What cannot be had here is said in a loud line, never passed over.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ROOT } from './fresh-copy.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-deploy-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function run(command: string, args: readonly string[], cwd = folder): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  expect(status, `${command} ${args.join(' ')}\n${error?.message ?? ''}${stdout}${stderr}`).toBe(0)
  return stdout
}

function tellMissing(what: string): void {
  console.error(`${'!'.repeat(78)}\nNOT CHECKED: ${what}\n${'!'.repeat(78)}`)
}

const onPath = (name: string): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((place) => join(place, name))
    .find((file) => existsSync(file))

/** `promtool` from the PATH, or out of Debian's package, which is unpacked and not installed. */
function findPromtool(): string | undefined {
  const found = onPath('promtool')
  if (found !== undefined) return found
  if (spawnSync('apt-get', ['download', 'prometheus'], { cwd: folder }).status !== 0) {
    tellMissing('the alerts, because there is no promtool and no Debian package of it')
    return undefined
  }
  const archive = readdirSync(folder).find((name) => name.startsWith('prometheus_')) ?? ''
  run('dpkg-deb', ['-x', archive, 'prometheus'])
  return join(folder, 'prometheus/usr/bin/promtool')
}

describe('the alerts', () => {
  const promtool = findPromtool()
  const place = join(ROOT, 'deploy/monitoring')

  it.skipIf(promtool === undefined)(
    'are rules of Prometheus, and fire for each trouble and nothing else',
    () => {
      run(promtool ?? '', ['check', 'rules', 'alerts.yaml'], place)
      expect(run(promtool ?? '', ['test', 'rules', 'alerts.test.yaml'], place)).toContain('SUCCESS')
    },
  )
})
