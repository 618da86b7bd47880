// Clauses from their end, and clauses in which each word is written from its end.

import { LETTER, READING } from './characters.ts'
import { at, type Ints } from './ints.ts'
import { codeAt, endOf, startOf, write, writer, written, type View, type Writer } from './view.ts'

/** What clauses say from their ends. A finding is all of its clause: places cannot run backwards. */
export function backwardsView(view: View, clauses: Ints): View {
  return eachClause(view, clauses, (start, end, out) => turnRound(view, start, end, out))
}

/** What clauses say if each word is read from its end. */
export function wordsBackwardsView(view: View, clauses: Ints): View {
  return eachClause(view, clauses, (start, end, out) => {
    for (let i = start; i < end;) {
      let last = i + 1
      if (isLetter(view, i)) while (last < end && isLetter(view, last)) last++
      turnRound(view, i, last, out)
      i = last
    }
  })
}

function isLetter(view: View, i: number): boolean {
  return READING[codeAt(view, i)] === LETTER
}

function turnRound(view: View, start: number, end: number, out: Writer): void {
  const from = startOf(view, start)
  const to = endOf(view, end - 1)
  for (let i = end - 1; i >= start; i--) write(out, codeAt(view, i), from, to)
}

type Each = (start: number, end: number, out: Writer) => void

function eachClause(view: View, clauses: Ints, each: Each): View {
  const out = writer(64)
  for (let n = 0; n + 1 < clauses.length; n += 2) {
    const end = at(clauses, n + 1)
    each(at(clauses, n), end, out)
    for (let times = 0; times < 2; times++) write(out, 10, startOf(view, end - 1), endOf(view, end - 1))
  }
  return written(out, view.text, 'decoded')
}
