#!/usr/bin/env node
// Entry point of `tollgate`. The version is answered without the code of the commands, which takes longer to load than Node.

import process from 'node:process'
import { VERSION } from './program/version.ts'

const [, , first = '', ...more] = process.argv
if (more.length === 0 && /^(?:-V|--version)$/.test(first)) {
  process.stdout.on('error', () => process.exit(1))
  process.stdout.write(`${VERSION}\n`)
} else {
  // Not awaited: the bundle is CommonJS, which starts faster and has no top-level await.
  void import('./command-line.ts')
}
