// The actions that a running call may not do, by the kind that it was judged as: a read gives no input, and only a navigation opens an
// address, its own.

import { textOf } from '../cdp.ts'
import type { ClientCommand } from '../devtools/screen.ts'
import type { BrowserRequest } from './request.ts'

/** The kind of an allowed call. */
export interface JudgedKind {
  /** Whether it only reads. */
  readonly reads: boolean
  readonly acts: BrowserRequest['acts']
  /** The address that it opens. */
  readonly destination: string | undefined
  /** Where it goes in the history. */
  readonly history?: BrowserRequest['history']
}

/** The commands that go through the history, with the ways in it that they go. */
const IN_HISTORY: ReadonlyMap<string, readonly BrowserRequest['history'][]> = new Map([
  ['Page.navigateToHistoryEntry', ['back', 'forward'] as const],
  ['Page.reload', ['reload'] as const],
])
const TO_ADDRESS = new Set(['Page.navigate', 'Target.createTarget'])

/** Why a command of the server does not belong to the running call; undefined if it may. */
export function kindRefusal(
  call: JudgedKind | undefined,
  { method, params }: Pick<ClientCommand, 'method' | 'params'>,
): string | undefined {
  if (call?.reads === true && method.startsWith('Input.')) return 'the call only reads'
  const ways = IN_HISTORY.get(method)
  if (!ways && !TO_ADDRESS.has(method)) return undefined
  if (!call) return 'no permitted call is running'
  const url = textOf(params['url'])
  const isBlank = url === '' || url === 'about:blank'
  // A new tab is opened blank, and then gets its address.
  if (TO_ADDRESS.has(method) && isBlank) return undefined
  if (call.acts !== 'navigation') return 'the call does not open an address'
  if (ways) return ways.includes(call.history) ? undefined : 'the call does not go there in the history'
  // The address that a history call was judged by is not one that it opens itself.
  return call.history === undefined && isSame(url, call.destination)
    ? undefined
    : 'the call opens another address'
}

function isSame(url: string, destination: string | undefined): boolean {
  if (destination === undefined || !URL.canParse(url) || !URL.canParse(destination)) return false
  return new URL(url).href === new URL(destination).href
}
