// Follows a stream of server-sent events until it is stopped. Connects again after a loss, and pauses while the page is hidden:
// browsers open few connections to one host.

import { send, Refusal } from './api.ts'

interface StreamEvent {
  readonly id: string
  readonly data: string
}

interface Following {
  readonly query?: Readonly<Record<string, string | number | undefined>>
  /** Where to continue after a loss. */
  readonly last?: () => string | undefined
  readonly onEvent: (event: StreamEvent) => void
  readonly onState?: (state: 'open' | 'lost') => void
}

const MAX_PAUSE_MS = 15_000

/** Follows a stream. Returns a function that stops it. */
export function follow(path: string, following: Following): () => void {
  const stopping = new AbortController()
  void run(path, following, stopping.signal)
  return () => stopping.abort()
}

async function run(path: string, following: Following, signal: AbortSignal): Promise<void> {
  const isOver = (): boolean => signal.aborted
  for (let failed = 0; !isOver(); failed++) {
    await untilVisible(signal)
    const hidden = new AbortController()
    const hide = (): void => {
      if (document.hidden) hidden.abort()
    }
    document.addEventListener('visibilitychange', hide)
    try {
      await read(path, following, AbortSignal.any([signal, hidden.signal]), () => (failed = 0))
    } catch (fault) {
      if (fault instanceof Refusal && fault.status >= 400 && fault.status < 500 && fault.status !== 429)
        return
    } finally {
      document.removeEventListener('visibilitychange', hide)
    }
    if (isOver()) return
    if (!document.hidden) following.onState?.('lost')
    await pause(Math.min(MAX_PAUSE_MS, 500 * 2 ** failed), signal)
  }
}

async function read(
  path: string,
  { query, last, onEvent, onState }: Following,
  signal: AbortSignal,
  onOpen: () => void,
): Promise<void> {
  const id = last?.()
  const headers = id === undefined ? {} : { 'last-event-id': id }
  const response = await send(path, { ...(query && { query }), headers, signal })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  onOpen()
  onState?.('open')
  while (reader) {
    const { done, value } = await reader.read()
    if (done) return
    const parts = (rest + value).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const event = eventIn(part)
      if (event) onEvent(event)
    }
  }
}

/** The event in a block of lines; undefined for a comment. */
function eventIn(block: string): StreamEvent | undefined {
  let id = ''
  const data: string[] = []
  for (const each of block.split('\n')) {
    if (each.startsWith('id: ')) id = each.slice(4)
    if (each.startsWith('data: ')) data.push(each.slice(6))
  }
  return data.length === 0 ? undefined : { id, data: data.join('\n') }
}

function untilVisible(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve()
  return new Promise((resolve) => {
    const go = (): void => {
      if (document.hidden && !signal.aborted) return
      document.removeEventListener('visibilitychange', go)
      resolve()
    }
    document.addEventListener('visibilitychange', go)
    signal.addEventListener('abort', go)
  })
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
