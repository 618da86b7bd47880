// A tap between a gateway and a server: `node mcp-tap.mjs FILE COMMAND ARGS…` runs the server and records every byte before it
// is sent. Bytes that are not in the file have not reached the server.

import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import process from 'node:process'

const [file, command, ...args] = process.argv.slice(2)
const child = spawn(command, args, { stdio: ['pipe', 'inherit', 'inherit'] })

process.stdin.on('data', (chunk) => {
  appendFileSync(file, chunk)
  child.stdin.write(chunk)
})
process.stdin.on('end', () => child.stdin.end())
// The server ended first. Later bytes cannot reach it, but are recorded.
child.stdin.on('error', () => undefined)
child.on('error', () => process.exit(127))
child.on('exit', (code) => process.exit(code ?? 1))
process.on('SIGTERM', () => child.kill('SIGTERM'))
