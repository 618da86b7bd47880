// `tollgate setup browser`: puts the published browser servers of the user's clients behind the gateway, with a guarded browser.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { WebDraft } from '../../tools/draft.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf } from '../program/connect.ts'
import { UsageError, type Terminal } from '../program/terminal.ts'
import { setUp, type SetupOptions } from './setup-mcp.ts'

interface BrowserSetupOptions extends SetupOptions {
  readonly domain?: readonly string[]
}

/** Sets up the browser servers. */
export async function runSetupBrowser(
  terminal: Terminal,
  options: BrowserSetupOptions,
  ...servers: readonly string[]
): Promise<number> {
  const before = draftedWeb(options)
  const domains = options.domain ?? before?.domains ?? []
  if (domains.length === 0) {
    throw new UsageError(
      'no page is named that the browser may use',
      'name its hostnames: `tollgate setup browser --domain shop.example.com --domain "*.example.org"`',
    )
  }
  const code = await setUp(terminal, options, servers, { web: { domains, isDerived: true }, isBrowser: true })
  terminal.say(
    'planner references are derived: the gateway makes one from each call, because no planner gives it one; receipts mark them',
  )
  return code
}

// As `draftPolicy` writes it.
const DRAFTED = /^ {2}browser: \{ domains: (\[.*\])(, planner-ref: derived)? \}$/m

/** The pages in the policy file, if a setup drafted them; undefined for another file. Only an unchanged draft is ever replaced. */
export function draftedWeb(options: DataOptions): WebDraft | undefined {
  const file = join(dataOf(options), 'policy.yaml')
  const [, list, derived] = DRAFTED.exec(existsSync(file) ? readFileSync(file, 'utf8') : '') ?? []
  if (list === undefined) return undefined
  // Sound: the form is the one that the draft writes, a list of texts.
  return { domains: JSON.parse(list) as readonly string[], isDerived: derived !== undefined }
}
