// The techniques by which a page sends a request. Each row is code that runs in a page of the allowed server and sends one request
// to `url`. The first part of the table runs with `npm test`, all of it with `npm run test:deep`.

export interface Technique {
  readonly name: string
  /** The code, for the address that must receive the request. */
  readonly code: (url: string, origin: string) => string
  /** How it shows at the allowed server; by default its path arrives. `nothing`: the browser never sends it. */
  readonly shows?: 'connection' | 'nothing'
  /** The browser does it only within a site. */
  readonly elsewhere?: 'nothing'
  /** The path at the allowed server of a page to open, instead of code that runs in one. */
  readonly page?: (url: string) => string
  /** How the address is written; by default with `http:`. */
  readonly scheme?: 'ws' | 'https'
}

const element = (tag: string, attributes: string, where = 'body'): string =>
  `{ const e = document.createElement('${tag}'); Object.assign(e, ${attributes}); document.${where}.append(e) }`
const html = (text: string): string =>
  `document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(text)})`
const frame = (text: string): string => element('iframe', `{ srcdoc: ${JSON.stringify(text)} }`)
const q = JSON.stringify
const to = encodeURIComponent

/** The techniques of `npm test`: one of each way through the browser. */
export const COMMON: readonly Technique[] = [
  { name: 'image', code: (url) => `new Image().src = ${q(url)}` },
  { name: 'beacon', code: (url) => `navigator.sendBeacon(${q(url)}, 'secret')` },
  {
    name: 'keepalive',
    code: (url) => `fetch(${q(url)}, { method: 'POST', mode: 'no-cors', keepalive: true }).catch(String); 0`,
  },
  {
    name: 'redirect',
    code: (url, origin) =>
      `fetch(${q(`${origin}/redirect?to=${to(url)}`)}, { mode: 'no-cors' }).catch(String); 0`,
  },
  {
    name: 'form',
    code: (url) =>
      `${frame('')}; ${html(`<form id=f method=post action="${url}" target=t><input name=a value=secret></form><iframe name=t></iframe>`)}; document.getElementById('f').submit()`,
  },
  { name: 'websocket', scheme: 'ws', code: (url) => `new WebSocket(${q(url)}); 0` },
  { name: 'worker', code: (url) => `new Worker(${q(`/worker.js?to=${to(url)}`)}); 0` },
  { name: 'navigation', code: (url) => `setTimeout(() => location.href = ${q(url)}); 0` },
]

