// Bundles the Sentinel's scripts for pages, one of them with the kernel's threat scanner, into texts: `@tollgate/sentinel/page`.

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const sentinel = join(root, 'packages/sentinel/dist')

/** Writes `dist/page.js` from the output of `tsc`, if it changes. */
export async function writePageScript() {
  const scan = await bundled('src/page/script.js')
  const target = await bundled('src/target/script.js')
  const order = await bundled('src/order/script.js')
  const texts = { PAGE_SCRIPT: scan, TARGET_SCRIPT: target, ORDER_SCRIPT: order }
  const text = Object.entries(texts)
    .map(([name, code]) => `export const ${name} = ${JSON.stringify(code)}\n`)
    .join('')
  const path = join(sentinel, 'page.js')
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return
  mkdirSync(dirname(path), { recursive: true })
  // A test or a command may be loading it.
  writeFileSync(`${path}.${process.pid}`, text)
  renameSync(`${path}.${process.pid}`, path)
}

async function bundled(entry) {
  const { outputFiles } = await build({
    entryPoints: [join(sentinel, entry)],
    absWorkingDir: root,
    bundle: true,
    minify: true,
    format: 'iife',
    platform: 'browser',
    target: 'chrome120',
    legalComments: 'inline',
    logLevel: 'error',
    write: false,
  })
  return outputFiles[0].text
}
