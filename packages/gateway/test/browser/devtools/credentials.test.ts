// Events about requests have no credentials for a client.

import { expect, test } from 'vitest'
import { withoutCredentials } from '../../../src/browser/devtools/credentials.ts'

const HEADERS = { Cookie: 'a=1', AUTHORIZATION: 'Bearer b', 'set-cookie': 'c=2', accept: '*/*' }

test.each<[string, Record<string, unknown>, unknown]>([
  [
    'Network.requestWillBeSentExtraInfo',
    { requestId: '1', headers: HEADERS, associatedCookies: [{ cookie: { value: 'a' } }] },
    { requestId: '1', headers: { accept: '*/*' }, associatedCookies: [] },
  ],
  [
    'Network.responseReceivedExtraInfo',
    { headers: HEADERS, headersText: 'Set-Cookie: c=2', blockedCookies: [{}] },
    { headers: { accept: '*/*' }, blockedCookies: [] },
  ],
  [
    'Network.requestWillBeSent',
    { request: { url: 'u', headers: HEADERS }, redirectResponse: { requestHeaders: HEADERS } },
    {
      request: { url: 'u', headers: { accept: '*/*' } },
      redirectResponse: { requestHeaders: { accept: '*/*' } },
    },
  ],
  ['Network.webSocketFrameReceived', { response: { payloadData: 'x' } }, { response: { payloadData: 'x' } }],
  ['Page.frameNavigated', { headers: HEADERS }, { headers: HEADERS }],
])('%s', (method, params, shown) => {
  expect(withoutCredentials(method, params)).toEqual(shown)
})
