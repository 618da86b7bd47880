// Doing something again whenever a case file or its policy has changed.

import process from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { findCaseFiles, fingerprint, loadCases } from './case-files.ts'
import { onInterrupt } from '../program/interrupt.ts'
import { complain, type Terminal } from '../program/terminal.ts'

const LOOK_EVERY = 200
const CLEAR = '\u001b[2J\u001b[3J\u001b[H'

/** Runs something now and after every change, until a signal comes. What fails is told, and the next change is waited for. */
export async function again(
  terminal: Terminal,
  paths: readonly string[],
  run: () => Promise<number>,
): Promise<number> {
  const stopped = new AbortController()
  const { signal } = stopped
  const forget = onInterrupt(() => stopped.abort())
  try {
    while (!signal.aborted) {
      const policies = policiesOf(paths)
      const before = stateOf(paths, policies)
      if (process.stdout.isTTY && !terminal.json) process.stdout.write(CLEAR)
      await run().catch(complain)
      terminal.say('waiting for a change; Ctrl-C ends it')
      await changeOf(() => stateOf(paths, policies), before, signal)
    }
  } catch (fault) {
    if (!signal.aborted) throw fault
  } finally {
    forget()
  }
  return 130
}

/** Waits for another state that stays as it is for a moment: what an editor is still writing is not read. */
async function changeOf(state: () => string, before: string, signal: AbortSignal): Promise<void> {
  let last = before
  for (;;) {
    await pause(LOOK_EVERY, undefined, { signal })
    const now = state()
    if (now === last && now !== before) return
    last = now
  }
}

function policiesOf(paths: readonly string[]): readonly string[] {
  return filesOf(paths).flatMap((path) => loadCases(path).policyFile ?? [])
}

function stateOf(paths: readonly string[], policies: readonly string[]): string {
  return fingerprint([...filesOf(paths), ...new Set(policies)])
}

/** The case files of the moment; none while a path is not there. */
function filesOf(paths: readonly string[]): readonly string[] {
  try {
    return findCaseFiles(paths)
  } catch {
    // It may be back at the next look: editors replace files.
    return []
  }
}
