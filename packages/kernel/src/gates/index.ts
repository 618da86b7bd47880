// The rungs that object, in the order of the ladder; `policy` has its place among them in `guardian.ts`.

import { browser } from './browser.ts'
import { compliance } from './compliance.ts'
import { context } from './context.ts'
import { delegation } from './delegation.ts'
import { egress } from './egress.ts'
import { freeze } from './freeze.ts'
import type { Gate } from './gate.ts'
import { identity } from './identity.ts'
import { privilege } from './privilege.ts'
import { schema } from './schema.ts'
import { scope } from './scope.ts'
import { sessionRisk } from './session-risk.ts'
import { taint } from './taint.ts'
import { temporal } from './temporal.ts'
import { threat } from './threat.ts'
import { trust } from './trust.ts'

/** Before the policy is asked. */
export const BEFORE_POLICY: readonly Gate[] = [
  freeze,
  schema,
  context,
  identity,
  browser,
  egress,
  taint,
  threat,
  delegation,
  sessionRisk,
  trust,
  privilege,
  scope,
]

/** After the policy has spoken. */
export const AFTER_POLICY: readonly Gate[] = [temporal, compliance]
