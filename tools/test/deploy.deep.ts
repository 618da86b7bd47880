// The deployment kit under the tools that read it in production. What cannot be had here is said in a loud line, never passed over.

import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { readConfig } from '../../packages/gateway/src/config/config.ts'
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

/** A Go program from the PATH, or built from its module. */
function findGo(name: string, module: string): string | undefined {
  const found = onPath(name)
  if (found !== undefined) return found
  const env = { ...process.env, GOBIN: join(folder, 'go') }
  const { status } = spawnSync('go', ['install', module], { cwd: folder, env })
  if (status === 0) return join(folder, 'go', name)
  tellMissing(`the chart by ${name}, because it is not on the PATH and cannot be built here`)
  return undefined
}

interface Rendered {
  readonly kind: string
  readonly data?: Readonly<Record<string, string>>
}

describe('the chart', () => {
  const helm = findGo('helm', 'helm.sh/helm/v3/cmd/helm@v3.19.4')
  const chart = join(ROOT, 'deploy/helm/tollgate')
  const values = [
    '--set',
    'ledger=tollgate.local/x',
    '--set',
    'policy=tollgate: 1',
    '--set',
    'serviceMonitor.enabled=true',
  ]
  const render = (...more: readonly string[]): string =>
    run(helm ?? '', ['template', 'gate', chart, ...values, ...more])

  it.skipIf(helm === undefined)('is accepted by helm, and needs the ledger and the policy', () => {
    run(helm ?? '', ['lint', '--strict', chart, ...values])
    expect(spawnSync(helm ?? '', ['template', 'gate', chart], { encoding: 'utf8' }).stderr).toContain(
      'set `ledger`',
    )
  })

  it.skipIf(helm === undefined)('writes settings that the gateway reads', () => {
    // Sound: a wrong form fails below.
    const objects = parseAllDocuments(render()).map((each) => each.toJS() as Rendered)
    expect(objects.map(({ kind }) => kind).sort()).toEqual([
      ...[
        'ConfigMap',
        'NetworkPolicy',
        'PodDisruptionBudget',
        'Service',
        'Service',
        'ServiceMonitor',
        'StatefulSet',
      ],
    ])
    const text = objects.find(({ kind }) => kind === 'ConfigMap')?.data?.['tollgate.yaml'] ?? ''
    const data = join(folder, 'settings')
    mkdirSync(data, { mode: 0o700 })
    const filled = text.replaceAll('@WRITER@', 'gate-0').replaceAll('@ADDRESS@', '10.1.2.3')
    writeFileSync(join(data, 'tollgate.yaml'), filled, { mode: 0o600 })
    expect(readConfig(data)).toMatchObject({ writer: 'gate-0', listen: { host: '0.0.0.0', port: 7700 } })
  })

  it.skipIf(helm === undefined)('has objects that fit the schemas of Kubernetes', () => {
    const kubeconform = findGo('kubeconform', 'github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0')
    if (kubeconform === undefined) return
    const file = join(folder, 'objects.yaml')
    writeFileSync(file, render())
    const args = ['-strict', '-summary', '-skip', 'ServiceMonitor', file]
    const { status, stdout } = spawnSync(kubeconform, args, { encoding: 'utf8' })
    if (stdout.includes('failed downloading schema'))
      tellMissing('the objects by kubeconform: no schemas here')
    else expect(status, stdout).toBe(0)
  })
})

/** Does each step of the image file in a Debian root, which has the Node of this machine. */
function buildImage(root: string, file: string): void {
  const npm = join(dirname(process.execPath), '../lib/node_modules/npm')
  for (const [from, to] of [
    [process.execPath, 'usr/local/bin/node'],
    [npm, 'usr/local/lib/node_modules/npm'],
    ['/etc/resolv.conf', 'etc/resolv.conf'],
    ['/etc/ssl/certs', 'etc/ssl/certs'],
  ] as const)
    cpSync(from, join(root, to), { recursive: true, dereference: true })
  run('chroot', [root, 'ln', '-s', '../lib/node_modules/npm/bin/npm-cli.js', '/usr/local/bin/npm'])
  run('chroot', [root, 'mkdir', '-p', '/usr/local/lib/tollgate'])
  for (const [, step, words = ''] of readFileSync(file, 'utf8').matchAll(/^(RUN|COPY) (.*)$/gm)) {
    const to = words.split(' ').at(-1) ?? ''
    const sources = words.split(' ').slice(0, -1)
    if (step === 'RUN') run('chroot', [root, '/bin/sh', '-ec', words])
    else if (!words.startsWith('--from'))
      for (const source of sources) {
        const from = source === 'artifacts/' ? join(folder, 'artifacts') : join(ROOT, source)
        cpSync(from, join(root, to, source.endsWith('/') ? '' : (source.split('/').at(-1) ?? '')), {
          recursive: true,
        })
      }
  }
}

describe('the image', () => {
  const mmdebstrap = onPath('mmdebstrap')
  if (mmdebstrap === undefined || process.getuid?.() !== 0)
    tellMissing("the steps of the image: they need root and Debian's package mmdebstrap")

  it.skipIf(mmdebstrap === undefined || process.getuid?.() !== 0)(
    'has steps that give a command which creates a ledger as another user than root',
    () => {
      const root = join(folder, 'root')
      run(mmdebstrap ?? '', ['--variant=minbase', 'bookworm', root])
      // Not `npm run pack`, which builds again, beside other tests.
      mkdirSync(join(folder, 'artifacts'))
      const packages = ['client', 'evidence', 'gateway', 'kernel', 'sentinel'].map(
        (name) => `--workspace=packages/${name}`,
      )
      run(
        'npm',
        [
          'pack',
          '--silent',
          '--ignore-scripts',
          '--pack-destination',
          join(folder, 'artifacts'),
          ...packages,
        ],
        ROOT,
      )
      buildImage(root, join(ROOT, 'deploy/image/Containerfile'))
      const as = (...command: readonly string[]): string =>
        run('chroot', ['--userspec=10001:10001', root, ...command])
      expect(as('tollgate', '--version')).toMatch(/^\d/)
      as('tollgate', 'init', '--data', '/var/lib/tollgate/data')
      expect(as('tollgate', 'fsck', '--data', '/var/lib/tollgate/data')).toContain('intact')
      // The health check fails without a gateway.
      const health = ['--userspec=10001:10001', root, 'node', '/usr/local/lib/tollgate/healthy.mjs']
      expect(spawnSync('chroot', health).status).toBe(1)
    },
  )
})
