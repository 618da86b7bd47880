// Verifies a pack in this page, with the code of `tollgate verify`. Nothing of it is sent anywhere.

import { EvidenceError, parseTrust, verifyPack, type Report } from '@tollgate/evidence'

const MAX_TRUST = 1 << 20

/** Verifies a pack, with a trust file if there is one. @throws EvidenceError if the trust file cannot be read. */
export async function verify(
  pack: Blob,
  trust: Blob | undefined,
  onProgress: (bytes: number) => void,
): Promise<Report> {
  if (trust && trust.size > MAX_TRUST)
    throw new EvidenceError('TRUST_MALFORMED', 'the trust file is larger than 1 MiB')
  const pinned = trust && (await parseTrust(new Uint8Array(await trust.arrayBuffer())))
  return verifyPack(chunksOf(pack), {
    ...(pinned && { trust: pinned }),
    onProgress: ({ bytes }) => onProgress(bytes),
  })
}

async function* chunksOf(file: Blob): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
      // The page stays usable.
      await new Promise((resolve) => setTimeout(resolve))
    }
  } finally {
    await reader.cancel()
  }
}
