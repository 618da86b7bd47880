// The page of a browser call, as routes for approvals show it.

import { TARGET_STATES, type Browser } from '@tollgate/evidence'
import type { PageInput } from '@tollgate/kernel/admin'
import { COUNT, described, FLAG, HASH, list, object, orNull, TEXT, word, type ApiSchema } from './schema.ts'

/** A page as the API shows it: the part in the receipt and, for callers that may read arguments, its address. */
export type ShownBrowser = Browser & Partial<Omit<PageInput, 'side_effect'>>

/** The schema of a page. */
export const APPROVAL_PAGE: ApiSchema = object({
  'url?': described(
    orNull(TEXT),
    'The address of the page. Shown to those who may answer and to the caller.',
  ),
  'destination?': described(orNull(TEXT), 'The destination of the action, if it is not the page itself.'),
  'target?': object(
    {
      state: word(...TARGET_STATES),
      role: TEXT,
      name: TEXT,
      origin: TEXT,
      'box?': described(list(COUNT), 'Left, top, width and height, in pixels.'),
    },
    'The element that the call acts on, if the gateway drives the browser.',
  ),
  'page_host?': TEXT,
  'destination_host?': TEXT,
  'dom_hash?': HASH,
  'visual_text_hash?': HASH,
  'planner_ref?': TEXT,
  'planner_derived?': FLAG,
  'target_state?': word(...TARGET_STATES),
  'target_hash?': HASH,
  'without_egress?': FLAG,
  'sentinel_risk?': { type: 'integer', minimum: 0, maximum: 100 },
  sentinel_findings: list(TEXT),
  'seen_hash?': described(
    HASH,
    'The hash of what the approver sees of the page: address, destination, page hashes, plan, risk, findings, and whether the call has a side effect. The receipts of the decision and of the approval contain this hash.',
  ),
})
