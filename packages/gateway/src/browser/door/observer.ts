// Observes a page: the cheap hashes first, and a full scan only of a document that changed since the last one.

import { sha256Hex } from '@tollgate/evidence'
import { observationOf, type PageHash, type PageReading, type SentinelObservation } from '@tollgate/sentinel'
import { asObject, textOf, type CdpResult } from '../cdp.ts'
import { hashFrame, scanFrame, type SendToPage } from '../isolated.ts'

/** One process of a page: the page itself, or a frame with a process of its own. */
export interface PageSession {
  readonly session: string
  readonly send: SendToPage
}

/** The gateway's own view of a page. It holds text of the page, and stays in memory. */
interface PageSeen {
  readonly observation: SentinelObservation
  readonly readings: readonly PageReading[]
}

/** Observes the pages of one browser. */
export interface Observer {
  /** Observes a page with all its frames. Rejects if a frame cannot be scanned. */
  observe(sessions: readonly PageSession[]): Promise<PageSeen>
  /** Forgets the documents of a session. */
  forget(session: string): void
}

interface KnownDocument {
  readonly document: string
  readonly hash: PageHash
  readonly reading: PageReading
  /** When it was scanned, in milliseconds. */
  readonly at: number
}

// A style rule that changes in place changes no hash, so a scan is not reused for long.
const MAX_AGE_MS = 10_000

// More frames are not scanned: the page counts as one whose scan was cut.
const MAX_FRAMES = 20
const MAX_FINDINGS = 32

/** Creates an observer that knows no page yet. */
export function createObserver(): Observer {
  const known = new Map<string, Map<string, KnownDocument>>()
  return {
    async observe(sessions) {
      const readings: PageReading[] = []
      let cut = false
      for (const each of sessions) {
        for (const frame of await framesOf(each.send)) {
          cut ||= readings.length >= MAX_FRAMES
          if (!cut) readings.push(await read(each, frame))
        }
      }
      return { observation: combine(readings, cut), readings }
    },
    forget: (session) => void known.delete(session),
  }

  async function read({ session, send }: PageSession, { id, document }: ScannedFrame): Promise<PageReading> {
    const frames = known.get(session) ?? new Map<string, KnownDocument>()
    known.set(session, frames)
    const before = frames.get(id)
    if (before?.document === document && performance.now() - before.at <= MAX_AGE_MS) {
      const now = await hashFrame(send, id)
      if (now && isSame(before.hash, now)) return before.reading
    }
    const at = performance.now()
    const reading = await scanFrame(send, id)
    const hash = await hashFrame(send, id)
    // A document that changed during the scan is scanned again next time.
    if (hash && hash.dom_hash === reading.dom_hash) frames.set(id, { document, hash, reading, at })
    else frames.delete(id)
    return reading
  }
}

function isSame(a: PageHash, b: PageHash): boolean {
  return a.url === b.url && a.dom_hash === b.dom_hash && a.layout === b.layout
}

interface ScannedFrame {
  readonly id: string
  /** Identifies the document that the frame has loaded. */
  readonly document: string
}

const OPAQUE = /^(?:|null|:\/\/)$/

/** The frames of a session that need a scan of their own: its main frame, and those of another origin than their parent. */
async function framesOf(send: SendToPage): Promise<readonly ScannedFrame[]> {
  const { frameTree } = await send('Page.getFrameTree')
  const found: ScannedFrame[] = []
  const visit = (tree: CdpResult, origin: string | undefined): void => {
    const { id, loaderId, securityOrigin } = asObject(tree['frame'])
    const own = textOf(securityOrigin)
    // Two opaque origins look the same and are not.
    if (own !== origin || OPAQUE.test(own)) {
      found.push({ id: textOf(id), document: textOf(loaderId) })
    }
    const { childFrames } = tree
    if (!Array.isArray(childFrames) || found.length > MAX_FRAMES) return
    for (const child of childFrames) visit(asObject(child), own)
  }
  visit(asObject(frameTree), undefined)
  return found
}

/** One observation of a page with its frames: the highest risk, all findings, and hashes of everything. */
function combine([main, ...frames]: readonly PageReading[], cut: boolean): SentinelObservation {
  if (!main) throw new Error('the page has no document')
  const own = observationOf(main)
  if (frames.length === 0 && !cut) return own
  const all = [own, ...frames.map(observationOf)]
  const codes = [...all.flatMap((each) => each.sentinel_findings), ...(cut ? ['TRUNCATED'] : [])]
  return {
    url: own.url,
    dom_hash: sha256Hex(all.map(({ dom_hash }) => dom_hash).join('\n')),
    visual_text_hash: sha256Hex(all.map(({ visual_text_hash }) => visual_text_hash).join('\n')),
    sentinel_risk: Math.max(...all.map(({ sentinel_risk }) => sentinel_risk)),
    sentinel_findings: [...new Set(codes)].sort().slice(0, MAX_FINDINGS),
  }
}
