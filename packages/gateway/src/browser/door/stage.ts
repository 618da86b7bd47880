// What a running call may do in the browser: its own page gets input, its own address is opened. All other actions are refused.

import { classOf } from '../devtools/methods.ts'
import type { ClientCommand } from '../devtools/screen.ts'
import { textOf } from '../cdp.ts'
import type { OpenPage } from './pages.ts'
import type { BrowserRequest } from './request.ts'

/** What an allowed call was judged to do. */
export interface Act {
  readonly acts: BrowserRequest['acts']
  /** The page that it acts on. */
  readonly page: OpenPage | undefined
  /** The address that it opens. */
  readonly destination: string | undefined
}

/** An answer, and why the gateway stopped an action behind it, if it did. */
export interface Played<Answer> {
  readonly answer: Answer
  readonly stopped?: string
}

/** The running call of one browser. */
export interface Stage {
  /** Runs an allowed call. */
  play<Answer>(act: Act, dispatch: () => Promise<Answer>): Promise<Played<Answer>>
  /** Why a command of the server is refused now; undefined if it passes. */
  refusal(command: ClientCommand): string | undefined
  /** Notes that an action of the running call was stopped. */
  stop(why: string): void
}

// These act on one page. The rest acts on the browser: its tabs and windows.
const ON_PAGE = /^(?:Input\.|DOM\.|Page\.(?:handleJavaScriptDialog|reload))/
const OPENING = new Set([
  'Page.navigate',
  'Page.navigateToHistoryEntry',
  'Page.reload',
  'Target.createTarget',
])

/** Creates the stage of one browser. `belongs` says whether a target is a page or inside of it. */
export function createStage(belongs: (target: string, page: OpenPage) => boolean): Stage {
  let running: (Act & { stopped?: string }) | undefined
  return {
    async play(act, dispatch) {
      const own: Act & { stopped?: string } = { ...act }
      running = own
      try {
        const answer = await dispatch()
        return { answer, ...(own.stopped !== undefined && { stopped: own.stopped }) }
      } finally {
        // A call that was given up may still be running when the next one begins.
        if (running === own) running = undefined
      }
    },
    refusal(command) {
      if (classOf(command.method) !== 'act') return undefined
      if (!running) return 'no allowed call is running'
      const why = refusalOf(running, command)
      if (why !== undefined) running.stopped ??= why
      return why
    },
    stop(why) {
      if (running) running.stopped ??= why
    },
  }

  function refusalOf(act: Act, { method, params, target }: ClientCommand): string | undefined {
    if (OPENING.has(method)) return openingRefusal(act, method, textOf(params['url']))
    if (!ON_PAGE.test(method)) return undefined
    const isOwn = target !== undefined && act.page !== undefined && belongs(target, act.page)
    return isOwn ? undefined : 'the call is not about this page'
  }
}

/** Only a call that was judged as a navigation opens an address, and only its own. */
function openingRefusal({ acts, destination }: Act, method: string, url: string): string | undefined {
  if (method === 'Target.createTarget' && (url === '' || url === 'about:blank')) return undefined
  if (acts !== 'navigation') return 'the call does not open an address'
  if (method === 'Page.navigateToHistoryEntry' || method === 'Page.reload') return undefined
  return url === 'about:blank' || isSame(url, destination) ? undefined : 'the call opens another address'
}

function isSame(url: string, destination: string | undefined): boolean {
  if (destination === undefined || !URL.canParse(url) || !URL.canParse(destination)) return false
  return new URL(url).href === new URL(destination).href
}
