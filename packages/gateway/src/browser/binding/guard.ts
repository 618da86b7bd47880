// Holds a permitted call to its page and its elements while the server carries it out.

import { TARGET_SCRIPT } from '@tollgate/sentinel/page'
import { asObject, type Cdp } from '../cdp.ts'
import { classOf } from '../devtools/methods.ts'
import type { ClientCommand, Screen } from '../devtools/screen.ts'
import type { Target, Targets } from '../devtools/targets.ts'
import { armFrames, disarmFrames, type Armed } from './arm.ts'
import { bindElement, type Binding, type Bound, type SeenElement } from './bind.ts'
import { ask, WORLD } from './frames.ts'
import { inputRefusal, nodeRefusal, otherNode, type Running } from './rules.ts'

/** A call that was permitted. */
interface PermittedCall {
  /** The id of the page that it acts on; missing if it only acts on the browser. */
  readonly page?: string
  /** The elements that it names. Without one, any element of the page gets its input. */
  readonly elements?: readonly Bound[]
  /** Whether it may give files to the page. */
  readonly files?: boolean
}

/** Guards one browser. It is also the screen of its endpoint. */
export interface Guard extends Screen {
  /** Prepares a target while it is held. For `watchTargets`. */
  onTarget(target: Target): Promise<void>
  /** Finds an element. Never rejects. */
  bind(page: { readonly id: string }, seen: SeenElement): Promise<Binding>
  /**
   * Runs a permitted call: only meanwhile the server can act. Returns also why something was stopped, if it was; then the answer of
   * the server is wrong. Rejects without running it if the page cannot be guarded.
   */
  hold<Answer>(
    call: PermittedCall,
    dispatch: () => Promise<Answer>,
  ): Promise<{ readonly answer: Answer; readonly stopped?: string }>
}

interface Held extends Running {
  readonly call: PermittedCall
  /** Whether the server carries it out: from when its guards are armed until it has answered. */
  open: boolean
  armed: Armed | undefined
  /** Events of the mouse that the browser has not yet answered. Servers send some at once. */
  pending: number
  settled: (anyway?: boolean) => void
  stopped: string | undefined
}

const NOT_RUNNING = 'no permitted call is running'
const OTHER_PAGE = 'the call is about another page'
const NO_FILES = 'the call gives no files to the page'
const STOPPED = 'something else is at the place of the element'
const UNKNOWN = 'the page did not say whether the element was reached'
const SETTLING = 5_000
const SPEAKING = new Set([
  'Page.javascriptDialogClosed',
  'Inspector.targetReloadedAfterCrash',
  'Inspector.detached',
])
const MOUSE = 'Input.dispatchMouseEvent'

/**
 * Creates the guard of a browser. `targets` is asked for when it is first needed. `halted` says why the running call must
 * stop, for example because its caller is frozen.
 */
