// Notes when the person last used the page. Requests that follow an input keep the session open; those of the page itself do not.

const RECENT_MS = 60_000
let last = Date.now()

/** Starts to watch inputs. */
export function watchActivity(): void {
  const note = (): void => void (last = Date.now())
  for (const name of ['pointerdown', 'keydown', 'wheel', 'touchstart'])
    addEventListener(name, note, { passive: true, capture: true })
}

/** Whether the person used the page within the last minute. */
export function isActive(): boolean {
  return Date.now() - last < RECENT_MS
}
