// What comes back from a tool: read, labelled, and cut or held back as the policy says, before any agent sees it.

import type { Effect, Json } from '@tollgate/evidence'
import { sortedLabels } from '../text/labels.ts'
import { remembersData } from '../policy/uses.ts'
import type { SeenValues } from '../gates/taint/provenance.ts'
import type { Kernel } from '../kernel.ts'
import type { Outcome, Due } from './effects.ts'
import { DETECTORS } from '../gates/index.ts'

/** What was found in an answer, and what may be handed on of it. */
export interface Inspection {
  /** Labels that it carries, each once, in order. */
  readonly labels: readonly string[]
  /** Codes of what the threat scanner found, each once, in order. */
  readonly findings: readonly string[]
  /** What the session is to remember of it. */
  readonly heard: readonly SeenValues[]
  readonly delivery: Effect['delivery']
  /** What may be handed on; undefined if it is withheld. */
  readonly content: Json | undefined
}

/** Nothing is known of an answer that could not be inspected, so nobody gets it. */
export const UNINSPECTED: Inspection = {
  labels: ['flagged'],
  findings: ['INSPECTION_FAILED'],
  heard: [{ origin: 'output', labels: ['flagged'], values: [] }],
  delivery: 'withheld',
  content: undefined,
}

/** What was found in the output, if there is one and it was looked through. */
export function inspectionIn(outcome: Outcome): Inspection | undefined {
  return 'output' in outcome ? outcome.inspection : undefined
}

/** What is known of an output that did not come along. */
export function unseenFor(kernel: Kernel, due: Due): Inspection | undefined {
  return remembersData(due.policy) ? uninspected(kernel, due) : undefined
}

/** What is known of an output that nobody could look through. */
function uninspected(kernel: Kernel, due: Due): Inspection {
  return { ...UNINSPECTED, labels: sortedLabels([...UNINSPECTED.labels, ...returnsOf(kernel, due)]) }
}

/** Labels that the answers of a tool carry by declaration. */
export function returnsOf({ catalogue }: Kernel, { opening, policy }: Due): readonly string[] {
  return catalogue.find(opening.tool, policy)?.declared?.returns ?? []
}

/** Looks through what a tool has answered to an allowed call, before anybody gets it. */
export function inspectFor(kernel: Kernel, due: Due, content: Json): Inspection {
  try {
    return DETECTORS.taint.inspect(content, { policy: due.policy, returns: returnsOf(kernel, due) })
  } catch {
    // Why it failed may hold what the tool said.
    return uninspected(kernel, due)
  }
}
