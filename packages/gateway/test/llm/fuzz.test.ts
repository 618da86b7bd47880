// A short run of the fuzzer, and proof that it finds leaks.

import { randomInt } from 'node:crypto'
import process from 'node:process'
import { describe, expect, it } from 'vitest'
import type { Dialect, Judge, Rewriter } from '../../src/llm/dialect.ts'
import { formatSse, type SseEvent } from '../../src/sse.ts'
import { runs } from '../../../evidence/test/runs.ts'
import { fuzz, leaksIn, SUBJECTS, tellFailure, type Subject } from './fuzz.ts'

const STREAMS = runs(1500)
const UNCHANGED = runs(500)

describe('mutated replies', () => {
  it.each([
    ['the same each time', 7],
    ['new each time', randomInt(2 ** 31)],
  ])('let nothing of a denied call leave, %s (seed %i)', async (_, seed) => {
    process.stdout.write(`fuzzing replies: seed ${seed}\n`)
    const tally = await fuzz({ seed, streams: STREAMS })
    expect(tally.failures.map(tellFailure).join('\n\n')).toBe('')
    // A control: most replies finish, and some calls are forwarded.
    expect(tally.streams).toBe(STREAMS)
    expect(tally.ended).toBeGreaterThan(STREAMS / 5)
    expect(tally.garbled).toBeGreaterThan(STREAMS / 5)
    expect(tally.cut).toBeGreaterThan(STREAMS / 50)
    expect(tally.released).toBeGreaterThan(STREAMS / 8)
    expect(tally.refused).toBeGreaterThan(STREAMS / 4)
  })
})

describe('unchanged replies', () => {
  it.each(SUBJECTS)('finish: $name', async (subject) => {
    const tally = await fuzz({ subjects: [subject], seed: 11, streams: UNCHANGED, isBent: false })
    expect(tally).toMatchObject({ ended: UNCHANGED, garbled: 0, cut: 0, failures: [] })
    expect(tally.released).toBeGreaterThan(0.3 * UNCHANGED)
    expect(tally.refused).toBeGreaterThan(0.6 * UNCHANGED)
  })
})

// Rewriters with deliberate faults.

type Broken = (dialect: Subject['dialect']) => Partial<Pick<Dialect, 'openStream' | 'governReply'>>

const textOf = ({ data }: SseEvent): string => Buffer.from(data).toString()

/** The rewriter of a dialect with modified output. */
function altered(
  dialect: Subject['dialect'],
  judge: Judge,
  alter: (text: string, event: SseEvent) => string,
): Rewriter {
  const rewriter = dialect.openStream(judge)
  return {
    async take(event) {
      return alter(await rewriter.take(event), event)
    },
    get ended() {
      return rewriter.ended
    },
    get failed() {
      return rewriter.failed
    },
  }
}

/** Judges only calls that are denied anyway. */
const lenient = (judge: Judge): Judge => ({
  judge: (proposals) =>
    Promise.all(
      proposals.map(async (proposal) => {
        const { tool, args } = proposal
        if (tool === 'read_note')
          return { allowed: true, args: typeof args === 'string' ? args : JSON.stringify(args) }
        const [ruling] = await judge.judge([proposal])
        if (!ruling) throw new Error('there is no ruling')
        return ruling
      }),
    ),
  ran: () => false,
})

const meddling = (judge: Judge): Judge => ({
  async judge(proposals) {
    const rulings = await judge.judge(proposals)
    return rulings.map((ruling) => (ruling.allowed ? { ...ruling, args: '{"input":"other"}' } : ruling))
  },
  ran: () => false,
})

