// The verifier refuses manifests of millions of brackets without the memory that parsing them as JSON would take.

import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { told } from './audit-story.ts'
import { archive, bytesOf, contentOf, forge, replaced } from './pack-forge.ts'

const CHILD = fileURLToPath(new URL('./verify-memory-child.mjs', import.meta.url))
const FLOOD = '[],'.repeat(20 << 20)

let folder: string
let members: Awaited<ReturnType<typeof forge>>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-memory-'))
  members = await forge(await told())
})

afterAll(() => rm(folder, { recursive: true }))

const manifest = (): string => contentOf(members, 'manifest.json')

it.each<[string, () => string]>([
  ['as the manifest', () => `[${FLOOD}[]]`],
  ['as its members', () => manifest().replace(/"members":\[.*?\]/, () => `"members":[${FLOOD}[]]`)],
  ['after its members', () => manifest().replace('"selected":[', () => `"selected":[${FLOOD}`)],
])('60 MiB of `[],` %s take less than 300 MB', async (_, text) => {
  const path = join(folder, 'flood.pack')
  await writeFile(path, archive(replaced(members, 'manifest.json', bytesOf(text()))))
  const { stdout } = await promisify(execFile)(process.execPath, [CHILD, path])
  const { exit, megabytes } = JSON.parse(stdout) as { exit: number; megabytes: number }
  expect(exit).toBe(2)
  expect(megabytes).toBeLessThan(300)
})
