// Runs commands one after the other, as `bin/tollgate.mjs` would, and returns their output. Needs the build.

import process from 'node:process'
import { runCommand } from '../../dist/src/cli/run.js'

process.on('message', async ({ work, env, args }) => {
  process.exitCode = undefined
  process.chdir(work)
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)]
  const exit = await runCommand([process.execPath, 'tollgate', ...args])
  process.send({ exit, stdout: stdout.end(), stderr: stderr.end() })
})

/** Collects the output of a stream until `end`. */
function capture(stream) {
  const { write } = stream
  const chunks = []
  stream.write = (chunk, encoding, done = encoding) => {
    chunks.push(Buffer.from(chunk))
    if (typeof done === 'function') process.nextTick(done)
    return true
  }
  return {
    end() {
      stream.write = write
      return Buffer.concat(chunks).toString()
    },
  }
}
