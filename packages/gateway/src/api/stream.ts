// Receipts as they come, as server-sent events. Nothing is queued for a reader: each time it can take more, the ledger is
// read on from where it is.

import { performance } from 'node:perf_hooks'
import { clearTimeout, setTimeout } from 'node:timers'
import type { EntryFilter } from '../view.ts'
import { entryText, FILTERS, filterOf, READERS } from './receipts.ts'
import { numberIn, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import { COUNT, said, TEXT } from './schema.ts'

const HEARTBEAT = 15_000
const PAGE = 100
/** Who waits looks again no sooner, however often the ledger grows. */
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

/** Pieces that let go of something at their end, also if nobody ever begins to take them. */
function releasing(pieces: AsyncGenerator<string>, release: () => void): AsyncIterable<string> {
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

/** Where to begin: after the last event that the reader has seen, or where it asks to. */
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
    // Something at once, so that the reader knows it is connected.
    yield ': tollgate\n\n'
    let next = from
    while (!changes.ended && question.stillKnown()) {
      changes.close()
      // Asked for first: what is appended from here on is looked at the next time.
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

/** Wakes one who waits. A ring while nobody waits is remembered, however many there were. */
interface ChangeSignal {
  readonly ended: boolean
  ring(): void
  end(): void
  /** Forgets that it rang: who waits is about to look. */
  close(): void
  /**
   * Waits for a ring: false if there was none in so many milliseconds. A ring soon after the last look is answered when
   * 50 ms have passed since, and with all that came in between; the end is answered at once.
   */
  wait(milliseconds: number): Promise<boolean>
}

/** A changes that is silent. */
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

/** The stream of receipts. */
export const streamRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/receipts/stream',
    id: 'streamReceipts',
    about:
      'Receipts as they are recorded, as server-sent events: `id` is the index, `event` is `receipt`, `data` is `{index, id, receipt}`. `Last-Event-ID` or `from` resumes; without them it begins now. A comment comes every 15 seconds. The stream ends when the token does.',
    roles: READERS,
    query: { ...FILTERS, from: said(COUNT, 'The first index that is looked at.') },
    answers: { 200: { about: 'The stream.', type: 'text/event-stream; charset=utf-8', schema: TEXT } },
    problems: ['too-many-waiting'],
    answer: stream,
  },
]
