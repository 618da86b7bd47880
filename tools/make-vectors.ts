// Writes the golden data in `vectors/packs` and `vectors/demo`. With `--check`, reports differences. Keys and clock are
// fixed, so that the bytes are the same on every machine.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { caseFiles } from '../packages/evidence/test/case.ts'
import { ARCHIVES } from './vectors/archives.ts'
import { CHAINS } from './vectors/chains.ts'
import { CHECKPOINTS } from './vectors/checkpoints.ts'
import { makeDemo } from './vectors/demo.ts'
import { FLEET } from './vectors/fleet.ts'
import { HONEST } from './vectors/honest.ts'
import { KEYS } from './vectors/keys.ts'
import { LEAVES } from './vectors/leaves.ts'
import { MANIFESTS } from './vectors/manifests.ts'
import { PAIRS } from './vectors/pairs.ts'
import type { Plan } from './vectors/plan.ts'
import { POLICIES } from './vectors/policies.ts'
import { ROTATION } from './vectors/rotation.ts'
import { RECEIPTS } from './vectors/receipts.ts'

const FOLDERS = ['vectors/packs/', 'vectors/demo/']

const PLANS: readonly Plan[] = [
  ...HONEST,
  ...ARCHIVES,
  ...MANIFESTS,
  ...CHECKPOINTS,
  ...LEAVES,
  ...RECEIPTS,
  ...KEYS,
  ...CHAINS,
  ...PAIRS,
  ...POLICIES,
  ...FLEET,
  ...ROTATION,
]

/** The generated files, by path below the repository root. */
const files = new Map([...(await makeCases()), ...(await makeDemos())])
if (process.argv.includes('--check')) check()
else write()

async function makeCases(): Promise<Map<string, Uint8Array>> {
  const made = new Map<string, Uint8Array>()
  for (const { make, ...plan } of PLANS) {
    const folder = `vectors/packs/${plan.name}/`
    if (made.has(`${folder}pack`)) throw new Error(`two vectors are named ${plan.name}`)
    for (const [name, bytes] of caseFiles({ ...plan, ...(await make()) })) made.set(folder + name, bytes)
  }
  return made
}

async function makeDemos(): Promise<[string, Uint8Array][]> {
  return [...(await makeDemo())].map(([name, bytes]) => [`vectors/demo/${name}`, bytes])
}

function check(): void {
  const problems = [...files.keys(), ...stray()].map((path) => [path, problemWith(path)] as const)
  const wrong = problems.filter(([, problem]) => problem !== undefined)
  for (const [path, problem] of wrong) console.error(`${path} ${problem ?? ''}`)
  if (wrong.length === 0) return
  console.error('run `npm run vectors` and review the changes')
  process.exitCode = 1
}

function problemWith(path: string): string | undefined {
  const bytes = files.get(path)
  if (!bytes) return 'is made by nothing'
  if (!existsSync(place(path))) return 'is missing'
  return readFileSync(place(path)).equals(bytes) ? undefined : 'differs'
}

function write(): void {
  for (const [path, bytes] of files) {
    mkdirSync(new URL('.', place(path)), { recursive: true })
    writeFileSync(place(path), bytes)
  }
  for (const path of stray()) rmSync(place(path))
  console.log(`${files.size} files in ${FOLDERS.join(' and ')}`)
}

function stray(): readonly string[] {
  const present = FOLDERS.filter((folder) => existsSync(place(folder))).flatMap((folder) =>
    readdirSync(place(folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(
        ({ parentPath, name }) =>
          folder + relative(fileURLToPath(place(folder)), join(parentPath, name)).replaceAll(sep, '/'),
      ),
  )
  return present.filter((path) => !files.has(path))
}

function place(path: string): URL {
  return new URL(`../${path}`, import.meta.url)
}
