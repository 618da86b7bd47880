// Receipts as they come, as server-sent events. Nothing is queued for a reader: each time it can take more, the ledger is
// read on from where it is.

import { clearTimeout, setTimeout } from 'node:timers'
import type { EntryFilter } from '../view.ts'
import { entryText, FILTERS, filterOf, READERS } from './receipts.ts'
import { numberIn, type Question, type Reply, type Route } from './route.ts'
import { COUNT, said, TEXT } from './schema.ts'

const HEARTBEAT = 15_000
const PAGE = 100

async function stream(question: Question): Promise<Reply> {
  question.mayWait()
  const from = startOf(question) ?? (await question.options.view.size())
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8' },
    body: follow(question, filterOf(question), from),
  }
}

/** Where to begin: after the last event that the reader has seen, or where it asks to. */
function startOf(question: Question): number | undefined {
  const last = question.asked.header('last-event-id')
  if (last !== undefined && /^[0-9]{1,15}$/.test(last)) return Number(last) + 1
  return numberIn(question, 'from')
}

async function* follow(
  question: Question,
  filter: EntryFilter | undefined,
  from: number,
): AsyncGenerator<string> {
  const { options } = question
  const bell = createBell()
  const leave = [options.watch(() => bell.ring()), question.onEnd(() => bell.end())]
  question.metrics.streams(1)
  try {
    // Something at once, so that the reader knows it is connected.
    yield ': tollgate\n\n'
    let next = from
    while (!bell.ended && question.stillKnown()) {
      bell.silence()
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
      if (page.next === undefined && !(await bell.rings(HEARTBEAT))) yield ': \n\n'
    }
  } finally {
    question.metrics.streams(-1)
    for (const each of leave) each()
  }
}

const EMPTY = { entries: [], next: undefined }

/** Wakes one who waits. A ring while nobody waits is remembered, however many there were. */
export interface Bell {
  readonly ended: boolean
  ring(): void
  end(): void
  /** Forgets that it rang. */
  silence(): void
  /** Waits for a ring: false if there was none in so many milliseconds. */
  rings(milliseconds: number): Promise<boolean>
}

/** A bell that is silent. */
export function createBell(): Bell {
  let rang = false
  let ended = false
  let wake: (() => void) | undefined
  const ring = (): void => {
    rang = true
    wake?.()
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
    silence() {
      rang = ended
    },
    async rings(milliseconds) {
      if (rang) return true
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      wake = undefined
      return rang
    },
  }
}

/** The stream of receipts. */
export const streamRoutes: readonly Route[] = [
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
