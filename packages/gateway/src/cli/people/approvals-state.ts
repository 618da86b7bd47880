// The state of the approvals view: which request is selected, what the person types, and what a key does. No I/O.

import type { WaitingApproval } from './approvals.ts'

/** An answer that the person gave. */
export interface ViewAnswer {
  readonly request: WaitingApproval
  readonly word: 'approve' | 'deny' | 'always'
  readonly because: string | undefined
}

/** The state of the view: everything that it shows. */
export interface ViewState {
  readonly requests: readonly WaitingApproval[]
  readonly selected: number
  /** The first shown line of the details. */
  readonly scroll: number
  /** A reason that is being typed, and the answer it belongs to. */
  readonly typing:
    | { readonly word: 'approve' | 'deny'; readonly id: string; readonly text: string }
    | undefined
  /** A message at the bottom. */
  readonly notice: string
  /** The selection changed without a key, so an answer needs its key twice. */
  readonly moved: boolean
}

/** The result of a key. */
interface Pressed {
  readonly state: ViewState
  readonly answer?: ViewAnswer
  readonly quit?: boolean
}

/** The state before the first list. */
export const EMPTY_VIEW: ViewState = {
  requests: [],
  selected: 0,
  scroll: 0,
  typing: undefined,
  notice: '',
  moved: false,
}

/** Takes a new list. The selection stays on its request; if that has ended, the person must confirm the new one. */
export function refreshed(state: ViewState, requests: readonly WaitingApproval[]): ViewState {
  const before = state.requests[state.selected]
  const at = requests.findIndex(({ id }) => id === before?.id)
  if (at >= 0) return { ...state, requests, selected: at }
  const selected = Math.max(0, Math.min(state.selected, requests.length - 1))
  const next = { ...state, requests, selected, scroll: 0, typing: undefined }
  if (!before) return next
  return { ...next, moved: requests.length > 0, notice: state.notice || 'the selected request has ended' }
}

/** The most characters of a reason, as the API demands. */
const MAX_REASON = 500

/** Takes a key. `isAllSeen` says whether the last line of the details was on the screen. */
export function pressed(state: ViewState, key: string, isAllSeen: boolean): Pressed {
  if (state.typing) return typed(state, key)
  if (key === 'q') return { state, quit: true }
  if (state.moved && (key === 'a' || key === 'd' || key === 'w')) {
    return { state: { ...state, moved: false, notice: `this is another request; press ${key} again` } }
  }
  const clear = { ...state, notice: '', moved: false }
  const request = state.requests[state.selected]
  if (!request) return { state: clear }
  if (key === 'up') return { state: select(clear, -1) }
  if (key === 'down') return { state: select(clear, 1) }
  if (key === 'page-up' || key === 'b') return { state: { ...clear, scroll: Math.max(0, state.scroll - 5) } }
  if (key === 'page-down' || key === ' ') {
    return { state: isAllSeen ? clear : { ...clear, scroll: state.scroll + 5 } }
  }
  if (key === 'd') return { state: { ...clear, typing: { word: 'deny', id: request.id, text: '' } } }
  if (key === 'w') return { state: clear, answer: { request, word: 'always', because: undefined } }
  return key === 'a' ? approved(clear, request, isAllSeen) : { state: clear }
}

function select(state: ViewState, step: number): ViewState {
  const selected = Math.max(0, Math.min(state.requests.length - 1, state.selected + step))
  return { ...state, selected, scroll: selected === state.selected ? state.scroll : 0 }
}

function approved(state: ViewState, request: WaitingApproval, isAllSeen: boolean): Pressed {
  if (request.arguments === undefined) {
    return {
      state: { ...state, notice: 'the arguments are lost or erased; this request can only be denied' },
    }
  }
  if (!isAllSeen) return { state: { ...state, notice: 'read to the end first: space shows more' } }
  if (request.reason_required === true) {
    return { state: { ...state, typing: { word: 'approve', id: request.id, text: '' } } }
  }
  return { state, answer: { request, word: 'approve', because: undefined } }
}

function typed(state: ViewState, key: string): Pressed {
  const { typing } = state
  if (!typing) return { state }
  const done = { ...state, typing: undefined }
  if (key === 'escape') return { state: { ...done, notice: 'nothing was answered' } }
  if (key === 'enter') {
    const request = state.requests.find(({ id }) => id === typing.id)
    const because = typing.text.trim() === '' ? undefined : typing.text.trim()
    return request ? { state: done, answer: { request, word: typing.word, because } } : { state: done }
  }
  const characters = Array.from(typing.text)
  if (key === 'backspace')
    return { state: { ...state, typing: { ...typing, text: characters.slice(0, -1).join('') } } }
  // Other names of keys have more than one character.
  if (Array.from(key).length !== 1 || characters.length >= MAX_REASON) return { state }
  return { state: { ...state, typing: { ...typing, text: typing.text + key } } }
}
