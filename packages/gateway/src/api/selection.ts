// Selects receipts for an export with the same filters as the list of receipts.

import type { EntryFilter, LedgerView } from '../view.ts'
import { unknownToken } from './auth.ts'
import { Problem } from './problem.ts'
import { FILTERS, filterOf, PERIOD } from './receipts.ts'
import { numberIn, queryIn, type ApiQuestion } from './route.ts'

/** Maximum number of receipts that filters can select. A pack has one proof for each of them, and room for the keys besides. */
const MAX_MATCHES = 9000
const PAGE = 1000

/** Whether the question has filters, so that it asks for a selection and not for a range. */
export function hasFilters(question: ApiQuestion): boolean {
  return [...Object.keys(FILTERS), ...Object.keys(PERIOD)].some(
    (name) => queryIn(question, name) !== undefined,
  )
}

/**
 * Returns the indexes of the receipts that match the filters and that the caller may see; with `from` and `to`, only of that part
 * of the ledger. Reads the ledger page by page, at most up to the limit.
 *
 * @throws Problem `not-found` if none matches, `request-invalid` if too many do, `token-unknown` if the token was revoked.
 */
export async function selectedBy(question: ApiQuestion): Promise<readonly number[]> {
  const filter = filterOf(question)
  const indexes = filter ? await matches(question, filter) : []
  if (indexes.length > 0) return indexes
  throw new Problem('not-found', 'no receipt matches the filters', { remedy: 'Use other filters.' })
}

async function matches(question: ApiQuestion, filter: EntryFilter): Promise<readonly number[]> {
  const end = numberIn(question, 'to') ?? Number.MAX_SAFE_INTEGER
  const indexes: number[] = []
  let next = numberIn(question, 'from') ?? 0
  while (next < end) {
    if (!question.stillKnown()) throw unknownToken(question.asked)
    const page = await nextPage(question.options.view, filter, next)
    indexes.push(...page.indexes.filter((index) => index < end))
    if (indexes.length > MAX_MATCHES) throw tooMany()
    next = page.next ?? end
  }
  return indexes
}

async function nextPage(
  view: LedgerView,
  filter: EntryFilter,
  from: number,
): Promise<{ readonly indexes: readonly number[]; readonly next: number | undefined }> {
  const { entries, next } = await view.page({ filter, direction: 'on', from, limit: PAGE })
  return { indexes: entries.map(({ index }) => index), next }
}

function tooMany(): Problem {
  return new Problem('request-invalid', `more than ${MAX_MATCHES} receipts match the filters`, {
    remedy: 'Select a shorter period, or export a range with `from` and `to` and no filters.',
  })
}
