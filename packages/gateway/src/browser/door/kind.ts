// The actions that a running call may not do, by the kind that it was judged as: a read gives no input, and only a navigation opens an
// address, its own.

import { textOf } from '../cdp.ts'
import type { ClientCommand } from '../devtools/screen.ts'
import { IN_HISTORY, type HistoryStep } from './history.ts'
import type { BrowserRequest } from './request.ts'

/** The kind of an allowed call. */
export interface JudgedKind {
  /** Whether it only reads. */
  readonly reads: boolean
  readonly acts: BrowserRequest['acts']
  /** The address that it opens. */
  readonly destination: string | undefined
  /** Where it goes in the history. */
  readonly step?: HistoryStep | undefined
}

const TO_ADDRESS = new Set(['Page.navigate', 'Target.createTarget'])

/** Why a command of the server does not belong to the running call; undefined if it may. */
export function kindRefusal(
  call: JudgedKind | undefined,
  { method, params }: Pick<ClientCommand, 'method' | 'params'>,
): string | undefined {
  if (call?.reads === true && method.startsWith('Input.')) return 'the call only reads'
  const isStep = IN_HISTORY.has(method)
  if (!isStep && !TO_ADDRESS.has(method)) return undefined
  if (!call) return 'no permitted call is running'
  const url = textOf(params['url'])
  const isBlank = url === '' || url === 'about:blank'
  // A new tab is opened blank, and then gets its address.
  if (TO_ADDRESS.has(method) && isBlank) return undefined
  if (call.acts !== 'navigation') return 'the call does not open an address'
  if (isStep) return call.step ? undefined : 'the call does not go through the history'
  // The address that a history call was judged by is not one that it opens itself.
  return call.step === undefined && isSame(url, call.destination)
    ? undefined
    : 'the call opens another address'
}

function isSame(url: string, destination: string | undefined): boolean {
  if (destination === undefined || !URL.canParse(url) || !URL.canParse(destination)) return false
  return new URL(url).href === new URL(destination).href
}
