// The gateway's own view of a browser: a session of its own for every page, frame and worker, held until it is ready.

import { asObject, textOf, type Cdp, type CdpResult } from '../cdp.ts'

/** A page, a frame with a process of its own, or a worker. */
export interface Target {
  readonly id: string
  readonly type: string
  /** The gateway's own session. */
  readonly session: string
  /** The target that it was found in; undefined for pages. */
  readonly parent: string | undefined
}

/** The targets of a browser. */
export interface Targets {
  get(id: string): Target | undefined
  /** Those of a page or frame that are in it directly. */
  within(id: string): readonly Target[]
  /** Waits until a target that was held has been prepared. Rejects if it could not be, or is not known in time. */
  prepared(id: string): Promise<void>
  /** Stops watching. Targets are no longer held. */
  close(): Promise<void>
}

interface Watcher {
  /** Prepares a target while it is held: nothing of it has loaded, and none of its scripts has run. */
  onTarget?(target: Target): Promise<void>
  /** The target has crashed or is gone. */
  onGone?(target: Target): void
}

const PREPARING = 5_000
const RUNNING = 60_000
const HOLD = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }
const RELEASE = { autoAttach: false, waitForDebuggerOnStart: false, flatten: true }
// A tab only wraps a page.
const FILTER = [{ type: 'browser', exclude: true }, { type: 'tab', exclude: true }, {}]

/** Attaches to all targets, also to those that come later. A target that cannot be prepared is closed. */
export async function watchTargets(cdp: Cdp, watcher: Watcher = {}): Promise<Targets> {
  const targets = new Map<string, Target>()
  const preparations = new Map<string, Preparation>()
  const forget = cdp.onAny(({ method, params, session }) => {
    const parent = session === undefined ? undefined : bySession(session)
    if (session !== undefined && !parent) return
    if (method === 'Target.attachedToTarget') void attached(params, parent?.id)
    if (method === 'Target.detachedFromTarget') gone(bySession(textOf(params['sessionId'])))
    if (method === 'Inspector.targetCrashed' && parent) watcher.onGone?.(parent)
  })
  await cdp.send('Target.setAutoAttach', { ...HOLD, filter: FILTER })
  return {
    get: (id) => targets.get(id),
    within: (id) => [...targets.values()].filter(({ parent }) => parent === id),
    prepared: (id) => preparationOf(id).done,
    close: async () => {
      forget()
      targets.clear()
      for (const { settle } of preparations.values()) settle(true)
      await cdp.send('Target.setAutoAttach', RELEASE)
    },
  }

  function bySession(session: string): Target | undefined {
    return [...targets.values()].find((each) => each.session === session)
  }

  function preparationOf(id: string): Preparation {
    const found = preparations.get(id) ?? beginPreparation()
    preparations.set(id, found)
    return found
  }

  function gone(target: Target | undefined): void {
    if (!target) return
    targets.delete(target.id)
    preparations.get(target.id)?.settle(false)
    preparations.delete(target.id)
    watcher.onGone?.(target)
  }

  async function attached(params: CdpResult, parent: string | undefined): Promise<void> {
    const { targetId, type } = asObject(params['targetInfo'])
    const target = { id: textOf(targetId), type: textOf(type), session: textOf(params['sessionId']), parent }
    // A client attaches to the browser, and others may attach to a target once more.
    if (target.type === 'browser' || targets.has(target.id)) return
    targets.set(target.id, target)
    const { settle } = preparationOf(target.id)
    const send = (method: string, sent?: object): Promise<CdpResult> =>
      cdp.send(method, sent, { session: target.session, timeout: PREPARING })
    try {
      await send('Target.setAutoAttach', { ...HOLD, filter: FILTER })
      await watcher.onTarget?.(target)
      // Its answer may wait until the client lets the target run, too.
      settle(true)
      await cdp.send('Runtime.runIfWaitingForDebugger', {}, { session: target.session, timeout: RUNNING })
    } catch {
      settle(false)
      // It may be gone. If it is not, it would load without having been prepared.
      cdp.send('Target.closeTarget', { targetId: target.id }).catch(() => undefined)
    }
  }
}

/** The preparation of one target. */
interface Preparation {
  readonly done: Promise<void>
  readonly settle: (prepared: boolean) => void
}

function beginPreparation(): Preparation {
  let settle: Preparation['settle'] = () => undefined
  const done = new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => settle(false), PREPARING)
    settle = (prepared) => {
      clearTimeout(late)
      if (prepared) resolve()
      else reject(new Error('the target was not prepared'))
    }
  })
  // Perhaps no client waits for it.
  done.catch(() => undefined)
  return { done, settle }
}
