// Which page a running call may act on. Input to another page, and input while no call runs, is refused.

import type { OpenPage } from './pages.ts'

/** The running call of one browser. */
export interface Stage {
  /** Runs an allowed call that acts on a page. Without a page, it acts only on the browser. */
  play<Answer>(
    page: OpenPage | undefined,
    dispatch: () => Promise<Answer>,
  ): Promise<{ readonly answer: Answer; readonly stopped?: string }>
  /** Why a target must not get input now; undefined if it may. */
  refusal(target: string | undefined): string | undefined
}

/** Creates the stage of one browser. `belongs` says whether a target is a page or inside of it. */
export function createStage(belongs: (target: string, page: OpenPage) => boolean): Stage {
  let running: { readonly page: OpenPage | undefined; stopped: string | undefined } | undefined
  return {
    async play(page, dispatch) {
      const own = { page, stopped: undefined as string | undefined }
      running = own
      try {
        const answer = await dispatch()
        return { answer, ...(own.stopped !== undefined && { stopped: own.stopped }) }
      } finally {
        // A call that was given up may still be running when the next one begins.
        if (running === own) running = undefined
      }
    },
    refusal(target) {
      if (!running) return 'no allowed call is running'
      if (target === undefined || (running.page && belongs(target, running.page))) return undefined
      return (running.stopped = 'the call is about another page')
    },
  }
}
