// Describes the page of a browser call: for its receipt, for the approver, and to decide which pages an approval covers.

import { canonicalize, sha256Hex, type Browser } from '@tollgate/evidence'
import type { BrowserCall, GuardedPage, GuardedTarget } from '../../road/browser-call.ts'
import type { Intent } from '../../road/capture.ts'
import type { Observation } from '../../road/observation.ts'
import type { KnownTool } from '../../admin/catalogue.ts'
import { readHttpUrl } from '../../destinations/url.ts'

/** The facts about a page besides the call. */
export interface PageFacts {
  readonly observation: Observation | undefined
  readonly tool: KnownTool | undefined
}

/** The parts of a page that an approver sees but no receipt contains: its URL and the destination of the action. */
export interface PageInput {
  readonly url: string | null
  readonly destination: string | null
  readonly side_effect: boolean | null
  /** The element that the call acts on, if the gateway drives the browser. */
  readonly target?: GuardedTarget
}

/** Whether a call acts on the page that is open. A call counts as one that does unless the gateway knows better. */
export function actsOnPage(guarded: GuardedPage | undefined): boolean {
  return (guarded?.acts ?? 'page') === 'page'
}

/** The receipt's description of a browser call: risk, hashes and references, never the text of a page or a complete URL. */
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
    ...(browser?.guarded && guardedOf(browser.guarded)),
  }
  return { ...shown, seen_hash: seenHash(shown, pageInputOf(browser, observation)) }
}

/** The receipt's description of what the gateway itself knows of a call. */
function guardedOf({ derived, target, without_egress }: GuardedPage): Partial<Browser> {
  return {
    ...(derived && { planner_derived: derived }),
    ...(target && { target_state: target.state, target_hash: targetHash(target) }),
    ...(without_egress && { without_egress }),
  }
}

/** The hash of an element as the agent saw it, without its state. */
function targetHash({ role, name, origin, box }: GuardedTarget): string {
  return sha256Hex(canonicalize([role, name, origin, box ?? null]))
}

/** The parts of the page that an approver sees in addition to the receipt. */
export function pageInputOf(
  browser: BrowserCall | undefined,
  observation: Observation | undefined,
): PageInput {
  return {
    url: observation?.url?.toWellFormed() ?? null,
    destination: browser?.destination?.toWellFormed() ?? null,
    side_effect: browser?.side_effect ?? null,
    ...(browser?.guarded?.target && { target: browser.guarded.target }),
  }
}

/** The hash of everything that an approver sees of a page. */
function seenHash(shown: Browser, { url, destination, side_effect, target }: PageInput): string {
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
      ...(target ? [target.state, targetHash(target)] : []),
      ...(shown.planner_derived ? ['derived'] : []),
      ...(shown.without_egress ? ['without egress'] : []),
    ]),
  )
}

/** Reads the stored `PageInput` of a request; undefined if it is lost or does not match the hash in the receipt. */
export function readPageInput(page: Browser, record: string | undefined): PageInput | undefined {
  if (record === undefined) return undefined
  try {
    // Sound: any other value fails the comparison of hashes.
    const input = JSON.parse(record) as PageInput
    return seenHash(page, input) === page.seen_hash ? input : undefined
  } catch {
    return undefined
  }
}

/** The parts of a page that an approver sees and no receipt contains. */
export function shownInput({ url, destination, target }: PageInput): Omit<PageInput, 'side_effect'> {
  return { url, destination, ...(target && { target }) }
}

/**
 * The parts of a page that an approval is bound to: its URL, its content, the plan and the element. For risk and findings only their presence is
 * bound, so a missing value never matches a present one.
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
    ...(browser.guarded ? boundGuard(browser.guarded) : []),
  ]
}

function boundGuard({ acts, derived, target, without_egress }: GuardedPage): unknown[] {
  const element = target ? [target.state, targetHash(target)] : []
  return [acts, derived ?? false, without_egress ?? false, ...element]
}

/** Whether an approval of one page covers a later observation of it: same page and plan, no higher risk, no new finding. */
export function coversPage(asked: Browser | null, now: Browser | undefined): boolean {
  if (!asked || !now) return asked === null && now === undefined
  const same =
    asked.seen_hash !== undefined &&
    asked.dom_hash === now.dom_hash &&
    asked.visual_text_hash === now.visual_text_hash &&
    asked.planner_ref === now.planner_ref &&
    asked.target_hash === now.target_hash &&
    asked.target_state === now.target_state
  const found = now.sentinel_findings.every((code) => asked.sentinel_findings.includes(code))
  return same && found && (now.sentinel_risk ?? UNKNOWN_RISK) <= (asked.sentinel_risk ?? UNKNOWN_RISK)
}

// Above the highest possible risk.
const UNKNOWN_RISK = 101
