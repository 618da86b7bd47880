// Runs something again whenever a case file or its policy changes.

import process from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { findCaseFiles, fingerprint, loadCases } from './case-files.ts'
import { onInterrupt } from '../program/interrupt.ts'
import { complain, type Terminal } from '../program/terminal.ts'

const CHECK_INTERVAL_MS = 200
const CLEAR = '\u001b[2J\u001b[3J\u001b[H'

/** Runs something now and after every change, until a signal arrives. Prints errors and continues. */
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
      terminal.say('waiting for changes; press Ctrl-C to stop')
      await changeOf(() => stateOf(paths, policies), before, signal)
    }
  } catch (fault) {
    if (!signal.aborted) throw fault
  } finally {
    forget()
  }
  return 130
}

/** Waits for a changed state that is stable, so that a half-written file is not read. */
async function changeOf(state: () => string, before: string, signal: AbortSignal): Promise<void> {
  let last = before
  for (;;) {
    await pause(CHECK_INTERVAL_MS, undefined, { signal })
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

function filesOf(paths: readonly string[]): readonly string[] {
  try {
    return findCaseFiles(paths)
  } catch {
    // Editors replace files, so it can exist again at the next check.
    return []
  }
}
