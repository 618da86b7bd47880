// Streams new receipts as server-sent events. Nothing is queued per reader: whenever a reader can take more, the ledger is
// read from its position.

import { performance } from 'node:perf_hooks'
import { clearTimeout, setTimeout } from 'node:timers'
import type { EntryFilter } from '../view.ts'
import { entryText, FILTERS, filterOf, READERS } from './receipts.ts'
import { numberIn, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import { COUNT, described, TEXT } from './schema.ts'

const HEARTBEAT = 15_000
const PAGE = 100
/** Milliseconds between two reads, even if the ledger grows faster. */
const PACE = 50

async function stream(question: ApiQuestion): Promise<Reply> {
  const release = question.mayWait()
  try {
    const from = startOf(question) ?? (await question.options.view.size())
    return {
      status: 200,
      headers: { 'content-type': 'text/event-stream; charset=utf-8' },
      body: releasing(follow(question, filterOf(question), from), release),
    }
  } catch (fault) {
    release()
    throw fault
  }
}

/** Calls `release` when the stream ends, also if reading never begins. */
export function releasing(pieces: AsyncGenerator<string>, release: () => void): AsyncIterable<string> {
  const ending = async (step: Promise<IteratorResult<string>>): Promise<IteratorResult<string>> => {
    try {
      const result = await step
      if (result.done === true) release()
      return result
    } catch (fault) {
      release()
      throw fault
    }
  }
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => ending(pieces.next()),
      return: () => ending(pieces.return(undefined)),
    }),
  }
}

/** The start index: after the last event that the client received, or `from`. */
function startOf(question: ApiQuestion): number | undefined {
  const last = question.asked.header('last-event-id')
  if (last !== undefined && /^[0-9]{1,15}$/.test(last)) return Number(last) + 1
  return numberIn(question, 'from')
}

async function* follow(
  question: ApiQuestion,
  filter: EntryFilter | undefined,
  from: number,
): AsyncGenerator<string> {
  const { options } = question
  const changes = createChangeSignal()
  const leave = [options.watch(() => changes.ring()), question.onEnd(() => changes.end())]
  question.metrics.streams(1)
  try {
    // Sends a comment at once, so that the client knows it is connected.
    yield ': tollgate\n\n'
    let next = from
    while (!changes.ended && question.stillKnown()) {
      changes.close()
      // Read first, so that later entries are examined in the next round.
      const size = await options.view.size()
      const page =
        filter && next < size
          ? await options.view.page({ filter, direction: 'on', from: next, limit: PAGE })
          : EMPTY
      for (const entry of page.entries) {
        yield `id: ${entry.index}\nevent: receipt\ndata: {${entryText(entry)}}\n\n`
      }
      const last = page.entries.at(-1)?.index ?? -1
      next = page.next ?? Math.max(next, last + 1, size)
      if (page.next === undefined && !(await changes.wait(HEARTBEAT))) yield ': \n\n'
    }
  } finally {
    question.metrics.streams(-1)
    for (const each of leave) each()
  }
}

const EMPTY = { entries: [], next: undefined }

/** Wakes one waiter. A ring without a waiter is stored; several count as one. */
interface ChangeSignal {
  readonly ended: boolean
  ring(): void
  end(): void
  /** Clears the stored ring, before the waiter reads again. */
  close(): void
  /**
   * Waits for a ring. Returns false if there was none within the time. A ring within 50 ms after the last `close` is delayed
   * until the 50 ms are over. The end is signalled at once.
   */
  wait(milliseconds: number): Promise<boolean>
}

export function createChangeSignal(): ChangeSignal {
  let rang = false
  let ended = false
  let looked = -PACE
  let wake: (() => void) | undefined
  const ring = (): void => {
    rang = true
    wake?.()
  }
  const sleep = async (milliseconds: number, isOver: () => boolean): Promise<void> => {
    if (milliseconds <= 0 || isOver()) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      wake = () => {
        if (!isOver()) return
        clearTimeout(timer)
        resolve()
      }
    })
    wake = undefined
  }
  return {
    get ended() {
      return ended
    },
    ring,
    end() {
      ended = true
      ring()
    },
    close() {
      rang = ended
      looked = performance.now()
    },
    async wait(milliseconds) {
      await sleep(milliseconds, () => rang)
      if (rang) await sleep(looked + PACE - performance.now(), () => ended)
      return rang
    },
  }
}

export const streamRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/receipts/stream',
    id: 'streamReceipts',
    about:
      'Streams new receipts as server-sent events: `id` is the index, `event` is `receipt`, `data` is `{index, id, receipt}`. `Last-Event-ID` or `from` sets the start. Default: only new receipts. A comment is sent every 15 seconds. The stream ends when the token expires or is revoked.',
    roles: READERS,
    query: { ...FILTERS, from: described(COUNT, 'The first index to examine.') },
    answers: { 200: { about: 'The stream.', type: 'text/event-stream; charset=utf-8', schema: TEXT } },
    problems: ['too-many-waiting'],
    answer: stream,
  },
]
