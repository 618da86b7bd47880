// The canary of a running gateway: at intervals, the hook of each agent asks for a call that must be denied. An alert says that it stopped.

import { join } from 'node:path'
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers'
import type { Log } from '../../../log.ts'
import { hooksPath } from '../../../mcp/client/local-path.ts'
import type { LedgerView } from '../../../view.ts'
import { writePrivate } from '../../program/replace-file.ts'
import { partsIn } from './install.ts'
import { readText } from './plan.ts'
import { installedHooks, proveHook, type HookProof, type InstalledHook } from './proof.ts'

interface HookWatch {
  /** Ends it, after a question that is asked now. */
  stop(): Promise<void>
}

interface WatchOptions {
  readonly data: string
  readonly view: LedgerView
  readonly log: Log
  /** Called once when a hook lets calls run, and again after it was on in between. */
  readonly alert: (proof: HookProof) => void
  /** Milliseconds before the first question, and between two. */
  readonly first?: number
  readonly every?: number
}

/** The file with the newest result, for the status line. */
export const HOOKS_FILE = 'hooks.json'
/** Milliseconds between two questions. */
const EVERY: number = 15 * 60_000

/** Starts it. Only hooks that ask this gateway count. */
export function watchHooks(options: WatchOptions): HookWatch {
  const { first = 10_000, every = EVERY } = options
  const before = new Map<string, HookProof['is']>()
  let running: Promise<void> = Promise.resolve()
  let isBusy = false
  const look = (): void => {
    if (isBusy) return
    isBusy = true
    running = lookOnce(options, before)
      .catch(() => options.log('warn', 'the hooks of coding agents could not be checked'))
      .finally(() => (isBusy = false))
  }
  const soon = setTimeout(look, first).unref()
  const timer = setInterval(look, every).unref()
  return {
    async stop() {
      clearTimeout(soon)
      clearInterval(timer)
      await running
    },
  }
}

async function lookOnce(options: WatchOptions, before: Map<string, HookProof['is']>): Promise<void> {
  const { data, view, log, alert } = options
  const hooks = installedHooks().filter((hook) => asksHere(hook, data))
  const proofs: HookProof[] = []
  for (const hook of hooks) {
    const proof = await proveHook(hook, view)
    const name = `${hook.agent.id} ${hook.scope}`
    if (before.get(name) !== proof.is) note(proof, log, alert)
    before.set(name, proof.is)
    proofs.push(proof)
  }
  const at = new Date().toISOString()
  if (hooks.length > 0) writePrivate(join(data, HOOKS_FILE), `${JSON.stringify({ at, hooks: proofs })}\n`)
}

function note(proof: HookProof, log: Log, alert: WatchOptions['alert']): void {
  const { agent, is, why } = proof
  if (is === 'on') return
  log(is === 'silent' ? 'error' : 'warn', `the hook of a coding agent is ${is}`, { agent, because: why })
  if (is === 'silent') alert(proof)
}

/** Whether the connection of a hook leads to the gateway of this data directory. */
function asksHere({ agent, folder }: InstalledHook, data: string): boolean {
  return readText(partsIn(folder, agent.id).connection)?.includes(hooksPath(data)) === true
}
