// Inspects the output of a tool before an agent sees it: labels it, and redacts or withholds it as the policy requires.

import type { Effect, Json } from '@tollgate/evidence'
import { sortedLabels } from '../text/labels.ts'
import { remembersData } from '../policy/uses.ts'
import type { SeenValues } from '../gates/taint/provenance.ts'
import type { Kernel } from '../kernel.ts'
import type { Outcome, Due } from './effects.ts'
import { DETECTORS } from '../gates/index.ts'

/** The result of an inspection, with the part of the output that may be forwarded. */
export interface Inspection {
  /** The labels of the output, sorted and unique. */
  readonly labels: readonly string[]
  /** The codes of the threat scanner's findings, sorted and unique. */
  readonly findings: readonly string[]
  /** The values that the session keeps. */
  readonly heard: readonly SeenValues[]
  readonly delivery: Effect['delivery']
  /** The content to forward; undefined if it is withheld. */
  readonly content: Json | undefined
}

/** The result for an output that could not be inspected: it is withheld. */
export const UNINSPECTED: Inspection = {
  labels: ['flagged'],
  findings: ['INSPECTION_FAILED'],
  heard: [{ origin: 'output', labels: ['flagged'], values: [] }],
  delivery: 'withheld',
  content: undefined,
}

/** The result for the content of a page that the browser may not use. */
const OUT_OF_SCOPE: Inspection = { ...UNINSPECTED, findings: ['PAGE_OUT_OF_SCOPE'] }

// The maximum length that the receipt format allows.
const MAX_FINDINGS = 32

/** Returns the inspection of an outcome, if there is one. */
export function inspectionIn(outcome: Outcome): Inspection | undefined {
  return 'output' in outcome ? outcome.inspection : undefined
}

/** Returns the inspection of an output that was not sent. */
export function unseenFor(kernel: Kernel, due: Due): Inspection | undefined {
  return remembersData(due.policy) ? uninspected(kernel, due) : undefined
}

/** Returns the inspection of an output that could not be inspected. */
function uninspected(kernel: Kernel, due: Due): Inspection {
  return { ...UNINSPECTED, labels: sortedLabels([...UNINSPECTED.labels, ...returnsOf(kernel, due)]) }
}

/** Returns the labels that a tool declares for its output. */
export function returnsOf({ catalogue }: Kernel, { opening, policy }: Due): readonly string[] {
  return catalogue.find(opening.tool, policy)?.declared?.returns ?? []
}

/** The page that is open after a browser call. */
export interface PageAfter {
  /** Undefined if the call did not read a page. */
  readonly url: string | undefined
  /** The codes that the Sentinel found on it. */
  readonly findings: readonly string[]
}

/** Inspects the output of an allowed call. */
export function inspectFor(kernel: Kernel, due: Due, content: Json, page?: PageAfter): Inspection {
  try {
    if (page?.url !== undefined && !DETECTORS.browser.readable(page.url, due.policy)) return OUT_OF_SCOPE
    const { findings = [], url } = page ?? {}
    // The findings have no place in the output, so the label applies to all of it.
    const returns = [...returnsOf(kernel, due), ...(findings.length > 0 ? ['flagged'] : [])]
    const inspection = DETECTORS.taint.inspect(content, { policy: due.policy, returns, page: url })
    const all = [...new Set([...inspection.findings, ...findings])].sort()
    return { ...inspection, findings: all.slice(0, MAX_FINDINGS) }
  } catch {
    // The error may contain tool output, so it is dropped.
    return uninspected(kernel, due)
  }
}
