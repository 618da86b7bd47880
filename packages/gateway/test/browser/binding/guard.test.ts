// Target binding in a real browser: the element of a call is found, tested, and held while a server acts on it.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createGuard, type Guard } from '../../../src/browser/binding/guard.ts'
import type { Binding, Bound, SeenElement } from '../../../src/browser/binding/bind.ts'
import { findChromium, startChromium, type Chromium } from '../../../src/browser/chromium.ts'
import { startEndpoint, type Endpoint } from '../../../src/browser/devtools/endpoint.ts'
import { watchTargets, type Targets } from '../../../src/browser/devtools/targets.ts'
import { connect, openPage, outcome, serveSite, type Site, type TestClient } from '../devtools/rig.ts'

const path = findChromium()
const LOG = `<script>window.log = []
for (const type of ['click', 'keydown', 'input']) addEventListener(type, (e) => log.push(type + ' ' + (e.target.id || e.target.nodeName)))</script>`
const BUTTONS = `<button id=next style="position:absolute;left:20px;top:20px;width:100px;height:30px">Next page</button>
<button id=buy style="position:absolute;left:20px;top:120px;width:100px;height:30px">Buy now</button>`
/** What the agent saw of the first button. */
const NEXT = { role: 'button', name: 'Next page', box: { x: 20, y: 20, width: 100, height: 30 } }
const [COVERED, GONE, UNFOCUSED] = [
  'something else is at the place of the element',
  'the element is not the one that the agent saw',
  'the keys would reach another element',
]

const SITE: Record<string, string> = {
  '/plain': `${LOG}${BUTTONS}<p id=clock></p><script>setInterval(() => clock.textContent = Date.now(), 1)</script>`,
  '/swap': `${LOG}${BUTTONS}<script>next.onmouseover = () => { next.style.top = '120px'; buy.style.top = '20px' }</script>`,
  '/swap-on-press': `${LOG}${BUTTONS}<script>addEventListener('pointerdown', (e) => { next.style.top = '120px'; buy.style.top = '20px' }, true)</script>`,
  '/deaf': `<script>for (const type of ['pointerdown', 'mousedown', 'mouseup', 'click']) addEventListener(type, (e) => e.stopImmediatePropagation(), true)</script>${BUTTONS}
<a id=trap href=/trapped style="display:none;position:absolute;left:20px;top:20px;width:100px;height:30px">x</a><script>next.onmouseover = () => { trap.style.display = 'block' }</script>`,
  '/scrolled': `${LOG}<div style="height:3000px"></div><div style="position:relative">${BUTTONS}</div><div style="height:3000px"></div>`,
  '/frame': `<iframe id=f src=/plain style="position:absolute;left:50px;top:60px;width:400px;height:300px;border:5px solid"></iframe>`,
  '/field': `${LOG}<input id=name aria-label=Name><input id=other aria-label=Other>`,
  '/thief': `${LOG}<input id=name aria-label=Name onfocus="other.focus()"><input id=other aria-label=Other>`,
  '/same': `<button style="display:block">Delete</button><button style="display:block">Delete</button>`,
  '/dialog': `${LOG}${BUTTONS}<script>buy.onclick = () => alert(1)</script>`,
  '/closed': `<div id=host></div><script>host.attachShadow({ mode: 'closed' }).innerHTML = '<button style="position:absolute;left:20px;top:20px;width:100px;height:30px" onclick="document.title=1">Next page</button>'</script>`,
  '/label': `${LOG}<label id=l style="position:absolute;left:20px;top:20px;width:100px;height:30px">Agree<input type=checkbox id=agree style="position:absolute;left:0;top:0;width:100px;height:30px;z-index:-1"></label>`,
}

