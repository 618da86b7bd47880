// Follows the pages of a browser on a DevTools session of its own: which pages are open, and which page load sent a request.

import { readHttpUrl, type BrowserPage } from '@tollgate/kernel/detection'
import { asObject, textOf, type Cdp, type CdpResult } from '../cdp.ts'
import { labelOf } from './authority.ts'

/** One load of a page, until the page is left. */
export interface PageLoad {
  /** The host of the page; undefined for a page without one. */
  readonly host: string | undefined
}

/** Why a request was sent. */
export interface Cause {
  readonly load: PageLoad | undefined
  /** The type of the request, in lower case. */
  readonly type: string
}

/** The pages of one browser. */
export interface Pages {
  /** The pages that are open now, with a page whose document has just arrived. */
  open(): Promise<readonly BrowserPage[]>
  /** The causes of the newest requests for a host, oldest first, at most `most`. Each is returned once. */
  causesOf(label: string, most: number): readonly Cause[]
  close(): Promise<void>
}

const MAX_HOSTS = 1_000
const MAX_CAUSES_OF_HOST = 64
/** A page that does not say where it is counts as closed. */
const ANSWERING = 2_000

interface Followed {
  /** The session that it was found on. */
  readonly above: string | undefined
  readonly offs: readonly (() => void)[]
}

interface Page {
  readonly session: string
  load: PageLoad
}

/** Starts to follow all pages. `left` is called when a page load has ended. */
export async function followPages(cdp: Cdp, left: (load: PageLoad) => void): Promise<Pages> {
  const root = textOf((await cdp.send('Target.attachToBrowserTarget'))['sessionId'])
  const pages = new Map<string, Page>()
  const followed = new Map<string, Followed>()
  const causes = new Map<string, Cause[]>()
  let asking: Promise<readonly BrowserPage[]> | undefined
  let next: Promise<readonly BrowserPage[]> | undefined
  await follow(root, undefined, undefined)
  return {
    open: askAll,
    causesOf: (label, most) => causes.get(label)?.splice(0, most) ?? [],
    async close() {
      forget(root)
      await cdp.send('Target.detachFromTarget', { sessionId: root }).catch(() => undefined)
    },
  }

  /** Follows everything that belongs to a session: frames and workers of a page, and the pages of the browser. */
  async function follow(session: string, above: string | undefined, page: Page | undefined): Promise<void> {
    const on = (method: string, listener: (params: CdpResult) => void): (() => void) =>
      cdp.on(method, session, listener)
    const offs = [
      on('Target.attachedToTarget', (params) => attached(params, session, page)),
      on('Target.detachedFromTarget', ({ sessionId }) => forget(textOf(sessionId))),
      on('Network.requestWillBeSent', ({ request, type }) => cause(asObject(request)['url'], type, page)),
      on('Network.webSocketCreated', ({ url }) => cause(url, 'WebSocket', page)),
      ...(page?.session === session
        ? [on('Page.frameNavigated', ({ frame }) => navigated(asObject(frame), page))]
        : []),
    ]
    followed.set(session, { above, offs })
    await cdp.send('Target.setAutoAttach', AUTO_ATTACH, { session })
  }

  function attached({ sessionId, targetInfo }: CdpResult, above: string, parent: Page | undefined): void {
    const session = textOf(sessionId)
    const { type, url } = asObject(targetInfo)
    const page = type === 'page' ? { session, load: { host: hostOf(textOf(url)) } } : parent
    if (page?.session === session) pages.set(session, page)
    // A target that has already gone refuses.
    const failed = (): void => forget(session)
    follow(session, above, page).catch(failed)
    cdp.send('Network.enable', NO_BUFFERS, { session }).catch(() => undefined)
    if (type === 'page') cdp.send('Page.enable', {}, { session }).catch(failed)
  }

  function forget(session: string): void {
    for (const off of followed.get(session)?.offs ?? []) off()
    followed.delete(session)
    for (const [below, { above }] of followed) if (above === session) forget(below)
    const page = pages.get(session)
    pages.delete(session)
    if (page) left(page.load)
  }

  function navigated(frame: CdpResult, page: Page): void {
    if (frame['parentId'] !== undefined) return
    left(page.load)
    page.load = { host: hostOf(textOf(frame['url'])) }
  }

  function cause(url: unknown, type: unknown, page: Page | undefined): void {
    const label = hostOf(textOf(url))
    if (label === undefined) return
    const known = causes.get(label) ?? []
    causes.delete(label)
    causes.set(label, [
      ...known.slice(1 - MAX_CAUSES_OF_HOST),
      { load: page?.load, type: textOf(type).toLowerCase() },
    ])
    const [oldest] = causes.keys()
    if (causes.size > MAX_HOSTS && oldest !== undefined) causes.delete(oldest)
  }

  /** Asks all pages. Callers that come while an answer is on its way share the next one. */
  function askAll(): Promise<readonly BrowserPage[]> {
    if (!asking) {
      asking = askEach().finally(() => void (asking = undefined))
      return asking
    }
    next ??= asking.then(() => {
      next = undefined
      return askAll()
    })
    return next
  }

  async function askEach(): Promise<readonly BrowserPage[]> {
    const answers = await Promise.all([...pages.keys()].map((session) => whereIs(session)))
    return answers.filter((page) => page !== undefined)
  }

  async function whereIs(session: string): Promise<BrowserPage | undefined> {
    try {
      const answer = await cdp.send('Page.getFrameTree', {}, { session, timeout: ANSWERING })
      return pageOf(asObject(asObject(answer['frameTree'])['frame']))
    } catch {
      return undefined
    }
  }
}

const AUTO_ATTACH = { autoAttach: true, waitForDebuggerOnStart: false, flatten: true }
// Bodies are not read, so the browser need not keep them.
const NO_BUFFERS = { maxTotalBufferSize: 0, maxResourceBufferSize: 0, maxPostDataSize: 0 }

/** A frame as a page. A page that could not be loaded has no address. */
function pageOf({ url, domainAndRegistry, unreachableUrl }: CdpResult): BrowserPage | undefined {
  const at = unreachableUrl === undefined ? readHttpUrl(originOf(textOf(url))) : undefined
  if (!at) return undefined
  const domain = textOf(domainAndRegistry)
  const isRegistrable = domain.includes('.') && (at.host === domain || at.host.endsWith(`.${domain}`))
  return { at, site: isRegistrable ? domain : '' }
}

function hostOf(url: string): string | undefined {
  const found = readHttpUrl(originOf(url.replace(/^ws/, 'http')))
  return found && labelOf(found)
}

/** The part of a URL before its path. */
function originOf(url: string): string {
  return /^https?:\/\/[^/]*\//.exec(url)?.[0] ?? ''
}
