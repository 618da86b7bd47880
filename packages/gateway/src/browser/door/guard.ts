// Starts the guarded browser of one server process: a Chromium behind our proxy, an endpoint with a secret, and the guard of its calls.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isFrozen, type Kernel } from '@tollgate/kernel'
import { createGuard, type Guard } from '../binding/guard.ts'
import type { Cdp } from '../cdp.ts'
import { findChromium, startChromium, type Chromium } from '../chromium.ts'
import { startEndpoint } from '../devtools/endpoint.ts'
import type { Screen } from '../devtools/screen.ts'
import { startEgress, type Egress } from '../egress/egress.ts'
import { watchTargets, type Targets } from '../devtools/targets.ts'
import type { Log } from '../../log.ts'
import { GatewayError } from '../../error.ts'
import { adapterOf, type AdapterName, type Launch, type PrivateFolder } from '../servers/adapters.ts'
import type { BrowserCalls } from './browser-calls.ts'
import { guardCalls, type Act } from './calls.ts'
import { createObserver, type PageSession } from './observer.ts'
import { stepRefusal } from './history.ts'
import { kindRefusal } from './kind.ts'
import { createProjection } from '../projection/project.ts'
import { createPages, type OpenPage } from './pages.ts'
import { createTargeting } from './targeting.ts'
import { createWatch } from './watch.ts'

/** The browser that a gateway starts for its servers. */
interface BrowserSettings {
  /** Without a window. */
  readonly headless: boolean
  /** The path of a Chromium; undefined for the first on the PATH. */
  readonly executable: string | undefined
  /** The browser connects anywhere. Receipts say so. */
  readonly withoutEgress: boolean
}

/** Whose browser it is, and for which server. */
interface GuardOptions {
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
  /** The arguments and variables with which the server uses it. They hold the secret of this start. */
  readonly launch: Launch
  readonly calls: BrowserCalls
  /** Calls `listener` once when the browser has ended. */
  onEnd(listener: () => void): void
  close(): Promise<void>
}

/** Starts the browser of one server. @throws GatewayError `LISTEN_REFUSED` if there is none, or it does not start. */
export async function startGuarded(options: GuardOptions): Promise<GuardedBrowser> {
  const { settings, adapter } = options
  const ends: (() => unknown)[] = []
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
async function endAll(ends: (() => unknown)[]): Promise<void> {
  for (const end of ends.splice(0).reverse()) {
    await Promise.resolve()
      .then(end)
      .catch(() => undefined)
  }
}

function pathOf({ executable }: BrowserSettings): string {
  const path = executable ?? findChromium()
  if (path !== undefined) return path
  throw new GatewayError('LISTEN_REFUSED', 'there is no Chromium on the PATH', {
    hints: ['install Chromium or Chrome, or set `browser.executable` in `tollgate.yaml`'],
  })
}

type BrowserParts = Pick<GuardedBrowser, 'calls'> & {
  readonly screen: Screen
  readonly targets: Targets
}

async function guardBrowser(
  { kernel, adapter, tenant, principal }: GuardOptions,
  { cdp }: Chromium,
  egress: Egress | undefined,
): Promise<BrowserParts> {
  const pages = createPages(cdp, adapter)
  const observer = createObserver()
  const known: { targets?: Targets } = {}
  let running: { readonly act: Act; stopped: string | undefined } | undefined
  /** A call runs for a long time, and its decision is not asked again. */
  const halted = (): string | undefined => {
    if (kernel.ledger.poisoned !== undefined) return 'the ledger cannot be written'
    const session = running?.act.session
    return isFrozen(kernel, 'browser', { tenant, principal, session }) ? 'the caller is frozen' : undefined
  }
  const holder = createGuard(cdp, () => known.targets ?? NO_TARGETS, halted)
  const projection = createProjection(cdp, () => known.targets ?? NO_TARGETS)
  const targets = await watchTargets(cdp, {
    async onTarget(target) {
      await Promise.all([holder.onTarget(target), pages.onTarget(target)])
    },
    onGone(target) {
      observer.forget(target.session)
      pages.onGone(target)
    },
  })
  known.targets = targets
  const calls = guardCalls({
    adapter,
    kernel,
    tenant,
    pages,
    watch: createWatch(cdp, observer, (page) => framesOf(cdp, targets, page)),
    targeting: createTargeting(adapter, (page, seen) => holder.bind(page, seen)),
    async perform(act, dispatch) {
      // The call is allowed, so a person approved a destination that needs it.
      const { destination, policy } = act
      const release = destination === undefined ? undefined : egress?.approve(destination, policy)
      const counter = egress?.count()
      const own = { act, stopped: undefined as string | undefined }
      try {
        const { answer, stopped = own.stopped } = await holder.hold(permittedOf(act), () => {
          running = own
          return dispatch()
        })
        const blocked = counter?.text()
        return {
          answer,
          ...(stopped !== undefined && { stopped }),
          ...(blocked !== undefined && { blocked }),
        }
      } finally {
        counter?.end()
        if (running === own) running = undefined
        release?.()
      }
    },
    withoutEgress: egress === undefined,
  })
  const screen: Screen = {
    async onCommand(command) {
      const own = running
      const refused = kindRefusal(own?.act, command) ?? (await stepRefusal(own?.act.step, command))
      const why = refused ?? (running === own ? undefined : 'the call has ended')
      if (why === undefined) return holder.onCommand(command)
      if (own) own.stopped ??= why
      return { refuse: why }
    },
    // Hidden text does not reach the server.
    onResult: async (command, result) => holder.onResult(command, await projection.onResult(command, result)),
  }
  return { calls, screen, targets }
}

const NO_TARGETS = { get: () => undefined, within: () => [] }

/** A call that opens an address may do so in another tab. */
function permittedOf({ acts, page, elements, files }: Act): Parameters<Guard['hold']>[0] {
  return { ...(acts === 'page' && page && { page: page.id }), elements, files }
}

/** The frames of a page that have a process of their own, at any depth. */
function framesOf(cdp: Cdp, targets: Targets, page: Pick<OpenPage, 'id'>): readonly PageSession[] {
  return targets.within(page.id).flatMap(({ type, id, session }) => {
    if (type !== 'iframe') return []
    const send: PageSession['send'] = (method, params, timeout) =>
      cdp.send(method, params, { session, ...(timeout !== undefined && { timeout }) })
    return [{ session, send }, ...framesOf(cdp, targets, { id })]
  })
}
