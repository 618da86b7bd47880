// Checks a page with axe: contrast, labels, roles, the order of headings.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe finds on a page, and by how much the page is too wide. The policy of the page must be off. */
export async function faultsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }
    interface Violation {
      readonly id: string
      readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
    }
    const { violations } = await axe.run()
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth
    return [
      ...violations.flatMap(({ id, nodes }) =>
        nodes
          .slice(0, 3)
          .map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
      ),
      ...(wide > 0 ? [`${wide} pixels too wide`] : []),
    ]
  })
}
