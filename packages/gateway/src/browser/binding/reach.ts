// Tests whether a click at a point, or a key, reaches a bound element, through all frames that it is in.

import { asObject, textOf, type Cdp } from '../cdp.ts'
import type { Bound } from './bind.ts'
import { ask, run, type Frame, type Handle } from './frames.ts'

const HITS = '(x, y, ...nodes) => nodes.some((node) => tollgateTarget.hits(node, x, y))'
const HITS_FRAME = '(x, y, frame) => tollgateTarget.hitsFrame(frame, x, y)'
const PLACE_OF_FRAME = '(frame) => tollgateTarget.hitsFrame(frame, 0, 0)'
const FOCUS = '(...nodes) => tollgateTarget.hasFocus(...nodes)'

/** Whether a point reaches the element. It is a point of the page's window, or of that of the element's own frame. */
export async function isReached(
  cdp: Cdp,
  { path, frame, nodes }: Pick<Bound, 'path' | 'frame' | 'nodes'>,
  [x, y]: readonly [number, number],
  of: 'page' | 'own',
): Promise<boolean> {
  const owners = await ownersOf(cdp, path)
  let at = of === 'page' ? ([x, y] as const) : await outward(cdp, owners, [x, y])
  for (const { inside, owner } of owners) {
    const { hit, left, top } = placeIn(await run(cdp, inside, HITS_FRAME, ...point(at), owner))
    if (!hit) return false
    at = [at[0] - left, at[1] - top]
  }
  return (await run(cdp, frame, HITS, ...point(at), ...nodes)) === true
}

/** Whether keys reach the element. */
export async function isFocused(cdp: Cdp, { path, frame, nodes }: Bound): Promise<boolean> {
  for (const { inside, owner } of await ownersOf(cdp, path)) {
    if ((await run(cdp, inside, FOCUS, owner)) !== true) return false
  }
  return (await run(cdp, frame, FOCUS, ...nodes)) === true
}

interface FrameOwner {
  /** The frame that holds the element of the next frame. */
  readonly inside: Frame
  readonly owner: Handle
}

/** The elements of the frames on the way to a frame. */
function ownersOf(cdp: Cdp, path: readonly Frame[]): Promise<readonly FrameOwner[]> {
  return Promise.all(
    path.slice(1).map(async ({ id }, i) => {
      const inside = path[i]
      if (!inside) throw new Error('the frame has no parent')
      const { backendNodeId } = await ask(cdp, inside.session, 'DOM.getFrameOwner', { frameId: id })
      return { inside, owner: await handleOf(cdp, inside, backendNodeId) }
    }),
  )
}

/** A node in the world of a frame. Rejects if it is in another frame. */
export async function handleOf(
  cdp: Cdp,
  { session, world }: Pick<Frame, 'session' | 'world'>,
  backendNodeId: unknown,
): Promise<Handle> {
  const { object } = await ask(cdp, session, 'DOM.resolveNode', { backendNodeId, executionContextId: world })
  return { objectId: textOf(asObject(object)['objectId']) }
}

/** A point of a frame as a point of the page's window. */
async function outward(
  cdp: Cdp,
  owners: readonly FrameOwner[],
  [x, y]: readonly [number, number],
): Promise<readonly [number, number]> {
  const places = await Promise.all(
    owners.map(async ({ inside, owner }) => placeIn(await run(cdp, inside, PLACE_OF_FRAME, owner))),
  )
  const sum = (of: 'left' | 'top'): number => places.reduce((all, place) => all + place[of], 0)
  return [x + sum('left'), y + sum('top')]
}

function placeIn(value: unknown): { readonly hit: boolean; readonly left: number; readonly top: number } {
  const { hit, left, top } = asObject(value)
  if (typeof left !== 'number' || typeof top !== 'number') throw new Error('the frame has no place')
  return { hit: hit === true, left, top }
}

function point([x, y]: readonly [number, number]): readonly { readonly value: number }[] {
  return [{ value: x }, { value: y }]
}
