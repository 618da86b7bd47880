// Real paths on a real disk, and file systems that lie, fail or never answer.

import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { authorize, type ToolCall } from '@tollgate/kernel'
import { placeOf, type Directories } from '../../src/files/place.ts'
import { DISK, realPathOf, slowMountsIn, type FileSystem } from '../../src/files/real-path.ts'
import { activate, createSite, newFolder } from '../gateway-rig.ts'

const root = realpathSync(newFolder())
mkdirSync(join(root, 'project/src'), { recursive: true })
mkdirSync(join(root, 'outside'))
writeFileSync(join(root, 'project/src/a.ts'), '')
symlinkSync('../outside', join(root, 'project/away'))
symlinkSync('../outside/new', join(root, 'project/dangling'))
symlinkSync('loop', join(root, 'project/loop'))

describe('the real path', () => {
  it.each([
    ['of a file', 'project/src/a.ts', 'project/src/a.ts'],
    ['of a new file', 'project/src/new/b.ts', 'project/src/new/b.ts'],
    ['through a link', 'project/away/x', 'outside/x'],
    ['of a dangling link is that of the file that it would make', 'project/dangling', 'outside/new'],
    ['of `..` behind a link is beside its target', 'project/away/../project/src', 'project/src'],
    ['of `.` and `//`', 'project/./src//a.ts', 'project/src/a.ts'],
    ['of a loop is not known', 'project/loop', null],
    ['of `..` behind a missing folder is not known', 'project/no/../src', null],
    ['below a file is taken as new', 'project/src/a.ts/x', 'project/src/a.ts/x'],
  ])('%s', async (_, path, real) => {
    expect(await realPathOf(`${root}/${path}`, DISK, [])).toBe(real === null ? null : join(root, real))
  })

  it.each(['/proc/self/cwd', '/dev/fd/3', '/proc/1/root/etc'])('of %s is not known', async (path) => {
    expect(await realPathOf(path, DISK, [])).toBe(null)
  })

  it('on a slow mount is not known, also through a link', async () => {
    expect(await realPathOf(`${root}/project/away/x`, DISK, [`${root}/outside`])).toBe(null)
  })
})

it('finds mounts that may not answer', () => {
  const text = [
    '22 1 8:1 / / rw - ext4 /dev/sda1 rw',
    '30 22 0:50 / /mnt/my\\040share rw shared:1 - nfs4 server:/x rw',
    '31 22 0:51 / /run/user/1/doc rw - fuse.portal portal rw',
  ].join('\n')
  expect(slowMountsIn(text)).toEqual(['/mnt/my share', '/run/user/1/doc'])
})

const POLICY = `
tollgate: 1
name: files
principals: { "agent:*": { tier: admin } }
tools: { edit: { effect: write, destinations: none, writes: [file] } }
rules: [{ id: inside, allow: edit, when: 'files.writes.all(p, p.startsWith(files.project + "/"))' }]
`

const directories: Directories = {
  cwd: join(root, 'project'),
  project: join(root, 'project'),
  gate: [join(root, 'own')],
}

function edit(file: string): ToolCall {
  const caller = { tenant: 'default', principal: 'agent:ci' }
  return { caller, door: 'http', assurance: 'advised', tool: 'edit', args: { file } }
}

async function opened() {
  const site = await createSite()
  const gateway = await site.open()
  await activate(gateway, POLICY)
  return gateway
}

describe('the place of a call', () => {
  it('has the real paths, by which the call is judged', async () => {
    const gateway = await opened()
    try {
      for (const [file, verdict] of [
        ['src/a.ts', 'ALLOW'],
        ['away/x', 'DENY'],
        ['../project/src/b.ts', 'ALLOW'],
        ['loop', 'ESCALATE'],
      ] as const) {
        const call = edit(file)
        const place = await placeOf(gateway.kernel, call, directories)
        const { decided } = await authorize(gateway.kernel, { ...call, place })
        expect([file, decided.verdict]).toEqual([file, verdict])
      }
      expect(await placeOf(gateway.kernel, edit('src/a.ts'), directories)).toEqual({
        ...directories,
        paths: { [join(root, 'project/src/a.ts')]: join(root, 'project/src/a.ts') },
      })
    } finally {
      await gateway.close()
    }
  })

  it('has unresolved paths where the disk fails or does not answer', async () => {
    const gateway = await opened()
    const never = new Promise<never>(() => undefined)
    const broken: readonly Partial<FileSystem>[] = [
      { linkAt: () => Promise.reject(new Error('EIO')) },
      { linkAt: () => never },
      { spelling: () => never },
      { slowMounts: () => never },
    ]
    try {
      for (const parts of broken) {
        const files = { ...DISK, ...parts }
        const path = join(root, 'outside')
        const place = await placeOf(gateway.kernel, edit(path), {}, { files, patience: 5 })
        expect(place).toEqual({ paths: { [path]: null } })
      }
    } finally {
      await gateway.close()
    }
  })
})
