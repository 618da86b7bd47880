// Shares one answer among callers that come at the same time, if it may not be older than their question.

/** Returns a function whose answers were always read after its call. Callers that wait for the same reading share it. */
export function fresh<Answer>(read: () => Promise<Answer>): () => Promise<Answer> {
  let running: Promise<unknown> | undefined
  let next: Promise<Answer> | undefined
  const start = (): Promise<Answer> => {
    const reading = read()
    running = reading
    const end = (): void => {
      if (running === reading) running = undefined
    }
    reading.then(end, end)
    return reading
  }
  const startNext = (): Promise<Answer> => {
    next = undefined
    return start()
  }
  return () => {
    if (!running) return start()
    next ??= running.then(startNext, startNext)
    return next
  }
}
