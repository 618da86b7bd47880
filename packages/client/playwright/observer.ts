// Looks at a page with the Sentinel's script, in an isolated world that the page cannot reach, by a DevTools session of its own.

import {
  observationOf,
  type ElementSign,
  type PageHash,
  type PageReading,
  type PageTarget,
  type SentinelObservation,
} from '@tollgate/sentinel'
import { PAGE_SCRIPT } from '@tollgate/sentinel/page'
import type { CDPSession } from 'playwright-core'
import { TollgateError } from '../src/index.ts'

/** A page as it was when the Sentinel looked at it. */
export interface Seen {
  readonly observation: SentinelObservation
  readonly hash: PageHash
}

/** Looks at one page. Every function throws TollgateError `page-unreadable` if the page does not answer. */
export interface Observer {
  /** The observation of the page, from a scan that is at most ten seconds old and of the same hashes. */
  look(): Promise<Seen>
  hash(): Promise<PageHash>
  /** The text that a person could read now. */
  visibleText(): Promise<string>
  /** The element with these signs; undefined if a click at its place hits something else. */
  target(sign: ElementSign): Promise<PageTarget | undefined>
  close(): Promise<void>
}

const PATIENCE = 15_000
/** A style that changes in place changes no hash, so a scan is used again only for a short time. */
const MAX_AGE = 10_000

/** Observes the page of a session. */
export async function createObserver(session: CDPSession): Promise<Observer> {
  let world: { readonly loader: string; readonly context: number } | undefined
  let last: (Seen & { readonly at: number }) | undefined
  await within(session.send('Page.enable'))

  async function contextOf(): Promise<number> {
    const { frame } = (await within(session.send('Page.getFrameTree'))).frameTree
    if (world?.loader === frame.loaderId) return world.context
    const order = { frameId: frame.id, worldName: 'tollgate-sentinel' }
    const { executionContextId: context } = await within(session.send('Page.createIsolatedWorld', order))
    await evaluateIn(context, PAGE_SCRIPT)
    world = { loader: frame.loaderId, context }
    return context
  }

  async function evaluateIn(contextId: number, expression: string): Promise<unknown> {
    const order = { expression, contextId, returnByValue: true }
    const { result, exceptionDetails } = await within(session.send('Runtime.evaluate', order))
    if (exceptionDetails) throw unreadable()
    return result.value
  }

  /** Tries twice: a page that is being replaced ends the world of the one before. */
  async function evaluate<T>(expression: string): Promise<T> {
    try {
      // Sound: the Sentinel's own script returns it, and no other code runs in this world.
      return (await evaluateIn(await contextOf(), expression)) as T
    } catch {
      world = undefined
      return (await evaluateIn(await contextOf(), expression)) as T
    }
  }

  return {
    async look() {
      const now = performance.now()
      const known = last && now - last.at <= MAX_AGE ? keyOf(last.hash) : ''
      const { hash, reading } = await evaluate<Look>(`(${lookInPage.toString()})(${JSON.stringify(known)})`)
      if (reading) last = { hash, at: now, observation: observationOf({ ...reading, projection: '' }) }
      if (!last || keyOf(last.hash) !== keyOf(hash)) throw unreadable()
      return last
    },
    hash: () => evaluate('tollgateSentinel.hashOnly()'),
    visibleText: () => evaluate('tollgateSentinel.scan().projection'),
    target: (sign) => evaluate(`tollgateSentinel.targetAt(${JSON.stringify(sign)})`),
    close: () => session.detach(),
  }
}

/** The hashes of a page as one text. */
export function keyOf({ url, dom_hash, layout }: PageHash): string {
  return [url, dom_hash, layout].join(' ')
}

interface Look {
  readonly hash: PageHash
  readonly reading?: Omit<PageReading, 'projection'>
}

declare const tollgateSentinel: { scan(): PageReading; hashOnly(): PageHash }

/** Runs in the isolated world, in one step, so that the hashes are those of the scanned page. The page's text stays there. */
function lookInPage(known: string): Look {
  const hash = tollgateSentinel.hashOnly()
  if ([hash.url, hash.dom_hash, hash.layout].join(' ') === known) return { hash }
  const { projection: _, ...reading } = tollgateSentinel.scan()
  return { hash, reading }
}

/** The result of a DevTools command. A page with an open dialog or an endless loop does not answer. */
async function within<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unreadable()), PATIENCE)
  })
  try {
    return await Promise.race([work, late])
  } catch {
    // The browser's own message can contain text of the page.
    throw unreadable()
  } finally {
    clearTimeout(timer)
  }
}

function unreadable(): TollgateError {
  return new TollgateError('page-unreadable', 'the page could not be observed; no action was executed', {
    remedy: 'Wait until the page has loaded, close its dialogs, and check that the browser is Chromium.',
  })
}