describe.skipIf(path === undefined)('target binding', () => {
  let browser: Chromium
  let targets: Targets
  let guard: Guard
  let endpoint: Endpoint
  let client: TestClient
  let site: Site
  let other: string
  /** Happens after the hit test and before the press. */
  let beforePress: (() => Promise<unknown>) | undefined
  beforeAll(async () => {
    browser = await startChromium(path ?? '')
    site = await serveSite(SITE)
    // Another site, so its frames have a process of their own.
    other = site.url.replace('127.0.0.1', 'localhost')
    SITE['/away'] =
      `${LOG}<iframe id=f src="${other}/plain" style="position:absolute;left:50px;top:60px;width:400px;height:300px;border:0"></iframe>`
    guard = createGuard(browser.cdp, () => targets)
    targets = await watchTargets(browser.cdp, { onTarget: (target) => guard.onTarget(target) })
    endpoint = await startEndpoint(
      { cdp: browser.cdp, targets },
      {
        async onCommand(command) {
          const said = await guard.onCommand(command)
          if (command.params.type === 'mousePressed') await beforePress?.()
          return said
        },
        onResult: (command, result) => guard.onResult(command, result),
      },
    )
    client = await connect(endpoint)
  })
  afterAll(async () => {
    await endpoint.close()
    await browser.close()
    site.close()
  })

  /** Pages with clocks take time as long as they are open. */
  const opened: string[] = []
  afterEach(async () => {
    beforePress = undefined
    const ids = opened.splice(0)
    await Promise.all(ids.map((targetId) => outcome(browser.cdp.send('Target.closeTarget', { targetId }))))
  })

  interface Page {
    readonly id: string
    readonly session: string
    readonly find: (seen?: Partial<SeenElement>) => Promise<Binding>
    readonly evaluate: (expression: string) => Promise<unknown>
    readonly log: () => Promise<unknown>
  }

  async function open(at: string): Promise<Page> {
    const page = await guard.hold({}, () => openPage(client, `${site.url}${at}`)).then(({ answer }) => answer)
    opened.push(page.id)
    const evaluate = async (expression: string): Promise<unknown> => {
      const { result } = await client.send(
        'Runtime.evaluate',
        { expression, returnByValue: true },
        page.session,
      )
      // Sound: the result of an evaluation has a value.
      return (result as { value?: unknown }).value
    }
    return {
      ...page,
      find: (seen) => guard.bind(page, { ...NEXT, origin: site.url, ...seen }),
      evaluate,
      log: () => evaluate('log'),
    }
  }

  function bound(binding: Binding): Bound {
    if (binding.state !== 'bound') throw new Error(`the element is ${binding.state}`)
    return binding
  }

  const mouse = (page: Page, type: string, x: number, y: number): Promise<unknown> =>
    client.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 }, page.session)

  async function click(page: Page, x = 70, y = 35): Promise<string> {
    for (const type of ['mouseMoved', 'mousePressed', 'mouseReleased']) await mouse(page, type, x, y)
    return 'clicked'
  }

  /** Runs a click as a permitted call on an element. */
  async function clickOn(page: Page, element: Bound, x?: number, y?: number): Promise<unknown> {
    return guard.hold({ page: page.id, elements: [element] }, () => outcome(click(page, x, y)))
  }

  test('an unchanged element is bound and clicked, also if a clock ticks elsewhere', async () => {
    const page = await open('/plain')
    const element = bound(await page.find())
    expect(await clickOn(page, element)).toEqual({ answer: 'clicked' })
    expect(await page.log()).toEqual(['click next'])
  })

  test('a server that sends the whole click at once is served, and judged', async () => {
    for (const [at, log] of [
      ['/plain', ['click next']],
      ['/swap', []],
    ] as const) {
      const page = await open(at)
      const element = bound(await page.find())
      await guard.hold({ page: page.id, elements: [element] }, () =>
        Promise.all(
          ['mouseMoved', 'mousePressed', 'mouseReleased'].map((type) => outcome(mouse(page, type, 70, 35))),
        ),
      )
      expect(await page.log()).toEqual(log)
    }
  })

  test.each<[string, string, string]>([
    [
      'covered',
      `document.body.append(Object.assign(document.createElement('div'), { style: 'position:absolute;inset:0;opacity:0' }))`,
      'covered',
    ],
    ['moved', `next.style.top = '200px'`, 'moved'],
    ['given another name', `next.textContent = 'Buy now'`, 'replaced'],
    ['removed', `next.remove()`, 'replaced'],
    ['hidden', `next.style.display = 'none'`, 'replaced'],
    ['replaced by the same', `next.outerHTML = next.outerHTML`, 'bound'],
    ['moved by a line', `next.style.top = '28px'`, 'bound'],
  ])('an element that is %s is found as such', async (_, change, state) => {
    const page = await open('/plain')
    await page.evaluate(change)
    expect((await page.find()).state).toBe(state)
  })

  test('an element of another origin than the agent saw is not bound', async () => {
    const page = await open('/plain')
    expect(await page.find({ origin: 'https://shop.example' })).toEqual({ state: 'other-origin' })
  })

  test('without a place, a name that two elements have needs their order', async () => {
    const page = await open('/same')
    const seen = { role: 'button', name: 'Delete', origin: site.url }
    expect(await guard.bind(page, seen)).toEqual({ state: 'unresolved' })
    expect(await guard.bind(page, { ...seen, among: { nth: 1, of: 2 } })).toMatchObject({ state: 'bound' })
    expect(await guard.bind(page, { ...seen, among: { nth: 1, of: 3 } })).toEqual({ state: 'unresolved' })
  })

  test('a page that swaps buttons when the mouse arrives gets no click', async () => {
    const page = await open('/swap')
    const element = bound(await page.find())
    expect(await clickOn(page, element)).toEqual({
      answer: `the gateway refused \`Input.dispatchMouseEvent\`: ${COVERED}`,
      stopped: COVERED,
    })
    expect(await page.log()).toEqual([])
  })

  test('a page that swaps buttons while the mouse is pressed gets no click', async () => {
    const page = await open('/swap-on-press')
    const element = bound(await page.find())
    expect(await clickOn(page, element)).toMatchObject({ stopped: COVERED })
    expect(await page.log()).toEqual([])
  })

  test('a press that reaches a new frame does not become a click in it', async () => {
    const page = await open('/plain')
    const element = bound(await page.find())
    const session = targets.get(page.id)?.session
    const expression = `new Promise((loaded) => document.body.append(Object.assign(document.createElement('iframe'), {
      style: 'position:absolute;inset:0', onload: loaded,
      srcdoc: '<body onclick="parent.log.push(1)" onmousedown="parent.log.push(0)"><p style="height:300px">x' })))`
    beforePress = () => browser.cdp.send('Runtime.evaluate', { expression, awaitPromise: true }, { session })
    expect(await clickOn(page, element)).toEqual({ answer: 'clicked', stopped: COVERED })
    expect(await page.log()).toEqual([0])
  })

  test('a page that stops all events cannot stop the guard', async () => {
    const page = await open('/deaf')
    const element = bound(await page.find())
    expect(await clickOn(page, element)).toMatchObject({ stopped: COVERED })
    expect(site.requests).not.toContain('/trapped')
  })

  test('an element of a scrolled page is bound, out of the window and in it', async () => {
    const page = await open('/scrolled')
    const seen = { box: { x: 20, y: 3020, width: 100, height: 30 } }
    const before = bound(await page.find(seen))
    expect(await clickOn(page, before)).toMatchObject({ stopped: COVERED })
    await page.evaluate('scrollTo(0, 2900)')
    const after = bound(await page.find(seen))
    expect(await clickOn(page, after, 70, 135)).toEqual({ answer: 'clicked' })
    expect(await page.log()).toEqual(['click next'])
  })

  test.each([
    ['of the same process', '/frame', 125, 100, (): string => site.url],
    ['of another site', '/away', 120, 95, (): string => other],
  ])('an element in a frame %s is bound and clicked', async (_, at, x, y, origin) => {
    const page = await open(at)
    const element = bound(await page.find({ origin: origin() }))
    expect(await clickOn(page, element, x, y)).toEqual({ answer: 'clicked' })
    // A frame that is covered is covered.
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('div'), { style: 'position:absolute;inset:0' }))`,
    )
    expect(await page.find({ origin: origin() })).toEqual({ state: 'covered' })
    expect(await clickOn(page, element, x, y)).toMatchObject({ stopped: COVERED })
  })

  test('an element in a closed shadow root is bound and clicked', async () => {
    const page = await open('/closed')
    // The search by name does not see it, that of the browser does.
    const element = bound(await page.find())
    expect(await clickOn(page, element)).toEqual({ answer: 'clicked' })
    expect(await page.evaluate('document.title')).toBe('1')
  })

  test('a click on the label of a control is one on the control', async () => {
    const page = await open('/label')
    const element = bound(await page.find({ role: 'checkbox', name: 'Agree' }))
    expect(await clickOn(page, element)).toEqual({ answer: 'clicked' })
    expect(await page.evaluate('agree.checked')).toBe(true)
  })

  test('keys reach only the element of the call', async () => {
    const type = async (page: Page): Promise<unknown> => {
      const element = bound(await guard.bind(page, { role: 'textbox', name: 'Name', origin: site.url }))
      return guard.hold({ page: page.id, elements: [element] }, async () => {
        await page.evaluate('document.getElementById("name").focus()')
        return outcome(client.send('Input.insertText', { text: 'a' }, page.session))
      })
    }
    const [good, bad] = [await open('/field'), await open('/thief')]
    expect(await type(good)).toEqual({ answer: {} })
    expect(await type(bad)).toMatchObject({ stopped: UNFOCUSED })
    expect(await good.log()).toEqual(['input name'])
    expect(await bad.log()).toEqual([])
  })

  test('input without a permitted call, or to another page, is refused', async () => {
    const [page, second] = [await open('/plain'), await open('/plain')]
    expect(await outcome(click(page))).toContain('no permitted call is running')
    expect(await guard.hold({ page: second.id }, () => outcome(click(page)))).toMatchObject({
      stopped: 'the call is about another page',
    })
    expect(await guard.hold({}, () => outcome(click(page)))).toMatchObject({
      stopped: 'the call is about another page',
    })
    expect(await page.log()).toEqual([])
  })

  test('input that is judged until its call has ended is refused', async () => {
    const page = await open('/plain')
    const element = bound(await page.find())
    let answered = (): void => undefined
    let judged = (): void => undefined
    const passed = new Promise<void>((resolve) => (judged = resolve))
    const ended = new Promise<void>((resolve) => (answered = resolve))
    beforePress = () => (judged(), ended)
    let press: Promise<unknown> = Promise.resolve()
    await guard.hold({ page: page.id, elements: [element] }, async () => {
      press = outcome(mouse(page, 'mousePressed', 70, 35))
      await passed
    })
    answered()
    expect(await press).toContain('no permitted call is running')
  })

  test('a server that points at another node than that of the call is refused', async () => {
    const page = await open('/plain')
    const element = bound(await page.find())
    const pointAt = (id: string): Promise<unknown> =>
      guard.hold({ page: page.id, elements: [element] }, async () => {
        const { result } = await client.send('Runtime.evaluate', { expression: id }, page.session)
        const { objectId } = result as { objectId: string }
        return outcome(client.send('DOM.scrollIntoViewIfNeeded', { objectId }, page.session))
      })
    expect(await pointAt('next')).toEqual({ answer: {} })
    expect(await pointAt('buy')).toMatchObject({ stopped: GONE })
  })

  test('files are given only by a call that says so', async () => {
    const page = await open('/plain')
    const give = (): Promise<unknown> =>
      outcome(client.send('DOM.setFileInputFiles', { files: [], backendNodeId: 1 }, page.session))
    expect(await guard.hold({ page: page.id }, give)).toMatchObject({
      stopped: 'the call gives no files to the page',
    })
    expect(await guard.hold({ page: page.id, files: true }, give)).not.toHaveProperty('stopped')
  })

  test('under a dialog nothing is bound, and afterwards the page works again', async () => {
    const page = await open('/dialog')
    const buy = { name: 'Buy now', box: { x: 20, y: 120, width: 100, height: 30 } }
    const element = bound(await page.find(buy))
    await client.send('Page.enable', {}, page.session)
    const held = await guard.hold({ page: page.id, elements: [element] }, async () => {
      void outcome(click(page, 70, 135))
      await client.event('Page.javascriptDialogOpening')
      return 'opened'
    })
    expect(held).toEqual({ answer: 'opened' })
    expect(await page.find()).toEqual({ state: 'unresolved' })
    await guard.hold({ page: page.id }, () =>
      client.send('Page.handleJavaScriptDialog', { accept: true }, page.session),
    )
    expect(await clickOn(page, bound(await page.find()))).toEqual({ answer: 'clicked' })
  })

  test('a page that crashes binds nothing and gets no click', async () => {
    const page = await open('/plain')
    const element = bound(await page.find())
    await client.send('Inspector.enable', {}, page.session)
    const crashed = client.event('Inspector.targetCrashed')
    const session = targets.get(page.id)?.session
    await outcome(browser.cdp.send('Page.crash', {}, { session }))
    await crashed
    expect(await page.find()).toEqual({ state: 'unresolved' })
    await expect(guard.hold({ page: page.id, elements: [element] }, () => click(page))).rejects.toThrow(
      'does not answer',
    )
  })

  test('a page that is closed binds nothing and does not stop the gateway', async () => {
    const page = await open('/plain')
    const element = bound(await page.find())
    await browser.cdp.send('Target.closeTarget', { targetId: page.id })
    expect(await page.find()).toEqual({ state: 'unresolved' })
    await expect(guard.hold({ page: page.id, elements: [element] }, () => click(page))).rejects.toThrow(
      'gone',
    )
    expect((await open('/plain')).id).toBeDefined()
  })
})
