// Arms the guards in the frames of a page: from then on, only events at the elements of the call pass.

import { asObject, type Cdp } from '../cdp.ts'
import type { Targets } from '../devtools/targets.ts'
import type { Bound } from './bind.ts'
import { framesOf, run, type Frame } from './frames.ts'

/** The armed frames of a page. */
export interface Armed {
  tally(): Promise<Tally>
  /** The tally; from then on, all events pass again. Rejects if a document does not answer. */
  disarm(): Promise<Tally>
}

/** How often the mouse was pressed on an element of the call, and how many events were stopped. */
interface Tally {
  readonly downs: number
  readonly stopped: number
}

const ARM = '(...nodes) => tollgateTarget.arm(...nodes)'
const DISARM = '() => tollgateTarget.disarm()'
const TALLY = '() => tollgateTarget.tally()'
const FINISH = '() => (tollgateTarget.disarm(), tollgateTarget.tally())'

/** Arms all frames of a page. Rejects if one of them cannot be armed, or if an element is gone. */
export async function armFrames(
  cdp: Cdp,
  targets: Pick<Targets, 'get' | 'within'>,
  page: string,
  elements: readonly Bound[],
): Promise<Armed> {
  const frames = await framesOf(cdp, targets, page)
  await Promise.all(
    frames.map((frame) => {
      const own = elements.filter((each) => each.frame.id === frame.id && each.frame.world === frame.world)
      return run(cdp, frame, ARM, ...own.flatMap(({ nodes }) => nodes))
    }),
  )
  const found = new Set(frames.map(({ id, world }) => `${id} ${world}`))
  if (elements.some(({ frame }) => !found.has(`${frame.id} ${frame.world}`))) {
    throw new Error('the frame of the element is gone')
  }
  return { tally: () => tallyOf(cdp, frames, TALLY), disarm: () => tallyOf(cdp, frames, FINISH) }
}

async function tallyOf(cdp: Cdp, frames: readonly Frame[], code: string): Promise<Tally> {
  let [downs, stopped] = [0, 0]
  const tallies = await Promise.allSettled(frames.map((frame) => run(cdp, frame, code)))
  for (const each of tallies) {
    if (each.status === 'rejected') {
      // A document that is gone has nothing to say, one that hangs has.
      if (isLate(each.reason)) throw each.reason
      continue
    }
    const own = asObject(each.value)
    downs += Number(own['downs'])
    stopped += Number(own['stopped'])
  }
  return { downs, stopped }
}

/** Lets all events pass again. Rejects if a frame does not answer. */
export async function disarmFrames(
  cdp: Cdp,
  targets: Pick<Targets, 'get' | 'within'>,
  page: string,
): Promise<void> {
  const frames = await framesOf(cdp, targets, page)
  await Promise.all(frames.map((frame) => run(cdp, frame, DISARM)))
}

function isLate(fault: unknown): fault is Error {
  return fault instanceof Error && fault.message.includes('did not answer')
}
