// Builds the page of the console into the gateway: one HTML file, its style, and its script in parts that load when they are needed.

import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = join(root, 'packages/console')
const target = join(root, 'packages/gateway/dist/console')
const COMPRESSED = /\.(?:html|js|css|svg)$/

/** Writes the page, if it changes. Returns the files that went into it. */
export async function writeConsole() {
  const { outputFiles, metafile } = await build({
    entryPoints: { console: join(source, 'dist/src/main.js'), style: join(source, 'src/style.css') },
    absWorkingDir: root,
    outdir: target,
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    // The first versions that have Ed25519, as the offline verifier needs them.
    target: ['chrome137', 'firefox129', 'safari17.5'],
    legalComments: 'none',
    logLevel: 'error',
    metafile: true,
    write: false,
  })
  const files = new Map(outputFiles.map(({ path, contents }) => [basename(path), Buffer.from(contents)]))
  const icon = readFileSync(join(source, 'src/icon.svg'))
  const iconName = `icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8)}.svg`
  files.set(iconName, icon)
  const named = (start, end) => [...files.keys()].find((name) => name.startsWith(start) && name.endsWith(end))
  const parts = { icon: iconName, style: named('style-', '.css'), script: named('console-', '.js') }
  const html = readFileSync(join(source, 'src/index.html'), 'utf8')
  files.set('index.html', Buffer.from(html.replaceAll(/\{\{([a-z]+)\}\}/g, (_, name) => parts[name])))
  write(files)
  return Object.keys(metafile.inputs)
}

/** Writes changed files, the page last: a browser may be loading it. */
function write(files) {
  mkdirSync(target, { recursive: true })
  for (const [name, content] of files) {
    const path = join(target, name)
    if (existsSync(path) && readFileSync(path).equals(content)) continue
    if (COMPRESSED.test(name)) put(`${path}.gz`, gzipSync(content, { level: 9 }))
    put(path, content)
  }
  for (const name of readdirSync(target))
    if (!files.has(name.replace(/\.gz$/, ''))) removeOld(join(target, name))
}

function put(path, content) {
  writeFileSync(`${path}.${process.pid}`, content)
  renameSync(`${path}.${process.pid}`, path)
}

/** A page that is open may still load a part of an older build, but hardly after a day. */
function removeOld(path) {
  const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {}
  if (mtimeMs < Date.now() - 86_400_000) rmSync(path, { force: true })
}
