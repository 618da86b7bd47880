// The deployment kit agrees with the product: commands, paths, routes and ports.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../../packages/gateway/src/config/config.ts'
import { healthRoutes } from '../../packages/gateway/src/api/health.ts'
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

describe('the image', () => {
  const text = read('image/Containerfile')

  it('runs as another user than root, and checks itself', () => {
    expect(text).toMatch(/^USER 10001:10001$/m)
    expect(text.indexOf('USER ')).toBeGreaterThan(text.lastIndexOf('RUN '))
    expect(text).toMatch(/^HEALTHCHECK .*healthy\.mjs/m)
    expect(read('image/healthy.mjs')).toContain(`path: '/readyz'`)
  })

  it('starts from an image with a version, and contains no settings and no secrets', () => {
    const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      engines: { node: string }
    }
    expect(engines.node).toBe('>=20.19')
    const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)
    expect(new Set(bases)).toEqual(new Set(['node:24-bookworm-slim']))
    const copied = [...text.matchAll(/^COPY (.*) \S+$/gm)].map(([, from]) => from)
    expect(copied).toEqual([
      'artifacts/',
      '--from=install /opt/tollgate/',
      'deploy/image/gateway.sh deploy/image/healthy.mjs',
    ])
  })

  it('starts commands that exist', async () => {
    const lines = [...read('image/gateway.sh').matchAll(/\btollgate ((?:join|serve)[^>\n]*)/g)]
    expect(lines).toHaveLength(2)
    for (const [, line = ''] of lines) expect(await problemOf(line.trim())).toBeUndefined()
  })
})

interface Service {
  readonly image: string
  readonly read_only?: boolean
  readonly environment: Readonly<Record<string, string>>
}

describe('the compose file', () => {
  // Sound: a wrong form fails below.
  const { services } = parse(read('compose/compose.yaml'), { merge: true }) as {
    services: Record<string, Service>
  }

  it('has two gateways with names of their own, without secrets in variables', () => {
    const gateways = Object.values(services).filter(({ image }) => image.startsWith('tollgate:'))
    expect(new Set(gateways.map(({ environment }) => environment.TOLLGATE_WRITER)).size).toBe(2)
    for (const { read_only } of gateways) expect(read_only).toBe(true)
    for (const { environment } of Object.values(services))
      for (const [name, value] of Object.entries(environment))
        if (/PASSWORD|SECRET|URL/.test(name)) expect(value).toMatch(/^\/run\/secrets\//)
  })

  it('has settings that the gateway reads, once names are filled in', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-compose-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const filled = read('compose/settings/tollgate.yaml')
      .replaceAll('@WRITER@', 'gateway-1')
      .replaceAll('@ADDRESS@', 'gateway-1')
    writeFileSync(join(folder, 'tollgate.yaml'), filled, { mode: 0o600 })
    expect(readConfig(folder)).toMatchObject({ writer: 'gateway-1', hosts: ['gateway-1'], decisionLog: '-' })
  })
})

describe('the chart', () => {
  const template = read('helm/tollgate/templates/gateways.yaml')

  it('runs two gateways by default, and creates no secret', () => {
    expect(parse(read('helm/tollgate/values.yaml'))).toMatchObject({
      replicas: 2,
      networkPolicy: { enabled: true },
    })
    expect(template).not.toMatch(/^kind: Secret$/m)
    for (const kind of ['StatefulSet', 'PodDisruptionBudget', 'NetworkPolicy', 'ServiceMonitor'])
      expect(template).toContain(`\nkind: ${kind}\n`)
  })

  it('probes routes that exist, with a name that the gateway knows', () => {
    const probes = [...template.matchAll(/httpGet: \{ path: (\S+), .*\}/g)]
    expect(probes.map(([, path]) => path)).toEqual(['/healthz', '/healthz', '/readyz'])
    for (const [text, path] of probes) {
      expect(healthRoutes.map((route) => route.path)).toContain(path)
      expect(text).toContain('{ name: Host, value: localhost }')
    }
  })
})
