// Rows of known words with room for a few others in between. A row keeps only its latest beginning, so the time is linear whatever
// the text repeats.

import { learn, lexiconSize } from './lexicon.ts'
import type { ViewReading } from './reading.ts'

/** One step of a row: any of these words, and how many others may stand before it. */
export interface RowStep {
  readonly words: readonly string[]
  readonly room: number
}

/** Rows as tables. The word numbers are dense: where the states of each word begin, and the states. */
interface RowMachine {
  readonly heads: Int32Array
  /**
   * For each state of each word four numbers in a row, so that they are read at once: the state, the one before it, how many
   * words may stand between the two (-1 for the first of a row), and the row that ends here (or -1).
   */
  readonly states: Int32Array
  /** Where each state was reached last: the ordinal, and the word that the row began with. */
  readonly reached: Int32Array
  readonly begun: Int32Array
  /** Ordinals go on from text to text, so that nothing has to be cleared. */
  base: number
}

const STRIDE = 4

/** Steps out of a row such as `override 4 prior 2 orders`; a digit is the room before the step after it. */
export function stepsOf(row: string, wordsOf: (step: string) => readonly string[]): readonly RowStep[] {
  const steps: RowStep[] = []
  let room = 0
  for (const step of row.split(' ')) {
    if (/^[0-9]$/.test(step) && steps.length > 0 && room === 0 && !row.endsWith(` ${step}`)) {
      room = Number(step)
      continue
    }
    steps.push({ words: wordsOf(step), room: steps.length === 0 ? -1 : room })
    room = 0
  }
  return steps
}

/** Compiles rows. The words are known from then on. Rows that begin alike share the states of their beginning. */
export function machineOf(rows: readonly (readonly RowStep[])[]): RowMachine {
  const table: Table = { rooms: [], parents: [], ends: [], byWord: [], shared: new Map() }
  for (const [row, steps] of rows.entries()) {
    let parent = 0
    for (const [i, each] of steps.entries()) {
      const last = i === steps.length - 1
      const key = `${parent} ${each.room} ${each.words.join('|')}`
      const state =
        (last ? undefined : table.shared.get(key)) ?? addState(table, parent, each, last ? row : -1)
      if (!last) table.shared.set(key, state)
      parent = state
    }
  }
  return tablesOf(table)
}

interface Table {
  readonly rooms: number[]
  readonly parents: number[]
  readonly ends: number[]
  readonly byWord: number[][]
  readonly shared: Map<string, number>
}

function addState(table: Table, parent: number, { words, room }: RowStep, row: number): number {
  const state = table.rooms.push(room) - 1
  table.parents.push(parent)
  table.ends.push(row)
  for (const id of new Set(words.map(learn))) (table.byWord[id] ??= []).push(state)
  return state
}

function tablesOf({ rooms, parents, ends, byWord }: Table): RowMachine {
  const heads = new Int32Array(lexiconSize() + 1)
  const states = Array.from({ length: lexiconSize() }, (_, id) => {
    // The last step first: one word must not be two steps of a row.
    const own = [...(byWord[id] ?? [])].sort((a, b) => b - a)
    heads[id + 1] = (heads[id] ?? 0) + own.length * STRIDE
    return own.flatMap((state) => [state, parents[state] ?? 0, rooms[state] ?? 0, ends[state] ?? -1])
  }).flat()
  return {
    heads,
    states: Int32Array.from(states),
    reached: new Int32Array(rooms.length).fill(NEVER),
    begun: new Int32Array(rooms.length),
    base: 0,
  }
}

const NEVER = -1_000_000
// More than a row may leave out.
const APART = 64

/** Called for each row that is found, with its first and last word. */
export type OnRow = (row: number, first: number, last: number) => void

/** Finds the rows in the words of a view, or in some of its words. */
export function matchRows(
  machine: RowMachine,
  reading: ViewReading,
  found: OnRow,
  from: number = 0,
  to: number = reading.ids.length,
): void {
  const { heads, states, reached, begun } = machine
  const ids = reading.ids.data
  const ordinals = reading.ordinals.data
  const base = nextBase(machine, reading.ordinal)
  for (let word = from; word < to; word++) {
    const id = ids[word] ?? 0
    // A word that was learned after the rows belongs to none: it has no end.
    const end = heads[id + 1] ?? 0
    for (let i = heads[id] ?? 0; i < end; i += STRIDE) {
      const ordinal = base + (ordinals[word] ?? 0)
      const state = states[i] ?? 0
      const room = states[i + 2] ?? 0
      let first = word
      if (room >= 0) {
        const parent = states[i + 1] ?? 0
        const gap = ordinal - (reached[parent] ?? 0) - 1
        if (gap < 0 || gap > room) continue
        first = begun[parent] ?? 0
      }
      reached[state] = ordinal
      begun[state] = first
      const row = states[i + 3] ?? -1
      if (row >= 0) found(row, first, word)
    }
  }
}

const LAST_BASE = 1 << 30

/** Where the ordinals of the next text begin. */
function nextBase(machine: RowMachine, length: number): number {
  if (machine.base > LAST_BASE) {
    machine.reached.fill(NEVER)
    machine.base = 0
  }
  const { base } = machine
  machine.base += length + APART
  return base
}
