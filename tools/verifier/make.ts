// `npm run verifier`: writes the offline verifier to artifacts/verifier.html, or to the file that is named.

import { createHash } from 'node:crypto'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { buildVerifier } from './build.ts'

async function main([target = 'artifacts/verifier.html']: readonly string[]): Promise<void> {
  const page = await buildVerifier()
  const path = resolve(target)
  await mkdir(dirname(path), { recursive: true })
  // Renamed when it is complete: a half-written page must not be opened.
  await writeFile(`${path}.${process.pid}`, page)
  await rename(`${path}.${process.pid}`, path)
  console.log(`${path}, ${Math.ceil(page.length / 1024)} KiB`)
  console.log(`sha256 ${createHash('sha256').update(page).digest('hex')}`)
  console.log('Open this file in a browser. Drop a pack and a trust file on the page.')
}

await main(process.argv.slice(2))
