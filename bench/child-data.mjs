// The data directory of a gateway that is measured: what `tollgate init` writes, with more. No agent is held back for how much it
// sends or stores: the load of a benchmark comes from a few.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createData } from '../packages/gateway/dist/src/cli/setup/create.js'

const LIMITS = '  reading: { rate: 1024MiB, burst: 1024MiB }\n  storage: 1024TiB\n'

/** Makes a data directory; `more` is added to its configuration. `urlEnv` names the variable with the URL of a database. */
export async function makeData(data, more, urlEnv) {
  await createData(data, { port: 0, ...(urlEnv && { urlEnv }) }, () => undefined)
  const file = join(data, 'tollgate.yaml')
  // The key of its kept calls goes with it, and is not left among those of the user.
  const keep = `keep: { calls: 7d, key-file: ${JSON.stringify(`${data}-seal.key`)} }`
  const text = readFileSync(file, 'utf8').replace('keep: { calls: 7d }', keep)
  const [before, after, ...others] = text.split('\nlimits:\n')
  if (after === undefined || others.length > 0) throw new Error('tollgate.yaml has no place for limits')
  writeFileSync(file, `${before}\nlimits:\n${LIMITS}${after}\n${more}\n`)
}
