// One receipt with all of its fields, its findings, and the receipts before and after it.

import { button, byId, make } from './dom.ts'
import { personIn, verdictChip } from './list.ts'
import type { Row, Rows } from './rows.ts'

/** The rows in the order of the table, and which of them is open. */
interface Shown {
  readonly rows: readonly Row[]
  readonly place: number
}

/** The dialog. `onClose` is called with the row that was open last. */
export class Detail {
  readonly #dialog = byId('detail', HTMLDialogElement)
  readonly #pack: () => Rows
  readonly #standing = byId('standing', HTMLElement)
  #shown: Shown = { rows: [], place: -1 }

  constructor(pack: () => Rows, onClose: (row: Row) => void) {
    this.#pack = pack
    this.#dialog.addEventListener('close', () => {
      const row = this.#shown.rows[this.#shown.place]
      if (row) onClose(row)
    })
    this.#dialog.addEventListener('click', ({ target }) => {
      // Only the backdrop is the dialog itself: its contents cover all of it.
      if (target === this.#dialog) this.close()
    })
    this.#dialog.addEventListener('keydown', (event) => this.#key(event))
  }

  open(rows: readonly Row[], place: number): void {
    const row = rows[place]
    if (!row) return
    this.#shown = { rows, place }
    const label = document.activeElement?.getAttribute('aria-label')
    const title = this.#draw(row)
    if (!this.#dialog.open) this.#dialog.showModal()
    // What had the focus was drawn again: a step button keeps it, and after anything else the title has it.
    const buttons = [...this.#dialog.querySelectorAll<HTMLButtonElement>('header button:enabled')]
    const same = buttons.find((each) => each.ariaLabel !== null && each.ariaLabel === label)
    const target = same ?? title
    target.focus()
  }

  close(): void {
    if (this.#dialog.open) this.#dialog.close()
  }

  /** Opens a receipt that another one names. It may be one that the filter leaves out. */
  #go(row: Row): void {
    const place = this.#shown.rows.indexOf(row)
    if (place >= 0) return this.open(this.#shown.rows, place)
    const all = this.#pack().all
    this.open(all, all.indexOf(row))
  }

  #key({ key, target }: KeyboardEvent): void {
    if (!(target instanceof HTMLElement)) return
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key]
    if (step !== undefined) this.open(this.#shown.rows, this.#shown.place + step)
  }

  /** Draws a receipt and returns its title. */
  #draw(row: Row): HTMLElement {
    const { rows, place } = this.#shown
    const previous = button('‹', () => this.open(rows, place - 1), { label: 'Previous receipt' })
    const next = button('›', () => this.open(rows, place + 1), { label: 'Next receipt' })
    previous.disabled = place <= 0
    next.disabled = place >= rows.length - 1
    const title = make('h2', { text: `Entry ${row.index}, ${row.kind}` })
    title.id = 'detail-title'
    title.tabIndex = -1
    const standing = make('p', { class: this.#standing.className, text: this.#standing.textContent })
    const head = make(
      'header',
      {},
      title,
      previous,
      next,
      button('Close', () => this.close()),
    )
    const body = make(
      'div',
      { class: 'sheet' },
      head,
      make('div', { class: 'chips' }, verdictChip(row.verdict), standing),
    )
    if (row.findings.length > 0) body.append(foundOn(row))
    if (personIn(row) !== '') body.append(personOf(row))
    body.append(this.#links(row), this.#fields(row))
    this.#dialog.replaceChildren(body)
    this.#dialog.scrollTop = 0
    return title
  }

  #links(row: Row): HTMLElement {
    const after = this.#pack().followersOf(row)
    const line = make('p', { class: 'links' })
    if (after.length === 0) return line
    line.append('Followed by ')
    for (const each of after.slice(0, 20)) line.append(this.#linkTo(each), ' ')
    if (after.length > 20) line.append(`and ${after.length - 20} more`)
    return line
  }

  #linkTo(row: Row): HTMLElement {
    const words = [`entry ${row.index}`, row.kind, row.verdict].filter(Boolean).join(', ')
    return button(words, () => this.#go(row), { class: 'link' })
  }

  #fields(row: Row): HTMLElement {
    if (row.text === '') return make('p', { text: 'The verifier cannot read this entry.' })
    const list = make('dl')
    for (const [name, value] of [['id', row.id] as const, ...fieldsIn(JSON.parse(row.text))]) {
      const named = name === 'id' ? undefined : this.#pack().byId(value)
      const text = make('dd', { text: value })
      if (named) text.append(' ', this.#linkTo(named))
      list.append(make('dt', { text: name }), text)
    }
    return list
  }
}

function foundOn({ findings }: Row): HTMLElement {
  const items = findings.map(({ code, sentence }) =>
    make('li', {}, make('code', { text: code }), make('span', { text: ` ${sentence}` })),
  )
  return make('ul', { class: 'findings box' }, ...items)
}

function personOf(row: Row): HTMLElement {
  const { why } = row
  const line = make('p', { class: 'person' }, make('b', { text: personIn(row) }))
  if (why !== '') line.append(make('q', { text: why }))
  return line
}

/** The fields of a receipt, one value each: `session.id`, and a line for each value of a list. */
function fieldsIn(value: unknown, path = ''): readonly (readonly [name: string, value: string])[] {
  if (Array.isArray(value)) return value.flatMap((each) => fieldsIn(each, path))
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([name, each]) =>
      fieldsIn(each, path === '' ? name : `${path}.${name}`),
    )
  }
  return [[path, String(value)]]
}
