// Bundles the Sentinel's page script with the kernel's threat scanner into one text: `@tollgate/sentinel/page`.

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const sentinel = join(root, 'packages/sentinel/dist')

/** Writes `dist/page.js` from the output of `tsc`, if it changes. */
export async function writePageScript() {
  const { outputFiles } = await build({
    entryPoints: [join(sentinel, 'src/page/script.js')],
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
  const text = `export const PAGE_SCRIPT = ${JSON.stringify(outputFiles[0].text)}\n`
  const path = join(sentinel, 'page.js')
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return
  mkdirSync(dirname(path), { recursive: true })
  // A test or a command may be loading it.
  writeFileSync(`${path}.${process.pid}`, text)
  renameSync(`${path}.${process.pid}`, path)
}
