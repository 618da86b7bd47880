// Drafts the policy of `tollgate setup mcp`, with test cases, and tests it before anything is changed.

import { performance } from 'node:perf_hooks'
import { parsePolicy } from '@tollgate/kernel/policy'
import { browserServers, guessForBrowser } from '../../tools/browser-tools.ts'
import { draftPolicy, type WebDraft } from '../../tools/draft.ts'
import { guess } from '../../tools/effect.ts'
import { isUsable, serverOf, serverPart, toolOf, type Offer } from '../../tools/offer.ts'
import { readCaseFile } from '../../workbench/case-file.ts'
import { runCases } from '../../workbench/run-cases.ts'

/** A policy for the servers, with the cases that it was tested with. */
export interface DraftedPolicy {
  readonly text: string
  readonly cases: string
  readonly passed: number
  /** Names of the cases that fail. The policy is then not activated. */
  readonly failed: readonly string[]
}

/** Drafts a policy: reading is allowed, everything else asks a person. Tests it with one call of each tool. */
export async function draftAndTest(offers: readonly Offer[], web?: WebDraft): Promise<DraftedPolicy> {
  const text = draftPolicy(offers, 'mcp', [], 'attended', web)
  const cases = casesFor(offers, web?.domains ?? [])
  const parsed = parsePolicy(text)
  const read = readCaseFile(cases)
  if (!parsed.ok || !read.ok || read.file.mistakesAbout(parsed.policy).length > 0) {
    return { text, cases, passed: 0, failed: ['the draft can be read'] }
  }
  const results = await runCases(parsed.policy, read.file.cases, () => performance.now())
  const failed = results.filter(({ failure }) => failure).map(({ name }) => name)
  return { text, cases, passed: results.length - failed.length, failed }
}

function expectedOf(isAllowed: boolean, isOff: boolean): { readonly verdict: string; readonly says: string } {
  if (isOff) return { verdict: 'DENY', says: 'is denied: no page is allowed yet' }
  return isAllowed ? { verdict: 'ALLOW', says: 'is allowed' } : { verdict: 'ESCALATE', says: 'asks a person' }
}

/** A page that the policy allows, with a planner reference. */
function pageIn([pattern = 'page.example.com']: readonly string[]): string {
  const host = pattern === '*' ? 'page.example.com' : pattern.replace(/^\*\./, 'www.')
  const scheme = host.includes(':') ? 'http' : 'https'
  return `{ page: { url: ${JSON.stringify(`${scheme}://${host}/`)} }, planner_ref: a plan }`
}

const HEAD = `# Test cases of policy.yaml, one call of each tool. Run them with \`tollgate policy test\`.
tollgate: 1
defaults: { principal: "agent:local" }

cases:
`

const UNKNOWN = `  - name: a tool that no server offers is denied
    call: { tool: "nothing/unknown", args: {} }
    expect: DENY
`

function casesFor(offers: readonly Offer[], domains: readonly string[]): string {
  const browsers = browserServers(offers)
  const cases = offers.flatMap(({ name, definition }) => {
    const tool = toolOf(name)
    if (tool === undefined || !isUsable(tool)) return []
    const adapter = browsers.get(serverOf(name))
    const listed = serverPart(definition)
    const { effect, showsSecrets } =
      guessForBrowser(adapter, tool, listed) ?? guess(tool, listed, serverOf(name))
    const isAllowed = effect === 'read' && !showsSecrets
    const page = adapter === undefined ? '' : `, browser: ${pageIn(domains)}`
    const call = `{ tool: ${JSON.stringify(name)}, args: {}${page} }`
    const outcome = expectedOf(isAllowed, adapter !== undefined && domains.length === 0)
    const title = JSON.stringify(`${name} ${outcome.says}`)
    return [`  - name: ${title}\n    call: ${call}\n    expect: ${outcome.verdict}\n`]
  })
  return HEAD + [...cases, UNKNOWN].join('\n')
}
