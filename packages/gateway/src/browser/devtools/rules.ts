// Rules for single DevTools methods: which values their parameters may have, and why some methods are refused.

import type { CdpResult } from '../cdp.ts'

/** The fate of a command. */
export type Admitted =
  | { readonly params: CdpResult }
  | { readonly answer: CdpResult }
  | { readonly refuse: string }

type Rule = (params: CdpResult) => Admitted | undefined

const refuse = (why: string): Admitted => ({ refuse: why })

/** Accepts only some values of a parameter. */
function only(name: string, holds: (value: unknown) => boolean, why: string): Rule {
  return (params) => (holds(params[name]) ? undefined : refuse(why))
}

const isTrue = (value: unknown): boolean => value === true
const FLAT = only('flatten', isTrue, '`flatten` must be true, so that each session is seen')
const OPENS = only('url', opens, 'only http, https and about:blank are opened')

/** Rules by method. Without an answer of its rule, a command passes as it is. */
export const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  [
    'Autofill.setAddresses',
    only(
      'addresses',
      (value) => Array.isArray(value) && value.length === 0,
      'only an empty list of addresses is set',
    ),
  ],
  // A download is denied, whatever was asked for.
  [
    'Browser.setDownloadBehavior',
    ({ browserContextId, eventsEnabled }) => ({
      params: {
        behavior: 'deny',
        ...(browserContextId !== undefined && { browserContextId }),
        ...(eventsEnabled !== undefined && { eventsEnabled }),
      },
    }),
  ],
  ['Debugger.setPauseOnExceptions', only('state', (value) => value === 'none', 'a page is not paused')],
  // Other handles are blobs.
  [
    'IO.read',
    only('handle', (value) => typeof value === 'string' && /^\d+$/.test(value), 'only streams are read'),
  ],
  ['Page.navigate', OPENS],
  ['Target.attachToTarget', FLAT],
  ['Target.createTarget', OPENS],
  ['Target.setAutoAttach', (params) => (params['autoAttach'] === true ? FLAT(params) : undefined)],
])

/** Whether a client may open an address. */
function opens(url: unknown): boolean {
  if (typeof url !== 'string') return false
  if (url === '' || url === 'about:blank') return true
  try {
    return ['http:', 'https:'].includes(new URL(url).protocol)
  } catch {
    return false
  }
}

/** Methods that the servers really send and that do not reach the browser. */
export const REASONS: ReadonlyMap<string, Admitted> = new Map<string, Admitted>([
  ...refused('the browser belongs to the gateway', ['Browser.close', 'Browser.crash']),
  ...refused('credentials do not leave the browser', [
    'Network.getAllCookies',
    'Network.getCookies',
    'Storage.getCookies',
  ]),
  ...refused('the gateway does not let a client change the network of the browser', [
    'Fetch.enable',
    'Network.loadNetworkResource',
    'Network.setExtraHTTPHeaders',
    'Network.setRequestInterception',
    'Security.setIgnoreCertificateErrors',
  ]),
  ...refused('it changes what the browser stores', [
    'Network.clearBrowserCache',
    'Network.clearBrowserCookies',
    'Network.setCookie',
    'Network.setCookies',
    'Storage.clearCookies',
    'Storage.clearDataForOrigin',
    'Storage.setCookies',
  ]),
  ...refused('it reads more of a page than a person sees', [
    'CSS.getComputedStyleForNode',
    'CSS.getMatchedStylesForNode',
    'DOM.getDocument',
    'DOM.getOuterHTML',
    'DOM.pushNodeByPathToFrontend',
    'DOM.pushNodesByBackendIdsToFrontend',
    'DOMDebugger.getEventListeners',
    'DOMSnapshot.captureSnapshot',
    'Debugger.getScriptSource',
    'HeapProfiler.collectGarbage',
    'HeapProfiler.disable',
    'HeapProfiler.enable',
    'HeapProfiler.takeHeapSnapshot',
    'Profiler.enable',
    'Storage.getUsageAndQuota',
    'Tracing.end',
    'Tracing.start',
  ]),
  // The tools of a page are no tools of the server.
  ['WebMCP.enable', { answer: {} }],
  ['WebMCP.disable', { answer: {} }],
])

function refused(why: string, methods: readonly string[]): readonly (readonly [string, Admitted])[] {
  return methods.map((method) => [method, refuse(why)])
}
