// Judges single commands of a running call: input must reach its elements, and the server must act on the same nodes.

import { asObject, textOf, type Cdp } from '../cdp.ts'
import type { ClientCommand } from '../devtools/screen.ts'
import type { Armed } from './arm.ts'
import { isNamed, type Bound } from './bind.ts'
import { ask, run } from './frames.ts'
import { handleOf, isFocused, isReached } from './reach.ts'

/** A running call, as the rules see it. */
export interface Running {
  readonly elements: readonly Bound[]
  readonly armed: Armed | undefined
  /** Waits until the browser has answered all events of the mouse. Rejects after a while. */
  settle(): Promise<void>
  /** Whether the page is under a dialog. */
  blocked(): boolean
}

const COVERED = 'something else is at the place of the element'
const GONE = 'the element is not the one that the agent saw'
const UNFOCUSED = 'the keys would reach another element'

/** Why a command of the domain Input must not pass; undefined if it may. Rejects if that cannot be found out. */
export async function inputRefusal(
  cdp: Cdp,
  running: Running,
  { method, params }: Pick<ClientCommand, 'method' | 'params'>,
): Promise<string | undefined> {
  if (running.elements.length === 0) return undefined
  const type = textOf(params['type'])
  if (method === 'Input.insertText' || (method === 'Input.dispatchKeyEvent' && type !== 'keyUp')) {
    return (await some(running, (bound) => isFocused(cdp, bound))) ? undefined : UNFOCUSED
  }
  if (type === 'mousePressed' || type === 'drop') {
    await running.settle()
    return pointRefusal(cdp, running, params)
  }
  if (type === 'mouseReleased') {
    await running.settle()
    // The press has opened a dialog. Later events are not dispatched before the dialog is closed.
    if (running.blocked()) return undefined
    // A press that reached nothing, for example a frame that was put there in between, must not become a click.
    const { downs, stopped } = (await running.armed?.tally()) ?? { downs: 0, stopped: 0 }
    return downs > 0 && stopped === 0 ? undefined : COVERED
  }
  return undefined
}

async function pointRefusal(
  cdp: Cdp,
  running: Running,
  { x, y }: ClientCommand['params'],
): Promise<string | undefined> {
  if (typeof x !== 'number' || typeof y !== 'number') return COVERED
  const reached = await some(running, (bound) => isReached(cdp, bound, [x, y], 'page'))
  if (!reached) return COVERED
  return (await some(running, (bound) => isStill(cdp, bound))) ? undefined : GONE
}

async function isStill(cdp: Cdp, { frame, nodes: [node], seen }: Bound): Promise<boolean> {
  return node !== undefined && (await isNamed(cdp, frame, node, seen))?.named === true
}

async function some({ elements }: Running, holds: (bound: Bound) => Promise<boolean>): Promise<boolean> {
  for (const each of elements) if (await holds(each)) return true
  return false
}

/** Commands with which a server points at the element that it is about to act on. */
const POINTING = new Set([
  'DOM.focus',
  'DOM.resolveNode',
  'DOM.scrollIntoViewIfNeeded',
  'DOM.setFileInputFiles',
])
// Servers also look at these, on the way to an element.
const WAYS = new Set(['#document', 'HTML', 'BODY', 'IFRAME', 'FRAME'])
// A text or an option is one of the call if its element is.
const PARTS = new Set(['#text', 'OPTION'])
const IS_PART =
  '(node, ...nodes) => nodes.some((one) => node.parentNode === one || node.parentNode?.parentNode === one)'

/** Why a command must not pass because it points at another node; undefined if it may. */
export async function nodeRefusal(
  cdp: Cdp,
  running: Running,
  { method, params, session }: ClientCommand,
): Promise<string | undefined> {
  if (running.elements.length === 0 || !POINTING.has(method) || session === undefined) return undefined
  const { backendNodeId, nodeId, objectId } = params
  // The ids of objects belong to the client's session.
  const sent = objectId === undefined ? { backendNodeId, nodeId } : { objectId }
  const { node } = await ask(cdp, session, 'DOM.describeNode', sent)
  return otherNode(cdp, running, asObject(node))
}

/** Why a node that a server looks at is not one of the call; undefined if it is one. */
export async function otherNode(
  cdp: Cdp,
  { elements }: Running,
  { backendNodeId, nodeName }: ClientCommand['params'],
): Promise<string | undefined> {
  if (elements.length === 0 || WAYS.has(textOf(nodeName))) return undefined
  for (const { nodes, frame } of elements) {
    if (nodes.some((each) => each.backendNodeId === backendNodeId)) return undefined
    if (!PARTS.has(textOf(nodeName))) continue
    const handle = await handleOf(cdp, frame, backendNodeId)
    if ((await run(cdp, frame, IS_PART, handle, ...nodes)) === true) return undefined
  }
  return GONE
}
