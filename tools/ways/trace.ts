// What the recorder wrote, put in order: the rooms of a call, its hops between files, and how often its arguments are parsed.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { placeOf } from '../house/rooms.ts'
import type { Span } from './run.ts'

/** One line of a thread. */
export interface Step {
  readonly time: bigint
  /** The thread of a process that took it. */
  readonly thread: string
  readonly what: string
  readonly detail: string
}

/** One call, from the agent's request to the answer. */
export interface Way {
  /** In the order in which they are first entered; the last is the one that answers. */
  readonly rooms: readonly string[]
  /** Changes from one file to another, each thread by itself. */
  readonly hops: number
  readonly files: number
  readonly threads: number
  /** How often a text or value with the arguments is parsed or written anew, by the function that does it. */
  readonly parses: Readonly<Record<string, number>>
}

/** Everything that was written down, in the order in which it happened. */
export function readTrace(folder: string): readonly Step[] {
  return readdirSync(folder)
    .flatMap((name) => stepsIn(readFileSync(join(folder, name), 'utf8'), name.replace('.log', '')))
    .sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0))
}

function stepsIn(text: string, thread: string): readonly Step[] {
  return text.split('\n').flatMap((line) => {
    const [time, what, detail] = line.split(' ')
    return detail === undefined ? [] : [{ time: BigInt(time ?? 0), thread, what: what ?? '', detail }]
  })
}

/**
 * The way that most rounds of a call agree on. Upkeep that falls into a round makes it differ, and is outvoted.
 *
 * @throws Error if no more than half of them agree.
 */
export function agreedWay(trace: readonly Step[], rounds: readonly Span[]): Way {
  const ways = rounds.map((span) => wayIn(trace, span))
  const votes = (way: Way): number => ways.filter((other) => other.rooms.join() === way.rooms.join()).length
  const agreed = ways.find((way) => votes(way) * 2 > ways.length)
  if (!agreed)
    throw new Error(`the rounds do not agree: ${ways.map(({ rooms }) => rooms.join(' ')).join(' | ')}`)
  return agreed
}

/** The part of a trace that is one call. What a gateway does after its answer was sent is no part of it. */
export function wayIn(trace: readonly Step[], { from, to }: Span): Way {
  const during = trace.filter(({ time }) => time >= from && time <= to)
  const sent = during.findLastIndex(({ what }) => what === 'sent')
  const call = during.slice(0, sent)
  const entered = call.filter(({ what }) => what === 'enter')
  return {
    rooms: roomsOf(entered, during[sent]?.thread),
    hops: hopsIn(entered),
    files: new Set(entered.map(({ detail }) => detail)).size,
    threads: new Set(entered.map(({ thread }) => thread)).size,
    parses: counted(call.filter(({ what }) => what === 'parse')),
  }
}

/** The rooms as they are first entered, and at the end the one that the answer was sent from. */
function roomsOf(entered: readonly Step[], answering: string | undefined): readonly string[] {
  const rooms = [...new Set(entered.map(roomOf))]
  const end = entered.findLast(({ thread }) => thread === answering)
  const last = end && roomOf(end)
  return last === undefined || last === rooms.at(-1) ? rooms : [...rooms, last]
}

function roomOf({ detail }: Step): string {
  return placeOf(detail)?.room ?? detail
}

function hopsIn(entered: readonly Step[]): number {
  const last = new Map<string, string>()
  return entered.filter(({ thread, detail }) => {
    const before = last.get(thread)
    last.set(thread, detail)
    return before !== undefined && before !== detail
  }).length
}

function counted(steps: readonly Step[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { detail } of steps) counts[detail] = (counts[detail] ?? 0) + 1
  return counts
}
