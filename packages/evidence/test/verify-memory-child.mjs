// Verifies a pack and says how much memory that took at most. Plain JavaScript, so that nothing else is in the process.

import { verifyFile } from '@tollgate/evidence/node'

const { exit } = await verifyFile(process.argv[2])
console.log(JSON.stringify({ exit, megabytes: process.resourceUsage().maxRSS / 1024 }))
