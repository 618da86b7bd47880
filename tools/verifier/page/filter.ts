// Filters the rows of the table by what the form says.

import { byId, grouped, make } from './dom.ts'
import type { Row } from './rows.ts'

/** What the form asks for. An empty text asks for nothing. */
export interface Wanted {
  readonly text: string
  readonly verdict: string
  readonly kind: string
  readonly principal: string
  readonly session: string
  readonly who: string
  readonly found: boolean
}

/** Returns the rows that fit. */
export function filterRows(rows: readonly Row[], wanted: Wanted): readonly Row[] {
  const { verdict, kind, found } = wanted
  if (Object.values(wanted).every((each) => each === '' || each === false)) return rows
  const [principal, session, who, text] = [wanted.principal, wanted.session, wanted.who, wanted.text].map(
    containing,
  )
  return rows.filter(
    (row) =>
      (verdict === '' || row.verdict === verdict) &&
      (kind === '' || row.kind === kind) &&
      (!found || row.findings.length > 0) &&
      (!principal || principal(row.principal)) &&
      (!session || session(row.session)) &&
      // Only answers to calls: who gave another order is found by the text.
      (!who || (row.act !== 'ordered' && who(row.who))) &&
      (!text || text(haystack(row))),
  )
}

/** A test for texts that contain a part, in any case; undefined if every text does. */
function containing(part: string): ((text: string) => boolean) | undefined {
  const lower = part.trim().toLowerCase()
  return lower === '' ? undefined : (text) => text.toLowerCase().includes(lower)
}

function haystack(row: Row): string {
  const { index, kind, time, principal, session, tool, verdict, reason, rule, who, act, why, id } = row
  const codes = row.findings.map(({ code }) => code)
  return [
    index,
    kind,
    time,
    principal,
    session,
    tool,
    verdict,
    reason,
    rule,
    act,
    who,
    why,
    id,
    ...codes,
  ].join('\n')
}

// A browser shows no more suggestions than this with ease.
const MAX_SUGGESTIONS = 300

/** The form with the filters. */
export class FilterForm {
  readonly #form = byId('filters', HTMLFormElement)

  constructor(onChange: () => void) {
    this.#form.addEventListener('input', onChange)
    this.#form.addEventListener('submit', (event) => event.preventDefault())
    // The fields are empty only after this event.
    this.#form.addEventListener('reset', () => window.setTimeout(onChange))
  }

  get wanted(): Wanted {
    const data = new FormData(this.#form)
    const text = (name: string): string => {
      const value = data.get(name)
      return typeof value === 'string' ? value : ''
    }
    return {
      text: text('text'),
      verdict: text('verdict'),
      kind: text('kind'),
      principal: text('principal'),
      session: text('session'),
      who: text('who'),
      found: data.get('found') !== null,
    }
  }

  clear(): void {
    this.#form.reset()
  }

  /** Offers the values that the rows have. */
  offer(rows: readonly Row[]): void {
    this.#select(
      'verdict',
      'all verdicts',
      countOf(rows, ({ verdict }) => verdict),
    )
    this.#select(
      'kind',
      'all kinds',
      countOf(rows, ({ kind }) => kind),
    )
    suggest(
      'principals',
      countOf(rows, ({ principal }) => principal),
    )
    suggest(
      'sessions',
      countOf(rows, ({ session }) => session),
    )
    suggest(
      'people',
      countOf(rows, ({ who, act }) => (act === 'ordered' ? '' : who)),
    )
  }

  #select(name: string, all: string, counts: ReadonlyMap<string, number>): void {
    const select = this.#form.elements.namedItem(name)
    if (!(select instanceof HTMLSelectElement)) return
    const { value } = select
    const options = [...counts].map(([text, count]) => new Option(`${text} (${grouped(count)})`, text))
    select.replaceChildren(new Option(all, ''), ...options)
    select.value = counts.has(value) ? value : ''
  }
}

function suggest(id: string, counts: ReadonlyMap<string, number>): void {
  const options = [...counts.keys()].slice(0, MAX_SUGGESTIONS).map((value) => {
    const option = make('option')
    option.value = value
    return option
  })
  byId(id, HTMLDataListElement).replaceChildren(...options)
}

/** How often each text occurs, the most frequent first. */
function countOf(rows: readonly Row[], textOf: (row: Row) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const text = textOf(row)
    if (text !== '') counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return new Map([...counts].sort(([, a], [, b]) => b - a))
}
