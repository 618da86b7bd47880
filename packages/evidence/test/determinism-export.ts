// Exports packs in a separate process and prints their digests.

import { sha256Hex, writePack, type PackRequest } from '../src/index.ts'
import { collect, demoLedger } from './ledger.ts'
import { longLedger } from './pack-ledger.ts'

/** The compared requests. */
export const REQUESTS: readonly PackRequest[] = [
  { range: { start: 0, end: 24 } },
  { range: { start: 9, end: 20 }, selected: [0, 1, 3], since: 5 },
  { selected: [0, 1, 8, 23] },
]

/** The digests of the packs of all requests, of the demo ledger and of a long one. */
export async function digests(): Promise<string[]> {
  const [demo, long] = [await demoLedger(), await longLedger()]
  const packs = [
    ...REQUESTS.map((request) => writePack(demo, request)),
    writePack(long.ledger, { range: { start: 0, end: long.ledger.size } }),
  ]
  const made: string[] = []
  for (const pack of packs) made.push(sha256Hex(await collect(pack)))
  return made
}

if (process.argv[1] === import.meta.filename) {
  const offset = new Date(0).getTimezoneOffset()
  console.log(JSON.stringify({ offset, locale: process.env.LANG, digests: await digests() }))
}
