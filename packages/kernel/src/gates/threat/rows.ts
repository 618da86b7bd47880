// Matches rows of known words with a limited number of other words in between. A row keeps only its latest start, so the time
// is linear for any text.

import { learn, lexiconSize } from './lexicon.ts'
import type { ViewReading } from './reading.ts'

/** One step of a row: its words, and the maximum number of other words before it. */
export interface RowStep {
  readonly words: readonly string[]
  readonly maxGap: number
}

/** The compiled rows. `heads` maps a word number to the start of its states. */
interface RowMachine {
  readonly heads: Int32Array
  /**
   * Four numbers for each state of each word: the state, its predecessor, the maximum number of words between the two (-1 for
   * the first step), and the row that ends here (or -1).
   */
  readonly states: Int32Array
  /** The ordinal at which each state was last reached, and the first word of the row. */
  readonly reached: Int32Array
  readonly begun: Int32Array
  /** Ordinals increase from text to text, so that nothing must be cleared. */
  base: number
}

const STRIDE = 4

/** Parses a row such as `override 4 prior 2 orders`. A digit is the gap before the next step. */
export function stepsOf(row: string, wordsOf: (step: string) => readonly string[]): readonly RowStep[] {
  const steps: RowStep[] = []
  let maxGap = 0
  for (const step of row.split(' ')) {
    if (/^[0-9]$/.test(step) && steps.length > 0 && maxGap === 0 && !row.endsWith(` ${step}`)) {
      maxGap = Number(step)
      continue
    }
    steps.push({ words: wordsOf(step), maxGap: steps.length === 0 ? -1 : maxGap })
    maxGap = 0
  }
  return steps
}

/** Compiles rows and adds their words to the lexicon. Rows with the same beginning share its states. */
export function machineOf(rows: readonly (readonly RowStep[])[]): RowMachine {
  const table: Table = { maxGaps: [], parents: [], ends: [], byWord: [], shared: new Map() }
  for (const [row, steps] of rows.entries()) {
    let parent = 0
    for (const [i, each] of steps.entries()) {
      const last = i === steps.length - 1
      const key = `${parent} ${each.maxGap} ${each.words.join('|')}`
      const state =
        (last ? undefined : table.shared.get(key)) ?? addState(table, parent, each, last ? row : -1)
      if (!last) table.shared.set(key, state)
      parent = state
    }
  }
  return tablesOf(table)
}

interface Table {
  readonly maxGaps: number[]
  readonly parents: number[]
  readonly ends: number[]
  readonly byWord: number[][]
  readonly shared: Map<string, number>
}

function addState(table: Table, parent: number, { words, maxGap }: RowStep, row: number): number {
  const state = table.maxGaps.push(maxGap) - 1
  table.parents.push(parent)
  table.ends.push(row)
  for (const id of new Set(words.map(learn))) (table.byWord[id] ??= []).push(state)
  return state
}

function tablesOf({ maxGaps, parents, ends, byWord }: Table): RowMachine {
  const heads = new Int32Array(lexiconSize() + 1)
  const states = Array.from({ length: lexiconSize() }, (_, id) => {
    // Later steps come first, because one word must not match two steps of a row.
    const own = [...(byWord[id] ?? [])].sort((a, b) => b - a)
    heads[id + 1] = (heads[id] ?? 0) + own.length * STRIDE
    return own.flatMap((state) => [state, parents[state] ?? 0, maxGaps[state] ?? 0, ends[state] ?? -1])
  }).flat()
  return {
    heads,
    states: Int32Array.from(states),
    reached: new Int32Array(maxGaps.length).fill(NEVER),
    begun: new Int32Array(maxGaps.length),
    base: 0,
  }
}

const NEVER = -1_000_000
// Larger than any gap of a row.
const TEXT_GAP = 64

/** Receives each match with its first and last word. */
export type OnRow = (row: number, first: number, last: number) => void

/** Finds the rows in the words of a view, or in a range of them. */
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
    // A word that was added after the rows belongs to none.
    const end = heads[id + 1] ?? 0
    for (let i = heads[id] ?? 0; i < end; i += STRIDE) {
      const ordinal = base + (ordinals[word] ?? 0)
      const state = states[i] ?? 0
      const maxGap = states[i + 2] ?? 0
      let first = word
      if (maxGap >= 0) {
        const parent = states[i + 1] ?? 0
        const gap = ordinal - (reached[parent] ?? 0) - 1
        if (gap < 0 || gap > maxGap) continue
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

/** Returns the first ordinal of the next text. */
function nextBase(machine: RowMachine, length: number): number {
  if (machine.base > LAST_BASE) {
    machine.reached.fill(NEVER)
    machine.base = 0
  }
  const { base } = machine
  machine.base += length + TEXT_GAP
  return base
}
