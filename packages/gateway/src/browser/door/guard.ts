// Starts the guarded browser of one server process: a Chromium behind our proxy, an endpoint with a secret, and the guard of its calls.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kernel } from '@tollgate/kernel'
import { findChromium, startChromium, type Chromium } from '../chromium.ts'
import { startEndpoint } from '../devtools/endpoint.ts'
import { startEgress, type Egress } from '../egress/egress.ts'
import { watchTargets, type Targets } from '../devtools/targets.ts'
import type { Log } from '../../log.ts'
import { GatewayError } from '../../error.ts'
import { adapterOf, type AdapterName, type Launch, type PrivateFolder } from './adapters.ts'
import type { BrowserCalls } from './browser-calls.ts'
import { guardCalls } from './calls.ts'
import { createObserver, type PageSession } from './observer.ts'
import { createPages, type OpenPage } from './pages.ts'
import { createStage } from './stage.ts'
import { createTargeting } from './targeting.ts'
import { createWatch } from './watch.ts'

/** The browser that a gateway starts for its servers. */
export interface BrowserSettings {
  /** Without a window. */
  readonly headless: boolean
  /** The path of a Chromium; undefined for the first on the PATH. */
  readonly executable: string | undefined
  /** The browser connects anywhere. Receipts say so. */
  readonly withoutEgress: boolean
}

/** Whose browser it is, and for which server. */
export interface GuardOptions {
  readonly kernel: Kernel
  readonly log: Log
  readonly settings: BrowserSettings
  readonly adapter: AdapterName
  readonly tenant: string
  readonly principal: string
  readonly session: string
}

/** A running browser for one server process. */
export interface GuardedBrowser {
  /** What the server needs to use it. Holds the secret of this start. */
  readonly launch: Launch
  readonly calls: BrowserCalls
  /** Calls `listener` once when the browser has ended. */
  onEnd(listener: () => void): void
  close(): Promise<void>
}

/** Starts the browser of one server. @throws GatewayError `LISTEN_REFUSED` if there is none, or it does not start. */
export async function startGuarded(options: GuardOptions): Promise<GuardedBrowser> {
  const { settings, adapter } = options
  const ends: (() => Promise<unknown> | void)[] = []
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= endAll(ends))
  try {
    const egress = settings.withoutEgress ? undefined : await startEgress(options)
    ends.push(() => egress?.close())
    const { headless } = settings
    const chromium = await startChromium(pathOf(settings), egress?.flags, { headless })
    // Last of all: the others still ask it.
    ends.unshift(() => chromium.close())
    await egress?.guard(chromium)
    const { calls, screen, targets } = await guardBrowser(options, chromium, egress)
    ends.push(() => targets.close())
    const endpoint = await startEndpoint({ cdp: chromium.cdp, targets }, screen)
    ends.push(() => endpoint.close())
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-server-'))
    ends.push(() => rmSync(folder, { recursive: true, force: true }))
    const launch = adapterOf(adapter).launch(endpoint, privateFolder(folder))
    return { launch, calls, close, onEnd: (listener) => chromium.cdp.onEnd(listener) }
  } catch (fault) {
    await close()
    throw fault
  }
}

function privateFolder(path: string): PrivateFolder {
  return {
    path,
    keep(name, text) {
      const file = join(path, name)
      writeFileSync(file, text, { mode: 0o600 })
      return file
    },
  }
}

/** Ends the parts in the opposite order of their start, even if one fails. */
async function endAll(ends: (() => Promise<unknown> | void)[]): Promise<void> {
  for (const end of ends.splice(0).reverse()) await Promise.resolve(end()).catch(() => undefined)
}

function pathOf({ executable }: BrowserSettings): string {
  const path = executable ?? findChromium()
  if (path !== undefined) return path
  throw new GatewayError('LISTEN_REFUSED', 'there is no Chromium on the PATH', {
    hints: ['install Chromium or Chrome, or set `browser.executable` in `tollgate.yaml`'],
  })
}

type Guard = Pick<GuardedBrowser, 'calls'> & {
  readonly screen: Parameters<typeof startEndpoint>[1]
  readonly targets: Targets
}

async function guardBrowser(
  { kernel, adapter, tenant }: GuardOptions,
  { cdp }: Chromium,
  egress: Egress | undefined,
): Promise<Guard> {
  const pages = createPages(cdp, adapter)
  const observer = createObserver()
  const targets = await watchTargets(cdp, {
    onTarget: (target) => pages.onTarget(target),
    onGone: (target) => {
      observer.forget(target.session)
      pages.onGone(target)
    },
  })
  const stage = createStage((target, page) => target === page.id || isWithin(targets, target, page.id))
  const calls = guardCalls({
    adapter,
    kernel,
    tenant,
    pages,
    watch: createWatch(cdp, observer, (page) => framesOf(targets, page)),
    targeting: createTargeting(() => Promise.resolve({ state: 'unresolved' })),
    async perform(act, _, dispatch) {
      // The call is allowed, so a person approved a destination that needs it.
      const release = act.destination === undefined ? undefined : egress?.approve(act.destination)
      try {
        return await stage.play(act, dispatch)
      } finally {
        release?.()
      }
    },
    withoutEgress: egress === undefined,
  })
  const screen: Guard['screen'] = {
    onCommand: (command) => {
      const why = stage.refusal(command)
      return Promise.resolve(why === undefined ? 'pass' : { refuse: why })
    },
    onResult: (_, result) => Promise.resolve(result),
  }
  return { calls, screen, targets }

  /** The frames of a page that have a process of their own, at any depth. */
  function framesOf(known: Targets, page: Pick<OpenPage, 'id'>): readonly PageSession[] {
    return known.within(page.id).flatMap((frame) => {
      if (frame.type !== 'iframe') return []
      const { id, session } = frame
      const send: PageSession['send'] = (method, params, timeout) =>
        cdp.send(method, params, { session, ...(timeout !== undefined && { timeout }) })
      return [{ session, send }, ...framesOf(known, { id })]
    })
  }
}

function isWithin(targets: Targets, target: string, page: string): boolean {
  const parent = targets.get(target)?.parent
  return parent !== undefined && (parent === page || isWithin(targets, parent, page))
}
