// The elements that calls name: what the agent saw under each reference, and whether it is still there.

import type { TargetState } from '@tollgate/evidence'
import type { Binding, Bound, SeenElement } from '../binding/bind.ts'
import { asObject } from '../cdp.ts'
import type { AdapterName, GuardedPage } from '../servers/adapters.ts'
import type { OpenPage } from './pages.ts'
import type { BrowserRequest } from './request.ts'
import { readSnapshot, type SnapshotElement } from './snapshot.ts'
import type { Watched } from './watch.ts'

/** Finds an element again and compares it with what the agent saw. Never rejects. */
type Bind = (page: OpenPage, seen: SeenElement) => Promise<Binding>

type GuardedTarget = NonNullable<GuardedPage['target']>

/** The elements of one call. */
interface FoundTarget {
  readonly shown: GuardedTarget
  /** The elements, if all were found. */
  readonly bound: readonly Bound[]
}

/** Knows the elements that the agent of one browser saw. */
export interface Targeting {
  /** Compares the elements that a call names with what the agent saw; undefined if it names none. Never rejects. */
  find(page: OpenPage, request: BrowserRequest, seen: Watched | undefined): Promise<FoundTarget | undefined>
  /** Learns from a result what the agent now sees of a page. Never rejects. */
  learn(page: OpenPage, result: string, request: BrowserRequest, seen: Watched): Promise<void>
}

// More elements in one call are not compared one by one.
const MAX_NAMED = 50
const MAX_SHOWN = 500

/** Creates the memory of what the agent of one browser saw. */
export function createTargeting(adapter: AdapterName, bind: Bind): Targeting {
  const known = new WeakMap<OpenPage, ReadonlyMap<string, SeenElement>>()
  return {
    async find(page, { elements: references, tool }, seen) {
      const origin = originOf(seen?.observation.url ?? '')
      if (tool.blind === true) return { shown: unresolved(origin), bound: [] }
      if (references.length === 0) return undefined
      const elements = references.flatMap((each) => known.get(page)?.get(each) ?? [])
      if (elements.length < references.length || elements.length > MAX_NAMED) {
        return { shown: unresolved(origin), bound: [] }
      }
      const { state, bound } = await bindAll(page, elements)
      return { shown: shownOf(state, elements), bound }
    },
    async learn(page, result, { elements }, seen) {
      // The snapshot of a part leaves the rest as it was.
      const isPart = elements.length > 0
      const found = readSnapshot(adapter, result, isPart)
      if (found.size === 0) return
      const now = asSeen(found, seen, await scrollOf(page))
      known.set(page, isPart ? new Map([...(known.get(page) ?? []), ...now]) : now)
    },
  }

  async function bindAll(
    page: OpenPage,
    elements: readonly SeenElement[],
  ): Promise<{ readonly state: TargetState; readonly bound: readonly Bound[] }> {
    const bound: Bound[] = []
    for (const each of elements) {
      const found = await bind(page, each)
      if (found.state !== 'bound') return { state: found.state, bound: [] }
      bound.push(found)
    }
    return { state: 'bound', bound }
  }
}

interface Scroll {
  readonly x: number
  readonly y: number
}

/** The elements of a snapshot with their origin and their place in the document. One whose origin is unknown is left out. */
function asSeen(
  found: ReadonlyMap<string, SnapshotElement>,
  { observation, oneOrigin }: Watched,
  scroll: Scroll | undefined,
): ReadonlyMap<string, SeenElement> {
  const page = originOf(observation.url)
  const numbers = new Map<string, number>()
  const keyOf = ({ role, name }: SnapshotElement): string => `${role}\n${name}`
  for (const each of found.values()) numbers.set(keyOf(each), (numbers.get(keyOf(each)) ?? 0) + 1)
  const seen = new Map<string, SeenElement>()
  const before = new Map<string, number>()
  for (const [ref, each] of found) {
    const key = keyOf(each)
    const nth = before.get(key) ?? 0
    before.set(key, nth + 1)
    const origin = each.origin ?? (each.inFrame && !oneOrigin ? undefined : page)
    if (origin === undefined) continue
    const { role, name, box } = each
    const [x = 0, y = 0, width = 0, height = 0] = box ?? []
    // Boxes are relative to the window, and those in a frame to the frame.
    const placed = box && scroll && !each.inFrame && { x: x + scroll.x, y: y + scroll.y, width, height }
    const among = { nth, of: numbers.get(key) ?? 1 }
    seen.set(ref, { role, name, origin, among, ...(placed && { box: placed }) })
  }
  return seen
}

const SCROLL_MS = 5000

/** How far the page is scrolled; undefined if it does not say. */
async function scrollOf({ send }: OpenPage): Promise<Scroll | undefined> {
  try {
    const { cssLayoutViewport } = await send('Page.getLayoutMetrics', {}, SCROLL_MS)
    const { pageX, pageY } = asObject(cssLayoutViewport)
    return typeof pageX === 'number' && typeof pageY === 'number' ? { x: pageX, y: pageY } : undefined
  } catch {
    return undefined
  }
}

function unresolved(origin: string): GuardedTarget {
  return { state: 'unresolved', role: '', name: '', origin }
}

/** The description of the elements of a call for receipts and approvers. */
function shownOf(state: TargetState, elements: readonly SeenElement[]): GuardedTarget {
  const [only, ...more] = elements
  if (!only) return unresolved('')
  const { role, name, origin, box } = only
  if (more.length > 0) {
    const names = elements.map((each) => `${each.role} ${each.name}`).join(', ')
    return { state, role: 'elements', name: names.slice(0, MAX_SHOWN), origin }
  }
  const rounded = box && [box.x, box.y, box.width, box.height].map(Math.round)
  return { state, role, name: name.slice(0, MAX_SHOWN), origin, ...(rounded && { box: rounded }) }
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : ''
}
