// Finds and starts Chromium with a profile of its own, connected by pipes. There is no debugging port that others could use.

import { spawn, type ChildProcess } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import type { Readable, Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { connectCdp, type Cdp } from './cdp.ts'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']
const MAC_APPS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** The path of a Chromium: TOLLGATE_BROWSER, or one on the PATH; undefined if there is none. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const { TOLLGATE_BROWSER: named, PATH: path = '' } = env
  const folders = path.split(delimiter).filter((folder) => folder !== '')
  const installed = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))
  const apps = process.platform === 'darwin' ? MAC_APPS : []
  return [...(named === undefined || named === '' ? [] : [named]), ...installed, ...apps].find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    // Missing or not permitted: it cannot be run.
    return false
  }
}

/** A running browser. */
export interface Chromium {
  readonly cdp: Cdp
  /** The process that leads the session of all its processes. */
  readonly pid: number
  /** Whether it runs without its own sandbox, because Chromium refuses to run as root with it. */
  readonly unsandboxed: boolean
  /** Ends it and removes its profile. */
  close(): Promise<void>
}

const HEADLESS = ['--headless=new', '--hide-scrollbars', '--mute-audio']
const FLAGS = [
  '--allow-browser-signin=false',
  '--remote-debugging-pipe',
  '--no-first-run',
  '--no-default-browser-check',
  '--no-pings',
  '--no-service-autorun',
  // A page that comes back from it does not answer the sessions of DevTools.
  '--disable-back-forward-cache',
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-client-side-phishing-detection',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-extensions',
  // They look for devices in the local network, and ask the vendor for the time and about pages.
  '--disable-features=DialMediaRouteProvider,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,Translate',
  '--disable-gpu',
  '--disable-quic',
  '--disable-sync',
  '--metrics-recording-only',
  '--password-store=basic',
  '--use-mock-keychain',
  // Otherwise a page can send UDP around a proxy.
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--window-size=1280,800',
]

const CLOSING = 5_000
const MAX_TRIES = 250

/** Starts a browser, by default without a window. Rejects if it does not answer. */
export async function startChromium(
  path: string,
  flags: readonly string[] = [],
  { headless = true }: { readonly headless?: boolean } = {},
): Promise<Chromium> {
  const profile = mkdtempSync(join(tmpdir(), 'tollgate-browser-'))
  const unsandboxed = process.getuid?.() === 0
  const shown = headless ? HEADLESS : []
  const own = [...(unsandboxed ? ['--no-sandbox'] : []), ...flags, `--user-data-dir=${profile}`]
  const args = [...FLAGS, ...shown, ...own]
  // In a process group of its own, so that Ctrl-C reaches only this process, which then cleans up.
  const child = spawn(path, [...args, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  // Sound: these were asked for above.
  const [, , , to, from] = child.stdio as unknown as [null, null, null, Writable, Readable]
  const cdp = connectCdp(to, from)
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= end(child, cdp, exited, profile))
  const { pid } = child
  try {
    await cdp.send('Browser.getVersion')
    if (pid === undefined) throw new Error('the program has no process')
  } catch (fault) {
    await close()
    throw new Error(`\`${path}\` did not start as a browser`, { cause: fault })
  }
  return { cdp, pid, unsandboxed, close }
}

async function end(child: ChildProcess, cdp: Cdp, exited: Promise<void>, profile: string): Promise<void> {
  cdp.send('Browser.close').catch(() => undefined)
  const patience = globalThis.setTimeout(() => kill(child), CLOSING)
  await exited
  clearTimeout(patience)
  cdp.close()
  // Helpers that outlive the browser may still write to the profile.
  for (let tries = 0; kill(child) && tries < MAX_TRIES; tries++) await setTimeout(20)
  rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
}

/** Ends the process group of a browser; false if all of it has exited. */
function kill({ pid }: ChildProcess): boolean {
  if (pid === undefined) return false
  try {
    return process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    return false
  }
}
