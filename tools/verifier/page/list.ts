// The table of receipts as a virtual list: only the rows near the screen are in the page.

import { byId, make } from './dom.ts'
import type { Row } from './rows.ts'

// Browsers cannot lay out an element that is higher than some 17 million pixels.
const MAX_HEIGHT = 16_000_000
const WIDE_ROW = 56
const NARROW_ROW = 128
/** Rows beyond the edges of the screen, so that scrolling shows no gaps. */
const MARGIN = 8

/** The list. `open` is called with the place of a row that the user chooses. */
export class List {
  readonly #table = byId('table', HTMLElement)
  readonly #body = byId('rows', HTMLElement)
  readonly #narrow = window.matchMedia('(max-width: 899px)')
  readonly #live = new Map<number, HTMLElement>()
  readonly #open: (place: number) => void
  #rows: readonly Row[] = []
  #asked = false

  constructor(open: (place: number) => void) {
    this.#open = open
    window.addEventListener('scroll', () => this.#later(), { passive: true })
    window.addEventListener('resize', () => this.#later())
    this.#narrow.addEventListener('change', () => this.show(this.#rows))
    this.#body.addEventListener('keydown', (event) => this.#key(event))
  }

  /** How many of the rows the list can hold. */
  get room(): number {
    return Math.floor(MAX_HEIGHT / this.#height)
  }

  show(rows: readonly Row[]): void {
    this.#rows = rows.slice(0, this.room)
    for (const element of this.#live.values()) element.remove()
    this.#live.clear()
    this.#table.setAttribute('aria-rowcount', String(rows.length + 1))
    this.#body.style.setProperty('--row', `${this.#height}px`)
    this.#body.style.height = `${this.#rows.length * this.#height}px`
    this.#draw()
  }

  /** Brings a row onto the screen and gives it the focus. */
  focus(place: number): void {
    if (place < 0 || place >= this.#rows.length) return
    const top = this.#body.getBoundingClientRect().top + place * this.#height
    const head = 100
    if (top < head) window.scrollBy(0, top - head)
    else if (top + this.#height > window.innerHeight)
      window.scrollBy(0, top + this.#height - window.innerHeight)
    this.#draw()
    this.#live.get(place)?.querySelector('button')?.focus({ preventScroll: true })
  }

  get #height(): number {
    return this.#narrow.matches ? NARROW_ROW : WIDE_ROW
  }

  #later(): void {
    if (this.#asked) return
    this.#asked = true
    window.requestAnimationFrame(() => {
      this.#asked = false
      this.#draw()
    })
  }

  #draw(): void {
    const { top } = this.#body.getBoundingClientRect()
    const first = Math.max(0, Math.floor(-top / this.#height) - MARGIN)
    const last = Math.min(this.#rows.length, Math.ceil((window.innerHeight - top) / this.#height) + MARGIN)
    for (const [place, element] of this.#live) {
      if (place >= first && place < last) continue
      element.remove()
      this.#live.delete(place)
    }
    for (let place = last - 1; place >= first; place--) this.#place(place)
  }

  /** Puts a row into the page, before the one that follows: readers of a screen take them in this order. */
  #place(place: number): void {
    const row = this.#rows[place]
    if (!row || this.#live.has(place)) return
    const element = drawRow(row, () => this.#open(place))
    element.setAttribute('aria-rowindex', String(place + 2))
    element.style.transform = `translateY(${place * this.#height}px)`
    element.dataset.place = String(place)
    this.#body.insertBefore(element, this.#live.get(place + 1) ?? this.#firstAfter(place))
    this.#live.set(place, element)
  }

  #firstAfter(place: number): Element | null {
    const all = [...this.#body.children]
    return all.find((each) => each instanceof HTMLElement && Number(each.dataset.place) > place) ?? null
  }

  #key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined || !(event.target instanceof HTMLElement)) return
    const row = event.target.closest<HTMLElement>('[data-place]')
    if (!row) return
    event.preventDefault()
    this.focus(Number(row.dataset.place) + step)
  }
}

function drawRow(row: Row, open: () => void): HTMLElement {
  const { index, kind, verdict, findings } = row
  const name = [`Entry ${index}`, kind, verdict, findings.length > 0 ? `${findings.length} findings` : '']
  const opener = make('button', { text: String(index), label: name.filter(Boolean).join(', ') })
  opener.type = 'button'
  const reason = findings[0] ? foundIn(row) : row.rule
  const cells = [
    make('span', { class: 'c-index', role: 'cell' }, opener),
    cell('c-time', row.time.slice(0, 10), row.time.slice(11)),
    cell('c-kind', kind, ''),
    cell('c-principal', row.principal, row.session),
    cell('c-tool', row.tool, ''),
    make('span', { class: 'c-verdict', role: 'cell' }, verdictChip(verdict)),
    cell('c-reason', row.reason, reason),
    cell('c-who', personIn(row), row.why),
  ]
  const element = make('div', { class: findings.length > 0 ? 'row found' : 'row', role: 'row' }, ...cells)
  element.addEventListener('click', open)
  return element
}

function foundIn({ findings }: Row): string {
  const more = findings.length > 1 ? ` and ${findings.length - 1} more` : ''
  return `✗ ${findings[0]?.code ?? ''}${more}`
}

function cell(name: string, first: string, second: string): HTMLElement {
  const lines = [make('span', { class: 'first', text: first, title: first })]
  if (second !== '') lines.push(make('span', { class: 'second', text: second, title: second }))
  return make('span', { class: name, role: 'cell' }, ...lines)
}

/** The person behind a receipt, in a few words: `approved by operator:bob`. */
export function personIn({ who, act, verdict }: Row): string {
  if (who === '') return verdict === 'ESCALATE' ? 'no answer in this pack' : ''
  return act === 'ordered' ? `by ${who}` : `${act} by ${who}`
}

/** A verdict, coloured by what it means. */
export function verdictChip(verdict: string): HTMLElement {
  return make('span', { class: verdict === '' ? '' : `chip ${toneOf(verdict)}`, text: verdict })
}

function toneOf(verdict: string): string {
  if (['ALLOW', 'COMPLETED', 'GRANTED', 'LIFTED'].includes(verdict)) return 'good'
  return ['DENY', 'FAILED', 'REFUSED', 'FROZEN'].includes(verdict) ? 'bad' : 'warn'
}
