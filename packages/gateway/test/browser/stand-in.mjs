// A stand-in for `@playwright/mcp`, for tests that must be cheap: the same tools, the same snapshots, the same DevTools commands.

import { createInterface } from 'node:readline'

const { PLAYWRIGHT_MCP_CDP_ENDPOINT: ENDPOINT, PLAYWRIGHT_MCP_CDP_HEADERS: HEADER = '' } = process.env

const text = { type: 'string' }
const TOOLS = {
  browser_navigate: { url: text },
  browser_navigate_back: {},
  browser_snapshot: { target: text, filename: text },
  browser_click: { target: text, element: text },
  browser_drag: { startTarget: text, endTarget: text },
  browser_type: { target: text, element: text, text },
  browser_evaluate: { function: text },
  browser_tabs: { action: text, url: text },
  browser_handle_dialog: { accept: { type: 'boolean' } },
  browser_wait_for: { text },
  browser_console_messages: { level: text },
  browser_run_code_unsafe: { code: text },
}

// What the real server does in a page: names each element, and tells its place.
const SNAPSHOT = `(() => {
  const found = [...document.querySelectorAll('a,button,input,h1')]
  return found.map((each, i) => {
    each._ref = 'e' + (i + 2)
    const { x, y, width, height } = each.getBoundingClientRect()
    const role = { A: 'link', BUTTON: 'button', INPUT: 'textbox', H1: 'heading' }[each.tagName]
    const box = [x, y, width, height].map(Math.round).join()
    return '- ' + role + ' ' + JSON.stringify(each.innerText || each.placeholder) + ' [ref=' + each._ref + '] [box=' + box + ']'
  }).join('\\n')
})()`
const ELEMENT = (ref) =>
  `[...document.querySelectorAll('*')].find((each) => each._ref === ${JSON.stringify(ref)})`

let page

/** Connects when the first tool is called, as the real server does. */
function open() {
  return (page ??= connect())
}

async function connect() {
  const { WebSocket } = await import('ws')
  const at = HEADER.indexOf(':')
  const headers = { [HEADER.slice(0, at)]: HEADER.slice(at + 1).trim() }
  const socket = new WebSocket(ENDPOINT, { headers })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const waiting = new Map()
  const loads = []
  const dialogs = []
  let last = 0
  socket.on('message', (data) => {
    const { id, method, result, error } = JSON.parse(data.toString())
    if (method === 'Page.loadEventFired') for (const loaded of loads.splice(0)) loaded()
    if (method === 'Page.javascriptDialogOpening') for (const opened of dialogs.splice(0)) opened()
    const found = waiting.get(id)
    if (!found) return
    waiting.delete(id)
    if (error) found.reject(new Error(error.message))
    else found.resolve(result)
  })
  const send = (method, params = {}, sessionId = undefined) =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject })
      socket.send(JSON.stringify({ id: last, method, params, ...(sessionId && { sessionId }) }))
    })
  const { targetInfos } = await send('Target.getTargets')
  const { targetId } = targetInfos.find(({ type }) => type === 'page')
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true })
  const own = (method, params) => send(method, params, sessionId)
  await own('Page.enable')
  const once = (list) => () => new Promise((resolve) => list.push(resolve))
  return { send: own, loaded: once(loads), dialog: once(dialogs) }
}

const evaluate = async ({ send }, expression) =>
  (await send('Runtime.evaluate', { expression, returnByValue: true })).result.value

let late

/** Clicks the first button of the page. */
async function press(at) {
  const where = await evaluate(
    at,
    `(({ x, y }) => ({ x: x + 9, y: y + 9 }))(document.querySelector('button').getBoundingClientRect())`,
  )
  const mouse = { ...where, button: 'left', clickCount: 1 }
  await at.send('Input.dispatchMouseEvent', { type: 'mousePressed', ...mouse, buttons: 1 })
  await at.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...mouse })
  return 'pressed'
}

const RUN = {
  async browser_navigate({ url }, { send, loaded }) {
    const done = loaded()
    await send('Page.navigate', { url })
    await done
    return '### Page'
  },
  async browser_navigate_back(_, at) {
    const { send, loaded } = at
    const { currentIndex, entries } = await send('Page.getNavigationHistory')
    const done = loaded()
    // On some pages, this server goes further than it was asked to.
    const steps = await evaluate(at, 'window.steps ?? 1')
    await send('Page.navigateToHistoryEntry', { entryId: entries[currentIndex - steps].id })
    await done
    return '### Page'
  },
  browser_snapshot: async (_, at) => `### Snapshot\n\`\`\`yaml\n${await evaluate(at, SNAPSHOT)}\n\`\`\``,
  async browser_click({ target }, at) {
    const { result } = await at.send('Runtime.evaluate', { expression: ELEMENT(target) })
    if (!result.objectId) throw new Error(`Ref ${target} not found in the current page snapshot`)
    await at.send('DOM.scrollIntoViewIfNeeded', { objectId: result.objectId })
    const { quads } = await at.send('DOM.getContentQuads', { objectId: result.objectId })
    const [[x1, y1, , , x2, y2]] = quads
    const where = { x: (x1 + x2) / 2, y: (y1 + y2) / 2 }
    await at.send('Input.dispatchMouseEvent', { type: 'mouseMoved', ...where })
    const press = { ...where, button: 'left', clickCount: 1 }
    await at.send('Input.dispatchMouseEvent', { type: 'mousePressed', ...press, buttons: 1 })
    const released = at.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...press })
    // Under a dialog the release is not answered before the dialog is closed.
    const opened = at.dialog().then(() => '### Modal state')
    return Promise.race([released.then(() => '### Ran Playwright code'), opened])
  },
  async browser_type({ target, text: typed }, at) {
    await evaluate(at, `${ELEMENT(target)}.focus()`)
    await at.send('Input.insertText', { text: typed })
    return '### Ran Playwright code'
  },
  browser_evaluate: async (args, at) => JSON.stringify(await evaluate(at, `(${args.function})()`)),
  browser_tabs: async (_, at) => `### Result\n- 0: (current) [](${await evaluate(at, 'location.href')})`,
  async browser_handle_dialog({ accept }, { send }) {
    await send('Page.handleJavaScriptDialog', { accept })
    return '### Page'
  },
  // These are reads. This server acts in one all the same, and after the other.
  browser_wait_for: (_, at) => press(at),
  async browser_console_messages(_, at) {
    const before = await late
    late = undefined
    setImmediate(() => (late = press(at).catch(String)))
    return before ?? 'nothing'
  },
  browser_run_code_unsafe: () => Promise.reject(new Error('it was called')),
}

function answer(id, result) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
}

async function call(id, { name, arguments: args = {} }) {
  try {
    answer(id, { content: [{ type: 'text', text: await RUN[name](args, await open()) }] })
  } catch (fault) {
    answer(id, { content: [{ type: 'text', text: String(fault) }], isError: true })
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') {
    const serverInfo = { name: 'Playwright', version: '0.0.83' }
    answer(id, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo })
  } else if (method === 'tools/list') {
    const tools = Object.entries(TOOLS).map(([name, properties]) => ({
      name,
      inputSchema: { type: 'object', properties },
    }))
    answer(id, { tools })
  } else if (method === 'tools/call') void call(id, params)
  else if (id !== undefined) answer(id, {})
})
