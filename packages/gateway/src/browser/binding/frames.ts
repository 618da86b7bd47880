// The frames of a page in all its processes, each with the isolated world in which the gateway looks at it.

import { TARGET_SCRIPT } from '@tollgate/sentinel/page'
import { asObject, textOf, type Cdp, type CdpResult } from '../cdp.ts'
import type { Target, Targets } from '../devtools/targets.ts'

/** A frame of a page. */
export interface Frame {
  readonly id: string
  readonly session: string
  readonly origin: string
  /** The id of the frame that it is in; empty for the main frame. */
  readonly parent: string
  /** The id of the isolated world. */
  readonly world: number
}

/** The name of the isolated world. */
export const WORLD = 'tollgate-target'

const MOST_FRAMES = 40
const ANSWERING = 5_000

/** The frames of a page, the main frame first. Rejects if one of them does not answer or there are too many. */
export async function framesOf(
  cdp: Cdp,
  targets: Pick<Targets, 'get' | 'within'>,
  page: string,
): Promise<readonly Frame[]> {
  const main = targets.get(page)
  if (!main) throw new Error('the page is gone')
  const trees = await Promise.all(
    processesOf(targets, main).map(async ({ session }) => {
      const { frameTree } = await ask(cdp, session, 'Page.getFrameTree')
      return flatten(asObject(frameTree)).map((frame) => ({ session, frame }))
    }),
  )
  const all = trees.flat()
  if (all.length > MOST_FRAMES) throw new Error('the page has too many frames')
  return Promise.all(all.map(({ session, frame }) => open(cdp, session, frame)))
}

/** A page and the frames in it that have a process of their own. */
function processesOf(targets: Pick<Targets, 'within'>, main: Target): readonly Target[] {
  const inner = targets.within(main.id).filter(({ type }) => type === 'iframe')
  return [main, ...inner.flatMap((each) => processesOf(targets, each))]
}

function flatten(tree: CdpResult): readonly CdpResult[] {
  const { frame, childFrames } = tree
  const inner = Array.isArray(childFrames) ? childFrames.flatMap((each) => flatten(asObject(each))) : []
  return [asObject(frame), ...inner]
}

async function open(cdp: Cdp, session: string, frame: CdpResult): Promise<Frame> {
  const id = textOf(frame['id'])
  const { executionContextId: world } = await ask(cdp, session, 'Page.createIsolatedWorld', {
    frameId: id,
    worldName: WORLD,
  })
  if (typeof world !== 'number') throw new Error('the browser gave no isolated world')
  const opened = {
    id,
    session,
    origin: textOf(frame['securityOrigin']),
    parent: textOf(frame['parentId']),
    world,
  }
  const known = await run(cdp, opened, '() => globalThis.tollgateTarget !== undefined')
  // A document that was there before the gateway has no script yet.
  if (known !== true)
    await ask(cdp, session, 'Runtime.evaluate', { expression: TARGET_SCRIPT, contextId: world })
  return opened
}

/** A node in the isolated world of a frame, by its id there. */
export interface Handle {
  readonly objectId: string
}

/** Calls a function in the world of a frame and returns its value. Rejects if it throws or takes too long. */
export async function run(
  cdp: Cdp,
  frame: Pick<Frame, 'session' | 'world'>,
  code: string,
  ...given: readonly (Handle | { readonly value: unknown })[]
): Promise<unknown> {
  return (await call(cdp, frame, code, given, true))['value']
}

/** Calls a function that returns a list of nodes. */
export async function nodesFrom(
  cdp: Cdp,
  frame: Frame,
  code: string,
  ...given: readonly (Handle | { readonly value: unknown })[]
): Promise<readonly Handle[]> {
  const { objectId } = await call(cdp, frame, code, given, false)
  const { result } = await ask(cdp, frame.session, 'Runtime.getProperties', { objectId, ownProperties: true })
  if (!Array.isArray(result)) return []
  return result.flatMap((each) => {
    const { name, value } = asObject(each)
    const id = textOf(asObject(value)['objectId'])
    return /^\d+$/.test(textOf(name)) && id !== '' ? [{ objectId: id }] : []
  })
}

/** Objects that live until the group is released. */
const GROUP = 'tollgate-target'

async function call(
  cdp: Cdp,
  { session, world }: Pick<Frame, 'session' | 'world'>,
  code: string,
  given: readonly object[],
  returnByValue: boolean,
): Promise<CdpResult> {
  const { result, exceptionDetails } = await ask(cdp, session, 'Runtime.callFunctionOn', {
    functionDeclaration: code,
    executionContextId: world,
    arguments: given,
    returnByValue,
    objectGroup: GROUP,
  })
  if (exceptionDetails !== undefined) throw new Error('the page could not be examined')
  return asObject(result)
}

/** Sends a command of the gateway's own. A page under a dialog does not answer, so the time is short. */
export function ask(cdp: Cdp, session: string, method: string, params?: object): Promise<CdpResult> {
  return cdp.send(method, params, { session, timeout: ANSWERING })
}
