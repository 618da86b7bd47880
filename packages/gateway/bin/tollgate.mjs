#!/usr/bin/env node
// The command has to be here before anything is built: npm links only what it finds.
import { existsSync } from 'node:fs'

const built = new URL('../dist/src/cli/main.js', import.meta.url)
if (existsSync(built)) await import(built.href)
else {
  process.stderr.write(
    'tollgate: not built yet\ntollgate: run `npm run build`, or `npm start` for all of it\n',
  )
  process.exitCode = 2
}
