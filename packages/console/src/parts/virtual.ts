// A list of rows of one height, of which only those near the screen exist.

import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualItem,
} from '@tanstack/virtual-core'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

interface Rows {
  readonly items: readonly VirtualItem[]
  readonly total: number
  readonly scrollTo: (index: number) => void
}

interface RowsOptions {
  readonly count: number
  readonly height: number
  readonly scroller: { readonly current: HTMLElement | null }
}

/** The rows near the screen. Draws again when they change. */
export function useRows({ count, height, scroller }: RowsOptions): Rows {
  const [, draw] = useState(0)
  const kept = useRef<Virtualizer<HTMLElement, HTMLElement>>(undefined)
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 12,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => draw((before) => before + 1),
  }
  const virtual = (kept.current ??= new Virtualizer<HTMLElement, HTMLElement>(options))
  virtual.setOptions(options)
  useLayoutEffect(() => virtual._didMount(), [virtual])
  useLayoutEffect(() => virtual._willUpdate())
  useLayoutEffect(() => virtual.measure(), [virtual, height])
  return {
    items: virtual.getVirtualItems(),
    total: virtual.getTotalSize(),
    scrollTo: (index) => virtual.scrollToIndex(index),
  }
}
