// Bundles the command `tollgate` and the threads of the ledger from what `tsc` built: a start then reads a few files instead of
// two hundred. The parts are CommonJS, because Node starts that sooner, and not minified, because that gains nothing and a trace of the
// stack shall be readable. `bin/tollgate.mjs` and `thread.ts` take the bundle while it is as new as what it was made from.

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
// What these stand for depends on the place, so it is found out when the command runs.
const PLACES = {
  TOLLGATE_BUNDLE: `require('node:url').pathToFileURL(__filename).href`,
  TOLLGATE_EVIDENCE: `require('node:url').pathToFileURL(require.resolve('@tollgate/evidence/node')).href`,
}

// Taken first: whatever is built from now on is newer than this bundle.
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
  // Both have files beside their code; they are loaded only by commands that need them.
  external: ['@photostructure/sqlite', 'undici'],
  plugins: [
    { name: 'places', setup: (hooks) => hooks.onLoad({ filter: /[\\/]packages[\\/].*\.js$/ }, placed) },
  ],
  metafile: true,
  write: false,
})
const files = new Map([['LICENSES.txt', licences(Object.keys(metafile.inputs))]])
for (const { path, text } of outputFiles) files.set(basename(path), await commonJs(text))
write(files)

/** The code of a module of ours. Where it looks for files beside itself, it still finds those that are not bundled. */
function placed({ path }) {
  const code = readFileSync(path, 'utf8')
  if (!code.includes('import.meta.url')) return undefined
  const inGateway = path.startsWith(gateway + sep)
  // In a package that is installed, the evidence is somewhere else than here; all that is asked of it is in one folder.
  if (!inGateway && dirname(path) !== join(root, 'packages/evidence/dist/node'))
    throw new Error(`no place is known for ${path}`)
  const url = inGateway
    ? `new URL(${JSON.stringify(relative(target, path).split(sep).join('/'))}, TOLLGATE_BUNDLE).href`
    : 'TOLLGATE_EVIDENCE'
  return { contents: code.replaceAll('import.meta.url', `(${url})`) }
}

/** A part of the bundle as CommonJS, also where it loads another one later. */
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

/** The licences of all that is bundled and not ours. */
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
  if (file === undefined) throw new Error(`${name} has no licence that could go with the bundle`)
  return `${name} ${version} (${license})\n\n${readFileSync(join(root, folder, file), 'utf8').trim()}\n`
}

/** Writes what has changed, the entries last: a command may be starting, or another build running. */
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

/** A gateway that runs may still load a part of an older bundle; after a day hardly. */
function removeOld(path) {
  const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {}
  if (mtimeMs < began.getTime() - 86_400_000) rmSync(path, { force: true })
}
