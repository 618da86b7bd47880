// Writes the golden data in `vectors/packs` and `vectors/demo`. With `--check`, reports differences. Keys and clock are
// fixed, so that the bytes are the same on every machine.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { formatCase } from '../packages/evidence/test/case.ts'
import { ARCHIVES } from './vectors/archives.ts'
import { CHAINS } from './vectors/chains.ts'
import { CHECKPOINTS } from './vectors/checkpoints.ts'
import { makeDemo } from './vectors/demo.ts'
import { HONEST } from './vectors/honest.ts'
import { KEYS } from './vectors/keys.ts'
import { LEAVES } from './vectors/leaves.ts'
import { MANIFESTS } from './vectors/manifests.ts'
import { PAIRS } from './vectors/pairs.ts'
import type { Plan } from './vectors/plan.ts'
import { POLICIES } from './vectors/policies.ts'
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
]

/** The generated files, by path below the repository root. */
const files = new Map([...(await makeCases()), ...(await makeDemos())])
if (process.argv.includes('--check')) check()
else write()

async function makeCases(): Promise<Map<string, Uint8Array>> {
  const made = new Map<string, Uint8Array>()
  for (const { make, ...plan } of PLANS) {
    const path = `vectors/packs/${plan.name}.case`
    if (made.has(path)) throw new Error(`two vectors are named ${plan.name}`)
    made.set(path, formatCase({ ...plan, ...(await make()) }))
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
  for (const folder of FOLDERS) mkdirSync(place(folder), { recursive: true })
  for (const [path, bytes] of files) writeFileSync(place(path), bytes)
  for (const path of stray()) rmSync(place(path))
  console.log(`${files.size} files in ${FOLDERS.join(' and ')}`)
}

function stray(): readonly string[] {
  const present = FOLDERS.filter((folder) => existsSync(place(folder))).flatMap((folder) =>
    readdirSync(place(folder)).map((name) => folder + name),
  )
  return present.filter((path) => !files.has(path))
}

function place(path: string): URL {
  return new URL(`../${path}`, import.meta.url)
}
