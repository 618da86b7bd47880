// Evaluates in an isolated world of a frame, whose functions the page cannot have replaced, and checks what the Sentinel returns.

import type { PageHash, PageReading } from '@tollgate/sentinel'
import { PAGE_SCRIPT } from '@tollgate/sentinel/page'
import { asObject, textOf, type CdpResult } from './cdp.ts'

/** Sends a command to one session of a browser. `timeout` is in milliseconds. */
export type SendToPage = (method: string, params?: object, timeout?: number) => Promise<CdpResult>

const SCANNING = 15_000
const HASHING = 5_000

/** Scans the document of a frame. */
export async function scanFrame(send: SendToPage, frameId: unknown): Promise<PageReading> {
  const known = await evaluateIn(send, frameId, 'globalThis.tollgateSentinel?.scan()', SCANNING)
  if (known !== undefined) return readingOf(known)
  return readingOf(await evaluateIn(send, frameId, `${PAGE_SCRIPT};tollgateSentinel.scan()`, SCANNING))
}

/** The hashes of the document of a frame; undefined if it was not scanned before. */
export async function hashFrame(send: SendToPage, frameId: unknown): Promise<PageHash | undefined> {
  const found = await evaluateIn(send, frameId, 'globalThis.tollgateSentinel?.hashOnly()', HASHING)
  const { url, dom_hash, layout } = asObject(found)
  const whole = typeof url === 'string' && HASH.test(textOf(dom_hash)) && typeof layout === 'string'
  // Sound: every member was checked.
  return whole ? ({ url, dom_hash, layout } as PageHash) : undefined
}

/** Evaluates in the Sentinel's world of a frame. Without a frame, in that of the page's main frame. */
export async function evaluateIn(
  send: SendToPage,
  frameId: unknown,
  expression: string,
  timeout: number = SCANNING,
): Promise<unknown> {
  const world = await send('Page.createIsolatedWorld', { frameId, worldName: 'tollgate-sentinel' }, timeout)
  const answer = await send(
    'Runtime.evaluate',
    { expression, contextId: world['executionContextId'], returnByValue: true },
    timeout,
  )
  if (answer['exceptionDetails'] !== undefined) throw new Error('the scan of the page failed')
  return asObject(answer['result'])['value']
}

/** The id of the main frame of a session. */
export async function mainFrame(send: SendToPage): Promise<unknown> {
  const { frameTree } = await send('Page.getFrameTree')
  return asObject(asObject(frameTree)['frame'])['id']
}

const HASH = /^[0-9a-f]{64}$/

/** Checks the answer of the page script. Its world is not the page's, but its process is. */
function readingOf(value: unknown): PageReading {
  const { url, dom_hash, visual_text_hash, risk, findings, projection } = asObject(value)
  const whole =
    typeof url === 'string' &&
    typeof projection === 'string' &&
    typeof risk === 'number' &&
    risk >= 0 &&
    risk <= 100 &&
    Array.isArray(findings) &&
    HASH.test(textOf(dom_hash)) &&
    HASH.test(textOf(visual_text_hash))
  if (!whole) throw new Error('the scan of the page returned no reading')
  // Sound: every member that a decision uses was checked.
  return value as PageReading
}
