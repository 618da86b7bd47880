#!/usr/bin/env node
// The command has to be here before anything is built: npm links only what it finds. It is waited for, so it imports nothing:
// the bundle is taken if it is there and nothing was built after it, else the modules one by one.

const { existsSync, statSync } = process.getBuiltinModule('node:fs')
const { createRequire } = process.getBuiltinModule('node:module')

const modules = new URL('../dist/src/cli/main.js', import.meta.url)
const bundle = new URL('../dist/bundle/tollgate.cjs', import.meta.url)
// What the compiler leaves whenever it builds; not there in a package, where nothing is built again.
const BUILDS = [
  'gateway/dist/src',
  'kernel/dist/src',
  'client/dist/playwright',
  'client/dist/src',
  'evidence/dist/src',
  'evidence/dist/node',
  'sentinel/dist/src',
  'sentinel/dist/static',
]

if (isNewest(bundle)) createRequire(import.meta.url)('../dist/bundle/tollgate.cjs')
else if (existsSync(modules)) await import(modules.href)
else {
  process.stderr.write(
    'tollgate: not built yet\ntollgate: run `npm run build`, or `npm start` for all of it\n',
  )
  process.exitCode = 2
}

function isNewest(file) {
  const made = changed(file)
  return (
    made > 0 &&
    BUILDS.every((build) => changed(new URL(`../../${build}/tsconfig.tsbuildinfo`, import.meta.url)) <= made)
  )
}

function changed(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
