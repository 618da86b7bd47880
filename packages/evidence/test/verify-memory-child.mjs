// Verifies a pack and prints its peak memory. Plain JavaScript, so that the process contains nothing else.

import { existsSync, readFileSync } from 'node:fs'
import { verifyFile } from '@tollgate/evidence/node'

/** On Linux `maxRSS` includes the memory of the parent process; the own peak is in `/proc`. */
function peakKilobytes() {
  const status = '/proc/self/status'
  const own = existsSync(status) ? /VmHWM:\s+(\d+) kB/.exec(readFileSync(status, 'utf8')) : null
  return own ? Number(own[1]) : process.resourceUsage().maxRSS
}

const { exit } = await verifyFile(process.argv[2])
console.log(JSON.stringify({ exit, megabytes: peakKilobytes() / 1024 }))
