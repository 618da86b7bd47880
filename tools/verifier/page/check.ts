// Verifies the files with the code of `tollgate verify`. Runs in a worker, or in the page where workers are refused.

import {
  EvidenceError,
  formatTrust,
  parseTrust,
  verifyPack,
  type Report,
  type SignatureChecker,
  type Trust,
} from '../../../packages/evidence/src/index.ts'
import { signatureHolds } from '../../../packages/evidence/src/receipt.ts'
import type { Claim, Job, Told } from './messages.ts'

// The largest trust file has some hundred keys and a checkpoint.
const MAX_TRUST_BYTES = 1 << 20

/** The browser checks signatures in its own threads, so that one bundle keeps several of them busy. */
const together: SignatureChecker = {
  parallel: 4,
  check: (jobs) => Promise.all(jobs.map(({ receipt, key }) => signatureHolds(receipt, key))),
}

/** Verifies a pack and tells everything about it. Never throws. Ends early, without a word, once `isStopped` says so. */
export async function check(
  job: Job,
  tell: (told: Told) => void,
  isStopped: () => boolean = () => false,
): Promise<void> {
  try {
    const trust = job.trust && (await readTrust(job.trust))
    const report = await verify(job.pack, trust, tell, isStopped)
    tell({ type: 'done', report, ...newTrust(report, trust) })
  } catch (fault) {
    tell({ type: 'stopped', why: reasonFor(fault) })
  }
}

async function readTrust(file: Blob): Promise<Trust> {
  if (file.size > MAX_TRUST_BYTES) {
    throw new EvidenceError('TRUST_MALFORMED', 'the trust file is refused: it is larger than 1 MiB')
  }
  return parseTrust(new Uint8Array(await file.arrayBuffer()))
}

async function verify(
  pack: Blob,
  trust: Trust | undefined,
  tell: (told: Told) => void,
  isStopped: () => boolean,
): Promise<Report> {
  let claims: Claim[] = []
  let last = { bytes: 0, receipts: 0 }
  const flush = (): void => {
    tell({ type: 'progress', ...last, claims })
    claims = []
  }
  const report = await verifyPack(chunksOf(pack, isStopped), {
    ...(trust && { trust }),
    signatures: together,
    onReceipt: ({ index, id, receipt }) => claims.push({ index, id, text: JSON.stringify(receipt) }),
    onProgress(progress) {
      last = progress
      flush()
    },
  })
  // A pack that breaks off has claims that no progress followed.
  flush()
  return report
}

async function* chunksOf(file: Blob, isStopped: () => boolean): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      if (isStopped()) throw new Error('stopped')
      yield value
    }
  } finally {
    await reader.cancel()
  }
}

/** The trust file with the checkpoint that was just verified, for the next time. */
function newTrust(report: Report, trust: Trust | undefined): { readonly newTrust?: string } {
  if (!trust || report.checkpoint === undefined) return {}
  const { ledger, keys, witnesses, quorum } = trust
  return { newTrust: formatTrust({ ledger, keys, witnesses, quorum, checkpoint: report.checkpoint }) }
}

function reasonFor(fault: unknown): string {
  if (fault instanceof EvidenceError && fault.code === 'KEY_UNAVAILABLE')
    return 'this browser cannot check Ed25519 signatures; use a newer one'
  if (fault instanceof EvidenceError) return fault.message
  if (fault instanceof DOMException && fault.name === 'NotReadableError')
    return 'the browser cannot read the file; choose it again'
  return fault instanceof Error ? fault.message : String(fault)
}
