// The element that a call acts on: found where a click hits it, and described without text of the page.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sha256Hex } from '@tollgate/evidence'
import { findBrowser } from '../../../tools/browser.mjs'
import { openScanTab, type ScanTab } from './page.ts'

const browser = findBrowser()
const BUY = sha256Hex('Buy')
const BUTTON = '<button id="t">Buy</button>'

describe.skipIf(browser === undefined)('the target of a call', () => {
  let tab: ScanTab
  beforeAll(async () => void (tab = await openScanTab(browser ?? '')))
  afterAll(() => tab.close())

  it.each([
    ['its text', BUTTON, 'button'],
    ['`aria-label`', '<div id="t" role="button" aria-label=" Buy ">Next page</div>', 'button'],
    [
      'the elements of `aria-labelledby`',
      '<i id="n">Buy</i><a id="t" href="/x" aria-labelledby="n">Next</a>',
      'link',
    ],
    ['its label', '<label for="t">Buy</label><input id="t">', 'textbox'],
    ['the value of a button', '<input type="submit" id="t" value="Buy">', 'button'],
    ['the alternative text', '<a id="t" href="/x"><img alt="Buy" width="20" height="20"></a>', 'link'],
    ['its placeholder', '<textarea id="t" placeholder="Buy"></textarea>', 'textbox'],
    [
      'its text in an open shadow root',
      '<div><template shadowrootmode="open"><button id="t">Buy</button></template></div>',
      'button',
    ],
    [
      'its text in a slot',
      '<div><template shadowrootmode="open"><button id="t"><slot></slot></button></template><b>Buy</b></div>',
      'button',
    ],
    ['its text across lines', '<p style="width:60px">Some words <a id="t" href="/x">Buy</a></p>', 'link'],
  ])('has a role and the hash of its name: %s', async (_, html, role) => {
    const found = await tab.target(`<!doctype html>${html}`)
    expect(found).toMatchObject({ role, name_hash: BUY })
    expect(JSON.stringify(found)).not.toContain('Buy')
  })

  it.each([
    ['a link', '<a id="t" href="https://other.example/x?a=1">Go</a>', 'https://other.example/x?a=1'],
    [
      'an element in a link',
      '<a href="https://other.example/"><b id="t">Go</b></a>',
      'https://other.example/',
    ],
    ['a form', '<form action="https://pay.example/"><input id="t"></form>', 'https://pay.example/'],
    [
      'a form by its id',
      '<form id="f" action="https://pay.example/"></form><button id="t" form="f">Go</button>',
      'https://pay.example/',
    ],
    [
      'a button with an address',
      '<form action="/a"><button id="t" formaction="https://evil.example/">Go</button></form>',
      'https://evil.example/',
    ],
    [
      'a form with a field named `action`',
      '<form action="https://pay.example/"><input name="action"><input id="t"></form>',
      'https://pay.example/',
    ],
    [
      'a link under another base',
      '<base href="https://evil.example/"><a id="t" href="x">Go</a>',
      'https://evil.example/x',
    ],
    ['a scheme that is not the web', '<a id="t" href="mailto:a@b.example">Go</a>', 'mailto:a@b.example'],
    ['an address that cannot be read', '<a id="t" href="http://[">Go</a>', 'http://['],
    ['a script of the page', '<a id="t" href="javascript:void(0)">Go</a>', undefined],
    ['a button outside of forms', BUTTON, undefined],
  ])('has its destination: %s', async (_, html, destination) => {
    expect((await tab.target(html))?.destination).toBe(destination)
  })

  const COVER = '<div style="position:fixed;inset:0;opacity:0"></div>'
  it.each([
    ['is covered by something invisible', BUTTON + COVER, ''],
    ['is covered afterwards', BUTTON, `document.body.insertAdjacentHTML('beforeend', '${COVER}')`],
    ['has moved', BUTTON, `document.body.style.paddingTop='40px'`],
    ['has grown', BUTTON, `document.getElementById('t').style.width='300px'`],
    [
      'was replaced by another one',
      BUTTON,
      `document.getElementById('t').outerHTML='<button id="u">Buy</button>'`,
    ],
    [
      'is covered by one of the same size',
      `<div style="position:relative;display:inline-block">${BUTTON}<button style="position:absolute;inset:0;opacity:0">Pay</button></div>`,
      '',
    ],
    ['does not take clicks', '<button id="t" style="pointer-events:none">Buy</button>', ''],
    ['is below the window', `<div style="height:3000px"></div>${BUTTON}`, ''],
    ['is gone', BUTTON, `document.getElementById('t').remove()`],
  ])('is not found if it %s', async (_, html, change) => {
    expect(await tab.target(`<!doctype html>${html}`, change)).toBeUndefined()
  })

  it('is still found while something else on the page changes', async () => {
    const clock = `document.getElementById('c').textContent='12:01'`
    const found = await tab.target(`${BUTTON}<p id="c">12:00</p>`, clock)
    expect(found).toMatchObject({ role: 'button', name_hash: BUY })
  })

  it('has another hash if its name changes', async () => {
    const found = await tab.target(BUTTON, `document.getElementById('t').firstChild.data='Pay'`)
    expect(found?.name_hash ?? BUY).not.toBe(found ? BUY : '')
  })
})
