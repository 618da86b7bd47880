// Follows the pages of a browser on a DevTools session of its own: which pages are open, and which page load sent a request.

import { readHttpUrl, type BrowserPage, type Target } from '@tollgate/kernel/detection'
import { asObject, textOf, type Cdp, type CdpResult } from '../cdp.ts'
import { labelOf } from './authority.ts'
import { fresh } from './fresh.ts'

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

/** An open page. */
interface LoadedPage extends BrowserPage {
  readonly load: PageLoad
}

/** The pages of one browser. */
export interface Pages {
  /** The pages that are open, as far as the browser has reported them. */
  known(): readonly LoadedPage[]
  /** Waits until the browser has reported all pages whose requests may have arrived already. */
  settled(): Promise<void>
  /** The causes of the newest requests for a host, oldest first, at most `most`. Each is returned once. */
  causesOf(label: string, most: number): readonly Cause[]
  close(): Promise<void>
}

const MAX_HOSTS = 1_000
const MAX_CAUSES_OF_HOST = 64
/** A page does not answer while it is being replaced. */
const ANSWERING = 500

interface Followed {
  /** The session that it was found on. */
  readonly above: string | undefined
  readonly offs: readonly (() => void)[]
}

interface FollowedPage {
  readonly session: string
  /** Undefined for a page without a host. */
  at: BrowserPage | undefined
  load: PageLoad
}

/** Gets notice of page loads. */
interface LoadWatcher {
  /** A page has opened another address, or the same one again. */
  readonly loaded: (at: Target, load: PageLoad, before: PageLoad) => void
  /** A page load has ended. */
  readonly left: (load: PageLoad) => void
}

/** Starts to follow all pages. */
export async function followPages(cdp: Cdp, { loaded, left }: LoadWatcher): Promise<Pages> {
  const root = textOf((await cdp.send('Target.attachToBrowserTarget'))['sessionId'])
  const pages = new Map<string, FollowedPage>()
  const followed = new Map<string, Followed>()
  const causes = new Map<string, Cause[]>()
  await follow(root, undefined, undefined)
  return {
    known: () => [...pages.values()].flatMap(({ at, load }) => (at ? { ...at, load } : [])),
    settled: fresh(askAll),
    causesOf: (label, most) => causes.get(label)?.splice(0, most) ?? [],
    async close() {
      forget(root)
      await cdp.send('Target.detachFromTarget', { sessionId: root }).catch(() => undefined)
    },
  }

  /** Follows everything that belongs to a session: frames and workers of a page, and the pages of the browser. */
  async function follow(
    session: string,
    above: string | undefined,
    page: FollowedPage | undefined,
  ): Promise<void> {
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
    const filter = above === undefined ? {} : { filter: NO_PAGES }
    await cdp.send('Target.setAutoAttach', { ...AUTO_ATTACH, ...filter }, { session })
  }

  function attached(
    { sessionId, targetInfo }: CdpResult,
    above: string,
    parent: FollowedPage | undefined,
  ): void {
    const session = textOf(sessionId)
    const { type } = asObject(targetInfo)
    const isPage = type === 'page'
    const page = isPage ? { session, at: undefined, load: { host: undefined } } : parent
    if (isPage && page) pages.set(session, page)
    const send = (method: string, params?: object): Promise<unknown> => cdp.send(method, params, { session })
    // A target that has already gone refuses, and some have no network or no pages.
    follow(session, above, page).catch(() => undefined)
    send('Network.enable', NO_BUFFERS).catch(() => undefined)
    if (isPage) send('Page.enable').catch(() => undefined)
    send('Runtime.runIfWaitingForDebugger').catch(() => undefined)
    if (!isPage || !page) return
    // A page that was there before.
    const found = (frame: CdpResult): void => {
      if (!page.at) navigated(frame, page)
    }
    ask(session).then(found, () => undefined)
  }

  function forget(session: string): void {
    for (const off of followed.get(session)?.offs ?? []) off()
    followed.delete(session)
    for (const [below, { above }] of followed) if (above === session) forget(below)
    const page = pages.get(session)
    pages.delete(session)
    if (page) left(page.load)
  }

  function navigated(frame: CdpResult, page: FollowedPage): void {
    if (frame['parentId'] !== undefined) return
    const before = page.load
    page.at = pageOf(frame)
    page.load = { host: page.at && labelOf(page.at.at) }
    if (page.at) loaded(page.at.at, page.load, before)
    left(before)
  }

  function cause(url: unknown, type: unknown, page: FollowedPage | undefined): void {
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

  async function askAll(): Promise<void> {
    await Promise.all([...pages.keys()].map((session) => ask(session).catch(() => undefined)))
  }

  /** A page answers after it has reported where it is, unless it is being replaced. */
  async function ask(session: string): Promise<CdpResult> {
    const answer = await cdp.send('Page.getFrameTree', {}, { session, timeout: ANSWERING })
    return asObject(asObject(answer['frameTree'])['frame'])
  }
}

// A new page or worker waits, so that its first request is reported. It runs as soon as it is followed.
const AUTO_ATTACH = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }
// The session of the browser attaches to all pages, also to those that a page opens.
const NO_PAGES = [...['page', 'tab', 'browser'].map((type) => ({ type, exclude: true })), {}]
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
