// Stops the events of a user that do not reach the element they are meant for. Its listeners are the first of the document.

import { typeOf } from '../page/native.ts'
import { hidesIn, reaches } from './hit.ts'

/** The events since the guard was armed. */
interface Tally {
  /** Presses that reached the element. */
  readonly downs: number
  /** Events that were stopped. */
  readonly stopped: number
}

/** Guards one document. */
interface Guard {
  /** From now on, only events at one of the elements pass. Without an element, none does. */
  readonly arm: (...elements: readonly Element[]) => void
  readonly disarm: () => void
  readonly tally: () => Tally
}

const POINTER = [
  'pointerdown',
  'mousedown',
  'pointerup',
  'mouseup',
  'click',
  'auxclick',
  'dblclick',
  'contextmenu',
  'touchstart',
  'touchend',
  'dragstart',
  'drop',
]
const KEYS = ['keydown', 'keypress', 'beforeinput', 'paste']

/** Creates the guard of this document. It lets everything pass until it is armed. */
export function createGuard(): Guard {
  let expected: readonly Element[] | undefined
  let [downs, stopped] = [0, 0]
  for (const type of [...POINTER, ...KEYS]) {
    addEventListener(type, judge, { capture: true, passive: false })
  }
  return {
    arm: (...elements) => {
      expected = elements
      downs = stopped = 0
    },
    disarm: () => void (expected = undefined),
    tally: () => ({ downs, stopped }),
  }

  function judge(event: Event): void {
    // Events that the page makes itself are its own doing.
    if (!expected || !event.isTrusted) return
    const [at] = event.composedPath()
    // Sound: what has a type is a node.
    const node = at instanceof Node && typeOf(at) === 1 ? at : undefined
    if (node && expected.some((each) => reaches(node, each) || hidesIn(node, each))) {
      if (event.type === 'mousedown' || event.type === 'touchstart') downs++
      return
    }
    stopped++
    event.preventDefault()
    event.stopImmediatePropagation()
  }
}
