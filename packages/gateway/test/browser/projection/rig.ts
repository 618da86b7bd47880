// Snapshots of pages as the two servers take them, through the projection and without it.

import { chromium, type Browser, type Page } from 'playwright-core'
import { startChromium } from '../../../src/browser/chromium.ts'
import { asObject, textOf, type CdpResult } from '../../../src/browser/cdp.ts'
import { startEndpoint } from '../../../src/browser/devtools/endpoint.ts'
import { watchTargets } from '../../../src/browser/devtools/targets.ts'
import { createProjection } from '../../../src/browser/projection/project.ts'

/** A page behind the endpoint. */
export interface Projected {
  readonly page: Page
  /** A snapshot as `@playwright/mcp` takes it. */
  playwright(projected?: boolean): Promise<string>
  /** The texts of the accessibility tree, from which `chrome-devtools-mcp` makes its snapshot. */
  devtools(projected?: boolean): Promise<readonly string[]>
  close(): Promise<void>
}

export async function openProjected(path: string): Promise<Projected> {
  const started = await startChromium(path)
  const targets = await watchTargets(started.cdp)
  const projection = createProjection(started.cdp, () => targets)
  let on = true
  const endpoint = await startEndpoint(
    { cdp: started.cdp, targets },
    {
      onCommand: () => Promise.resolve('pass'),
      onResult: async (command, result) => (on ? projection.onResult(command, result) : result),
    },
  )
  const { url, headers } = endpoint
  const browser: Browser = await chromium.connectOverCDP(url, { headers: { ...headers } })
  const [context] = browser.contexts()
  const page = context?.pages()[0] ?? (await browser.newPage())
  const { targetInfos } = await started.cdp.send('Target.getTargets')
  const found = Array.isArray(targetInfos)
    ? targetInfos.map(asObject).find(({ type }) => type === 'page')
    : undefined
  const target = targets.get(textOf(found?.targetId))
  return {
    page,
    playwright: (projected = true) => {
      on = projected
      return page.ariaSnapshot({ mode: 'ai' })
    },
    async devtools(projected = true) {
      const method = 'Accessibility.getFullAXTree'
      const plain = await started.cdp.send(method, {}, { session: target?.session })
      const command = { method, params: {}, session: undefined, target: target?.id }
      const { nodes } = projected ? await projection.onResult(command, plain) : plain
      const all = Array.isArray(nodes) ? nodes.map(asObject) : []
      return all.filter((node) => node.ignored !== true).flatMap(textsOf)
    },
    async close() {
      await browser.close()
      await endpoint.close()
      await started.close()
    },
  }
}

function textsOf({ role, name, value, description }: CdpResult): readonly string[] {
  if (textOf(asObject(role).value) === 'InlineTextBox') return []
  return [name, value, description].map((each) => textOf(asObject(each).value)).filter((text) => text !== '')
}
