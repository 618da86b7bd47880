// Decisions as they happen.

import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Calls, type CallFilter } from '../calls.ts'
import { CallRow } from '../parts/call-row.tsx'
import { Chart } from '../parts/chart.tsx'
import { FilterBar, FILTER_NAMES } from '../parts/filter-bar.tsx'
import { Empty, Fault, Loading } from '../parts/state.tsx'
import { useRows } from '../parts/virtual.ts'
import { rates } from '../rates.ts'
import { go, hrefOf, place } from '../route.ts'
import { theme } from '../theme.ts'

/** The live page. Its filters are in the address. */
export function LivePage(): JSX.Element {
  const filter = filterIn(place.value.query)
  const calls = useMemo(() => new Calls(filter), [])
  useEffect(() => {
    void calls.start()
    return () => calls.stop()
  }, [calls])
  const text = JSON.stringify(filter)
  const first = useRef(true)
  useEffect(() => {
    if (!first.current) calls.select(filter)
    first.current = false
  }, [text])
  return (
    <div class="live">
      <header class="page-head">
        <h1>Live</h1>
        <p class="soft">{STATES[calls.state.value]}</p>
      </header>
      <Charts />
      <FilterBar
        calls={calls}
        filter={filter}
        onChange={(next) => go(hrefOf(['live'], next), { replace: true })}
      />
      <List calls={calls} />
    </div>
  )
}

const STATES = {
  loading: 'connecting',
  open: 'decisions as they happen',
  lost: 'the connection is lost; trying again',
  failed: 'not connected',
}

function filterIn(query: URLSearchParams): CallFilter {
  const given = Object.fromEntries(FILTER_NAMES.map((name) => [name, query.get(name) ?? '']))
  // Sound: every name of a filter has a text.
  return given as unknown as CallFilter
}

function Charts(): JSX.Element {
  const { seconds, allow, deny, escalate, median, slow } = rates.value
  return (
    <div class="charts">
      <Chart
        title="Decisions"
        unit="a second"
        seconds={seconds}
        theme={theme.value}
        lines={[
          { name: 'allow', color: 'good', values: allow },
          { name: 'deny', color: 'bad', values: deny },
          { name: 'escalate', color: 'warn', values: escalate },
        ]}
      />
      <Chart
        title="Time of tools"
        unit="ms"
        seconds={seconds}
        theme={theme.value}
        lines={[
          { name: 'median', color: 'accent', values: median },
          { name: '95 %', color: 'cold', values: slow },
        ]}
      />
    </div>
  )
}

const WIDE = matchMedia('(width >= 760px)')

function useRowHeight(): number {
  const [isWide, setWide] = useState(WIDE.matches)
  useEffect(() => {
    const change = (): void => setWide(WIDE.matches)
    WIDE.addEventListener('change', change)
    return () => WIDE.removeEventListener('change', change)
  }, [])
  return isWide ? 34 : 58
}

function List({ calls }: { readonly calls: Calls }): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null)
  const height = useRowHeight()
  const version = calls.version.value
  const { fitting } = calls
  const count = fitting.length
  const { items, total, scrollTo } = useRows({ count, height, scroller })
  const newest = fitting.at(-1)?.index
  const before = useRef({ count, newest })
  // A person who reads further down keeps the place.
  useLayoutEffect(() => {
    const { current: element } = scroller
    const { current: last } = before
    const added =
      newest === last.newest ? 0 : count - fitting.findLastIndex(({ index }) => index === last.newest) - 1
    if (element && element.scrollTop > height && added > 0 && added < count)
      element.scrollTop += added * height
    before.current = { count, newest }
  }, [version])
  const lastShown = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (calls.hasMore && lastShown > count - 30) void calls.more()
  }, [lastShown, count])
  useKeys(scroller, scrollTo, calls)
  if (calls.state.value === 'failed')
    return <Fault fault={new Error('The gateway cannot be reached.')} again={() => void calls.start()} />
  return (
    <>
      <div class="call-row call-head" aria-hidden="true">
        <span>Time</span>
        <span>Verdict</span>
        <span>Tool</span>
        <span>Principal</span>
        <span>Reason</span>
        <span>Effect</span>
      </div>
      <div class="scroller" ref={scroller} tabIndex={-1}>
        {calls.state.value === 'loading' && <Loading rows={8} />}
        {calls.state.value !== 'loading' && count === 0 && (
          <Empty title="No call fits">Change the filters, or wait: new calls appear at once.</Empty>
        )}
        <ol
          class="calls"
          aria-label="Calls, newest first"
          ref={(list) => void (list && (list.style.height = `${total}px`))}
        >
          {items.map(({ index, start }) => {
            const call = fitting[count - 1 - index]
            return (
              call && (
                <CallRow
                  key={call.id}
                  call={call}
                  effect={call.effect}
                  top={start}
                  height={height}
                  place={index}
                  of={count}
                />
              )
            )
          })}
        </ol>
      </div>
    </>
  )
}

/** `j` and `k` go through the list, `p` pauses, `/` searches. */
function useKeys(
  scroller: { readonly current: HTMLElement | null },
  scrollTo: (index: number) => void,
  calls: Calls,
): void {
  useEffect(() => {
    // Where the focus goes in the next frame, when the row is there.
    let next: number | undefined
    const step = (by: number): void => {
      const { activeElement: now } = document
      const at = next ?? (now instanceof HTMLElement ? Number(now.dataset['place'] ?? -1) : -1)
      if (next === undefined) requestAnimationFrame(focus)
      next = Math.min(Math.max(0, at + by), calls.fitting.length - 1)
      scrollTo(next)
    }
    const focus = (): void => {
      scroller.current?.querySelector<HTMLElement>(`[data-place="${next ?? 0}"]`)?.focus()
      next = undefined
    }
    const onKey = (event: KeyboardEvent): void => {
      const { key, target, metaKey, ctrlKey, altKey } = event
      const isField = target instanceof HTMLElement && target.matches('input, select')
      if (metaKey || ctrlKey || altKey || isField) return
      if (key === 'p') calls.pause(!calls.paused.value)
      else if (key === '/') document.getElementById('live-search')?.focus()
      else if (key === 'j' || key === 'k') step(key === 'j' ? 1 : -1)
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [calls])
}
