#!/usr/bin/env node
// Entry point of `tollgate`. The version and the status line are answered without the code of the commands, which takes longer to load
// than Node.

import process from 'node:process'
import { VERSION } from './program/version.ts'

const [, , first = '', ...more] = process.argv

/** A status bar runs this every few seconds, so it is answered without the code of the commands, too. */
async function statusLine(): Promise<void> {
  const { lineWanted, printLine } = await import('./setup/status-line.ts')
  const data = lineWanted([first, ...more])
  if (data === undefined) await import('./command-line.ts')
  else process.exitCode = await printLine(data)
}

if (more.length === 0 && /^(?:-V|--version)$/.test(first)) {
  process.stdout.on('error', () => process.exit(1))
  process.stdout.write(`${VERSION}\n`)
} else if (first === 'status' && more[0] === '--line') void statusLine()
else {
  // Not awaited: the bundle is CommonJS, which starts faster and has no top-level await.
  void import('./command-line.ts')
}
