// Between a gateway and a server: `node mcp-tap.mjs FILE COMMAND ARGS…` runs the server and writes down every byte it is sent,
// before it is sent. What is not in the file has not reached the server.

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
// It has ended first: what comes after cannot reach it, and is written down all the same.
child.stdin.on('error', () => undefined)
child.on('error', () => process.exit(127))
child.on('exit', (code) => process.exit(code ?? 1))
process.on('SIGTERM', () => child.kill('SIGTERM'))
