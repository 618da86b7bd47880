// Resolves a locator to one element, and describes it as the Sentinel sees it: the element that a click at its place hits.

import { sha256Hex } from '@tollgate/evidence'
import type { ElementSign, PageTarget } from '@tollgate/sentinel'
import type { ElementHandle, Locator, Page } from 'playwright-core'
import { TollgateError } from '../src/index.ts'
import type { Observer } from './observer.ts'

/** An element that was resolved once. The action uses this element, even if the locator would now find another one. */
export interface Target {
  readonly handle: ElementHandle
  readonly described: PageTarget
}

interface Wanted {
  readonly page: Page
  readonly locator: Locator
  readonly observer: Observer
  readonly timeout: number
  /** Whether the element need not take clicks. */
  readonly mayHide: boolean
}

const PAUSE = 100
/** Attributes that tell apart elements of one place. */
const SIGNS = ['id', 'name', 'type', 'role']

/**
 * Resolves a locator, and waits until the element takes clicks.
 *
 * @throws TollgateError `target-unresolved` if there is none, more than one, or something covers it until the timeout.
 */
export async function resolveTarget({ page, locator, observer, timeout, mayHide }: Wanted): Promise<Target> {
  const end = performance.now() + timeout
  const handle = await handleOf(locator, timeout)
  try {
    if (mayHide && !(await handle.isVisible())) return { handle, described: await hiddenTarget(handle) }
    for (;;) {
      const described = await describe(page, handle, observer, end - performance.now())
      if (described) return { handle, described }
      if (mayHide) return { handle, described: await hiddenTarget(handle) }
      if (performance.now() + PAUSE > end) throw unresolved('a click at its place does not hit it')
      await new Promise((resolve) => setTimeout(resolve, PAUSE))
    }
  } catch (fault) {
    await forget(handle)
    throw fault
  }
}

/** Whether the element is still as it was described, and a click still hits it. */
export async function isSame(
  page: Page,
  { handle, described }: Target,
  observer: Observer,
): Promise<boolean> {
  if (described.role === HIDDEN) return textOf(await hiddenTarget(handle)) === textOf(described)
  const now = await describe(page, handle, observer)
  return now !== undefined && textOf(now) === textOf(described)
}

/** Frees an element in the browser. A page that is gone has freed it. */
export async function forget(handle: ElementHandle): Promise<void> {
  await handle.dispose().catch(() => undefined)
}

async function handleOf(locator: Locator, timeout: number): Promise<ElementHandle> {
  try {
    return await locator.elementHandle({ timeout })
  } catch (fault) {
    // Its message can contain text of the page, so it is not passed on.
    const isSeveral = fault instanceof Error && fault.message.includes('strict mode violation')
    throw unresolved(isSeveral ? 'more than one element matches' : 'no element matches')
  }
}

async function describe(
  page: Page,
  handle: ElementHandle,
  observer: Observer,
  scroll?: number,
): Promise<PageTarget | undefined> {
  const sign = await signOf(page, handle, scroll)
  return sign && observer.target(sign)
}

const HIDDEN = 'hidden'
const NOWHERE = { x: 0, y: 0, width: 0, height: 0 }

/** A field that a person does not see. Only its attributes are known. */
async function hiddenTarget(handle: ElementHandle): Promise<PageTarget> {
  const values = await Promise.all([...SIGNS, 'aria-label'].map((name) => handle.getAttribute(name)))
  return { role: HIDDEN, name_hash: sha256Hex(JSON.stringify(values).toWellFormed()), box: NOWHERE }
}

/** Where the browser draws an element, and some attributes. They come from Playwright's own world, not from functions of the page. */
async function signOf(page: Page, handle: ElementHandle, scroll?: number): Promise<ElementSign | undefined> {
  let isInFrame: boolean
  try {
    if (scroll !== undefined) await handle.scrollIntoViewIfNeeded({ timeout: Math.max(1, scroll) })
    isInFrame = (await handle.ownerFrame()) !== page.mainFrame()
    const box = isInFrame ? null : await handle.boundingBox()
    const values = await Promise.all(SIGNS.map((name) => handle.getAttribute(name)))
    if (box) return { box, attributes: Object.fromEntries(SIGNS.map((name, i) => [name, values[i] ?? null])) }
  } catch {
    // Detached, not drawn, or on a page that is gone.
    return undefined
  }
  if (isInFrame) throw unresolved('it is in a frame')
  return undefined
}

function textOf({ role, name_hash, box, destination }: PageTarget): string {
  return JSON.stringify([role, name_hash, box.x, box.y, box.width, box.height, destination])
}

function unresolved(why: string): TollgateError {
  return new TollgateError('target-unresolved', `the target of the action is not clear: ${why}`, {
    remedy: 'Look at the page again, and name one element of the page itself that a person can click.',
  })
}
