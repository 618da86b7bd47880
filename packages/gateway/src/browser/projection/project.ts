// Projects snapshots on their way to a server: text that a person cannot see does not reach it.

import { asObject, textOf, type Cdp, type CdpResult } from '../cdp.ts'
import type { ClientCommand, Screen } from '../devtools/screen.ts'
import type { Target, Targets } from '../devtools/targets.ts'
import { projectTree, rangesOf } from './devtools.ts'
import { isFrameShown } from './frame-shown.ts'
import { readOutline, withoutText, type PageOutline } from './outline.ts'
import { isSnapshot, projectSnapshot, referencesOf } from './playwright.ts'

const TRIES = 3

/** Creates the projection of one browser. It throws where a snapshot cannot be projected, so that it is refused. */
export function createProjection(cdp: Cdp, targets: () => Pick<Targets, 'get'>): Pick<Screen, 'onResult'> {
  return {
    async onResult(command, result) {
      if (isSnapshot(command, result)) return snapshot(command, result)
      if (!command.method.startsWith('Accessibility.')) return result
      // It finds only elements of a name that the server already has.
      if (command.method === 'Accessibility.queryAXTree') {
        return textOf(command.params['accessibleName']) === '' ? refuse() : result
      }
      return tree(command, result)
    },
  }

  /** A page may change between the snapshot and its reading. Then it is read again. */
  async function tree({ params, target }: ClientCommand, result: CdpResult): Promise<CdpResult> {
    const { session } = targetOf(target)
    const frame = textOf(params['frameId']) || (await mainFrame(session))
    for (let tries = 0; tries < TRIES; tries++) {
      const outline = await outlineIn(target, frame)
      const ranges = await rangesOf(cdp, session, frame, outline)
      if (ranges) return projectTree(result, outline, ranges)
    }
    return refuse()
  }

  async function snapshot(command: ClientCommand, result: CdpResult): Promise<CdpResult> {
    const { session } = targetOf(command.target)
    for (let tries = 0; tries < TRIES; tries++) {
      const references = await referencesOf(cdp, command)
      const outline = await outlineIn(command.target, await frameOf(session, references.root))
      if (outline.check === references.check) return projectSnapshot(result, outline, references)
    }
    return refuse()
  }

  async function outlineIn(target: string | undefined, frame: string): Promise<PageOutline> {
    const found = targetOf(target)
    const outline = await readOutline(cdp, found.session, frame)
    return (await isFrameShown(cdp, targets(), found, frame)) ? outline : withoutText(outline)
  }

  function targetOf(id: string | undefined): Target {
    const target = targets().get(id ?? '')
    if (!target) throw new Error('the target is gone')
    return target
  }

  async function mainFrame(session: string): Promise<string> {
    const [first] = await framesIn(session)
    return first ?? ''
  }

  async function framesIn(session: string): Promise<readonly string[]> {
    const { frameTree } = await cdp.send('Page.getFrameTree', {}, { session })
    const flat = (tree: CdpResult): readonly string[] => {
      const { frame, childFrames } = tree
      const inner = Array.isArray(childFrames) ? childFrames.flatMap((each) => flat(asObject(each))) : []
      return [textOf(asObject(frame)['id']), ...inner]
    }
    return flat(asObject(frameTree))
  }

  /** The frame whose document has this root element. */
  async function frameOf(session: string, root: unknown): Promise<string> {
    for (const frameId of await framesIn(session)) {
      const world = await cdp.send(
        'Page.createIsolatedWorld',
        { frameId, worldName: 'tollgate-sentinel' },
        { session },
      )
      const { result } = await cdp.send(
        'Runtime.evaluate',
        { expression: 'document.documentElement', contextId: world['executionContextId'] },
        { session },
      )
      const { objectId } = asObject(result)
      const { node } = await cdp.send('DOM.describeNode', { objectId }, { session })
      if (asObject(node)['backendNodeId'] === root) return frameId
    }
    throw new Error('the frame is gone')
  }
}

function refuse(): never {
  throw new Error('the snapshot could not be projected')
}
