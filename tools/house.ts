// `npm run house`: measures the code base. `--json` prints data, `--verbose` also lists names, and `--ways` traces one call
// per door through the built product.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { measureHouse } from './house/measure.ts'
import { formatHouse, type LastTest } from './house/print.ts'
import { readCode } from './house/tree.ts'
import { measureWays } from './ways/measure.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

async function main(args: readonly string[]): Promise<void> {
  const house = measureHouse(readCode(root))
  const ways = args.includes('--ways') ? await measureWays(root) : undefined
  const lastTest = readLastTest()
  if (args.includes('--json')) {
    console.log(JSON.stringify({ ...house, ways: ways && Object.fromEntries(ways), lastTest }, undefined, 2))
  } else {
    console.log(formatHouse({ house, ways, lastTest }, args.includes('--verbose')))
  }
}

function readLastTest(): LastTest | undefined {
  const file = join(root, '.cache/last-test.json')
  // Sound: only `tools/run.mjs` writes this file.
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as LastTest) : undefined
}

await main(process.argv.slice(2))
