// Starts a verification in a worker made from the page's own script, or in the page itself where the browser refuses one.

import { check } from './check.ts'
import type { Job, Told } from './messages.ts'

interface ScriptUrlPolicy {
  createScriptURL(url: string): unknown
}

declare const trustedTypes:
  | { createPolicy(name: string, rules: { createScriptURL(url: string): string }): ScriptUrlPolicy }
  | undefined

// A worker that starts says so at once. One that is silent for so long was refused without an error.
const START_MS = 4000

/** Must be called while the script of the page runs for the first time: later a page cannot name its own script. */
export function ownScript(): Blob {
  return new Blob([document.currentScript?.textContent ?? ''], { type: 'text/javascript' })
}

/** Makes runs. A run tells everything to `tell` until it is stopped; the function that it returns stops it. */
export function createRunner(script: Blob): (job: Job, tell: (told: Told) => void) => () => void {
  const url = URL.createObjectURL(script)
  // The only URL that the policy lets through is this one.
  const rules = {
    createScriptURL(asked: string) {
      if (asked !== url) throw new TypeError('not the script of this page')
      return asked
    },
  }
  const policy =
    typeof trustedTypes === 'undefined' ? undefined : trustedTypes.createPolicy('tollgate-worker', rules)
  const trusted = policy ? policy.createScriptURL(url) : url
  return (job, tell) => start(job, tell, trusted)
}

function start(job: Job, tell: (told: Told) => void, url: unknown): () => void {
  let stopped = false
  let worker: Worker | undefined
  let timer: number | undefined
  const end = (): void => {
    window.clearTimeout(timer)
    worker?.terminate()
    worker = undefined
  }
  const inPage = (): void => {
    end()
    if (!stopped)
      void check(
        job,
        (told) => stopped || tell(told),
        () => stopped,
      )
  }
  worker = openWorker(url)
  if (!worker) inPage()
  else {
    let ready = false
    timer = window.setTimeout(inPage, START_MS)
    worker.addEventListener('message', ({ data }: MessageEvent<Told>) => {
      if (stopped || !worker) return
      if (data.type === 'ready') {
        ready = true
        window.clearTimeout(timer)
        worker.postMessage(job)
      } else tell(data)
    })
    worker.addEventListener('error', (event) => {
      event.preventDefault()
      if (stopped || !worker) return
      if (!ready) inPage()
      else {
        end()
        tell({ type: 'stopped', why: 'the verification ended without a report; choose the files again' })
      }
    })
  }
  return () => {
    stopped = true
    end()
  }
}

function openWorker(url: unknown): Worker | undefined {
  try {
    // Sound: it is the URL itself, or the trusted form of it that the browser asks for.
    return new Worker(url as string)
  } catch {
    return undefined
  }
}

/** The part of a worker's global scope that is used here. */
interface WorkerScope {
  postMessage(told: Told): void
  addEventListener(type: 'message', listener: (event: MessageEvent<Job>) => void): void
}

/** The worker's side: verifies the files of the one message that it gets. */
export function serveWorker(): void {
  // Sound: called only where there is no document, which is a worker.
  const scope = globalThis as unknown as WorkerScope
  const tell = (told: Told): void => scope.postMessage(told)
  scope.addEventListener('message', ({ data }) => void check(data, tell))
  tell({ type: 'ready' })
}
