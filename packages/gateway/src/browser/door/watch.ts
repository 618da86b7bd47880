// The gateway's own observation of a page, also when the page answers nothing: under a dialog, while it hangs, or after a crash.

import { sha256Hex } from '@tollgate/evidence'
import { observationOf, type SentinelObservation } from '@tollgate/sentinel'
import { scanHtml } from '@tollgate/sentinel/static'
import { asObject, textOf, type Cdp } from '../cdp.ts'
import type { Observer, PageSession } from './observer.ts'
import type { Dialog, OpenPage } from './pages.ts'

/** An observation of a page. */
export interface Watched {
  /** Of a page that could not be scanned only the URL is known, which is never enough for a side effect. */
  readonly observation: SentinelObservation | UnreadPage
  /** Whether all frames of the page have its own origin. */
  readonly oneOrigin: boolean
}

interface Whole extends Watched {
  readonly observation: SentinelObservation
  /** The document that was observed, as its page named it before. */
  readonly document: string
}

interface UnreadPage {
  readonly url: string
  readonly sentinel_findings: readonly string[]
}

/** Observes pages for the calls of one browser. */
export interface PageWatch {
  /** Never rejects. */
  observe(page: OpenPage): Promise<Watched>
}

/** Creates the observation of one browser. `within` gives the sessions of the frames of a page that have a process of their own. */
export function createWatch(
  cdp: Cdp,
  observer: Observer,
  within: (page: OpenPage) => readonly PageSession[],
): PageWatch {
  const last = new Map<string, Whole>()
  return {
    async observe(page) {
      const { dialog, document } = page
      const before = last.get(page.id)
      if (dialog) return underDialog(page, before, dialog)
      try {
        const { observation, readings } = await orDialog(page, observer.observe([page, ...within(page)]))
        const whole = { observation, oneOrigin: readings.length === 1, document }
        last.set(page.id, whole)
        return whole
      } catch {
        observer.forget(page.session)
        return page.dialog ? underDialog(page, before, page.dialog) : unread(await addressOf(cdp, page))
      }
    },
  }
}

/** The observation, unless a dialog opens first: under it, no evaluation ends. */
function orDialog<Value>(page: OpenPage, work: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    page.onDialog = () => reject(new Error('a dialog has opened'))
    work.then(resolve, reject).finally(() => (page.onDialog = undefined))
  })
}

/** A page under a dialog: what it was before, and the text of the dialog. An approval covers this text too. */
function underDialog(page: OpenPage, last: Whole | undefined, { type, message, url }: Dialog): Watched {
  // Nothing is known of a document that opens a dialog before it could be observed, nor of a frame.
  if (last?.document !== page.document || last.observation.url !== url) return unread(url)
  const { observation: before, oneOrigin } = last
  const shown = observationOf(scanHtml(`<p>${escaped(message)}</p>`, url))
  const also = (hash: string): string => sha256Hex(JSON.stringify([hash, type, message]))
  const observation = {
    url: before.url,
    dom_hash: also(before.dom_hash),
    visual_text_hash: also(before.visual_text_hash),
    sentinel_risk: Math.max(before.sentinel_risk, shown.sentinel_risk),
    sentinel_findings: [...new Set([...before.sentinel_findings, ...shown.sentinel_findings])].sort(),
  }
  return { observation, oneOrigin }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

function unread(url: string): Watched {
  return { observation: { url, sentinel_findings: ['PAGE_NOT_SCANNED'] }, oneOrigin: false }
}

/** The address of a page by the browser itself, which answers also if the page does not. */
async function addressOf(cdp: Cdp, { id }: OpenPage): Promise<string> {
  try {
    const { targetInfo } = await cdp.send('Target.getTargetInfo', { targetId: id }, { timeout: ADDRESS_MS })
    return textOf(asObject(targetInfo)['url'])
  } catch {
    return ''
  }
}

const ADDRESS_MS = 5000
