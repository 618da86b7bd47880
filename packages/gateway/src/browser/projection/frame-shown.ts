// Whether the frame of a document is drawn: a person reads nothing in a frame that is hidden in the page around it.

import { PAGE_SCRIPT } from '@tollgate/sentinel/page'
import { asObject, textOf, type Cdp, type CdpResult } from '../cdp.ts'
import type { Target, Targets } from '../devtools/targets.ts'

const ANSWERING = 5_000
const MOST_DEPTH = 10
const IS_SHOWN = 'function () { return tollgateSentinel.isShown(this) }'

/** Follows a frame up to the page. Rejects if one of the documents around it does not answer. */
export async function isFrameShown(
  cdp: Cdp,
  targets: Pick<Targets, 'get'>,
  target: Target,
  frameId: string,
): Promise<boolean> {
  let [inner, at] = [frameId, target]
  for (let depth = 0; depth < MOST_DEPTH; depth++) {
    const outer = parentOf(await frameTree(cdp, at), inner)
    if (outer === '') return true
    // The root of a process is in a document of another process.
    const around = inner === at.id && at.parent !== undefined ? targets.get(at.parent) : at
    if (!around) throw new Error('the page around the frame is gone')
    if (!(await isOwnerShown(cdp, around.session, outer, inner))) return false
    inner = outer
    at = around
  }
  return false
}

async function isOwnerShown(cdp: Cdp, session: string, outer: string, inner: string): Promise<boolean> {
  const ask = (method: string, params: object): Promise<CdpResult> =>
    cdp.send(method, params, { session, timeout: ANSWERING })
  const { backendNodeId } = await ask('DOM.getFrameOwner', { frameId: inner })
  const world = await ask('Page.createIsolatedWorld', { frameId: outer, worldName: 'tollgate-sentinel' })
  const { executionContextId } = world
  const known = { expression: 'globalThis.tollgateSentinel !== undefined', contextId: executionContextId }
  const { result } = await ask('Runtime.evaluate', known)
  if (asObject(result)['value'] !== true) {
    await ask('Runtime.evaluate', { expression: PAGE_SCRIPT, contextId: executionContextId })
  }
  const { object } = await ask('DOM.resolveNode', { backendNodeId, executionContextId })
  const { objectId } = asObject(object)
  const shown = await ask('Runtime.callFunctionOn', {
    functionDeclaration: IS_SHOWN,
    objectId,
    returnByValue: true,
  })
  return asObject(shown['result'])['value'] === true
}

async function frameTree(cdp: Cdp, { session }: Target): Promise<CdpResult> {
  return asObject((await cdp.send('Page.getFrameTree', {}, { session, timeout: ANSWERING }))['frameTree'])
}

/** The id of the frame around a frame; empty for a main frame. */
function parentOf({ frame, childFrames }: CdpResult, id: string): string {
  const { id: own, parentId } = asObject(frame)
  if (own === id) return textOf(parentId)
  for (const each of Array.isArray(childFrames) ? childFrames : []) {
    const found = parentOf(asObject(each), id)
    if (found !== '') return found
  }
  return ''
}
