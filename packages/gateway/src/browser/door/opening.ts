// Which addresses the server of a running call may open: only a call that was judged as a navigation opens one, and only its own.

import { textOf } from '../cdp.ts'
import type { ClientCommand } from '../devtools/screen.ts'
import type { BrowserRequest } from './request.ts'

/** The address that an allowed call was judged to open. */
export interface JudgedOpening {
  readonly acts: BrowserRequest['acts']
  readonly destination: string | undefined
}

const IN_HISTORY = new Set(['Page.navigateToHistoryEntry', 'Page.reload'])
const TO_ADDRESS = new Set(['Page.navigate', 'Target.createTarget'])

/** Why a command of the server must not open an address; undefined if it may, or opens none. */
export function openingRefusal(
  opening: JudgedOpening | undefined,
  { method, params }: Pick<ClientCommand, 'method' | 'params'>,
): string | undefined {
  if (!IN_HISTORY.has(method) && !TO_ADDRESS.has(method)) return undefined
  if (!opening) return 'no permitted call is running'
  const url = textOf(params['url'])
  const isBlank = url === '' || url === 'about:blank'
  // A new tab is opened blank, and then gets its address.
  if (TO_ADDRESS.has(method) && isBlank) return undefined
  if (opening.acts !== 'navigation') return 'the call does not open an address'
  return IN_HISTORY.has(method) || isSame(url, opening.destination)
    ? undefined
    : 'the call opens another address'
}

function isSame(url: string, destination: string | undefined): boolean {
  if (destination === undefined || !URL.canParse(url) || !URL.canParse(destination)) return false
  return new URL(url).href === new URL(destination).href
}