export function createGuard(
  cdp: Cdp,
  targets: () => Pick<Targets, 'get' | 'within'>,
  halted: () => string | undefined = () => undefined,
): Guard {
  let held: Held | undefined
  /** Pages whose guards could not be disarmed, because they did not answer. */
  const stuck = new Set<string>()
  /** Sessions whose page is under a dialog or has crashed. It answers nothing. */
  const silent = new Set<string | undefined>()
  cdp.onAny(({ method, session }) => {
    if (method === 'Page.javascriptDialogOpening') {
      silent.add(session)
      // Nothing that was sent before is answered until the dialog is closed.
      held?.settled(true)
    }
    if (method === 'Inspector.targetCrashed') silent.add(session)
    if (SPEAKING.has(method)) silent.delete(session)
  })

  return {
    onTarget: (target) => prepare(cdp, target),
    async bind(page, seen) {
      if (isBlocked({ page: page.id })) return { state: 'unresolved' }
      try {
        return await bindElement({ cdp, targets: targets() }, page.id, seen)
      } catch {
        return { state: 'unresolved' }
      }
    },
    async hold(call, dispatch) {
      if (held) throw new Error('another call of this browser is running')
      const own = begin(call, () => isBlocked(call))
      held = own
      try {
        await arm(own)
        own.open = true
        const answer = await dispatch().finally(() => (own.open = false))
        await disarm(own)
        return { answer, ...(own.stopped !== undefined && { stopped: own.stopped }) }
      } catch (fault) {
        await disarm(own)
        throw fault
      } finally {
        held = undefined
      }
    },
    async onCommand(command) {
      const own = held?.open === true ? held : undefined
      const why = (await refusalOf(own, command)) ?? over(own, command)
      if (why !== undefined) {
        if (own) own.stopped ??= why
        return { refuse: why }
      }
      if (!own) return 'pass'
      return {
        unless() {
          const late = over(own, command)
          if (late !== undefined) own.stopped ??= late
          else if (command.method === MOUSE) own.pending++
          return late
        },
      }
    },
    async onResult({ method }, result) {
      const own = held
      if (!own) return result
      if (method === MOUSE) {
        own.pending--
        own.settled()
      }
      if (method === 'DOM.describeNode') {
        const why = await otherNode(cdp, own, asObject(result['node']))
        if (why === undefined) return result
        own.stopped ??= why
        throw new Error(why)
      }
      return result
    },
  }

  async function arm(own: Held): Promise<void> {
    const { page } = own.call
    if (page === undefined) return
    if (isBlocked(own.call)) {
      if (own.elements.length > 0) throw new Error('the page does not answer')
      return
    }
    if (stuck.has(page)) await disarmFrames(cdp, targets(), page)
    stuck.delete(page)
    if (own.elements.length > 0) own.armed = await armFrames(cdp, targets(), page, own.elements)
  }

  /** Lets all events pass again, and learns what was stopped. */
  async function disarm(own: Held): Promise<void> {
    const { armed, call } = own
    own.armed = undefined
    if (!armed || call.page === undefined) return
    try {
      // Under a dialog the page does not answer. No press became a click elsewhere, and the next call disarms it.
      if (isBlocked(call)) stuck.add(call.page)
      else if ((await armed.disarm()).stopped > 0) own.stopped ??= STOPPED
    } catch {
      stuck.add(call.page)
      own.stopped ??= UNKNOWN
    }
  }

  function isBlocked({ page = '' }: PermittedCall): boolean {
    return silent.has(targets().get(page)?.session ?? '')
  }

  async function refusalOf(own: Held | undefined, command: ClientCommand): Promise<string | undefined> {
    const { method, params } = command
    if (classOf(method) === 'act') {
      const why = own ? offStage(own, command) : NOT_RUNNING
      if (why !== undefined) return why
    }
    if (!own) return undefined
    const late = over(own, command)
    if (late !== undefined) {
      // The press may have passed. Released where nothing is, it is no click.
      if (params['type'] === 'mouseReleased') await letGo(own)
      return late
    }
    if (!method.startsWith('Input.')) return nodeRefusal(cdp, own, command)
    if (own.stopped !== undefined && params['type'] !== 'mouseReleased') return own.stopped
    const why = await inputRefusal(cdp, own, command)
    const isRelease = params['type'] === 'mouseReleased'
    if (why !== undefined && !isRelease) return why
    if (why === undefined) return undefined
    // After its own release elsewhere, that of the server is no click. Refused, its mouse would stay pressed for ever.
    own.stopped ??= why
    await letGo(own)
    return undefined
  }

  /** Why a command of a call must not pass any more: meanwhile the call may have ended or been halted. */
  function over(own: Held | undefined, { method }: ClientCommand): string | undefined {
    if (!own || (classOf(method) !== 'act' && classOf(method) !== 'script')) return undefined
    return own.open ? halted() : NOT_RUNNING
  }

  /** Why a command does not belong to the running call. */
  function offStage({ call }: Held, { method, target }: ClientCommand): string | undefined {
    if (method === 'DOM.setFileInputFiles' && call.files !== true) return NO_FILES
    if (target === undefined) return undefined
    if (call.page === undefined) return method.startsWith('Input.') ? OTHER_PAGE : undefined
    return belongs(target, call.page) ? undefined : OTHER_PAGE
  }

  function belongs(target: string, page: string): boolean {
    for (
      let up = targets().get(target);
      up;
      up = up.parent === undefined ? undefined : targets().get(up.parent)
    ) {
      if (up.id === page) return true
    }
    return false
  }

  /** Releases the button of the mouse where nothing is. */
  async function letGo({ call: { page = '' } }: Held): Promise<void> {
    const session = targets().get(page)?.session
    const release = { type: 'mouseReleased', button: 'left', x: -1, y: -1, clickCount: 1 }
    if (session !== undefined) await ask(cdp, session, MOUSE, release).catch(() => undefined)
  }
}

function begin(call: PermittedCall, blocked: () => boolean): Held {
  let settled: Held['settled'] = () => undefined
  const held: Held = {
    call,
    open: false,
    elements: call.elements ?? [],
    armed: undefined,
    pending: 0,
    settled: (anyway) => settled(anyway),
    stopped: undefined,
    blocked,
    settle: () =>
      new Promise((resolve, reject) => {
        const late = setTimeout(
          () => reject(new Error('the browser did not answer a move of the mouse')),
          SETTLING,
        )
        settled = (anyway = false) => {
          if (held.pending > 0 && !anyway) return
          clearTimeout(late)
          resolve()
        }
        settled()
      }),
  }
  return held
}

/** Puts the guard into every document of a target, before its own scripts. */
async function prepare(cdp: Cdp, { type, session }: Target): Promise<void> {
  if (type !== 'page' && type !== 'iframe') return
  // Scripts for new documents run only after this.
  await ask(cdp, session, 'Page.enable')
  await ask(cdp, session, 'Page.addScriptToEvaluateOnNewDocument', {
    source: TARGET_SCRIPT,
    worldName: WORLD,
  })
}
