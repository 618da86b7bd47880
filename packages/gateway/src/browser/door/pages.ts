// The pages of one browser, in the order in which they were opened, with the dialog that blocks each of them.

import { asObject, textOf, type Cdp, type CdpResult } from '../cdp.ts'
import type { SendToPage } from '../isolated.ts'
import type { AdapterName } from '../servers/adapters.ts'

/** A target that the gateway is attached to: a page, a frame with a process of its own, or a worker. */
interface AttachedTarget {
  readonly id: string
  readonly type: string
  /** The gateway's own session. */
  readonly session: string
}

/** A dialog of a page. Until it is closed, the page answers nothing. */
export interface Dialog {
  readonly type: string
  readonly message: string
  readonly url: string
}

/** An open page. */
export interface OpenPage {
  readonly id: string
  readonly session: string
  readonly send: SendToPage
  /** The number of the page among all that were ever opened, from 1. */
  readonly number: number
  /** Its address, as the browser told it last. */
  url: string
  /** Identifies the document that it has loaded; empty before the first one. */
  document: string
  dialog: Dialog | undefined
  /** Called when a dialog opens. */
  onDialog: (() => void) | undefined
}

/** The pages of one browser. */
export interface OpenPages {
  /** Prepares a target that was attached, while it is held. */
  onTarget(target: AttachedTarget): Promise<void>
  onGone(target: AttachedTarget): void
  /** The page that the next call acts on, by the server's own number if the call names one; undefined if that is uncertain. */
  current(number: number | undefined): OpenPage | undefined
  /** The page that was opened last. */
  newest(): OpenPage | undefined
  /** Learns from a result which page is the current one. `lists` says that the call was about the tabs themselves. */
  learn(result: string, lists: boolean): void
  /** Whether several pages are open, and it is not known which one the server uses. */
  uncertain(): boolean
}

/** Creates the list of the pages of one browser. */
export function createPages(cdp: Cdp, adapter: AdapterName): OpenPages {
  const open: OpenPage[] = []
  let opened = 0
  let selected: string | undefined
  return {
    async onTarget({ id, type, session }) {
      if (type !== 'page') return
      const send: SendToPage = (method, params, timeout) =>
        cdp.send(method, params, { session, ...(timeout !== undefined && { timeout }) })
      const page: OpenPage = {
        ...{ id, session, send, number: ++opened, url: 'about:blank', document: '' },
        ...{ dialog: undefined, onDialog: undefined },
      }
      open.push(page)
      if (open.length === 1) selected = id
      cdp.on('Page.frameNavigated', session, ({ frame }) => {
        const { parentId, loaderId, url, urlFragment } = asObject(frame)
        if (parentId !== undefined) return
        page.url = textOf(url) + textOf(urlFragment)
        page.document = textOf(loaderId)
      })
      cdp.on('Page.navigatedWithinDocument', session, ({ frameId, url }) => {
        // The main frame has the id of its page.
        if (frameId === id) page.url = textOf(url)
      })
      cdp.on('Page.javascriptDialogOpening', session, (event) => {
        page.dialog = dialogOf(event)
        page.onDialog?.()
      })
      cdp.on('Page.javascriptDialogClosed', session, () => (page.dialog = undefined))
      await send('Page.enable')
    },
    onGone({ id }) {
      const at = open.findIndex((page) => page.id === id)
      if (at < 0) return
      open.splice(at, 1)
      // As `@playwright/mcp` does it.
      if (selected === id || open.length === 1) selected = open[Math.min(at, open.length - 1)]?.id
    },
    current(number) {
      if (number !== undefined) return open.find((page) => page.number === number)
      return open.find(({ id }) => id === selected)
    },
    newest: () => open.at(-1),
    learn(result, lists) {
      // The server has no other page, whatever a text says.
      if (adapter !== 'playwright' || open.length < 2) return
      const tabs = lists ? listedTabs(result) : undefined
      if (tabs) selected = fitting(tabs)
      // Other results hold words of pages, which look like those of the server. They can raise a doubt, and never choose a page.
      else if (openTabs(result).some((each) => fitting(each) !== selected)) selected = undefined
    },
    uncertain: () => open.length > 1 && selected === undefined,
  }

  /** The page that a list of tabs names as the current one, if the browser knows it by the same place and address. */
  function fitting(tabs: readonly string[]): string | undefined {
    const [line = '', ...more] = tabs.filter((each) => CURRENT.test(each))
    const page = open[Number(CURRENT.exec(line)?.[1] ?? -1)]
    return more.length === 0 && page && line.endsWith(`](${page.url})`) ? page.id : undefined
  }
}

const CURRENT = /^- (\d{1,4}): \(current\) \[/

/** The lines of the result of `browser_tabs`. A title has no line breaks, so each line is the server's own. */
function listedTabs(result: string): readonly string[] | undefined {
  const lines = result.startsWith('### Result\n') ? sectionAt(result.split('\n'), 0) : []
  return lines.some((line) => CURRENT.test(line)) ? lines : undefined
}

/** The lines of each section that names the open tabs. */
function openTabs(result: string): readonly (readonly string[])[] {
  const lines = result.split('\n')
  return lines.flatMap((line, at) => (line === '### Open tabs' ? [sectionAt(lines, at)] : []))
}

function sectionAt(lines: readonly string[], at: number): readonly string[] {
  const end = lines.findIndex((line, next) => next > at && line.startsWith('### '))
  return lines.slice(at + 1, end < 0 ? undefined : end)
}

const MAX_MESSAGE = 10_000

function dialogOf(event: CdpResult): Dialog {
  const { type, message, url, defaultPrompt } = asObject(event)
  const text = `${textOf(message)}\n${textOf(defaultPrompt)}`.trim().slice(0, MAX_MESSAGE)
  return { type: textOf(type), message: text, url: textOf(url) }
}
