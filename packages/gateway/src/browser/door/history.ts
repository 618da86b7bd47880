// Steps in the history of a page: which entry a call would open, and whether it is still that one when the server goes there.

import { asObject, textOf, type CdpResult } from '../cdp.ts'
import type { ClientCommand } from '../devtools/screen.ts'
import type { OpenPage } from './pages.ts'
import type { BrowserRequest } from './request.ts'

type Way = NonNullable<BrowserRequest['history']>

/** A step in the history of a page, to exactly one entry. */
export interface HistoryStep {
  readonly page: Pick<OpenPage, 'id' | 'send'>
  readonly way: Way
  /** Chromium's number of the entry; undefined if there is none, which nothing equals. */
  readonly entry: number | undefined
  /** Its address; empty if there is none, which is denied as unreadable. */
  readonly address: string
}

/** The commands that go through the history. */
export const IN_HISTORY: ReadonlySet<string> = new Set(['Page.navigateToHistoryEntry', 'Page.reload'])

const ANSWERING = 5_000
const OFFSET: Readonly<Record<Way, number>> = { back: -1, reload: 0, forward: 1 }

/** The step that a call names, as the history of its page is now. Never rejects. */
export async function stepOf(page: HistoryStep['page'], way: Way): Promise<HistoryStep> {
  const { id, url } = await entryOf(page, (_, current) => current + OFFSET[way])
  return { page, way, entry: typeof id === 'number' ? id : undefined, address: textOf(url) }
}

/** Why a command does not go to the entry that was judged; undefined if it does, or does not go through the history. Never rejects. */
export async function stepRefusal(
  step: HistoryStep | undefined,
  { method, params, target }: Pick<ClientCommand, 'method' | 'params' | 'target'>,
): Promise<string | undefined> {
  if (!step || !IN_HISTORY.has(method)) return undefined
  const isReload = method === 'Page.reload'
  if (target === step.page.id && isReload === (step.way === 'reload')) {
    // Meanwhile the page can have added entries of its own, or changed one.
    const { id, url } = await entryOf(step.page, (entries, current) =>
      isReload ? current : entries.findIndex((each) => asObject(each)['id'] === params['entryId']),
    )
    if (id !== undefined && id === step.entry && url === step.address) return undefined
  }
  return 'the call goes to another entry of the history'
}

/** An entry of the history; empty if there is none, or the browser does not say. */
async function entryOf(
  { send }: HistoryStep['page'],
  find: (entries: readonly unknown[], current: number) => number,
): Promise<CdpResult> {
  try {
    const { entries, currentIndex } = await send('Page.getNavigationHistory', {}, ANSWERING)
    return Array.isArray(entries) ? asObject(entries[find(entries, Number(currentIndex))]) : {}
  } catch {
    return {}
  }
}
