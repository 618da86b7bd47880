// The table of DevTools methods: what the real servers send has a row, and nothing dangerous passes.

import { describe, expect, test } from 'vitest'
import { admit, classOf } from '../../../src/browser/devtools/methods.ts'
import { isShown } from '../../../src/browser/devtools/sessions.ts'
import { RECORDED } from './recorded.ts'

/** Values with which each rule lets a command pass. */
const GOOD: Readonly<Record<string, unknown>> = {
  addresses: [],
  autoAttach: true,
  flatten: true,
  handle: '1',
  state: 'none',
  url: 'https://a.example/',
}

const paramsOf = (names: string): Record<string, unknown> =>
  Object.fromEntries(
    names
      .split(' ')
      .filter((name) => name !== '')
      .map((name) => [name, GOOD[name] ?? 1]),
  )

describe('the methods that the servers send', () => {
  test('each have a row or a reason', () => {
    const without = Object.entries(RECORDED).filter(([method, names]) => {
      const admitted = admit(method, paramsOf(names))
      return 'refuse' in admitted && admitted.refuse.includes('table')
    })
    expect(without).toEqual([])
  })

  test('reach the browser except for a few', () => {
    const refused = Object.keys(RECORDED).filter((method) => classOf(method) === undefined)
    expect(refused).toEqual([
      'DOM.getDocument',
      'DOM.pushNodeByPathToFrontend',
      'DOMDebugger.getEventListeners',
      'HeapProfiler.collectGarbage',
      'HeapProfiler.disable',
      'HeapProfiler.enable',
      'HeapProfiler.takeHeapSnapshot',
      'Network.clearBrowserCache',
      'Network.loadNetworkResource',
      'Profiler.enable',
      'Storage.clearDataForOrigin',
      'Storage.getUsageAndQuota',
      'Tracing.end',
      'Tracing.start',
      'WebMCP.disable',
      'WebMCP.enable',
    ])
  })
})

describe('a command', () => {
  test.each<[string, Record<string, unknown>]>([
    ['Browser.close', {}],
    ['Browser.grantPermissions', {}],
    ['Fetch.enable', {}],
    ['Input.setIgnoreInputEvents', { ignore: true }],
    ['IO.read', { handle: 'blob:3b9bd0a0' }],
    ['Memory.forciblyPurgeJavaScriptMemory', {}],
    ['Network.getCookies', {}],
    ['Network.setExtraHTTPHeaders', { headers: {} }],
    ['Page.navigate', { url: 'file:///etc/passwd' }],
    ['Page.navigate', { url: 'view-source:file:///etc/passwd' }],
    ['Page.navigate', { url: ' javascript:alert(1)' }],
    ['Page.navigate', { url: 'data:text/html,x' }],
    ['Page.navigate', { url: 'chrome://settings' }],
    ['Page.navigate', { url: ['https://a.example'] }],
    ['Page.navigate', {}],
    ['Page.navigate', { url: 'https://a.example', unknown: 1 }],
    ['Page.setBypassCSP', { enabled: true }],
    ['Security.setIgnoreCertificateErrors', { ignore: true }],
    ['Storage.getCookies', {}],
    ['SystemInfo.getInfo', {}],
    ['Target.attachToBrowserTarget', {}],
    ['Target.attachToTarget', { targetId: 'T' }],
    ['Target.attachToTarget', { targetId: 'T', flatten: false }],
    ['Target.createBrowserContext', { proxyServer: 'direct://' }],
    ['Target.createBrowserContext', { proxyBypassList: '*' }],
    ['Target.createTarget', { url: 'file:///etc/passwd' }],
    ['Target.exposeDevToolsProtocol', { targetId: 'T' }],
    ['Target.sendMessageToTarget', { message: '{}', sessionId: 'S' }],
    ['Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true }],
    ['Target.setRemoteLocations', { locations: [] }],
    ['Tracing.start', {}],
    ['__proto__', {}],
    ['constructor', {}],
    ['', {}],
  ])('%s %j is refused', (method, params) => {
    expect(admit(method, params)).toHaveProperty('refuse')
  })

  test.each<[string, Record<string, unknown>, unknown]>([
    ['Page.navigate', { url: 'https://a.example/' }, { params: { url: 'https://a.example/' } }],
    ['Target.createTarget', { url: '' }, { params: { url: '' } }],
    ['Page.enable', { timeout: 30_050 }, { params: {} }],
    [
      'Browser.setDownloadBehavior',
      { behavior: 'allow', downloadPath: '/tmp', browserContextId: 'C' },
      { params: { behavior: 'deny', browserContextId: 'C' } },
    ],
    ['WebMCP.enable', {}, { answer: {} }],
  ])('%s %j passes as %j', (method, params, admitted) => {
    expect(admit(method, params)).toEqual(admitted)
  })
})

test.each([
  ['page', 'https://a.example/', true],
  ['iframe', 'https://a.example/', true],
  ['service_worker', 'https://a.example/', true],
  ['page', 'about:blank', true],
  ['page', 'chrome://settings/', false],
  ['page', 'devtools://devtools/bundled/a.html', false],
  ['browser_ui', 'about:blank', false],
  ['webview', 'https://a.example/', false],
  ['background_page', 'chrome-extension://a/b', false],
  [undefined, undefined, false],
])('a target of type %s at %s is shown to a client: %s', (type, url, shown) => {
  expect(isShown({ type, url })).toBe(shown)
})
