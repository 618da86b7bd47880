// Performs one action on a page: describes its target, observes the page, asks the gateway, checks that nothing has changed, acts,
// and reports.

import type { ElementHandle, Locator, Page } from 'playwright-core'
import {
  PageChanged,
  type BrowserPart,
  type CallOptions,
  type Client,
  type GuardOptions,
} from '../src/index.ts'
import { keyOf, type Observer, type Seen } from './observer.ts'
import { forget, isSame, resolveTarget, type Target } from './target.ts'

/** The options of one action. */
export interface ActionOptions extends Pick<
  CallOptions,
  'signal' | 'sources' | 'approval' | 'delegation' | 'session_id' | 'planner_ref'
> {
  /** How long the target is waited for, and how long the action may take, in milliseconds. Default 10,000. */
  readonly timeout?: number
}

/** Everything that the actions on one page share. */
export interface Setting {
  readonly page: Page
  readonly observer: Observer
  readonly client: Pick<Client, 'guard'>
  readonly sentinel: Pick<Client, 'postObservation'> | undefined
  readonly planner_ref: (() => string | undefined) | undefined
  readonly prefix: string
  readonly options: GuardOptions & { readonly onDenied?: 'throw' }
}

/** The last part of a tool's name. */
export type ToolName =
  | 'check'
  | 'click'
  | 'evaluate'
  | 'fill'
  | 'goto'
  | 'hover'
  | 'press'
  | 'read'
  | 'select'
  | 'upload'

/** An action to perform. */
interface Action<R> {
  readonly tool: ToolName
  readonly args: Readonly<Record<string, unknown>>
  /** What must be the same as when the gateway was asked: the whole page, its address, or nothing. */
  readonly holds: 'page' | 'address' | 'nothing'
  readonly destination?: string
  readonly run: (timeout: number) => Promise<R>
}

/** An action on one element. */
export interface ElementAction<R> {
  readonly tool: ToolName
  readonly args: Readonly<Record<string, unknown>>
  /** Whether the element need not take clicks. */
  readonly mayHide?: boolean
  readonly run: (handle: ElementHandle, timeout: number) => Promise<R>
}

const TIMEOUT = 10_000

/** Performs an action without a target. */
export async function perform<R>(
  setting: Setting,
  action: Action<R>,
  options: ActionOptions = {},
): Promise<R> {
  return decided(setting, action, undefined, options)
}

/** Performs an action on the one element that a locator finds. */
export async function performOn<R>(
  setting: Setting,
  locator: Locator,
  { tool, args, mayHide, run }: ElementAction<R>,
  options: ActionOptions = {},
): Promise<R> {
  const { page, observer } = setting
  const { timeout = TIMEOUT } = options
  const target = await resolveTarget({ page, locator, observer, timeout, mayHide: mayHide === true })
  try {
    const { destination, ...described } = target.described
    const action: Action<R> = {
      tool,
      args: { locator: String(locator), ...args, target: described },
      holds: 'page',
      ...(destination !== undefined && { destination }),
      run: (time) => run(target.handle, time),
    }
    return await decided(setting, action, target, options)
  } finally {
    await forget(target.handle)
  }
}

async function decided<R>(
  setting: Setting,
  { tool, args, holds, destination, run }: Action<R>,
  target: Target | undefined,
  { timeout = TIMEOUT, ...options }: ActionOptions,
): Promise<R> {
  let seen: Seen | undefined
  const observe = async (): Promise<BrowserPart> => {
    seen = await setting.observer.look()
    const part = await pagePartOf(setting, seen, destination)
    return { ...part, ...(destination !== undefined && { destination }) }
  }
  const guarded = setting.client.guard(
    `${setting.prefix}/${tool}`,
    async (_: object, { receipt }) => {
      if (!(await stillHolds(setting, holds, seen, target))) throw new PageChanged(receipt)
      return run(timeout)
    },
    setting.options,
  )
  const planner_ref = options.planner_ref ?? setting.planner_ref?.()
  return guarded(args, { ...options, ...(planner_ref !== undefined && { planner_ref }), observe })
}

/** A page without an address holds nothing, so the first visit is judged by where it leads. */
async function pagePartOf(
  { sentinel }: Setting,
  { observation }: Seen,
  destination: string | undefined,
): Promise<BrowserPart> {
  if (isBlank(observation.url)) return { observation: { url: destination ?? observation.url } }
  if (!sentinel) return { observation }
  return {
    observation: { url: observation.url },
    observation_id: await sentinel.postObservation(observation),
  }
}

function isBlank(url: string): boolean {
  return url === 'about:blank' || url.startsWith('chrome-error:')
}

/** Whether what was judged is still true. A page that does not answer is not the judged one. */
async function stillHolds(
  { page, observer }: Setting,
  holds: Action<unknown>['holds'],
  seen: Seen | undefined,
  target: Target | undefined,
): Promise<boolean> {
  if (holds === 'nothing') return true
  if (!seen) return false
  try {
    const now = await observer.hash()
    const same = holds === 'address' ? now.url === seen.hash.url : keyOf(now) === keyOf(seen.hash)
    return same && (target === undefined || (await isSame(page, target, observer)))
  } catch {
    return false
  }
}
