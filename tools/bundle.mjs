// Bundles the command `tollgate` and the ledger threads from the output of `tsc`, so that a start reads a few files instead
// of two hundred. The parts are CommonJS, which Node starts faster, and not minified, so that stack traces stay readable.
// `bin/tollgate.mjs` and `thread.ts` use the bundle while it is not older than its sources.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, transform } from 'esbuild'
import { writeConsole } from './console.mjs'
import { writePageScript } from './page-script.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const gateway = join(root, 'packages/gateway')
const target = join(gateway, 'dist/bundle')
const ENTRIES = {
  'reader-thread': 'store/sqlite/reader-thread',
  'signer-thread': 'store/sqlite/signer-thread',
  'writer-thread': 'store/sqlite/writer-thread',
  tollgate: 'cli/main',
}
const TOOLS = { platform: 'node', target: 'node20', logLevel: 'error' }
// These depend on the location, so they are computed at run time.
const PLACES = {
  TOLLGATE_BUNDLE: `require('node:url').pathToFileURL(__filename).href`,
  TOLLGATE_EVIDENCE: `require('node:url').pathToFileURL(require.resolve('@tollgate/evidence/node')).href`,
}

// The gateway's bundle contains the one, and the gateway serves the other.
await writePageScript()
const pageInputs = await writeConsole()

// Taken first: anything built from now on is newer than this bundle.
const began = new Date()
const { outputFiles, metafile } = await build({
  ...TOOLS,
  entryPoints: Object.entries(ENTRIES).map(([out, path]) => ({
    out,
    in: join(gateway, `dist/src/${path}.js`),
  })),
  absWorkingDir: root,
  outdir: target,
  outExtension: { '.js': '.cjs' },
  bundle: true,
  splitting: true,
  format: 'esm',
  // They have files next to their code, or are loaded only by gateways with a database.
  external: ['@photostructure/sqlite', 'pg', 'undici'],
  plugins: [
    { name: 'places', setup: (hooks) => hooks.onLoad({ filter: /[\\/]packages[\\/].*\.js$/ }, placed) },
  ],
  metafile: true,
  write: false,
})
const files = new Map([['LICENSES.txt', licences([...Object.keys(metafile.inputs), ...pageInputs])]])
// `tollgate setup` of coding agents offers this policy.
for (const name of ['developer.yaml', 'developer.test.yaml'])
  files.set(name, readFileSync(join(root, 'examples/policies', name), 'utf8'))
for (const { path, text } of outputFiles) files.set(basename(path), await commonJs(text))
write(files)
// Tells a test what a command loads. Not part of the package.
writeFileSync(join(gateway, 'dist/bundle-contents.json'), JSON.stringify(contents()))

/** The modules in each part of the bundle. */
function contents() {
  const parts = Object.entries(metafile.outputs).map(([path, { inputs }]) => [
    basename(path),
    Object.keys(inputs),
  ])
  return Object.fromEntries(parts)
}

/** The code of one of our modules. References to files next to it still work for files that are not bundled. */
function placed({ path }) {
  const code = readFileSync(path, 'utf8')
  if (!code.includes('import.meta.url')) return undefined
  const inGateway = path.startsWith(gateway + sep)
  // In an installed package, the evidence package is in another place. Everything used from it is in one folder.
  if (!inGateway && dirname(path) !== join(root, 'packages/evidence/dist/node'))
    throw new Error(`unknown location of ${path}`)
  const url = inGateway
    ? `new URL(${JSON.stringify(relative(target, path).split(sep).join('/'))}, TOLLGATE_BUNDLE).href`
    : 'TOLLGATE_EVIDENCE'
  return { contents: code.replaceAll('import.meta.url', `(${url})`) }
}

/** A part of the bundle as CommonJS, including its dynamic imports. */
async function commonJs(text) {
  const { code, warnings } = await transform(text, {
    ...TOOLS,
    format: 'cjs',
    supported: { 'dynamic-import': false },
  })
  if (warnings.length > 0) throw new Error(warnings.map((warning) => warning.text).join('\n'))
  const used = Object.entries(PLACES).filter(([name]) => code.includes(name))
  const head = used.map(([name, value]) => `const ${name} = ${value};\n`).join('')
  const [, first = ''] = /^(#!.*\n)/.exec(code) ?? []
  return `${first}${head}${code.slice(first.length)}`
}

/** The licences of all bundled third-party code. */
function licences(inputs) {
  const inside = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/
  const folders = new Set(inputs.flatMap((path) => inside.exec(path)?.[0] ?? []))
  return [...folders]
    .sort()
    .map(licenceIn)
    .join(`\n${'-'.repeat(80)}\n\n`)
}

function licenceIn(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  const file = readdirSync(join(root, folder)).find((each) => /^licen[cs]e/i.test(each))
  if (file === undefined) throw new Error(`${name} has no licence file to include in the bundle`)
  return `${name} ${version} (${license})\n\n${readFileSync(join(root, folder, file), 'utf8').trim()}\n`
}

/** Writes changed files, entry points last: a command may be starting, or another build running. */
function write(files) {
  mkdirSync(target, { recursive: true })
  const entries = Object.keys(ENTRIES).map((name) => `${name}.cjs`)
  const parts = [...files.keys()].filter((name) => !entries.includes(name))
  for (const name of [...parts, ...entries]) {
    const path = join(target, name)
    if (existsSync(path) && readFileSync(path, 'utf8') === files.get(name)) continue
    writeFileSync(`${path}.${process.pid}`, files.get(name))
    renameSync(`${path}.${process.pid}`, path)
  }
  for (const name of readdirSync(target)) if (!files.has(name)) removeOld(join(target, name))
  for (const name of entries) utimesSync(join(target, name), began, began)
}

/** A running gateway may still load a part of an older bundle, but hardly after a day. */
function removeOld(path) {
  const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {}
  if (mtimeMs < began.getTime() - 86_400_000) rmSync(path, { force: true })
}
