// Clauses with each letter turned by thirteen: the same letters in the same places, so nothing moves.

import { turn } from './clauses.ts'
import { at, type Ints } from './ints.ts'
import { codeAt, endOf, startOf, write, writer, written, type View } from './view.ts'

/** What clauses say with each letter turned. */
export function turnedView(view: View, clauses: Ints): View {
  const out = writer(64)
  for (let n = 0; n + 1 < clauses.length; n += 2) {
    const end = at(clauses, n + 1)
    for (let i = at(clauses, n); i < end; i++)
      write(out, turn(codeAt(view, i)), startOf(view, i), endOf(view, i))
    for (let times = 0; times < 2; times++) write(out, 10, startOf(view, end - 1), endOf(view, end - 1))
  }
  return written(out, view.text, 'decoded')
}
