// Verifies a pack and says how much memory that took at most. Plain JavaScript, so that nothing else is in the process.

import { existsSync, readFileSync } from 'node:fs'
import { verifyFile } from '@tollgate/evidence/node'

/** Linux counts the memory of the process that started this one into `maxRSS`; its own peak is in `/proc`. */
function peakKilobytes() {
  const status = '/proc/self/status'
  const own = existsSync(status) ? /VmHWM:\s+(\d+) kB/.exec(readFileSync(status, 'utf8')) : null
  return own ? Number(own[1]) : process.resourceUsage().maxRSS
}

const { exit } = await verifyFile(process.argv[2])
console.log(JSON.stringify({ exit, megabytes: peakKilobytes() / 1024 }))
