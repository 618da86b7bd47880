// Handles Ctrl-C and SIGTERM: runs cleanups, then exits. A second signal exits at once.

import process from 'node:process'

/** Cleans up. It can return an exit code that replaces the one of the signal. */
type Cleanup = (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') => unknown

const cleanups = new Set<Cleanup>()
let interrupted = false

/** Runs `cleanup` if a signal arrives before the returned function is called. */
export function onInterrupt(cleanup: Cleanup): () => void {
  cleanups.add(cleanup)
  return () => void cleanups.delete(cleanup)
}

/** Whether a signal has arrived. Then the signal decides the exit code. */
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
  // For the case that the process ends before this function does.
  process.exitCode = usual
  let exit = usual
  // In reverse order: close first what was opened last.
  for (const cleanup of [...cleanups].reverse()) {
    try {
      const code = await cleanup(signal)
      if (typeof code === 'number') exit = code
    } catch {
      // A failed cleanup must not stop the others. The exit code reports it.
      exit = 1
    }
  }
  process.exit(exit)
}
