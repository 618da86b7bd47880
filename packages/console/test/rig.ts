// A real gateway with its console, agents that call through it, and people in a real browser.

import process from 'node:process'
import type { Json } from '@tollgate/evidence'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { activate, createSite } from '../../gateway/test/gateway-rig.ts'
import { createLinks, type ConsoleLinks } from '../../gateway/src/console/links.ts'
import { silent } from '../../gateway/src/log.ts'
import type { Gateway } from '../../gateway/src/open.ts'
import { serve } from '../../gateway/src/serve.ts'
import type { Role } from '../../gateway/src/tokens.ts'
import { findBrowser } from '../../../tools/browser.mjs'

/** The browser for these tests, or undefined: then they are skipped, loudly. */
export const browserPath: string | undefined = findBrowser()
if (browserPath === undefined)
  process.stderr.write(
    '\n!!! NO BROWSER: the console is NOT tested. Set TOLLGATE_BROWSER to the path of one.\n\n',
  )

export const POLICY = `
tollgate: 1
name: shop
principals: { "agent:*": { tier: standard } }
tools:
  "notes/read": { effect: read, destinations: none }
  "notes/write": { effect: write, destinations: none }
  "mail/send": { effect: send, destinations: [to] }
  "pay/invoice": { effect: pay, destinations: none }
  "web/click": { effect: write, browser: true }
rules:
  - { id: notes, allow: "notes/*" }
  - { id: mail, require: "mail/send", expires: 15m }
  - { id: invoices, require: "pay/invoice", approvers: [finance], because: money leaves the company }
  - { id: clicks, require: "web/click" }
gates:
  egress: { allow: [example.com, shop.example.com], ask: ['*.example.org'] }
  browser: { domains: [shop.example.com], max-sentinel-risk: 50 }
`

/** A call as the HTTP door answers it. */
export interface Answer {
  readonly verdict: string
  readonly reason_code: string
  readonly receipt: string
  readonly approval: string | null
}

/** A running gateway. */
export interface ConsoleRig {
  readonly url: string
  readonly gateway: Gateway
  readonly links: ConsoleLinks
  /** Issues a token. */
  token(role: Role, principal: string, groups?: readonly string[]): Promise<string>
  /** Sends a body with a token. */
  post(bearer: string, path: string, body: object): Promise<Answer>
  /** Sends a call of an agent. */
  call(tool: string, args?: Json, more?: Readonly<Record<string, Json>>): Promise<Answer>
  /** Sends a browser call of an agent on a page that the Sentinel has observed. */
  click(args: Json, page: Readonly<Record<string, Json>>): Promise<Answer>
  close(): Promise<void>
}

/** Starts a gateway. */
export async function startGateway(policy: string = POLICY): Promise<ConsoleRig> {
  const site = await createSite()
  const gateway = await site.open()
  await activate(gateway, policy)
  const { kernel, view, tokens } = gateway
  const links = createLinks('http://gate.test', () => kernel.host.now())
  const api = {
    ...{ kernel, view, tokens, log: silent, version: '0.0.0-test', limits: { body: 1 << 20 } },
    checkpoint: () => gateway.checkpoint(),
    watch: (listener: (size: number) => void) => gateway.watch(listener),
    policyFile: () => policy,
    links: { idIn: (search: string) => links.idIn(search) },
  }
  const served = await serve(api, { host: '127.0.0.1', port: 0, grace: 200 })
  const token: ConsoleRig['token'] = async (role, principal, groups = []) =>
    (await tokens.issue({ role, principal, tenant: 'default', groups }, 'test')).token
  const [agent, sentinel] = [await token('agent', 'agent:shop'), await token('sentinel', 'sentinel:shop')]
  const post = async (bearer: string, path: string, body: object): Promise<Answer> => {
    const response = await fetch(served.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    // Sound: the answer of these routes.
    return (await response.json()) as Answer
  }
  return {
    url: served.url,
    gateway,
    links,
    token,
    post,
    call: (tool, args = {}, more = {}) =>
      post(agent, '/v1/evaluate', { tool, arguments: args, session_id: 's1', ...more }),
    async click(args, page) {
      const seen = await post(sentinel, '/v1/browser/observations', page)
      const { id } = seen as unknown as { readonly id: string }
      const { dom_hash = '', visual_text_hash = '', url = '' } = page
      const observation = { observation: { url, dom_hash, visual_text_hash }, observation_id: id }
      const call = {
        tool_name: 'web/click',
        arguments: args,
        session_id: 's1',
        planner_ref: 'p1',
        ...observation,
      }
      return post(agent, '/v1/browser/evaluate', call)
    },
    async close() {
      await served.close()
      await gateway.close()
    },
  }
}

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
]

/** A browser whose pages must not fail, and must not reach any other host. */
export class ConsoleBrowser {
  readonly faults: string[] = []
  readonly strangers: string[] = []
  readonly #url: string
  #browser: Browser | undefined

  constructor(url: string) {
    this.#url = url
  }

  async open(): Promise<void> {
    this.#browser = await chromium.launch({ executablePath: browserPath ?? '', args: FLAGS })
  }

  /** A new person: nothing is shared with other contexts. */
  async context(options: Parameters<Browser['newContext']>[0] = {}): Promise<BrowserContext> {
    if (!this.#browser) throw new Error('the browser is not open')
    const context = await this.#browser.newContext({ reducedMotion: 'reduce', ...options })
    context.on('weberror', (fault) => this.faults.push(fault.error().message))
    context.on('console', (message) => {
      // Chromium notes every answer of 400 and above itself.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        this.faults.push(message.text())
    })
    context.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(`${this.#url}/`) && !/^(?:data|blob):/.test(url)) this.strangers.push(url)
    })
    return context
  }

  /** A page on which a person has signed in. */
  async signedIn(
    token: string,
    path = '/console',
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<Page> {
    const page = await (await this.context(options)).newPage()
    await page.goto(this.#url + path)
    await signIn(page, token)
    return page
  }

  async close(): Promise<void> {
    await this.#browser?.close()
  }
}

/** Fills in the form, and waits until the frame is there. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
}
