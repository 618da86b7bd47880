// The offline verifier. One script for both sides: in a document it is the page, in a worker it verifies.

import { Detail } from './detail.ts'
import { byId, grouped } from './dom.ts'
import { watchFiles, type Files } from './files.ts'
import { filterRows, FilterForm } from './filter.ts'
import { List } from './list.ts'
import type { Told } from './messages.ts'
import { Rows, type Row } from './rows.ts'
import { createRunner, ownScript, serveWorker } from './run.ts'
import { VerdictPanel } from './verdict.ts'

// While receipts arrive, the table is drawn no more often than this.
const REFRESH_MS = 250

function startPage(script: Blob): void {
  const run = createRunner(script)
  const section = byId('receipts', HTMLElement)
  let rows = new Rows()
  let fitting: readonly Row[] = []
  let stop = (): void => undefined
  let timer: number | undefined
  let returnToList = false

  const list = new List((place) => {
    returnToList = true
    detail.open(fitting, place)
  })
  const detail = new Detail(
    () => rows,
    (row) => {
      if (returnToList) list.focus(fitting.indexOf(row))
    },
  )
  const form = new FilterForm(() => refresh())
  const panel = new VerdictPanel((index) => {
    const row = rows.byIndex(index)
    if (!row) return
    // The finding that was chosen keeps the focus.
    returnToList = false
    const among = fitting.includes(row) ? fitting : rows.all
    detail.open(among, among.indexOf(row))
  })
  watchFiles(begin, refuse)

  /** Takes everything of the last pack off the page. */
  function clear(): void {
    stop()
    detail.close()
    rows = new Rows()
    form.clear()
    refresh()
  }

  function refuse(why: string): void {
    clear()
    panel.stop(sentence(why))
  }

  function begin({ pack, trust }: Files): void {
    if (!pack) return
    clear()
    panel.begin(trust ? `${pack.name}, with ${trust.name}` : `${pack.name}, without a trust file`)
    stop = run({ pack, trust }, (told) => take(told, pack.size))
  }

  function take(told: Told, total: number): void {
    if (told.type === 'progress') {
      for (const claim of told.claims) rows.add(claim)
      panel.progress(told.bytes, total, told.receipts)
      timer ??= window.setTimeout(refresh, REFRESH_MS)
      return
    }
    if (told.type === 'done') {
      rows.mark(told.report.findings)
      panel.show(told.report, told.newTrust)
    } else if (told.type === 'stopped') panel.stop(sentence(told.why))
    form.offer(rows.all)
    refresh()
  }

  function refresh(): void {
    window.clearTimeout(timer)
    timer = undefined
    fitting = filterRows(rows.all, form.wanted)
    section.hidden = rows.all.length === 0
    list.show(fitting)
    byId('count', HTMLElement).textContent = countLine(fitting.length, rows, list.room)
    const empty = byId('empty', HTMLElement)
    empty.hidden = fitting.length > 0
    empty.textContent = 'No receipt fits these filters.'
  }
}

function countLine(fitting: number, { all, left }: Rows, room: number): string {
  const shown = fitting === all.length ? grouped(all.length) : `${grouped(fitting)} of ${grouped(all.length)}`
  const cut =
    fitting > room ? `; the first ${grouped(room)} are listed, narrow the filters to see others` : ''
  const rest = left > 0 ? `; ${grouped(left)} more are not listed` : ''
  return shown + cut + rest
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

if (typeof document === 'undefined') serveWorker()
else startPage(ownScript())
