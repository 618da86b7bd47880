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
  /** Learns from a result which page is the current one. */
  learn(result: string): void
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
      selected ??= id
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
      if (selected === id) selected = open[Math.min(at, open.length - 1)]?.id
    },
    current(number) {
      if (number !== undefined) return open.find((page) => page.number === number)
      return open.find(({ id }) => id === selected)
    },
    newest: () => open.at(-1),
    learn(result) {
      // The text holds words of pages. It only suggests a page: input to another page is refused, see `guard.ts` of the binding.
      const index = adapter === 'playwright' ? /^- (\d{1,4}): \(current\)/m.exec(result)?.[1] : undefined
      if (index !== undefined) selected = open[Number(index)]?.id
    },
  }
}

const MAX_MESSAGE = 10_000

function dialogOf(event: CdpResult): Dialog {
  const { type, message, url, defaultPrompt } = asObject(event)
  const text = `${textOf(message)}\n${textOf(defaultPrompt)}`.trim().slice(0, MAX_MESSAGE)
  return { type: textOf(type), message: text, url: textOf(url) }
}
