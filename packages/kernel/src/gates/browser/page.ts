// The page of a browser call: what its receipt says of it, what a person is shown, and which page a yes to it covers.

import { canonicalize, sha256Hex, type Browser } from '@tollgate/evidence'
import type { BrowserCall, Intent } from '../../road/capture.ts'
import type { Observation } from '../../road/observation.ts'
import type { KnownTool } from '../../admin/catalogue.ts'
import { readHttpUrl } from '../../destinations/url.ts'

/** What is known of a page besides the call. */
export interface PageFacts {
  readonly observation: Observation | undefined
  readonly tool: KnownTool | undefined
}

/** What an approver is shown of a page and no receipt holds: where it is, and where the action goes. */
export interface PageInput {
  readonly url: string | null
  readonly destination: string | null
  readonly side_effect: boolean | null
}

/** What the receipt says of a browser call: risk, hashes and references, never a page's text or a whole URL. */
export function browserOf(intent: Intent, facts: PageFacts): Browser | undefined {
  const { browser, door } = intent
  const { observation, tool } = facts
  if (!browser && door !== 'browser' && tool?.declared?.browser !== true) return undefined
  const page = readHttpUrl(observation?.url ?? '')?.host
  const host = browser?.destination === undefined ? page : readHttpUrl(browser.destination)?.host
  const shown: Browser = {
    sentinel_findings: observation?.sentinel_findings ?? [],
    ...(observation?.sentinel_risk !== undefined && { sentinel_risk: observation.sentinel_risk }),
    ...(observation?.dom_hash !== undefined && { dom_hash: observation.dom_hash }),
    ...(observation?.visual_text_hash !== undefined && { visual_text_hash: observation.visual_text_hash }),
    ...(browser?.planner_ref !== undefined && { planner_ref: browser.planner_ref }),
    ...(page !== undefined && { page_host: page }),
    ...(host !== undefined && { destination_host: host }),
  }
  return { ...shown, seen_hash: seenHash(shown, pageInputOf(browser, observation)) }
}

/** What an approver is shown of the page, beside what the receipt says. */
export function pageInputOf(
  browser: BrowserCall | undefined,
  observation: Observation | undefined,
): PageInput {
  return {
    url: observation?.url?.toWellFormed() ?? null,
    destination: browser?.destination?.toWellFormed() ?? null,
    side_effect: browser?.side_effect ?? null,
  }
}

/** The hash of all that a person is shown of a page. */
function seenHash(shown: Browser, { url, destination, side_effect }: PageInput): string {
  const { dom_hash, visual_text_hash, planner_ref, sentinel_risk, sentinel_findings } = shown
  return sha256Hex(
    canonicalize([
      url,
      destination,
      side_effect,
      dom_hash ?? null,
      visual_text_hash ?? null,
      planner_ref ?? null,
      sentinel_risk ?? null,
      sentinel_findings.toSorted(),
    ]),
  )
}

/** Reads back what an approver is shown of a page; undefined if it is lost, or is not what was asked about. */
export function readPageInput(page: Browser, record: string | undefined): PageInput | undefined {
  if (record === undefined) return undefined
  try {
    // Sound: whatever else it may be, it does not have the hash.
    const input = JSON.parse(record) as PageInput
    return seenHash(page, input) === page.seen_hash ? input : undefined
  } catch {
    return undefined
  }
}

/**
 * The parts of a page that must be the same for an approval to hold: where it is, what it shows, and the plan. A risk or findings
 * that cannot be read are never taken for those that could.
 */
export function boundPage(browser: BrowserCall, observation: Observation | undefined): unknown[] {
  return [
    browser.destination ?? null,
    observation?.url ?? null,
    browser.side_effect ?? null,
    observation?.dom_hash ?? null,
    observation?.visual_text_hash ?? null,
    browser.planner_ref ?? null,
    observation?.sentinel_risk !== undefined,
    observation?.sentinel_findings !== undefined,
  ]
}

/** Whether a yes to one page covers another look at it: the same page and plan, no more risk, and no other finding. */
export function coversPage(asked: Browser | null, now: Browser | undefined): boolean {
  if (!asked || !now) return asked === null && now === undefined
  const same =
    asked.seen_hash !== undefined &&
    asked.dom_hash === now.dom_hash &&
    asked.visual_text_hash === now.visual_text_hash &&
    asked.planner_ref === now.planner_ref
  const found = now.sentinel_findings.every((code) => asked.sentinel_findings.includes(code))
  return same && found && (now.sentinel_risk ?? UNKNOWN_RISK) <= (asked.sentinel_risk ?? UNKNOWN_RISK)
}

// Worse than the worst.
const UNKNOWN_RISK = 101
