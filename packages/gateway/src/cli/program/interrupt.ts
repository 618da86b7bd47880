// Ctrl-C and SIGTERM: what is under way is brought to a good end, then the command exits. A second one ends it at once.

import process from 'node:process'

/** Brings something to a good end. May answer with the exit code, if it is not the signal's. */
type Cleanup = (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') => unknown

const cleanups = new Set<Cleanup>()
let interrupted = false

/** Runs `cleanup` if a signal comes before the returned function is called. */
export function onInterrupt(cleanup: Cleanup): () => void {
  cleanups.add(cleanup)
  return () => void cleanups.delete(cleanup)
}

/** Whether a signal has come: then the exit code is the signal's. */
export function wasInterrupted(): boolean {
  return interrupted
}

/** Listens for Ctrl-C, SIGTERM and a closed terminal from now on. */
export function listenForInterrupts(): void {
  process.on('SIGINT', () => void stop('SIGINT', 130))
  process.on('SIGTERM', () => void stop('SIGTERM', 143))
  process.on('SIGHUP', () => void stop('SIGHUP', 129))
}

async function stop(signal: Parameters<Cleanup>[0], usual: number): Promise<void> {
  if (interrupted) process.exit(usual)
  interrupted = true
  // Also if everything ends by itself before this is through.
  process.exitCode = usual
  let exit = usual
  // The newest first: what was opened last is closed first.
  for (const cleanup of [...cleanups].reverse()) {
    try {
      const code = await cleanup(signal)
      if (typeof code === 'number') exit = code
    } catch {
      // One that fails must not keep the others from running; the exit code says that it failed.
      exit = 1
    }
  }
  process.exit(exit)
}
