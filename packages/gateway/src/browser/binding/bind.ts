// Finds the element that a call names, as the agent saw it, and tests whether a click would reach it.

import type { Box } from '@tollgate/sentinel'
import { asObject, textOf, type Cdp } from '../cdp.ts'
import type { Targets } from '../devtools/targets.ts'
import { ask, framesOf, nodesFrom, run, type Frame, type Handle } from './frames.ts'
import { handleOf, isReached } from './reach.ts'
import { isSameName, isSameRole } from './roles.ts'

/** The element that a call acts on, as the agent saw it in the last snapshot. */
export interface SeenElement {
  readonly role: string
  readonly name: string
  readonly origin: string
  /** In CSS pixels, from the top left corner of its document. */
  readonly box?: Box
  /** Its place among the elements of the snapshot with the same role and name, from 0, and their number. */
  readonly among?: { readonly nth: number; readonly of: number }
}

/** A node of a page. */
interface BoundNode extends Handle {
  readonly backendNodeId: number
}

/** An element that was found and that a click reaches. */
export interface Bound {
  readonly state: 'bound'
  readonly seen: SeenElement
  readonly frame: Frame
  /** The frames from the main frame to that of the element. */
  readonly path: readonly Frame[]
  readonly backendNodeId: number
  /** The element, then others that look the same at the same place. */
  readonly nodes: readonly BoundNode[]
}

/** The result of a search for an element. */
export type Binding =
  | Bound
  | { readonly state: 'covered' | 'moved' | 'replaced' | 'other-origin' | 'unresolved' }

interface LikelyNode extends BoundNode {
  readonly frame: Frame
  readonly box: Box
  readonly point: readonly [x: number, y: number] | undefined
  readonly named: boolean
}

interface Browser {
  readonly cdp: Cdp
  readonly targets: Pick<Targets, 'get' | 'within'>
}

/** Finds an element of a page. Rejects if the page does not answer, for example under a dialog. */
export async function bindElement(
  { cdp, targets }: Browser,
  page: string,
  seen: SeenElement,
): Promise<Binding> {
  const frames = await framesOf(cdp, targets, page)
  const own = frames.filter(({ origin }) => origin === seen.origin)
  if (own.length === 0) return { state: 'other-origin' }
  const lists = await Promise.all(own.map((frame) => candidatesIn(cdp, frame, seen)))
  const all = lists.flat()
  const named = all.filter((each) => each.named)
  const chosen = choose(named, seen)
  if (!Array.isArray(chosen)) return { state: chosen }
  const [first] = chosen
  if (!first) return { state: 'unresolved' }
  const path = pathTo(first.frame, frames)
  if (!path) return { state: 'unresolved' }
  const bound: Bound = {
    state: 'bound',
    seen,
    frame: first.frame,
    path,
    backendNodeId: first.backendNodeId,
    nodes: chosen.filter(({ frame }) => frame === first.frame),
  }
  // An element out of the window is tested when the server has scrolled it in.
  if (first.point && !(await isReached(cdp, bound, first.point, 'own'))) return { state: 'covered' }
  return bound
}

/** The candidates that are the element, the likeliest first; or why there is none. */
function choose(
  named: readonly LikelyNode[],
  { box, among }: SeenElement,
): LikelyNode[] | 'moved' | 'replaced' | 'unresolved' {
  if (named.length === 0) return 'replaced'
  if (box) {
    const near = named.filter((each) => isNear(each.box, box))
    return near.length > 0 ? near.toSorted((a, b) => apart(a.box, box) - apart(b.box, box)) : 'moved'
  }
  if (named.length === 1) return [...named]
  const found = among?.of === named.length ? named[among.nth] : undefined
  return found ? [found] : 'unresolved'
}

/** In pixels: a page may settle by a line while the agent thinks. */
const LEAST_TOLERANCE = 12

function isNear(a: Box, b: Box): boolean {
  const [x, y] = [Math.max(LEAST_TOLERANCE, b.width / 2), Math.max(LEAST_TOLERANCE, b.height / 2)]
  return (
    Math.abs(middle(a.x, a.width) - middle(b.x, b.width)) <= x &&
    Math.abs(middle(a.y, a.height) - middle(b.y, b.height)) <= y
  )
}

