// Verifies a pack and says how much memory that took at most. Plain JavaScript, so that nothing else is in the process.

import { readFile } from 'node:fs/promises'
import { parseTrust } from '@tollgate/evidence'
import { verifyFile } from '@tollgate/evidence/node'

const [, , pack, trustFile] = process.argv
const trust = await parseTrust(await readFile(trustFile))
const { level, summary } = await verifyFile(pack, { trust })
const peak = process.resourceUsage().maxRSS / 1024
console.log(JSON.stringify({ level, receipts: summary.receipts, peak }))
