// The deployment kit agrees with the product: commands, paths, routes and ports.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { problemOf } from '../../packages/gateway/test/cli/command-lines.ts'
import { ROOT } from './fresh-copy.ts'

const read = (path: string): string => readFileSync(join(ROOT, 'deploy', path), 'utf8')

describe('the systemd unit', () => {
  const unit = read('systemd/tollgate.service')
  const valueOf = (key: string): string => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1] ?? ''

  it('starts a command that exists, from the place where npm installs it', async () => {
    const [program, ...words] = valueOf('ExecStart').split(' ')
    expect(program).toBe('/usr/bin/tollgate')
    expect(await problemOf(words.join(' '))).toBeUndefined()
    expect(readFileSync(join(ROOT, 'docs/operating.md'), 'utf8')).toContain(`creates ${program}`)
  })

  it('lets the gateway write its data, the head guard and its log, and nothing else', () => {
    const [data = '', heads] = valueOf('StateDirectory').split(' ')
    expect(valueOf('ExecStart')).toContain(`--data /var/lib/${data}`)
    expect(heads).toBe(`${data}-heads`)
    expect(valueOf('ProtectSystem')).toBe('strict')
    expect(unit).not.toContain('ReadWritePaths')
  })

  it('is accepted by systemd', () => {
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) {
      console.error('!! NO SYSTEMD: the unit is NOT checked by systemd-analyze')
      return
    }
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-unit-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    // The check wants the program to exist.
    const file = join(folder, 'tollgate.service')
    writeFileSync(file, unit.replace('/usr/bin/tollgate', '/bin/true'))
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(status).toBe(0)
  })
})
