// A small chart over time. Its numbers are also a sentence, for those who cannot see it.

import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import Plot, { type AlignedData } from 'uplot'

/** A line of a chart. */
interface Line {
  readonly name: string
  /** The name of a colour of the style sheet. */
  readonly color: string
  readonly values: readonly (number | null)[]
}

interface ChartProps {
  readonly title: string
  readonly unit: string
  readonly seconds: readonly number[]
  readonly lines: readonly Line[]
  readonly theme: string
}

const HEIGHT = 92

/** A chart with its legend. */
export function Chart({ title, unit, seconds, lines, theme }: ChartProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<Plot>(undefined)
  useEffect(() => {
    const { current: element } = place
    if (!element) return undefined
    const made = new Plot(optionsFor(element, lines), [[...seconds]], element)
    plot.current = made
    const watch = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }))
    watch.observe(element)
    return () => {
      watch.disconnect()
      made.destroy()
    }
  }, [theme])
  useEffect(() => {
    // Sound: each line has one value a second.
    plot.current?.setData([seconds, ...lines.map(({ values }) => values)] as unknown as AlignedData)
  }, [seconds, theme])
  const last = lines.map(({ name, values }) => `${name} ${values.at(-1) ?? 0}`).join(', ')
  return (
    <div class="chart" role="img" aria-label={`${title}: ${last} ${unit}`}>
      <p class="legend">
        <span class="chart-title">{title}</span>
        {lines.map(({ name, color, values }) => (
          <span class={`key ${color}`} key={name}>
            {name} {values.at(-1) ?? '–'}
          </span>
        ))}
        <span class="soft">{unit}</span>
      </p>
      <div class="plot" ref={place} aria-hidden="true" />
    </div>
  )
}

function optionsFor(element: HTMLElement, lines: readonly Line[]): Plot.Options {
  const [soft, grid] = [colorOf(element, 'soft'), colorOf(element, 'line')]
  const axis = {
    stroke: soft,
    font: '11px system-ui',
    grid: { stroke: grid, width: 1 },
    ticks: { show: false },
  }
  return {
    width: Math.max(120, element.clientWidth),
    height: HEIGHT,
    padding: [6, 4, 0, 0],
    cursor: { show: false },
    legend: { show: false },
    scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.15)] } },
    axes: [
      { ...axis, size: 18, space: 90, grid: { show: false } },
      { ...axis, size: 38, space: 28 },
    ],
    series: [
      {},
      ...lines.map(({ name, color }) => ({
        label: name,
        stroke: colorOf(element, color),
        width: 1.5,
        points: { show: false },
        spanGaps: true,
      })),
    ],
  }
}

/** A colour of the style sheet as the canvas needs it. */
function colorOf(element: HTMLElement, name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(--${name})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