const BROKEN: Readonly<Record<string, readonly [law: string, broken: Broken]>> = {
  'passes everything on': [
    'a denied call left',
    () => ({ openStream: () => ({ take: (event) => formatSse(textOf(event)), ended: true, failed: false }) }),
  ],
  'passes whole replies on': [
    'a denied call left',
    () => ({
      // Sound: replies of the fuzzer are JSON; whether they are objects is for the dialect to check.
      governReply: (reply) => Promise.resolve(reply as never),
    }),
  ],
  'lets it out in a comment': [
    'a denied call left',
    (dialect) => ({
      openStream: (judge) => altered(dialect, judge, (text, event) => `${text}: ${textOf(event)}\n\n`),
    }),
  ],
  'lets it out in the last event': [
    'a denied call left',
    (dialect) => ({
      openStream(judge) {
        let held = ''
        return altered(dialect, judge, (text, event) => {
          held += textOf(event)
          return /\[DONE\]|message_stop|response\.completed|"finishReason"/.test(text)
            ? text + formatSse(JSON.stringify({ type: 'end', held }))
            : text
        })
      },
    }),
  ],
  'lets it out letter by letter': [
    'a denied call left',
    (dialect) => ({
      openStream: (judge) =>
        altered(dialect, judge, (text, event) => {
          const letters = textOf(event).match(/[QXZJK]/g) ?? []
          return text + letters.map((x) => formatSse(JSON.stringify({ type: 'x', x }))).join('')
        }),
    }),
  ],
  'does not ask about every call': [
    'a call left without its ruling',
    (dialect) => ({ openStream: (judge) => dialect.openStream(lenient(judge)) }),
  ],
  'changes what was ruled on': [
    'a call left without its ruling',
    (dialect) => ({ openStream: (judge) => dialect.openStream(meddling(judge)) }),
  ],
  'sends a call twice': [
    'a call left without its ruling',
    (dialect) => ({ openStream: (judge) => altered(dialect, judge, (text) => text + text) }),
  ],
  'has a fault': [
    'a fault',
    () => ({
      openStream: () => ({
        take() {
          throw new TypeError('of undefined')
        },
        ended: false,
        failed: false,
      }),
    }),
  ],
  'never answers': [
    'a hang',
    () => ({
      openStream: () => ({ take: () => new Promise<string>(() => undefined), ended: false, failed: false }),
    }),
  ],
  'sends half an event': [
    'no stream',
    (dialect) => ({ openStream: (judge) => altered(dialect, judge, (text) => text.slice(0, -1)) }),
  ],
  'sends what is no JSON': [
    'no stream',
    (dialect) => ({ openStream: (judge) => altered(dialect, judge, (text) => text.replace('{', '')) }),
  ],
}

describe('a faulty dialect', () => {
  it.each(Object.entries(BROKEN))('that %s is detected', async (_, [law, broken]) => {
    const most = law === 'a hang' ? 1 : 2
    for (const subject of SUBJECTS) {
      const dialect = { ...subject.dialect, ...broken(subject.dialect) }
      const subjects = [{ ...subject, dialect }]
      const { failures } = await fuzz({ subjects, seed: 3, streams: 60, patience: 200, most })
      expect([subject.name, failures.map((failure) => failure.law)]).toEqual([
        subject.name,
        expect.arrayContaining([law]),
      ])
    }
  })

  it('is reported with a small example', async () => {
    const [chat] = SUBJECTS
    if (!chat) throw new Error('there is no subject')
    const dialect = {
      ...chat.dialect,
      openStream: () => ({ take: (event: SseEvent) => formatSse(textOf(event)), ended: true, failed: false }),
    }
    const { failures } = await fuzz({ subjects: [{ ...chat, dialect }], seed: 5, streams: 20, most: 1 })
    expect(failures.length).toBe(1)
    for (const failure of failures) {
      expect(failure.mutations).toEqual([])
      expect(failure.reply.split('data: ').length - 1).toBe(1)
      const told = tellFailure(failure)
      expect(told).toContain(`chat, seed ${failure.seed}, as it is`)
      expect(told).toContain(failure.reply)
    }
  })
})

describe('a canary', () => {
  const mark = /QXZJ/
  it.each([
    ['as it stands', 'a QXZJ b'],
    ['in a comment', 'data: {"a":1}\n\n: QXZJ\n\n'],
    ['in a string that is escaped', '{"a":"\\u0051XZ\\u004a"}'],
    ['over several events', 'data: {"a":{"b":"QX"}}\n\ndata: {"a":{"b":"ZJ"},"c":"d"}\n\n'],
    ['over the items of a list', '{"a":["QX","ZJ"]}'],
    ['in a name', '{"a":{"QXZJ":1}}'],
    ['in a name that is escaped', '{"a":{"QX\\u005aJ":1}}'],
  ])('is found %s', (_, text) => {
    expect(leaksIn(text, mark)).not.toEqual([])
  })

  it('is not found where there is none', () => {
    expect(leaksIn('data: {"a":"QX","b":"ZJ"}\n\n', mark)).toEqual([])
    expect(leaksIn('', mark)).toEqual([])
  })
})