function apart(a: Box, b: Box): number {
  return (
    Math.abs(a.x - b.x) + Math.abs(a.y - b.y) + Math.abs(a.width - b.width) + Math.abs(a.height - b.height)
  )
}

function middle(start: number, size: number): number {
  return start + size / 2
}

const MOST_FOUND = 24
const FIND = '(seen) => tollgateTarget.find(seen)'
const PLACES =
  '(...nodes) => nodes.map((node) => (node.nodeType === 1 && tollgateTarget.place(node)) || null)'

/** The elements of a frame that have the role and the name, by the browser's own reckoning. */
async function candidatesIn(cdp: Cdp, frame: Frame, seen: SeenElement): Promise<readonly LikelyNode[]> {
  const { name, box, role } = seen
  const text = role === 'StaticText' || role === 'text'
  let nodes = await nodesFrom(cdp, frame, FIND, { value: { name, text, ...(box && { box }) } })
  let found = await described(cdp, frame, nodes, seen)
  if (!found.some(({ named }) => named) && !text) {
    nodes = await searched(cdp, frame, seen)
    found = await described(cdp, frame, nodes, seen)
  }
  const unique = new Map(found.map((each) => [each.backendNodeId, each]))
  return [...unique.values()]
}

/** The slow way: the browser computes the name of every element, also in closed shadow roots. */
async function searched(
  cdp: Cdp,
  { session, world }: Frame,
  { name: accessibleName, role }: SeenElement,
): Promise<readonly Handle[]> {
  if (accessibleName === '') return []
  const { result } = await ask(cdp, session, 'Runtime.evaluate', { expression: 'document', contextId: world })
  const { objectId } = asObject(result)
  const { nodes } = await ask(cdp, session, 'Accessibility.queryAXTree', { objectId, accessibleName })
  const ids = (Array.isArray(nodes) ? nodes : [])
    .map(asObject)
    .filter((node) => isSameRole(role, textOf(asObject(node['role'])['value'])))
    .map(({ backendDOMNodeId }) => backendDOMNodeId)
  return Promise.all(ids.slice(0, MOST_FOUND).map((id) => handleOf(cdp, { session, world }, id)))
}

async function described(
  cdp: Cdp,
  frame: Frame,
  nodes: readonly Handle[],
  seen: SeenElement,
): Promise<readonly LikelyNode[]> {
  if (nodes.length === 0) return []
  const [places, names] = await Promise.all([
    run(cdp, frame, PLACES, ...nodes),
    Promise.all(nodes.map((node) => isNamed(cdp, frame, node, seen))),
  ])
  return nodes.flatMap((node, i) => {
    const named = names[i]
    const { box, point } = asObject(Array.isArray(places) ? places[i] : undefined)
    if (!named || box === undefined) return []
    // Sound: our own script in a world that the page does not reach made these.
    return [{ ...node, ...named, frame, box: box as Box, point: point as LikelyNode['point'] }]
  })
}

/** The id of a node, and whether the browser gives it the role and the name that the agent saw. */
export async function isNamed(
  cdp: Cdp,
  { session }: Pick<Frame, 'session'>,
  { objectId }: Handle,
  seen: SeenElement,
): Promise<{ readonly backendNodeId: number; readonly named: boolean } | undefined> {
  const { nodes } = await ask(cdp, session, 'Accessibility.getPartialAXTree', {
    objectId,
    fetchRelatives: false,
  })
  const { backendDOMNodeId, role, name } = asObject(Array.isArray(nodes) ? nodes[0] : undefined)
  if (typeof backendDOMNodeId !== 'number') return undefined
  const real = { role: textOf(asObject(role)['value']), name: textOf(asObject(name)['value']) }
  return {
    backendNodeId: backendDOMNodeId,
    named: isSameRole(seen.role, real.role) && isSameName(seen, real),
  }
}

const MOST_DEPTH = 10

function pathTo(frame: Frame, frames: readonly Frame[]): readonly Frame[] | undefined {
  const path = [frame]
  for (let inner = frame; inner.parent !== '';) {
    const parent = frames.find(({ id }) => id === inner.parent)
    if (!parent || path.length > MOST_DEPTH) return undefined
    path.unshift(parent)
    inner = parent
  }
  return path
}