/** The rest. */
export const RARE: readonly Technique[] = [
  { name: 'style', code: (url) => element('link', `{ rel: 'stylesheet', href: ${q(url)} }`, 'head') },
  { name: 'css-url', code: (url) => html(`<div style="width:9px;height:9px;background:url(${url})"></div>`) },
  { name: 'css-import', code: (url) => html(`<style>@import "${url}";</style>`) },
  { name: 'font', code: (url) => `new FontFace('f', 'url(${url})').load().catch(String); 0` },
  { name: 'script', code: (url) => element('script', `{ src: ${q(url)} }`) },
  { name: 'module', code: (url) => `import(${q(url)}).catch(String); 0` },
  { name: 'fetch', code: (url) => `fetch(${q(url)}).catch(String); 0` },
  {
    name: 'xhr',
    code: (url) => `{ const x = new XMLHttpRequest(); x.open('PUT', ${q(url)}); x.send('secret') }`,
  },
  {
    name: 'fetch-later',
    scheme: 'https',
    shows: 'connection',
    code: (url) => `fetchLater(${q(url)}, { activateAfter: 0 }); 0`,
  },
  { name: 'iframe', code: (url) => element('iframe', `{ src: ${q(url)} }`) },
  { name: 'sandboxed-iframe', code: (url) => html(`<iframe sandbox src="${url}"></iframe>`) },
  { name: 'object', code: (url) => html(`<object data="${url}"></object>`) },
  { name: 'embed', code: (url) => html(`<embed src="${url}">`) },
  { name: 'video', code: (url) => html(`<video src="${url}" autoplay muted></video>`) },
  { name: 'poster', code: (url) => html(`<video poster="${url}"></video>`) },
  { name: 'audio', code: (url) => `new Audio(${q(url)}).load()` },
  {
    name: 'track',
    code: (url) => html(`<video crossorigin src="/none"><track default kind=subtitles src="${url}"></video>`),
  },
  { name: 'srcset', code: (url) => html(`<img srcset="${url} 1x">`) },
  {
    name: 'svg-image',
    code: (url) => html(`<svg width=9 height=9><image href="${url}" width=9 height=9 /></svg>`),
  },
  { name: 'input-image', code: (url) => html(`<input type=image src="${url}">`) },
  {
    name: 'form-get',
    code: (url) =>
      html(`<iframe name=g></iframe><form id=g2 action="${url}" target=g></form>`) +
      `; document.getElementById('g2').submit()`,
  },
  {
    name: 'form-top',
    code: (url) =>
      html(`<form id=h method=post action="${url}"></form>`) + `; document.getElementById('h').submit()`,
  },
  { name: 'meta-refresh', code: (url) => frame(`<meta http-equiv=refresh content="0;url=${url}">`) },
  { name: 'refresh-header', page: (url) => `/refresh?to=${to(url)}`, code: () => '0' },
  { name: 'link-header', page: (url) => `/link?to=${to(url)}`, code: () => '0' },
  { name: 'csp-report', page: (url) => `/csp?to=${to(url)}`, code: () => '0' },
  { name: 'redirected-page', page: (url) => `/redirect?to=${to(url)}`, code: () => '0' },
  {
    name: 'redirected-image',
    code: (url, origin) => `new Image().src = ${q(`${origin}/redirect?to=${to(url)}`)}`,
  },
  { name: 'sse', code: (url) => `new EventSource(${q(url)}); 0` },
  {
    name: 'blob-worker',
    code: (url) =>
      `new Worker(URL.createObjectURL(new Blob([${q(`fetch(${q(url)}, { mode: 'no-cors' })`)}]))); 0`,
  },
  {
    name: 'import-scripts',
    code: (url) => `new Worker(URL.createObjectURL(new Blob([${q(`importScripts(${q(url)})`)}]))); 0`,
  },
  { name: 'shared-worker', code: (url) => `new SharedWorker(${q(`/shared.js?to=${to(url)}`)}); 0` },
  {
    name: 'service-worker',
    code: (url) => `navigator.serviceWorker.register(${q(`/service.js?to=${to(url)}`)}).then(String)`,
  },
  { name: 'prefetch', code: (url) => element('link', `{ rel: 'prefetch', href: ${q(url)} }`, 'head') },
  {
    name: 'preload',
    code: (url) => element('link', `{ rel: 'preload', as: 'image', href: ${q(url)} }`, 'head'),
  },
  {
    name: 'modulepreload',
    code: (url) => element('link', `{ rel: 'modulepreload', href: ${q(url)} }`, 'head'),
  },
  {
    name: 'preconnect',
    scheme: 'https',
    shows: 'connection',
    code: (url) => element('link', `{ rel: 'preconnect', href: ${q(url)} }`, 'head'),
  },
  {
    name: 'dns-prefetch',
    shows: 'nothing',
    code: (url) => element('link', `{ rel: 'dns-prefetch', href: ${q(url)} }`, 'head'),
  },
  {
    name: 'speculation',
    elsewhere: 'nothing',
    code: (url) =>
      element(
        'script',
        `{ type: 'speculationrules', textContent: ${q(JSON.stringify({ prefetch: [{ source: 'list', urls: [url], eagerness: 'immediate' }] }))} }`,
        'head',
      ),
  },
  {
    name: 'prerender',
    elsewhere: 'nothing',
    code: (url) =>
      element(
        'script',
        `{ type: 'speculationrules', textContent: ${q(JSON.stringify({ prerender: [{ source: 'list', urls: [url], eagerness: 'immediate' }] }))} }`,
        'head',
      ),
  },
  {
    name: 'manifest',
    shows: 'nothing',
    code: (url) => element('link', `{ rel: 'manifest', href: ${q(url)} }`, 'head'),
  },
  {
    name: 'ping',
    shows: 'nothing',
    code: (url) => html(`<a id=p href="#x" ping="${url}">p</a>`) + `; document.getElementById('p').click()`,
  },
  {
    name: 'download',
    code: (url) => html(`<a id=d download href="${url}">d</a>`) + `; document.getElementById('d').click()`,
  },
  { name: 'popup', code: (url) => `window.open(${q(url)}); 0` },
  {
    name: 'noopener',
    code: (url) =>
      html(`<a id=o target=_blank rel=noopener href="${url}">o</a>`) +
      `; document.getElementById('o').click()`,
  },
  {
    name: 'unload-beacon',
    code: (url) =>
      `addEventListener('pagehide', () => navigator.sendBeacon(${q(url)})); setTimeout(() => location.href = '/next'); 0`,
  },
  {
    name: 'web-transport',
    shows: 'nothing',
    code: (url) =>
      `{ const w = new WebTransport(${q(url.replace('http:', 'https:'))}); w.closed.catch(String); w.ready.catch(String) }`,
  },
]
